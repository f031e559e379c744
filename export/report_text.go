package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"benchtop/internal/findings"
	"benchtop/internal/pyjson"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// ruleWidth is the width of vLLM's report in columns.
const ruleWidth = 50

// Text is the report exactly as vLLM prints it, trailing blanks included. Only foreign text is cleaned. Telemetry,
// Remarks, Plots and Answer have what vLLM does not have.
func Text(r metrics.Report) string {
	t := newTextReport()
	t.failures(&r)
	t.heading(" Serving Benchmark Result ", '=')
	t.figures(totals(&r))
	t.section("Probe Requests", probeFigures(&r))
	for _, l := range selected(&r) {
		v, name := &r.Statistics[l], l.Naming()
		t.heading(name.Heading, '-')
		t.statistic(name.Label+" (ms):", v, v.Percentiles)
	}
	if f := diffusionFigures(&r); f != nil { // vLLM prints one of the two sections
		t.section("Diffusion Decoding", f)
	} else {
		t.specDecode(&r)
	}
	t.heading("", '=')
	return t.w.String()
}

// textReport formats lines, and keeps them as tables, one for each heading.
type textReport struct {
	w      *strings.Builder
	tables *[]*table.Table
}

func newTextReport() textReport { return textReport{new(strings.Builder), new([]*table.Table)} }

// row adds a row to the table of the last heading.
func (t textReport) row(cells ...any) {
	if all := *t.tables; len(all) > 0 {
		all[len(all)-1].Add(cells...)
	}
}

// heading centres text. An odd column goes to the right.
func (t textReport) heading(text string, fill byte) {
	*t.tables = append(*t.tables, twoColumns(strings.TrimSpace(text)))
	pad := max(0, ruleWidth-len(text))
	line := strings.Repeat(string(fill), pad/2) + text + strings.Repeat(string(fill), pad-pad/2)
	t.w.WriteString(line + "\n")
}

func (t textReport) line(label, value string) {
	fmt.Fprintf(t.w, "%-40s %-10s\n", label, value)
	t.row(strings.TrimSuffix(label, ":"), value)
}

// statistic writes mean, median and percentiles.
func (t textReport) statistic(label string, s *metrics.Statistic, percentiles []metrics.Percentile) {
	t.float("Mean "+label, s.Mean)
	t.float("Median "+label, s.Median)
	for _, p := range percentiles {
		t.float("P"+pythonNumber(p.P)+" "+label, p.Value)
	}
}

func (t textReport) float(label string, v float64) { t.line(label, decimal(v)) }

