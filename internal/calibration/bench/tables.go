package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
	"benchtop/internal/text"
	"benchtop/loadgen/conn"
	"benchtop/metrics"
)

// tables are all tables, in the order of the page. Quick ones have one round of smaller loads.
func tables(quick bool) []table {
	all := []table{streams(quick), stamps(quick), burst(quick), pacers(quick), replay(quick), startup(), peers(quick)}
	all = append(all, dashboards(quick)...)
	if quick {
		for i := range all {
			all[i].rounds = 1
		}
	}
	return all
}

// scaled is the full number, or the small one of a quick table.
func scaled(quick bool, full, small int) int {
	if quick {
		return small
	}
	return full
}

// The rows of a comparison of clients.
const (
	raw    = "raw reader"
	kernel = "benchtop, kernel stamps"
	user   = "benchtop, user stamps"
)

// clients compares clients on one core. A system without stamps of the kernel has a row less.
func clients(load calibration.Load) []row {
	rows := []row{{raw, measureClient(load, firstCore(), true)}}
	if conn.KernelStamps() {
		load.Timestamps = metrics.KernelStamps
		rows = append(rows, row{kernel, measureClient(load, firstCore(), false)})
	}
	load.Timestamps = metrics.UserStamps
	return append(rows, row{user, measureClient(load, firstCore(), false)})
}

// streams measures the cost of a chunk and of an open stream.
func streams(quick bool) table {
	n := scaled(quick, 10_000, 2_000)
	load := calibration.Load{
		// The streams begin over some seconds, so that the server does not write to all at the same moment.
		Requests: n, Rate: float64(n) / float64(scaled(quick, 8, 2)), Chunks: scaled(quick, 80, 35),
		TTFT: 200 * time.Millisecond, ITL: 200 * time.Millisecond,
	}
	t := table{name: "streams", rounds: 5, rows: clients(load), columns: []column{
		{"chunks/s", "chunks/s", 0}, {"cpu", "CPU per chunk, µs", 1}, {"allocs", "allocations per chunk", 3},
		{"memory", "KB per stream", 1}, {"p50", "stamp error p50, µs", 0}, {"p99", "p99", 0}, {"p99.9", "p99.9", 0},
		{"shared", "share a stamp, %", 2},
	}}
	for _, name := range []string{kernel, user} {
		most := 1.15
		if name == kernel { // which reads many at a time
			most = 0.8
		}
		t.limits = append(t.limits,
			limit{text: fmt.Sprintf("%s: CPU per chunk ≤ %g × raw reader", name, most), row: name, column: "cpu",
				over: raw, most: most, unit: " ×", decimals: 2},
			limit{text: name + ": 0 allocations per chunk (< 0.01)", row: name, column: "allocs", most: 0.01,
				decimals: 3},
			limit{text: name + ": ≤ 20 KB per stream", row: name, column: "memory", most: 20, unit: " KB", decimals: 1})
	}
	return t
}

// stamps measures the error of a chunk's time.
func stamps(quick bool) table {
	load := calibration.Load{
		Requests: 1_000, Rate: 1_000, Chunks: scaled(quick, 100, 40), TTFT: 50 * time.Millisecond,
		ITL: 50 * time.Millisecond,
	}
	return table{name: "stamps", rounds: 7, rows: clients(load), columns: []column{
		{"chunks/s", "chunks/s", 0}, {"p50", "stamp error p50, µs", 0}, {"p99", "p99", 0}, {"p99.9", "p99.9", 0},
		{"shared", "share a stamp, %", 2}, {"cpu", "CPU per chunk, µs", 1},
	}, limits: []limit{
		{text: "kernel stamps: p99 ≤ 50 µs", row: kernel, column: "p99", most: 50, unit: " µs"},
		{text: "kernel stamps: p99.9 ≤ 1 ms", row: kernel, column: "p99.9", most: 1000, unit: " µs"},
		{text: "user stamps: p99 ≤ 2 × raw reader", row: user, column: "p99", over: raw, most: 2, unit: " ×",
			decimals: 2},
	}}
}

