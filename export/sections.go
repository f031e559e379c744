package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/internal/pyjson"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// figure is one of both the result and the report.
type figure struct {
	key, label string
	value      any // an int or a float64
}

// String is the value as vLLM prints it.
func (f figure) String() string {
	if v, ok := f.value.(float64); ok {
		return decimal(v)
	}
	return fmt.Sprint(f.value)
}

// figures are a section.
type figures []figure

func (f figures) keys() (o object) {
	for _, x := range f {
		o = append(o, Arg{x.key, x.value})
	}
	return o
}

// section writes nothing without figures.
func (t textReport) section(title string, f figures) {
	if len(f) > 0 {
		t.heading(title, '-')
	}
	t.figures(f)
}

func (t textReport) figures(f figures) {
	for _, x := range f {
		t.line(x.label, x.String())
	}
}

// probesOf are the latencies of completed probes in milliseconds, computed as vLLM does. ok is false without one.
func probesOf(p *metrics.Probes) (s metrics.Statistic, ok bool) {
	if p == nil || len(p.Latencies) == 0 {
		return s, false
	}
	seconds := metrics.Each(p.Latencies, time.Duration.Seconds)
	slices.Sort(seconds)
	return metrics.StatisticOf(seconds, []float64{99}), true
}

func probeFigures(r *metrics.Report) figures {
	s, ok := probesOf(r.Probes)
	if !ok {
		return nil
	}
	return figures{
		{"probe_completed", "Probe requests completed:", r.Probes.Completed},
		{"probe_failed", "Probe requests failed:", r.Probes.Failed},
		{"probe_median_e2el_ms", "Median probe E2EL (ms):", s.Median},
		{"probe_p99_e2el_ms", "P99 probe E2EL (ms):", s.Percentiles[0].Value},
		{"probe_max_e2el_ms", "Max probe E2EL (ms):", s.Max},
	}
}

// probeObject is written for every run with probes.
func probeObject(p *metrics.Probes) object {
	s, ok := probesOf(p)
	return object{
		{"completed", p.Completed}, {"failed", p.Failed},
		{"median_ms", when(ok, s.Median)}, {"p99_ms", finiteOrNull(percentileOf(&s, 99))}, {"max_ms", when(ok, s.Max)},
	}
}

// specDecodeFigures are vLLM's figures of speculative decoding, nil without draft tokens.
func specDecodeFigures(r *metrics.Report) figures {
	s := r.SpecDecode
	if s == nil || s.DraftTokens <= 0 {
		return nil
	}
	return figures{
		{"spec_decode_acceptance_rate", "Acceptance rate (%):",
			float64(s.AcceptedTokens) / float64(s.DraftTokens) * 100},
		{"spec_decode_acceptance_length", "Acceptance length:", s.Length()},
		{"spec_decode_num_drafts", "Drafts:", s.Drafts},
		{"spec_decode_draft_tokens", "Draft tokens:", s.DraftTokens},
		{"spec_decode_accepted_tokens", "Accepted tokens:", s.AcceptedTokens},
	}
}

func specDecodeKeys(r *metrics.Report) object {
	f := specDecodeFigures(r)
	if f == nil {
		return nil
	}
	return append(f.keys(), Arg{"spec_decode_per_position_acceptance_rates", r.SpecDecode.PerPosition()})
}

func (t textReport) specDecode(r *metrics.Report) {
	f := specDecodeFigures(r)
	if f == nil {
		return
	}
	t.section("Speculative Decoding", f)
	for i, share := range r.SpecDecode.PerPosition() {
		if i == 0 {
			t.w.WriteString("Per-position acceptance (%):\n")
		}
		t.float(fmt.Sprintf("  Position %d:", i), share*100)
	}
}

