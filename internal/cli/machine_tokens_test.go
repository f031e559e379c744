package cli

import (
	"fmt"
	"io"
	"math"
	"testing"
	"testing/synctest"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/simulator"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// texts is a source of n requests of a text.
type texts struct{ n, output int }

func (s *texts) Next() (datasets.Conversation, error) {
	if s.n == 0 {
		return datasets.Conversation{}, io.EOF
	}
	s.n--
	return datasets.Conversation{
		Turns: []datasets.Turn{{Text: "Why is the sea blue?", InputTokens: 5, MaxTokens: s.output}}}, nil
}

// Where a server drafts tokens and counts those of each chunk, a token takes its part of a step; ITL stays the gap
// between chunks. Without the count nothing is known of tokens.
func TestTokensOfDrafts(t *testing.T) {
	const n, steps, drafts = 4, 5, 3
	p := simulator.Defaults()
	p.SpecTokens = drafts
	for _, c := range []struct {
		to         protocol.Protocol
		acceptance float64
		counted    bool
	}{{protocol.Default(), 1, true}, {protocol.Chat{}, 1, true}, {protocol.Default(), 1, false},
		{protocol.Chat{}, 0.5, true}} {
		t.Run(fmt.Sprintf("%s, %v accepted, counted %t", c.to.Traits().Name, c.acceptance, c.counted),
			func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := p
					p.SpecAcceptance = c.acceptance
					const output = 1 + steps*(1+drafts) // the first token comes alone
					var extra []protocol.Field
					if c.counted {
						extra = append(extra, c.to.Traits().RunningUsage)
					}
					r, s, _ := machine(t, p, c.to,
						func() datasets.Flow { return datasets.Flow{Next: (&texts{n: n, output: output}).Next} },
						shape.Rate{PerSecond: 3, Burstiness: math.Inf(1)}.Offsets(n, nil), extra...)
					chunks, tokens := &r.Statistics[metrics.ITL], &r.Statistics[metrics.TokenITL]
					if live := int(s.Histograms[metrics.TokenITL].Count()); r.Completed != n ||
						r.OutputTokens != n*output || live != tokens.N {
						t.Fatalf("%d completed, %d tokens, %d per-token ITLs live, %d in the report; %+v", r.Completed,
							r.OutputTokens, live, tokens.N, r.Failures)
					}
					if r.Speeds.N != n || math.Abs(r.Speeds.Median/1000*r.Statistics[metrics.TPOT].Median-1) > 0.01 {
						t.Errorf("speeds %+v, TPOT %+v", r.Speeds, r.Statistics[metrics.TPOT])
					}
					if !c.counted {
						assert.Equal(t, tokens.N, 0, "%d per-token ITLs that are not known", tokens.N)
						return
					}
					if weighted := r.Statistics[metrics.TPOTWeighted].Mean; tokens.N != n*(output-1) ||
						math.Abs(tokens.Mean-weighted) > 1e-4 {
						t.Errorf("%d per-token ITLs with a mean of %v ms, want %d with that of TPOT by tokens, %v ms",
							tokens.N, tokens.Mean, n*(output-1), weighted)
					}
					if c.acceptance == 1 &&
						(chunks.N != n*steps || math.Abs(chunks.Mean/(1+drafts)-tokens.Mean) > 1e-4 ||
							math.Abs(chunks.Max/(1+drafts)-tokens.Max) > 1e-4) {
						t.Errorf("ITL %+v, per token %+v", chunks, tokens)
					}
				})
			})
	}
}
