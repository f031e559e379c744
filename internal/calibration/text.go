package calibration

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"benchtop/metrics"
)

// Text writes the calibration as tables for a person, in ASCII but for the name of the CPU, with the verdict at the end.
func (c *Calibration) Text(w io.Writer) error {
	f := &c.Figures
	var b strings.Builder
	fmt.Fprintf(&b, "benchtop calibrate, %s, %.0f s%s\n%s\n", c.When.Local().Format("2006-01-02 15:04"), c.Seconds, c.manner(), c.Machine)
	b.WriteString(f.requestsText() + f.stepsText() + f.stampsText() + f.latenessText() + f.dashboardText() + f.problemsText())
	if !c.Complete {
		b.WriteString("\nINCOMPLETE: it was ended before all was measured.\n")
	}
	if sign := f.disturbed(); sign != "" {
		fmt.Fprintf(&b, "\nSomething else kept this machine busy: %s.\nCalibrate again when it is idle.\n", sign)
	}
	b.WriteString("\n" + f.Verdict() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Calibration) manner() string {
	if c.Quick {
		return ", quick"
	}
	return ""
}

// String is the machine in words.
func (m Machine) String() string {
	cpu := m.CPU
	if cpu != "" {
		cpu = ", " + cpu
	}
	return fmt.Sprintf("%s/%s%s, %s, GOMAXPROCS %d", m.OS, m.Arch, cpu, plural(float64(m.Cores), "core"), m.GOMAXPROCS)
}

func (f *Figures) requestsText() string {
	if len(f.Rounds) == 0 {
		return ""
	}
	var rates []float64
	for _, r := range f.Rounds {
		rates = append(rates, r.RequestsPerSecond)
	}
	spread := plural(float64(len(rates)), "round")
	if len(rates) > 1 {
		spread += fmt.Sprintf(", %s to %s", count(slices.Min(rates)), count(slices.Max(rates)))
	}
	rows := [][]string{{"without pause", count(f.WithoutPause), "-", "-", "-", "the most that comes, in " + spread}}
	for _, s := range f.Rates {
		r, verdict := &s.Result, "exact"
		if s.Missed != "" {
			verdict = s.Missed
		}
		rows = append(rows, []string{count(s.Asked), count(s.Reached), asMicros(r.Lateness.P50), asMicros(r.Lateness.P99),
			fmt.Sprintf("%.1f us", r.CPUPerChunkMicros), verdict})
	}
	return section(fmt.Sprintf("Requests/s: %d users without pause, then arrivals at random times; answers of one chunk", f.Rounds[0].Users),
		[]string{"asked/s", "requests/s", "late p50", "late p99", "CPU/request", ""}, rows)
}

func (f *Figures) stepsText() string {
	text := ""
	for _, x := range []struct {
		title string
		steps []Step
	}{
		{fmt.Sprintf("Open streams: %d chunks/s each", streamRate), f.Streams},
		{"Chunks/s: the same streams, faster and faster", f.Chunks},
	} {
		var rows [][]string
		for _, s := range x.steps {
			r, verdict := &s.Result, "exact"
			if s.Missed != "" {
				verdict = s.Missed
			} else if s.Plateau < fullRate*s.ChunksPerSecond {
				verdict = "exact, but more do not come"
			}
			rows = append(rows, []string{count(float64(s.Streams)), count(s.ChunksPerSecond), count(s.Plateau), asMicros(r.StampError.P50), asMicros(r.StampError.P99),
				percent(r.SharedShare), fmt.Sprintf("%.1f us", r.CPUPerChunkMicros), verdict})
		}
		if len(rows) > 0 {
			text += section(x.title, []string{"streams", "asked/s", "chunks/s", "error p50", "error p99", "shared", "CPU/chunk", ""}, rows)
		}
	}
	return text
}

func (f *Figures) stampsText() string {
	if len(f.Stamps) == 0 {
		return ""
	}
	var rows [][]string
	for _, s := range f.Stamps {
		name := "our own"
		if s.Timestamps == metrics.KernelStamps {
			name = "kernel's"
		}
		rows = append(rows, []string{name, asMicros(s.Error.P50), asMicros(s.Error.P99), asMicros(s.Error.P999), asMicros(s.Error.Max), percent(s.SharedShare), fmt.Sprintf("%.1f us", s.CPU)})
	}
	s := f.Stamps[0]
	return section(fmt.Sprintf("Stamps against the server's own log: %s streams, %s chunks/s, %s", count(float64(s.Streams)), count(s.ChunksPerSecond), plural(float64(s.Rounds), "round")),
		[]string{"stamps", "error p50", "p99", "p99.9", "max", "shared", "CPU/chunk"}, rows)
}

func (f *Figures) latenessText() string {
	if len(f.Lateness) == 0 {
		return ""
	}
	var rows [][]string
	for _, l := range f.Lateness {
		sent := "no"
		if l.Sent {
			sent = "yes"
		}
		q := l.Lateness
		rows = append(rows, []string{count(l.RequestsPerSecond), sent, asMicros(q.P50), asMicros(q.P99), asMicros(q.P999), asMicros(q.Max), count(float64(q.N))})
	}
	return section("Lateness of arrivals", []string{"arrivals/s", "sent", "late p50", "p99", "p99.9", "max", "arrivals"}, rows)
}

func (f *Figures) dashboardText() string {
	d := f.Dashboard
	if d == nil {
		return ""
	}
	row := func(name string, w Watched, drawn string) []string {
		return []string{name, fmt.Sprintf("%.2f s", w.CPU), asMicros(w.Error.P99), asMicros(w.Error.P999), asMicros(w.Lateness.P99), drawn}
	}
	return section(fmt.Sprintf("Dashboard: the same load with it and without, %s", plural(float64(d.Pairs), "pair")),
		[]string{"dashboard", "CPU", "error p99", "p99.9", "late p99", "drawn"},
		[][]string{row("off", d.Without, "-"), row("on", d.With, fmt.Sprintf("%.1f KB/s", d.DrawnBytes/1000))}) +
		fmt.Sprintf("  CPU with the dashboard: %.2f times\n", d.CPURatio)
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

// section is a table below a title. Columns are as wide as they need and to the right, but for a last one without a name.
func section(title string, head []string, rows [][]string) string {
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 9)
		}
	}
	text := "\n" + title + "\n"
	for _, row := range append([][]string{head}, rows...) {
		line := ""
		for i, cell := range row {
			if i == len(row)-1 && head[i] == "" {
				line += "   " + cell
			} else {
				line += "  " + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + cell
			}
		}
		text += strings.TrimRight(line, " ") + "\n"
	}
	return text
}

// asMicros is a time in microseconds for people, or in milliseconds where those would have six digits.
func asMicros(d time.Duration) string {
	us := float64(d) / float64(time.Microsecond)
	switch {
	case us >= 10_000:
		return count(us/1000) + " ms"
	case us < 10 && us != 0:
		return strconv.FormatFloat(us, 'f', 1, 64) + " us"
	}
	return count(us) + " us"
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

func plural(n float64, what string) string {
	if n != 1 {
		what += "s"
	}
	return count(n) + " " + what
}

// list joins with commas and an "and".
func list(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}