// burst measures the latencies of many streams that begin at once.
func burst(quick bool) table {
	load := calibration.Load{Chunks: scaled(quick, 300, 100), TTFT: 50 * time.Millisecond, ITL: 10 * time.Millisecond}
	of := func(n int, open bool) measurement {
		l := load
		l.Requests, l.Preconnect = n, open
		return measureClient(l, allButLast(), false)
	}
	const thousand, fresh, fewer, fewerFresh = "1,000, open connections", "1,000, fresh dials", "300, open connections",
		"300, fresh dials"
	t := table{name: "burst", rounds: 5, rows: []row{
		{thousand, of(1_000, true)}, {fresh, of(1_000, false)}, {fewer, of(300, true)}, {fewerFresh, of(300, false)},
	}, columns: []column{
		{"chunks/s", "chunks/s", 0}, {"connect", "connect p50, ms", 2}, {"ttft", "mean TTFT error, ms", 2},
		{"itl", "std of ITL, ms", 2}, {"server itl", "the server's own", 2}, {"itl error", "of the difference", 2},
		{"p99", "stamp error p99, µs", 0}, {"late", "sent late p99, ms", 2},
	}}
	for _, r := range t.rows {
		most, itl := 5.0, true
		if r.name == fresh || r.name == fewerFresh {
			most, itl = 10, false
		}
		text := fmt.Sprintf("%s: mean TTFT error ≤ %g ms", r.name, most)
		t.limits = append(t.limits,
			limit{text: text, row: r.name, column: "ttft", most: most, unit: " ms", decimals: 2})
		if itl {
			t.limits = append(t.limits, limit{text: r.name + ": std of ITL ≤ 0.5 ms", row: r.name, column: "itl",
				most: 0.5, unit: " ms", decimals: 2})
		}
	}
	return t
}

// startup measures the time to a user's first request, and the size of the program.
func startup() table {
	const first, program = "start to first request", "stripped program"
	return table{name: "startup", rounds: 7,
		rows:    []row{{first, measureStart}, {program, measureSize}},
		columns: []column{{"start", "ms", 1}, {"size", "MB", 1}},
		limits: []limit{
			{text: "start to first request ≤ 20 ms", row: first, column: "start", most: 20, unit: " ms", decimals: 1},
			{text: "stripped program ≤ 20 MB", row: program, column: "size", most: 20, unit: " MB", decimals: 1},
		}}
}

func measureSize(_ context.Context, h *harness, _ int) (sample, error) {
	info, err := os.Stat(h.program)
	if err != nil {
		return sample{}, err
	}
	return sample{Figures: map[string]float64{"size": float64(info.Size()) / 1e6}}, nil
}

// measureStart measures the time from just before the start of benchtop's process to the arrival of its first request
// at the server.
func measureStart(ctx context.Context, h *harness, _ int) (sample, error) {
	if err := metronome.ClearLog(ctx, h.base); err != nil {
		return sample{}, err
	}
	c := exec.CommandContext(ctx, h.program, "serve", "--no-tui", "--no-save", "--base-url", h.base, "--model",
		"metronome",
		"--dataset-name", "random", "--random-input-len", "1024", "--random-output-len", "1",
		"--num-prompts", "1000", "--max-concurrency", "1")
	c.Dir, c.Env = h.folder, append(os.Environ(), "HF_HUB_OFFLINE=1") // no look-up of a tokenizer
	began := time.Now()
	if err := c.Start(); err != nil {
		return sample{}, err
	}
	arrived, err := firstArrival(ctx, h.base)
	_ = c.Process.Kill()
	_ = c.Wait()
	if err != nil {
		return sample{}, err
	}
	return sample{Figures: map[string]float64{"start": metrics.Milliseconds(arrived.Sub(began.Round(0)))}}, nil
}