// diffusionFigures are vLLM's figures of diffusion decoding, nil without steps or committed tokens. A canvas is a block
// of tokens that is denoised in several steps and then committed in one more:
//
//	block     = positions / steps
//	canvases  = committed tokens / block
//	denoising = steps - canvases
//
// Inconsistent counters can make a figure infinite.
func diffusionFigures(r *metrics.Report) figures {
	d := r.Diffusion
	if d == nil || d.DenoisingSteps <= 0 || d.CommittedTokens <= 0 {
		return nil
	}
	committed, all := float64(d.CommittedTokens), float64(d.DenoisingSteps)
	block := float64(d.CanvasPositions) / all
	canvases := committed / block
	denoising := all - canvases
	throughput := 0.0
	if r.Duration > 0 {
		throughput = committed / r.Duration
	}
	return figures{
		{"diffusion_committed_throughput", "Committed throughput (tok/s):", throughput},
		{"diffusion_steps_per_canvas", "Denoising steps per canvas:", denoising / canvases},
		{"diffusion_committed_per_step", "Committed per denoising step:", committed / denoising},
		{"diffusion_committed_tokens", "Committed tokens:", d.CommittedTokens},
		{"diffusion_denoising_steps", "Denoising steps:", truncated(denoising)},
		{"diffusion_canvas_positions", "Canvas positions evaluated:", d.CanvasPositions},
	}
}

// truncated drops the fraction; NaN and values out of range become 0.
func truncated(v float64) int {
	if !(v > -metrics.LargestCount && v < metrics.LargestCount) {
		return 0
	}
	return int(v)
}

// missedGates lists the missed gates, as many as fit into width columns, at least one.
func missedGates(r *metrics.Report, width int) string {
	const words = "FAILED "
	var missed []string
	for i := range r.Gates {
		if g := &r.Gates[i]; g.Missed {
			missed = append(missed, fmt.Sprintf("%s (%s)", cutASCII(g.Gate.String(), width/2), gateValue(g)))
		}
	}
	if len(missed) == 0 {
		return ""
	}
	return words + joinFitting(missed, width-len(words))
}

// gateValue is the value of a gate's metric in the unit of its limit, with enough digits to show on which side of the
// limit it lies.
func gateValue(g *metrics.GateResult) string {
	if !g.Known {
		return "unknown"
	}
	scale, unit := 1.0, ""
	if g.Gate.Percent {
		scale, unit = 100, "%"
	}
	v := g.Value * scale
	if !text.Finite(v) {
		return pyjson.Float(v) + unit
	}
	decimals := 0
	switch a := math.Abs(v); {
	case v == math.Trunc(v):
	case a < 1:
		decimals = 3
	case a < 10:
		decimals = 2
	case a < 100:
		decimals = 1
	}
	for ; ; decimals++ {
		text := strconv.FormatFloat(v, 'f', decimals, 64)
		shown, _ := strconv.ParseFloat(text, 64)
		if decimals >= 9 || g.Gate.Missed(shown/scale) == g.Gate.Missed(g.Value) {
			return text + unit
		}
	}
}

// gates lists all gates.
func (t *remarks) gates() {
	if !t.lists {
		return
	}
	if len(t.r.Gates) > 0 {
		t.text += "Gates (the run fails if one is met):\n"
	}
	for _, g := range t.r.Gates {
		state := "ok"
		if g.Missed {
			state = "FAILED"
		}
		line := fmt.Sprintf("%8s  %s  (%s)", state, text.Clean(g.Gate.String()), gateValue(&g))
		t.text += text.Fit(line, textWidth) + "\n"
	}
}

// clientVerdict reports whether the client limited the measurement, with the reasons if they fit into width columns. In
// older journals, without data on the client, it reports the lateness of requests.
func clientVerdict(r *metrics.Report, width int) string {
	v := &r.Client.Verdict
	switch {
	case v.Limited():
		const words = "client OVERLOADED"
		if text := words + " (" + joinFitting(v.Why, width-len(words+" ()")) + ")"; len(text) <= width {
			return text
		}
		return words
	case r.Completed == 0: // no figures to distort
		return ""
	case monitored(&r.Client):
		return "client ok"
	case !r.Plan.Paced() || p99OfSlotWait(r) > 0: // lateness has no meaning or is reported as the wait for a slot
		return ""
	}
	late := percentileOf(&r.Statistics[metrics.Lateness], 99)
	switch {
	case !metrics.Said(late):
		return ""
	case late < 10:
		return fmt.Sprintf("client p99 send delay %.1f ms", late)
	}
	return fmt.Sprintf("client p99 send delay %s", findings.Milliseconds(late))
}

