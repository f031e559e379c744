package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"benchtop/internal/pyjson"
	"benchtop/metrics"
)

// ruleWidth is the width of vLLM's report in columns.
const ruleWidth = 50

// Text writes the report exactly as vLLM prints it, trailing blanks included. Only foreign text is cleaned. Telemetry,
// Remarks, Plots and Answer write what vLLM does not have.
func Text(w io.Writer, r metrics.Report) error {
	t := textReport{bufio.NewWriter(w)}
	t.failures(&r)
	t.heading(" Serving Benchmark Result ", '=')
	t.totals(&r)
	t.section("Probe Requests", probeFigures(&r))
	for _, l := range selected(&r) {
		v, name := &r.Statistics[l], l.Naming()
		t.heading(name.Heading, '-')
		t.float("Mean "+name.Label+" (ms):", v.Mean)
		t.float("Median "+name.Label+" (ms):", v.Median)
		for _, p := range v.Percentiles {
			t.float("P"+pythonNumber(p.P)+" "+name.Label+" (ms):", p.Value)
		}
	}
	if f := diffusionFigures(&r); f != nil { // vLLM prints one of the two sections
		t.section("Diffusion Decoding", f)
	} else {
		t.specDecode(&r)
	}
	t.heading("", '=')
	return t.w.Flush()
}

// textReport formats lines; the writer keeps its error for Flush.
type textReport struct{ w *bufio.Writer }

// heading centres text. An odd column goes to the right.
func (t textReport) heading(text string, fill byte) {
	pad := max(0, ruleWidth-len(text))
	line := strings.Repeat(string(fill), pad/2) + text + strings.Repeat(string(fill), pad-pad/2)
	t.w.WriteString(line + "\n")
}

func (t textReport) line(label, value string) { fmt.Fprintf(t.w, "%-40s %-10s\n", label, value) }

func (t textReport) int(label string, v int) { t.line(label, strconv.Itoa(v)) }

func (t textReport) float(label string, v float64) {
	text := pyjson.Float(v) // for inf and nan
	if finite(v) {
		text = strconv.FormatFloat(v, 'f', 2, 64)
	}
	t.line(label, text)
}

func (t textReport) totals(r *metrics.Report) {
	p, pooling, tokens := &r.Plan, r.Plan.Pooling, !r.Plan.SkipTokenizer
	t.int("Successful requests:", r.Completed)
	t.int("Failed requests:", r.Failed)
	rate, users := configured(p)
	if users > 0 {
		t.int("Maximum request concurrency:", users)
	}
	if !rate.Unlimited() {
		t.float("Request rate configured (RPS):", float64(rate))
	}
	t.float("Benchmark duration (s):", r.Duration)
	t.int("Total input tokens:", r.InputTokens)
	if tokens && !pooling {
		t.int("Total generated tokens:", r.OutputTokens)
	}
	t.float("Request throughput (req/s):", r.RequestThroughput)
	if pooling {
		t.float("Input throughput (inputs/s):", r.InputThroughput)
	}
	if r.Goodput != nil {
		t.float("Request goodput (req/s):", *r.Goodput)
	}
	if tokens && !pooling {
		t.float("Output token throughput (tok/s):", r.OutputThroughput)
		t.float("Peak output token throughput (tok/s):", float64(r.PeakOutputPerSecond))
	}
	if !pooling {
		t.float("Peak concurrent requests:", float64(r.PeakConcurrency))
	}
	if tokens {
		t.float("Total token throughput (tok/s):", r.TotalThroughput)
	}
}

func (t textReport) failures(r *metrics.Report) {
	if r.Failed == 0 || r.Plan.Pooling { // vLLM does not list them for pooling
		return
	}
	fmt.Fprintln(t.w, "Failed requests during benchmark run detected (capping to 10):")
	for i, text := range r.FirstErrors {
		fmt.Fprintf(t.w, "Error %d: %s\n", i, Clean(text))
	}
}
