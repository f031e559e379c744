package metrics

import "time"

// Outcome is a request as vLLM's formulas see it: in seconds, as 64-bit floats. Keeping their arithmetic, order of
// additions included, is what makes the figures agree to the last digits.
type Outcome struct {
	Start, TTFT, E2EL, SlotWait float64
	Rest                        OtherObjectives
	ITLs                        []float64
	Input, Output               int
}

func (o *Outcome) TPOT() float64 {
	if o.Output < 2 {
		return -1
	}
	return (o.E2EL - o.TTFT) / float64(o.Output-1)
}

// Outcome converts a successful request but for its gaps.
func (r *Request) Outcome() Outcome {
	o := OutcomeOf(r.TTFT(), r.E2EL(), r.OutputTokens, r.OtherObjectives())
	o.Start, o.SlotWait, o.Input = r.Sent.Seconds(), max(0, r.SlotWait()).Seconds(), r.InputTokens
	return o
}

// OutcomeOf is an outcome as far as objectives judge it.
func OutcomeOf(ttft, e2el time.Duration, output int, rest OtherObjectives) Outcome {
	return Outcome{TTFT: ttft.Seconds(), E2EL: e2el.Seconds(), Output: output, Rest: rest}
}

// OtherObjectives are the latencies that an objective may limit and that do not follow from TTFT, E2EL and the output tokens.
type OtherObjectives [NumObjectives - E2EL - 1]time.Duration

func (r *Request) OtherObjectives() (out OtherObjectives) {
	for i := range out {
		out[i] = rows[int(E2EL)+1+i].of(r)
	}
	return out
}

// objective is a latency as an objective judges it. A request with fewer than two output tokens counts as having a TPOT of 0.
func (o *Outcome) objective(l Latency) float64 {
	switch l {
	case TTFT:
		return o.TTFT
	case TPOT:
		return max(0, o.TPOT())
	case E2EL:
		return o.E2EL
	}
	return o.Rest[l-E2EL-1].Seconds()
}

// OutcomeWithGaps converts a successful request; buf is reused for the gaps.
func (r *Request) OutcomeWithGaps(buf []float64) Outcome {
	o := r.Outcome()
	o.ITLs = buf[:0]
	for i := 1; i < len(r.Chunks); i++ {
		o.ITLs = append(o.ITLs, r.Gap(i).Seconds())
	}
	return o
}
