package calibration

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// PlannedLoad is the peak of a load; unknown figures are 0.
type PlannedLoad struct{ RequestsPerSecond, Streams, ChunksPerSecond float64 }

// Beyond returns a sentence for each figure of a planned load beyond the calibration. Figures without a measurement
// give none.
func (c *Calibration) Beyond(l PlannedLoad) []string {
	dangers := []string{
		"requests may be sent late",
		"chunks may be read late, or requests fail",
		"chunks may be read late, so that gaps between them are wrong",
	}
	planned := []float64{l.RequestsPerSecond, l.Streams, l.ChunksPerSecond}
	var all []string
	for i, h := range c.Figures.headlines() {
		if math.IsInf(planned[i], 0) || !(planned[i] > h.most) { // an unlimited rate is no plan
			continue
		}
		load := fmt.Sprintf("this load plans %s %s", text.Grouped(planned[i]), h.unit)
		switch {
		case h.most > 0 && h.more:
			all = append(all, fmt.Sprintf("%s; the calibration of %s stopped at %s: beyond that, %s", load, c.day(),
				text.Grouped(h.most), dangers[i]))
		case h.most > 0:
			all = append(all,
				fmt.Sprintf("%s, but this machine measured exactly only up to %s (calibrated %s): %s; use more cores, "+
					"or spread the load over several machines",
					load, text.Grouped(h.most), c.day(), dangers[i]))
		case h.least > 0 && planned[i] >= h.least:
			all = append(all,
				fmt.Sprintf("%s, but this machine could not measure even %s exactly (calibrated %s): %s; use more "+
					"cores, or spread the load over several machines",
					load, text.Grouped(h.least), c.day(), dangers[i]))
		}
	}
	return all
}

func (c *Calibration) day() string { return c.When.Local().Format("2006-01-02") }

// disturbedFrom is the 99th percentile of the pacer's own lateness on a machine with other work.
const disturbedFrom = 3 * time.Millisecond

// disturbed is a sign of other work on the machine, "" for none: the pacer alone was late, or the kernel's stamps were
// not exact at a load that most machines can bear.
func (f *Figures) disturbed() string {
	late := time.Duration(0)
	for _, l := range f.Lateness {
		if !l.Sent {
			late = max(late, l.Lateness.P99)
		}
	}
	switch {
	case late >= disturbedFrom:
		return fmt.Sprintf("with nothing to send, p99 arrival delay was %s", asMicros(late))
	case f.Timestamps == metrics.KernelStamps && f.StampError.P99 > mostError:
		return fmt.Sprintf("even kernel time stamps were off by %s (p99)", asMicros(f.StampError.P99))
	}
	return ""
}

// Worse is the reason why a calibration should not replace another one of the same machine, "" if it should.
func (c *Calibration) Worse(than *Calibration) string {
	switch {
	case c.Machine != than.Machine || !than.Complete:
		return ""
	case c.Quick && !than.Quick:
		return fmt.Sprintf("the full calibration of %s stays; a quick one does not replace it", than.day())
	case c.Figures.disturbed() != "" && than.Figures.disturbed() == "":
		return fmt.Sprintf("the calibration of %s stays; this one was disturbed", than.day())
	}
	return ""
}

// Verdict describes in a sentence the highest loads that the machine can measure.
func (f *Figures) Verdict() string {
	var most, less []string
	for _, x := range f.headlines() {
		switch {
		case x.most > 0 && x.more:
			most = append(most, fmt.Sprintf("%s %s (more were not tried)", text.Grouped(x.most), x.unit))
		case x.most > 0:
			most = append(most, text.Grouped(x.most)+" "+x.unit)
		case x.least > 0:
			less = append(less, fmt.Sprintf("not even %s %s", text.Grouped(x.least), x.unit))
		}
	}
	if len(most)+len(less) == 0 {
		return "Nothing could be measured on this machine."
	}
	words := "This machine can measure up to " + text.Join(most, " and ")
	if len(most) == 0 {
		words = "This machine measured nothing exactly"
	}
	if len(less) > 0 {
		words += "; " + text.Join(less, " and ")
	}
	if f.StampError.N > 0 {
		words += fmt.Sprintf("; chunks are timed to %s (p99)", asMicros(f.StampError.P99))
	}
	return words + "."
}

