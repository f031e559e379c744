package export

import "benchtop/metrics"

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
