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

// disturbedFrom is how late the pacer alone is at the 99th percentile on a machine that has other things to do.
const disturbedFrom = 3 * time.Millisecond

// disturbed is the sign of a machine that had other things to do, "" for none: the pacer alone was late, or the stamps of the
// kernel at a load that most machines carry were not exact.
func (f *Figures) disturbed() string {
	late := time.Duration(0)
	for _, l := range f.Lateness {
		if q := l.Lateness; !l.Sent {
			late = max(late, q.P99)
		}
	}
	switch {
	case late >= disturbedFrom:
		return fmt.Sprintf("with nothing to send, arrivals were %s late (p99)", asMicros(late))
	case f.Timestamps == metrics.KernelStamps && f.StampError.P99 > MostError:
		return fmt.Sprintf("even the kernel's stamps were off by %s (p99)", asMicros(f.StampError.P99))
	}
	return ""
}

// Worse says in a few words why a calibration should not take the place of another one of the same machine, "" if it may.
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

// Verdict is what the machine can measure, in a sentence.
func (f *Figures) Verdict() string {
	var most, less []string
	for _, x := range f.headlines() {
		switch {
		case x.most > 0 && x.more:
			most = append(most, fmt.Sprintf("%s %s (more were not tried)", count(x.most), x.unit))
		case x.most > 0:
			most = append(most, count(x.most)+" "+x.unit)
		case x.least > 0:
			less = append(less, fmt.Sprintf("not even %s %s", count(x.least), x.unit))
		}
	}
	if len(most)+len(less) == 0 {
		return "Nothing could be measured of what this machine can do."
	}
	text := "This machine can measure up to " + list(most)
	if len(most) == 0 {
		text = "This machine measured nothing exactly"
	}
	if len(less) > 0 {
		text += "; " + list(less)
	}
	if f.StampError.N > 0 {
		text += fmt.Sprintf("; chunks are timed to %s (p99)", asMicros(f.StampError.P99))
	}
	return text + "."
}

// headline is one of the three figures that a load is held against.
type headline struct {
	unit string
	most float64
	// more was not tried; least is the smallest step that was, 0 if none.
	more  bool
	least float64
}

func (f *Figures) headlines() []headline {
	requests := headline{unit: "requests/s", most: f.RequestsPerSecond}
	for _, s := range f.Rates {
		if requests.least == 0 || s.Asked < requests.least {
			requests.least = s.Asked
		}
	}
	streams := headline{unit: "open streams", most: f.OpenStreams, more: f.MoreStreams}
	for _, s := range f.Streams {
		if streams.least == 0 || float64(s.Streams) < streams.least {
			streams.least = float64(s.Streams)
		}
	}
	chunks := headline{unit: "chunks/s", most: f.ChunksPerSecond, more: f.MoreChunks}
	for _, s := range f.Chunks {
		if chunks.least == 0 || s.ChunksPerSecond < chunks.least {
			chunks.least = s.ChunksPerSecond
		}
	}
	return []headline{requests, streams, chunks}
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
