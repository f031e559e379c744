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
