package export

import (
	"fmt"
	"math"
	"slices"

	"benchtop/metrics"
)

// figures are a section of both the result and the report.
type figures []struct {
	key, label string
	value      any // an int or a float64
}

func (f figures) keys() (o object) {
	for _, x := range f {
		o = append(o, field{x.key, x.value})
	}
	return o
}

// section writes nothing without figures.
func (t textReport) section(title string, f figures) {
	if len(f) > 0 {
		t.heading(title, '-')
	}
	for _, x := range f {
		switch v := x.value.(type) {
		case int:
			t.int(x.label, v)
		case float64:
			t.float(x.label, v)
		}
	}
}

// probeLatencies are the latencies of completed probes in milliseconds.
type probeLatencies struct{ median, p99, most float64 }

// probesOf computes the figures as vLLM does: in seconds, with linear interpolation. ok is false without a completed probe.
func probesOf(p *metrics.Probes) (f probeLatencies, ok bool) {
	if p == nil || len(p.Latencies) == 0 {
		return f, false
	}
	seconds := make([]float64, len(p.Latencies))
	for i, d := range p.Latencies {
		seconds[i] = d.Seconds()
	}
	slices.Sort(seconds)
	n := len(seconds)
	return probeLatencies{
		median: (seconds[(n-1)/2] + seconds[n/2]) / 2 * 1000,
		p99:    interpolate(seconds, .99) * 1000,
		most:   seconds[n-1] * 1000,
	}, true
}

// interpolate is the percentile of sorted values as numpy computes it; q is from 0 to 1.
func interpolate(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	k := int(math.Floor(at))
	if k >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	low, high, share := sorted[k], sorted[k+1], at-float64(k)
	if share >= 0.5 { // numpy interpolates from the nearer end
		return high - (high-low)*(1-share)
	}
	return low + (high-low)*share
}

func probeFigures(r *metrics.Report) figures {
	f, ok := probesOf(r.Probes)
	if !ok {
		return nil
	}
	return figures{
		{"probe_completed", "Probe requests completed:", r.Probes.Completed},
		{"probe_failed", "Probe requests failed:", r.Probes.Failed},
		{"probe_median_e2el_ms", "Median probe E2EL (ms):", f.median},
		{"probe_p99_e2el_ms", "P99 probe E2EL (ms):", f.p99},
		{"probe_max_e2el_ms", "Max probe E2EL (ms):", f.most},
	}
}

// probeObject is written for every run with probes.
func probeObject(p *metrics.Probes) object {
	f, ok := probesOf(p)
	ms := func(v float64) any { return when(ok, v) }
	return object{
		{"completed", p.Completed}, {"failed", p.Failed},
		{"median_ms", ms(f.median)}, {"p99_ms", ms(f.p99)}, {"max_ms", ms(f.most)},
	}
}

// acceptance is the success of a server's drafts.
type acceptance struct {
	// rate is the share of accepted draft tokens in percent.
	rate float64
	// length is the mean number of tokens of a step, including the model's own; 0 without drafts.
	length float64
	// perPosition is the share of drafts whose token at that position was accepted.
	perPosition []float64
}

// acceptanceOf computes vLLM's figures of speculative decoding; ok is false without draft tokens.
func acceptanceOf(s *metrics.SpecDecode) (a acceptance, ok bool) {
	if s == nil || s.DraftTokens <= 0 {
		return a, false
	}
	a.rate = float64(s.AcceptedTokens) / float64(s.DraftTokens) * 100
	if s.Drafts > 0 {
		a.length = 1 + float64(s.AcceptedTokens)/float64(s.Drafts)
		for _, n := range s.AcceptedPerPosition {
			a.perPosition = append(a.perPosition, float64(n)/float64(s.Drafts))
		}
	}
	return a, true
}

func specDecodeFigures(r *metrics.Report) figures {
	a, ok := acceptanceOf(r.SpecDecode)
	if !ok {
		return nil
	}
	return figures{
		{"spec_decode_acceptance_rate", "Acceptance rate (%):", a.rate},
		{"spec_decode_acceptance_length", "Acceptance length:", a.length},
		{"spec_decode_num_drafts", "Drafts:", r.SpecDecode.Drafts},
		{"spec_decode_draft_tokens", "Draft tokens:", r.SpecDecode.DraftTokens},
		{"spec_decode_accepted_tokens", "Accepted tokens:", r.SpecDecode.AcceptedTokens},
	}
}

func specDecodeKeys(r *metrics.Report) object {
	a, ok := acceptanceOf(r.SpecDecode)
	if !ok {
		return nil
	}
	return append(specDecodeFigures(r).keys(), field{"spec_decode_per_position_acceptance_rates", a.perPosition})
}

func (t textReport) specDecode(r *metrics.Report) {
	t.section("Speculative Decoding", specDecodeFigures(r))
	a, _ := acceptanceOf(r.SpecDecode)
	if len(a.perPosition) > 0 {
		t.w.WriteString("Per-position acceptance (%):\n")
	}
	for i, share := range a.perPosition {
		t.float(fmt.Sprintf("  Position %d:", i), share*100)
	}
}

// denoising are the figures of diffusion decoding. A canvas is a block of tokens that is denoised in several steps and then
// committed in one more:
//
//	block     = positions / steps
//	canvases  = committed tokens / block
//	denoising = steps - canvases
type denoising struct {
	// throughput is in committed tokens per second.
	throughput float64
	// stepsPerCanvas are denoising steps; perStep are committed tokens for each denoising step.
	stepsPerCanvas, perStep float64
	// steps are denoising steps only, rounded down.
	steps int
}

// denoisingOf computes vLLM's figures of diffusion decoding; ok is false without steps or committed tokens. Inconsistent
// counters can make a figure infinite.
func denoisingOf(d *metrics.Diffusion, seconds float64) (n denoising, ok bool) {
	if d == nil || d.DenoisingSteps <= 0 || d.CommittedTokens <= 0 {
		return n, false
	}
	committed, all := float64(d.CommittedTokens), float64(d.DenoisingSteps)
	block := float64(d.CanvasPositions) / all
	canvases := committed / block
	steps := all - canvases
	n = denoising{stepsPerCanvas: steps / canvases, perStep: committed / steps, steps: truncated(steps)}
	if seconds > 0 {
		n.throughput = committed / seconds
	}
	return n, true
}

// truncated drops the fraction; NaN and values out of range become 0.
func truncated(v float64) int {
	if !(v > -metrics.LargestCount && v < metrics.LargestCount) {
		return 0
	}
	return int(v)
}

func diffusionFigures(r *metrics.Report) figures {
	n, ok := denoisingOf(r.Diffusion, r.Duration)
	if !ok {
		return nil
	}
	return figures{
		{"diffusion_committed_throughput", "Committed throughput (tok/s):", n.throughput},
		{"diffusion_steps_per_canvas", "Denoising steps per canvas:", n.stepsPerCanvas},
		{"diffusion_committed_per_step", "Committed per denoising step:", n.perStep},
		{"diffusion_committed_tokens", "Committed tokens:", r.Diffusion.CommittedTokens},
		{"diffusion_denoising_steps", "Denoising steps:", n.steps},
		{"diffusion_canvas_positions", "Canvas positions evaluated:", r.Diffusion.CanvasPositions},
	}
}