// joinFitting joins as many items as fit into width columns, at least one, and counts the rest.
func joinFitting(items []string, width int) string {
	const more = " and %d more"
	list, left := "", 0
	for i, item := range items {
		available := width
		if i < len(items)-1 {
			available -= len(more)
		}
		switch {
		case i == 0:
			list = item
		case left > 0 || len(list)+len(", ")+len(item) > available:
			left++
		default:
			list += ", " + item
		}
	}
	if left > 0 {
		list += fmt.Sprintf(more, left)
	}
	return list
}

// client reports limits and oddities of the client. A healthy client gets no remark.
func (t *remarks) client() {
	c := &t.r.Client
	if why := strings.Join(c.Verdict.Why, "; "); c.Verdict.Limited() {
		noSocket := func(f metrics.FailureCount) bool { return f.Kind == metrics.FailedNoSocket }
		if slices.ContainsFunc(t.r.Failures, noSocket) {
			t.add("Client OVERLOADED: %s. The machine ran out of open files or local ports, see the failures above:"+
				" raise the limit, lower the load, or spread it over several machines.", why)
		} else {
			t.add("Client OVERLOADED: %s. The figures may reflect the client instead of the server: give the client "+
				"dedicated cores, run it on another machine, or lower the load; `benchtop calibrate` shows what this "+
				"machine can measure.", why)
		}
	}
	if c.StoodStill > 0 {
		var longest metrics.ClientSecond
		for _, s := range c.Seconds {
			if s.Stall > longest.Stall {
				longest = s
			}
		}
		rounded := func(d time.Duration) string { return metrics.Duration(d.Round(time.Millisecond)) }
		t.add("Stalls: the client did not run for %s, the longest time %s around second %.0f; it or the whole machine "+
			"was stopped."+
			" Requests due in that time may have been sent late, and chunks that arrived may share one time stamp.",
			rounded(c.StoodStill), rounded(longest.Stall), longest.At.Seconds())
	}
	if c.ClockSteps != 0 && c.Source == metrics.KernelStamps { // other stamps come from a monotonic clock
		t.add("Clock: the system clock was set in %s of the run; chunks around those moments have the time of their "+
			"read.", text.Count(c.ClockSteps, "second"))
	}
	t.stamps(c)
}

// maxOddStamps is the share of chunks with odd stamps that needs no remark.
const maxOddStamps = metrics.SharedMost

// stamps reports chunks without a stamp of their own. If the client was limited, its verdict covers chunks that arrived
// together; if there are too few chunks for a verdict, its read delay decides.
func (t *remarks) stamps(c *metrics.Client) {
	chunks := float64(max(c.Stamps.Chunks, 1))
	if share := float64(c.Stamps.Unstamped) / chunks; c.Source == metrics.KernelStamps && share > maxOddStamps {
		t.add("Time stamps: %s of the chunks have no kernel time stamp but the time of their read, which is later."+
			" Unix sockets have none.", percent(share))
	}
	share := float64(c.Stamps.Shared) / chunks
	switch {
	case !monitored(c) || c.Verdict.Limited() || share <= maxOddStamps:
	case c.ReadLate:
		t.add("Time stamps: %s of the chunks were coalesced with the one before. The client sometimes read late, so "+
			"the cause may be the client or the server. The gaps between them are 0.", percent(share))
	default:
		t.add("Time stamps: %s of the chunks were coalesced with the one before, although the client read in time: "+
			"the server or"+
			" a proxy sends several at once, or the network delayed them. The gaps between them are 0.", percent(share))
	}
}
