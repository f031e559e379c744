package export

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// reportOfTiers is a search with four tiers, the last of which never failed and the third of which nothing meets.
func reportOfTiers() metrics.Report {
	tier := func(name string, limit float64) metrics.Tier {
		return metrics.Tier{Name: name,
			SLO: metrics.SLO{{Metric: metrics.TTFT, LimitMS: limit}, {Metric: metrics.TPOT, LimitMS: limit / 10}}}
	}
	r := metrics.Report{Plan: metrics.Plan{Find: &metrics.Find{From: 1, Most: 80},
		Tiers: []metrics.Tier{tier("gold", 200), tier("silver", 400), tier("none-such", 1), tier("bronze", 4000)}}}
	r.Objectives, r.Plan.Goodput = r.Plan.Tiers[0].SLO, r.Plan.Tiers[0].SLO
	r.Completed = 100
	for _, load := range []float64{20, 40, 80} {
		l := metrics.LoadLevel{Offered: load, Completed: 1,
			LevelVerdict: metrics.LevelVerdict{Requests: 100, Good: 99, Standing: metrics.LevelWithin}}
		l.Others = []metrics.LevelVerdict{
			{Requests: 100, Good: 98, Standing: metrics.LevelWithin},
			{Requests: 100, Standing: metrics.LevelMissed, Confidence: 1},
			{Requests: 100, Good: 100, Standing: metrics.LevelWithin},
		}
		r.Levels = append(r.Levels, l)
	}
	r.Answer = metrics.Answer{
		TierAnswer: metrics.TierAnswer{Proven: 20, Confidence: 0.979,
			Estimate: metrics.Range{Load: 25, Low: 22, High: 28}}, Why: "no saturation up to 80 req/s", LowestTried: 20,
		Others: []metrics.TierAnswer{
			{Estimate: metrics.Range{Load: 40, Low: 38.2, High: 43.1}}, {None: true},
			{Proven: 79.6, ProvenLevel: 2, Confidence: 0.9999, Untested: true},
		},
	}
	return r
}

func TestAnswerOfTiers(t *testing.T) {
	t.Parallel()
	r := reportOfTiers()
	const brief = "gold 20 req/s (97 %); silver estimate 38-44; none-such 20 req/s missed (99 %); bronze 79.6 req/s " +
		"(99 %); no saturation up to 80 req/s"
	assert.Equal(t, Answer(r), brief, "Answer")
	r.Plan.Tiers, r.Answer.Others = r.Plan.Tiers[:1], nil
	if got, want := Answer(r),
		"within SLO: 20 req/s proven (97 %), estimate 22-28; no saturation up to 80 req/s"; got != want {
		t.Errorf("one tier: %q, want %q", got, want)
	}
}

func TestTiersText(t *testing.T) {
	t.Parallel()
	const want = `
gold       20 req/s proven (97 %), estimate 22-28           ttft:200 tpot:20
silver     estimate 38-44 req/s                             ttft:400 tpot:40
none-such  no load, 20 req/s missed (99 %)                  ttft:1 tpot:0.1
bronze     79.6 req/s proven (99 %), higher loads untested  ttft:4000 tpot:400
`
	r := reportOfTiers()
	assert.Equal(t, Tiers(r), want, "Tiers")
	if r.Plan.Tiers = nil; Tiers(r) != "" {
		t.Error("a run without tiers has a line for one")
	}
}

// The name of a tier in a damaged journal is foreign text.
func TestForeignTier(t *testing.T) {
	t.Parallel()
	r := reportOfTiers()
	r.Plan.Tiers[1].Name = "\x1b[31msilver\n\u202e" + strings.Repeat("x", 500)
	got, answer := Tiers(r), Answer(r)
	if strings.ContainsAny(got+answer, "\x1b\u202e") || strings.Count(got, "\n") != 5 || len(answer) > maxAnswerWidth {
		t.Errorf("%q\n%q", got, answer)
	}
}
