package export

import (
	"fmt"

	"benchtop/metrics"
)

// acceptance is how well a server's drafts did.
type acceptance struct {
	// rate is the share of draft tokens that were accepted, in per cent.
	rate float64
	// length is how many tokens a step gave on average, the one of the model itself included; 0 without drafts.
	length float64
	// perPosition is the share of drafts whose token at that position was accepted, from 0 to 1.
	perPosition []float64
}

// acceptanceOf computes what vLLM reports of speculative decoding; ok is false where nothing was drafted.
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

func specDecodeKeys(r *metrics.Report) object {
	a, ok := acceptanceOf(r.SpecDecode)
	if !ok {
		return nil
	}
	return object{
		{"spec_decode_acceptance_rate", a.rate},
		{"spec_decode_acceptance_length", a.length},
		{"spec_decode_num_drafts", r.SpecDecode.Drafts},
		{"spec_decode_draft_tokens", r.SpecDecode.DraftTokens},
		{"spec_decode_accepted_tokens", r.SpecDecode.AcceptedTokens},
		{"spec_decode_per_position_acceptance_rates", a.perPosition},
	}
}

func (t textReport) specDecode(r *metrics.Report) {
	a, ok := acceptanceOf(r.SpecDecode)
	if !ok {
		return
	}
	t.heading("Speculative Decoding", '-')
	t.float("Acceptance rate (%):", a.rate)
	t.float("Acceptance length:", a.length)
	t.int("Drafts:", r.SpecDecode.Drafts)
	t.int("Draft tokens:", r.SpecDecode.DraftTokens)
	t.int("Accepted tokens:", r.SpecDecode.AcceptedTokens)
	if len(a.perPosition) > 0 {
		t.w.WriteString("Per-position acceptance (%):\n")
	}
	for i, share := range a.perPosition {
		t.float(fmt.Sprintf("  Position %d:", i), share*100)
	}
}

// denoising is what a server's counters say about diffusion decoding. A canvas is one block of tokens that is denoised
// in several steps and then committed in one more, so
//
//	block     = positions / steps
//	canvases  = committed tokens / block
//	denoising = steps - canvases
type denoising struct {
	// throughput of committed tokens per second.
	throughput float64
	// stepsPerCanvas are denoising steps, perStep tokens that each of them committed in the end.
	stepsPerCanvas, perStep float64
	// steps of denoising alone, as a whole number.
	steps int
}

// denoisingOf computes what vLLM reports of diffusion decoding; ok is false where no step was made or nothing committed.
// Counters that do not go together can make a figure infinite.
func denoisingOf(d *metrics.Diffusion, seconds float64) (n denoising, ok bool) {
	if d == nil || d.DenoisingSteps <= 0 || d.CommittedTokens <= 0 {
		return n, false
	}
	committed, all := float64(d.CommittedTokens), float64(d.DenoisingSteps)
	block := float64(d.CanvasPositions) / all
	canvases := committed / block
	steps := all - canvases
	n = denoising{stepsPerCanvas: steps / canvases, perStep: committed / steps, steps: wholeOf(steps)}
	if seconds > 0 {
		n.throughput = committed / seconds
	}
	return n, true
}

// wholeOf cuts off the fraction; 0 stands for what is no number of steps at all.
func wholeOf(v float64) int {
	if !(v > -metrics.LargestCount && v < metrics.LargestCount) {
		return 0
	}
	return int(v)
}

func diffusionKeys(r *metrics.Report) object {
	n, ok := denoisingOf(r.Diffusion, r.Duration)
	if !ok {
		return nil
	}
	return object{
		{"diffusion_committed_throughput", n.throughput},
		{"diffusion_steps_per_canvas", n.stepsPerCanvas},
		{"diffusion_committed_per_step", n.perStep},
		{"diffusion_committed_tokens", r.Diffusion.CommittedTokens},
		{"diffusion_denoising_steps", n.steps},
		{"diffusion_canvas_positions", r.Diffusion.CanvasPositions},
	}
}

func (t textReport) diffusion(r *metrics.Report) bool {
	n, ok := denoisingOf(r.Diffusion, r.Duration)
	if !ok {
		return false
	}
	t.heading("Diffusion Decoding", '-')
	t.float("Committed throughput (tok/s):", n.throughput)
	t.float("Denoising steps per canvas:", n.stepsPerCanvas)
	t.float("Committed per denoising step:", n.perStep)
	t.int("Committed tokens:", r.Diffusion.CommittedTokens)
	t.int("Denoising steps:", n.steps)
	t.int("Canvas positions evaluated:", r.Diffusion.CanvasPositions)
	return true
}