// firstArrival waits until the log has a request of a run; those before a run have no id.
func firstArrival(ctx context.Context, base string) (time.Time, error) {
	for giveUp := time.Now().Add(20 * time.Second); time.Now().Before(giveUp); {
		log, err := metronome.FetchLog(ctx, base)
		if err != nil && log == nil {
			return time.Time{}, err
		}
		log = slices.DeleteFunc(log, func(e metronome.Entry) bool { return e.ID == "" })
		if len(log) > 0 {
			return slices.MinFunc(log, func(a, b metronome.Entry) int { return a.Arrived.Compare(b.Arrived) }).Arrived,
				nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, errors.New("benchtop sent no request within 20 s")
}

// table has rows that are measured in turn, round by round, so that other work of the machine affects all of them.
type table struct {
	name    string
	rounds  int
	rows    []row
	columns []column
	limits  []limit
	after   func() // is called after the last measurement; nil for nothing
}

// row is a subject of measurements.
type row struct {
	name    string
	measure measurement
}

// measurement measures a row in a round, from 0.
type measurement func(ctx context.Context, h *harness, round int) (sample, error)

// sample is the result of a measurement.
type sample struct {
	// Figures by the key of their column.
	Figures map[string]float64 `json:"figures"`
	// Remarks on problems, in fixed words, with an example of this measurement.
	Remarks []remark `json:"-"`
	// Raw has all results.
	Raw any `json:"whole,omitempty"`
}

// remark has the same What in all rounds.
type remark struct{ What, Example string }

// column shows a figure with a number of decimals.
type column struct {
	key, title string
	decimals   int
}

// everyRow instead of the name of a row has a limit apply to the highest value of all rows in each round.
const everyRow = ""

// limit is the limit of a figure's median; with over, of the median of its ratio to that row's, round by round.
type limit struct {
	text        string
	row, column string
	over        string
	most        float64
	unit        string
	decimals    int
}

// rowSamples holds the samples of a row, one a round.
type rowSamples map[string][]sample

func (t *table) measure(ctx context.Context, h *harness) (rowSamples, error) {
	if t.after != nil {
		defer t.after()
	}
	m := rowSamples{}
	report := progress(os.Stderr)
	for round := range t.rounds {
		for i := range t.rows {
			r := t.rows[(i+round)%len(t.rows)] // each row has its turn as the first
			report(fmt.Sprintf("%s: round %d of %d, %s", t.name, round+1, t.rounds, r.name))
			s, err := r.measure(ctx, h, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			m[r.name] = append(m[r.name], s)
		}
	}
	report("")
	return m, nil
}

// progress overwrites one line of a terminal. It writes nothing to a file.
func progress(to *os.File) func(line string) {
	if info, err := to.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return func(string) {}
	}
	return func(line string) { fmt.Fprint(to, "\r\x1b[K", line) }
}

// of are the values of a figure, one for each round that has it.
func (m rowSamples) of(row, column string) []float64 {
	var values []float64
	for _, s := range m[row] {
		if v, ok := s.Figures[column]; ok {
			values = append(values, v)
		}
	}
	return values
}

// highest has the highest value of a figure in each round, or nothing if a row lacks it in some round.
func (m rowSamples) highest(column string) []float64 {
	var most []float64
	for row := range m {
		values := m.of(row, column)
		if most == nil {
			most = values
		}
		if len(values) != len(most) || len(values) != len(m[row]) {
			return nil
		}
		for i, v := range values {
			most[i] = max(most[i], v)
		}
	}
	return most
}

// against has the values that a limit applies to.
func (m rowSamples) against(b *limit) []float64 {
	if b.row == everyRow {
		return m.highest(b.column)
	}
	values := m.of(b.row, b.column)
	if b.over == "" {
		return values
	}
	base := m.of(b.over, b.column)
	if len(base) != len(values) {
		return nil
	}
	ratios := make([]float64, len(values))
	for i := range values {
		ratios[i] = values[i] / base[i]
	}
	return ratios
}

// describe is "median (minimum to maximum)".
func describe(values []float64, decimals int) string {
	if len(values) == 0 {
		return "–"
	}
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	if len(values) == 1 {
		return f(values[0])
	}
	return fmt.Sprintf("%s (%s to %s)", f(metrics.Median(values)), f(slices.Min(values)), f(slices.Max(values)))
}

// markdown has the table, its limits, the remarks and the conditions of the measurement.
func (t *table) markdown(m rowSamples, here machine) string {
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	head, rule := []string{""}, []string{"---"}
	for _, c := range t.columns {
		head, rule = append(head, c.title), append(rule, "---:")
	}
	line(head...)
	line(rule...)
	for _, r := range t.rows {
		cells := metrics.Each(t.columns, func(c column) string { return describe(m.of(r.name, c.key), c.decimals) })
		line(append([]string{r.name}, cells...)...)
	}
	if len(t.limits) > 0 {
		b.WriteByte('\n')
		line("Bar", "Measured", "")
		line("---", "---:", "---")
		for i := range t.limits {
			line(t.limits[i].cells(m)...)
		}
	}
	for _, r := range t.rows {
		for _, remark := range remarks(m[r.name]) {
			fmt.Fprintf(&b, "\n%s: %s.\n", r.name, remark)
		}
	}
	fmt.Fprintf(&b, "\n%s, %s.\n", text.Count(t.rounds, "round"), here)
	return b.String()
}

func (b *limit) cells(m rowSamples) []string {
	values := m.against(b)
	if len(values) == 0 {
		return []string{b.text, "–", "not measured"}
	}
	verdict := "**not met**"
	if metrics.Median(values) <= b.most {
		verdict = "met"
	}
	return []string{b.text, describe(values, b.decimals) + b.unit, verdict}
}

// remarks are those of all rounds of a row, each once, with the number of its rounds and its last example.
func remarks(samples []sample) []string {
	var order []string
	times, last := map[string]int{}, map[string]string{}
	for _, s := range samples {
		for _, r := range s.Remarks {
			if times[r.What]++; times[r.What] == 1 {
				order = append(order, r.What)
			}
			last[r.What] = r.Example
		}
	}
	for i, what := range order {
		order[i] = fmt.Sprintf("%s in %d of %s, such as: %s", what, times[what], text.Count(len(samples), "round"),
			last[what])
	}
	return order
}
