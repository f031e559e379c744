package panels

import (
	"fmt"
	"time"

	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// machinesPanel compares the machines that load the server together: what each sent, how late, how busy it was, and how
// far its clock is known.
var machinesPanel = Panel{name: "machines", title: machinesTitle, draw: drawMachines,
	empty: func(v *View) bool { return v.plan().Part.N < 2 }, nothing: "one machine"}

// machine is a row of the table.
type machine struct {
	metrics.PartHealth
	metrics.Worker
	share float64 // of all requests that were sent
}

// outOfSight is the age of the newest sample from which on a machine is not heard of. Samples come once a second.
const outOfSight = 4 * time.Second

// state says whether the machine is heard of.
func (m *machine) state(v *View) screen.Span {
	on := v.Report == nil && v.Replay == nil && v.State == metrics.Running
	switch {
	case m.Length == 0:
		return screen.Label.Span("not heard of yet")
	case on && v.At-m.Last > outOfSight:
		return screen.Warning.Span("out of sight for " + metrics.Duration((v.At - m.Last).Round(time.Second)))
	}
	return screen.Label.Span("ok")
}

// machines are the rows, by part.
func (v *View) machines() []machine {
	all := make([]machine, min(v.plan().Part.N, mostMachines))
	for i := range all {
		all[i].PartHealth.Part, all[i].Bound = i+1, metrics.Never
	}
	health := metrics.Client{Seconds: v.Client}
	sent := 0
	for _, p := range health.Parts() {
		if p.Part <= len(all) {
			all[p.Part-1].PartHealth = p
		}
		sent += p.Sent
	}
	for i := range all {
		all[i].share = metrics.Share(all[i].Sent, sent)
	}
	for _, w := range v.Workers {
		if w.Part >= 1 && w.Part <= len(all) {
			all[w.Part-1].Worker = w
		}
	}
	return all
}

// mostMachines bounds the rows.
const mostMachines = 10_000

func machinesTitle(v *View, _, _ int) []screen.Span {
	return heading{screen.Strong.Span(fmt.Sprintf("%d machines", v.plan().Part.N)), screen.Label.Span(" so far")}
}

func drawMachines(c screen.Canvas, v *View) {
	all := v.machines()
	row := func(i int) *machine { return &all[i] }
	t := table[*machine]{figures: columns[*machine]{
		{"sent", 7, func(m *machine) screen.Span { return cell(number.Count(m.Sent)) }, 4},
		{"share", 6, func(m *machine) screen.Span { return shareCell(m.share) }, 0},
		{"late p99", 9, func(m *machine) screen.Span {
			return cell(orDash(m.Sent > 0, number.Latency, m.LateP99))
		}, 1},
		{"CPU", 5, func(m *machine) screen.Span { return shareCell(m.CPU / max(m.Cores, 1)) }, 2},
		{"cores", 6, func(m *machine) screen.Span { return cell(number.Count(int(m.Cores))) }, 5},
		{"clock ±", 8, func(m *machine) screen.Span {
			return cell(orDash(m.Bound != metrics.Never, number.Latency, m.Bound))
		}, 3},
	}}
	t.after = field[*machine]{name: " state", draw: func(c screen.Canvas, m *machine, _ screen.Style) {
		s := m.state(v)
		c.Print(1, 0, screen.Shorten(s.Text, c.W-1), s.Style)
	}}
	states := 7 // the name of the column
	for i := range all {
		states = max(states, 2+screen.Width(all[i].state(v).Text))
	}
	t.name(c.W-min(states, c.W/2), rowNames(len(all), row, func(m *machine) string {
		return screen.Sanitize(fmt.Sprintf("%d %s", m.PartHealth.Part, m.Host))
	}))
	t.draw(c, len(all), row, plainRow)
}