// decimal is a number as vLLM prints it.
func decimal(v float64) string {
	if text.Finite(v) {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return pyjson.Float(v)
}

// totals are the first figures of the report; they have no keys.
func totals(r *metrics.Report) (f figures) {
	add := func(known bool, label string, value any) {
		if known {
			f = append(f, figure{"", label, value})
		}
	}
	pooling, tokens := !r.Plan.Generates(), !r.Plan.SkipTokenizer
	rate, users := configured(&r.Plan)
	add(true, "Successful requests:", r.Completed)
	add(true, "Failed requests:", r.Failed)
	add(users > 0, "Maximum request concurrency:", users)
	add(!rate.Unlimited(), "Request rate configured (RPS):", float64(rate))
	add(true, "Benchmark duration (s):", r.Duration)
	add(true, "Total input tokens:", r.InputTokens)
	add(tokens && !pooling, "Total generated tokens:", r.OutputTokens)
	add(true, "Request throughput (req/s):", r.RequestThroughput)
	add(pooling, "Input throughput (inputs/s):", r.InputThroughput)
	if r.Goodput != nil {
		add(true, "Request goodput (req/s):", *r.Goodput)
	}
	add(tokens && !pooling, "Output token throughput (tok/s):", r.OutputThroughput)
	add(tokens && !pooling, "Peak output token throughput (tok/s):", float64(r.PeakOutputPerSecond))
	add(!pooling, "Peak concurrent requests:", float64(r.PeakConcurrency))
	add(r.RTFx > 0, "RTFx (Inverse Real-Time Factor):", r.RTFx)
	add(tokens, "Total token throughput (tok/s):", r.TotalThroughput)
	return f
}

func (t textReport) failures(r *metrics.Report) {
	if r.Failed == 0 || r.Plan.Pooling { // vLLM does not list them for pooling
		return
	}
	fmt.Fprintln(t.w, "Failed requests during benchmark run detected (capping to 10):")
	const most = 10
	for i, f := range r.FailedRequests[:min(len(r.FailedRequests), most)] {
		fmt.Fprintf(t.w, "Error %d: %s\n", i, text.Clean(f.Error))
	}
}

// textWidth is the width of remarks in columns.
const textWidth = 80

// cutASCII makes foreign text ASCII and cuts it to width columns.
func cutASCII(s string, width int) string {
	s = strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, text.Clean(s))
	if len(s) > width {
		return s[:max(0, width-3)] + "..."
	}
	return s
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// change is a latency before and after, in a common unit.
func change(before, after float64) string {
	switch {
	case after <= 0:
		return findings.Milliseconds(before) + " -> none succeeded"
	case before <= 0:
		return findings.Milliseconds(after)
	case max(before, after) < 1000:
		return fmt.Sprintf("%s -> %s ms", digits(before), digits(after))
	}
	return fmt.Sprintf("%s -> %s s", digits(before/1000), digits(after/1000))
}

// digits writes about three significant digits.
func digits(v float64) string {
	decimals := 0
	switch {
	case !text.Finite(v):
		return pyjson.Float(v)
	case v < 0.1:
		decimals = 3
	case v < 10:
		decimals = 2
	case v < 20:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// percent writes a share, rounded down: 100 % means all.
func percent(share float64) string {
	return fmt.Sprintf("%.1f %%", math.Floor(min(share, 1)*1000+1e-9)/10)
}

// SingleRuns is what a comparison of one run with one other is worth.
const SingleRuns = "two single runs do not prove a difference"

// Comparison has a line for each figure that both runs have, with the change from old to now. name is the name of the
// old run: foreign text. The loads of the two runs are not compared.
func Comparison(name string, old, now *metrics.Report) string {
	name = text.Fit(text.Clean(name), 30)
	if old.Completed+old.Failed == 0 {
		return fmt.Sprintf("\nThe baseline %s has no requests to compare with.\n", name)
	}
	t := table.New("", "Against "+name, "baseline", "this run", "change")
	t.Gap = 1
	for i, width := range []int{42, 11, 11, 8} {
		t.Columns[i].Width = width
	}
	figure := func(known bool, label string, before, now float64) {
		if known && metrics.Said(before+now) {
			t.Add(label, before, now, changeText(now, before))
		}
	}
	count := func(label string, before, now int) {
		t.Add(label, before, now, changeText(float64(now), float64(before)))
	}
	count("Successful requests:", old.Completed, now.Completed)
	count("Failed requests:", old.Failed, now.Failed)
	figure(true, "Request throughput (req/s):", old.RequestThroughput, now.RequestThroughput)
	if old.Goodput != nil && now.Goodput != nil {
		figure(true, "Request goodput (req/s):", *old.Goodput, *now.Goodput)
	}
	figure(now.Plan.Pooling && old.InputThroughput > 0, "Input throughput (inputs/s):",
		old.InputThroughput, now.InputThroughput)
	figure(!now.Plan.SkipTokenizer && old.OutputTokens > 0, "Output token throughput (tok/s):",
		old.OutputThroughput, now.OutputThroughput)
	figure(old.RTFx > 0 && now.RTFx > 0, "RTFx (Inverse Real-Time Factor):", old.RTFx, now.RTFx)
	if a, b := old.Server, now.Server; a != nil && b != nil {
		figure(true, "Prefix cache hit rate (%):", 100*a.HitRate, 100*b.HitRate)
	}
	for _, l := range selected(now) {
		a, b, label := &old.Statistics[l], &now.Statistics[l], l.Naming().Label
		figure(a.N > 0 && b.N > 0, "Median "+label+" (ms):", a.Median, b.Median)
		figure(true, "P99 "+label+" (ms):", percentileOf(a, 99), percentileOf(b, 99))
	}
	return fmt.Sprintf("%sOne run each: %s.\n", t, SingleRuns)
}

// changeText is a change in percent, "-" if it is undefined.
func changeText(now, before float64) string {
	part, ok := metrics.Change(now, before)
	if !ok {
		return "-"
	}
	return text.Change(part)
}
