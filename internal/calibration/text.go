package calibration

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"benchtop/metrics"
)

// Text writes the calibration as tables, in ASCII except for the name of the CPU, with the verdict at the end.
func (c *Calibration) Text(w io.Writer) error {
	f := &c.Figures
	manner := ""
	if c.Quick {
		manner = ", quick"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "benchtop calibrate, %s, %.0f s%s\n%s\n", c.When.Local().Format("2006-01-02 15:04"), c.Seconds, manner, c.Machine)
	b.WriteString(f.requestsText() + stepsText(fmt.Sprintf("Open streams: %d chunks/s each", streamRate), f.Streams) +
		stepsText("Chunks/s: the same streams, faster and faster", f.Chunks) + f.stampsText() + f.latenessText() + f.dashboardText() + f.problemsText())
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

// String describes the machine.
func (m Machine) String() string {
	cpu := m.CPU
	if cpu != "" {
		cpu = ", " + cpu
	}
	return fmt.Sprintf("%s/%s%s, %s, GOMAXPROCS %d", m.OS, m.Arch, cpu, Plural(float64(m.Cores), "core"), m.GOMAXPROCS)
}

func (f *Figures) requestsText() string {
	if len(f.Rounds) == 0 {
		return ""
	}
	rates := each(f.Rounds, func(r RequestRound) float64 { return r.RequestsPerSecond })
	spread := Plural(float64(len(rates)), "round")
	if len(rates) > 1 {
		spread += fmt.Sprintf(", %s to %s", count(slices.Min(rates)), count(slices.Max(rates)))
	}
	rows := [][]string{cells("without pause", f.WithoutPause, "-", "-", "-", "the most that comes, in "+spread)}
	for _, s := range f.Rates {
		r := &s.Result
		rows = append(rows, cells(s.Asked, s.Reached, r.Lateness.P50, r.Lateness.P99, micros1(r.CPUPerChunkMicros), cmp.Or(s.Missed, "exact")))
	}
	return section(fmt.Sprintf("Requests/s: %d users without pause, then arrivals at random times; answers of one chunk", f.Rounds[0].Users),
		[]string{"asked/s", "requests/s", "late p50", "late p99", "CPU/request", ""}, rows)
}

func stepsText(title string, steps []Step) string {
	var rows [][]string
	for _, s := range steps {
		r, verdict := &s.Result, cmp.Or(s.Missed, "exact")
		if s.exact() && !s.full() {
			verdict = "exact, but more do not come"
		}
		rows = append(rows, cells(float64(s.Streams), s.ChunksPerSecond, s.Plateau, r.StampError.P50, r.StampError.P99, percent(r.SharedShare),
			micros1(r.CPUPerChunkMicros), verdict))
	}
	return section(title, []string{"streams", "asked/s", "chunks/s", "error p50", "error p99", "shared", "CPU/chunk", ""}, rows)
}

func (f *Figures) stampsText() string {
	title := ""
	var rows [][]string
	for _, s := range f.Stamps {
		name := "our own"
		if s.Timestamps == metrics.KernelStamps {
			name = "kernel's"
		}
		rows = append(rows, cells(name, s.Error.P50, s.Error.P99, s.Error.P999, s.Error.Max, percent(s.SharedShare), micros1(s.CPU)))
		title = fmt.Sprintf("Stamps against the server's own log: %s streams, %s chunks/s, %s",
			count(float64(s.Streams)), count(s.ChunksPerSecond), Plural(float64(s.Rounds), "round"))
	}
	return section(title, []string{"stamps", "error p50", "p99", "p99.9", "max", "shared", "CPU/chunk"}, rows)
}

func (f *Figures) latenessText() string {
	var rows [][]string
	for _, l := range f.Lateness {
		sent := "no"
		if l.Sent {
			sent = "yes"
		}
		q := l.Lateness
		rows = append(rows, cells(l.RequestsPerSecond, sent, q.P50, q.P99, q.P999, q.Max, float64(q.N)))
	}
	return section("Lateness of arrivals", []string{"arrivals/s", "sent", "late p50", "p99", "p99.9", "max", "arrivals"}, rows)
}

func (f *Figures) dashboardText() string {
	d := f.Dashboard
	if d == nil {
		return ""
	}
	row := func(name string, w Watched, drawn string) []string {
		return cells(name, fmt.Sprintf("%.2f s", w.CPU), w.Error.P99, w.Error.P999, w.Lateness.P99, drawn)
	}
	return section(fmt.Sprintf("Dashboard: the same load with it and without, %s", Plural(float64(d.Pairs), "pair")),
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

// cells formats a row of a table: durations in microseconds, numbers with commas, texts as they are.
func cells(row ...any) (texts []string) {
	for _, cell := range row {
		switch v := cell.(type) {
		case time.Duration:
			texts = append(texts, asMicros(v))
		case float64:
			texts = append(texts, count(v))
		default:
			texts = append(texts, fmt.Sprint(v))
		}
	}
	return texts
}

func micros1(us float64) string { return fmt.Sprintf("%.1f us", us) }

// section is a table below a title, "" without rows. Columns are aligned to the right, except for a last one without a name.
func section(title string, head []string, rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("\n" + title + "\n")
	table := tabwriter.NewWriter(&text, 11, 0, 2, ' ', tabwriter.AlignRight)
	last := len(head) - 1
	for _, row := range append([][]string{head}, rows...) {
		line := strings.Join(row[:last], "\t") + "\t"
		switch {
		case head[last] != "":
			line += row[last] + "\t"
		case row[last] != "":
			line += "   " + row[last]
		}
		fmt.Fprintln(table, line)
	}
	_ = table.Flush()
	return text.String()
}

// asMicros formats a time in microseconds, or in milliseconds where those would have five digits.
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

// Plural is a number and a noun.
func Plural(n float64, what string) string {
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