// headline is one of the three figures that limit a load.
type headline struct {
	unit string
	most float64
	// more was not tried; least is the smallest step that was, 0 if none.
	more  bool
	least float64
}

func (f *Figures) headlines() []headline {
	least := func(steps []float64) float64 {
		if len(steps) == 0 {
			return 0
		}
		return slices.Min(steps)
	}
	return []headline{
		{"requests/s", f.RequestsPerSecond, false,
			least(metrics.Each(f.Rates, func(s RateStep) float64 { return s.Asked }))},
		{"open streams", f.OpenStreams, f.MoreStreams,
			least(metrics.Each(f.Streams, func(s Step) float64 { return float64(s.Streams) }))},
		{"chunks/s", f.ChunksPerSecond, f.MoreChunks,
			least(metrics.Each(f.Chunks, func(s Step) float64 { return s.ChunksPerSecond }))},
	}
}

// Text writes the calibration as tables, in ASCII except for the name of the CPU, with the verdict at the end.
func (c *Calibration) Text(w io.Writer) error {
	f := &c.Figures
	manner := ""
	if c.Quick {
		manner = ", quick"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "benchtop calibrate, %s, %.0f s%s\n%s\n", c.When.Local().Format("2006-01-02 15:04"), c.Seconds,
		manner, c.Machine)
	b.WriteString(f.requestsText() + stepsText(fmt.Sprintf("Open streams: %d chunks/s each", streamRate), f.Streams) +
		stepsText("Chunks/s: the same streams at rising rates", f.Chunks) + f.stampsText() + f.latenessText() +
		f.dashboardText() + f.problemsText())
	if !c.Complete {
		b.WriteString("\nINCOMPLETE: interrupted before all was measured.\n")
	}
	if sign := f.disturbed(); sign != "" {
		fmt.Fprintf(&b, "\nThe machine was busy with something else: %s.\nCalibrate again when it is idle.\n", sign)
	}
	b.WriteString("\n" + f.Verdict() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// String describes the machine.
func (m Machine) String() string {
	cpu := m.CPU
	if cpu != "" {
		cpu = ", " + cpu
	}
	return fmt.Sprintf("%s/%s%s, %s, GOMAXPROCS %d", m.OS, m.Arch, cpu, text.Count(m.Cores, "core"), m.GOMAXPROCS)
}

func (f *Figures) requestsText() string {
	if len(f.Rounds) == 0 {
		return ""
	}
	rates := metrics.Each(f.Rounds, func(r RequestRound) float64 { return r.RequestsPerSecond })
	spread := text.Count(len(rates), "round")
	if len(rates) > 1 {
		spread += fmt.Sprintf(", %s to %s", text.Grouped(slices.Min(rates)), text.Grouped(slices.Max(rates)))
	}
	title := "Requests/s: closed loop of %d users, then random arrivals; answers of one chunk"
	t := section(fmt.Sprintf(title, f.Rounds[0].Users),
		"asked/s", "requests/s", "late p50", "late p99", "CPU/request", "")
	t.Add(cells("closed loop", f.WithoutPause, "-", "-", "-", " maximum, in "+spread)...)
	for _, s := range f.Rates {
		r := &s.Result
		t.Add(cells(s.Asked, s.Reached, r.Lateness.P50, r.Lateness.P99, micros1(r.CPUPerChunkMicros),
			" "+cmp.Or(s.Missed, "exact"))...)
	}
	return t.String()
}

func stepsText(title string, steps []Step) string {
	t := section(title, "streams", "asked/s", "chunks/s", "error p50", "error p99", "shared", "CPU/chunk", "")
	for _, s := range steps {
		r, verdict := &s.Result, cmp.Or(s.Missed, "exact")
		if s.exact() && !s.full() {
			verdict = "exact, but the server sends no more"
		}
		t.Add(cells(float64(s.Streams), s.ChunksPerSecond, s.Plateau, r.StampError.P50, r.StampError.P99,
			percent(r.SharedShare), micros1(r.CPUPerChunkMicros), " "+verdict)...)
	}
	return t.String()
}

func (f *Figures) stampsText() string {
	t := section("", "stamps", "error p50", "p99", "p99.9", "max", "shared", "CPU/chunk")
	for _, s := range f.Stamps {
		name := "user"
		if s.Timestamps == metrics.KernelStamps {
			name = "kernel"
		}
		e := &s.Error
		t.Add(cells(name, e.P50, e.P99, e.P999, e.Max, percent(s.SharedShare), micros1(s.CPU))...)
		t.Title = fmt.Sprintf("Stamps against the server's own log: %s streams, %s chunks/s, %s",
			text.Grouped(s.Streams), text.Grouped(s.ChunksPerSecond), text.Count(s.Rounds, "round"))
	}
	return t.String()
}

func (f *Figures) latenessText() string {
	t := section("Lateness of arrivals", "arrivals/s", "sent", "late p50", "p99", "p99.9", "max", "arrivals")
	for _, l := range f.Lateness {
		sent := "no"
		if l.Sent {
			sent = "yes"
		}
		q := l.Lateness
		t.Add(cells(l.RequestsPerSecond, sent, q.P50, q.P99, q.P999, q.Max, float64(q.N))...)
	}
	return t.String()
}

func (f *Figures) dashboardText() string {
	d := f.Dashboard
	if d == nil {
		return ""
	}
	t := section(fmt.Sprintf("Dashboard: the same load with and without it, %s", text.Count(d.Pairs, "pair")),
		"dashboard", "CPU", "error p99", "p99.9", "late p99", "drawn")
	add := func(name string, w DashboardSide, drawn string) {
		t.Add(cells(name, fmt.Sprintf("%.2f s", w.CPU), w.Error.P99, w.Error.P999, w.Lateness.P99, drawn)...)
	}
	add("off", d.Without, "-")
	add("on", d.With, fmt.Sprintf("%.1f KB/s", d.DrawnBytes/1000))
	return fmt.Sprintf("%s  CPU with the dashboard: %.2f times\n", t, d.CPURatio)
}

func (f *Figures) problemsText() string {
	if len(f.Problems) == 0 {
		return ""
	}
	text := "\nNot measured\n"
	for _, p := range f.Problems {
		text += "  " + p.Part + ": " + strings.ReplaceAll(strings.TrimSpace(p.Text), "\n", "\n    ") + "\n"
	}
	return text
}

// cells formats a row of a table: durations in microseconds, numbers with commas, texts as they are.
func cells(row ...any) (texts []any) {
	for _, cell := range row {
		switch v := cell.(type) {
		case time.Duration:
			texts = append(texts, asMicros(v))
		case float64:
			texts = append(texts, text.Grouped(v))
		default:
			texts = append(texts, fmt.Sprint(v))
		}
	}
	return texts
}

func micros1(us float64) string { return fmt.Sprintf("%.1f us", us) }

// section is a table below a title. Columns are flush right, except for a last one without a name.
func section(title string, head ...string) *table.Table {
	t := table.New(title, head...)
	t.Indent = 2
	for i, name := range head {
		t.Columns[i] = table.Column{Name: name, Width: 9}
		if name == "" {
			t.Columns[i].Align = table.Left
		}
	}
	return t
}

// asMicros formats a time in microseconds, or in milliseconds where those would have five digits.
func asMicros(d time.Duration) string {
	us := float64(d) / float64(time.Microsecond)
	switch {
	case us >= 10_000:
		return text.Grouped(us/1000) + " ms"
	case us < 10 && us != 0:
		return strconv.FormatFloat(us, 'f', 1, 64) + " us"
	}
	return text.Grouped(us) + " us"
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }
