package export

import (
	"strings"
	"testing"

	"benchtop/metrics"
)

// reportOfTiers is a search with four tiers, the last of which never failed and the third of which nothing meets.
func reportOfTiers() metrics.Report {
	tier := func(name string, limit float64) metrics.Tier {
		return metrics.Tier{Name: name, SLO: metrics.SLO{{Metric: metrics.TTFT, LimitMS: limit}, {Metric: metrics.TPOT, LimitMS: limit / 10}}}
	}
	r := metrics.Report{Plan: metrics.Plan{Find: &metrics.Find{From: 1, Most: 80}, Tiers: []metrics.Tier{tier("gold", 200), tier("silver", 400), tier("none-such", 1), tier("bronze", 4000)}}}
	r.Objectives, r.Plan.Goodput = r.Plan.Tiers[0].SLO, r.Plan.Tiers[0].SLO
	r.Completed = 100
	for _, load := range []float64{20, 40, 80} {
		l := metrics.LoadLevel{Offered: load, Completed: 1, Requests: 100, Good: 99, Standing: metrics.LevelWithin}
		l.Others = []metrics.TierLevel{{Requests: 100, Good: 98, Standing: metrics.LevelWithin}, {Requests: 100, Standing: metrics.LevelMissed}, {Requests: 100, Good: 100, Standing: metrics.LevelWithin}}
		r.Levels = append(r.Levels, l)
	}
	r.Answer = metrics.Answer{Within: true, Highest: 20, Confidence: 0.979, Why: "no saturation up to 80 req/s", Others: []metrics.TierAnswer{
		{Within: true, Highest: 39.8, HighestLevel: 1, Confidence: 0.9}, {}, {Within: true, Highest: 79.6, HighestLevel: 2, Confidence: 0.9999},
	}}
	return r
}

func TestAnswerOfTiers(t *testing.T) {
	t.Parallel()
	r := reportOfTiers()
	long := "within SLO gold up to 20 req/s (97 % confidence), silver up to 39.8 req/s (90 % confidence), none-such none, bronze up to 79.6 req/s or more (99 % confidence)"
	if got := highestLoad(&r); got != long {
		t.Errorf("got  %s\nwant %s", got, long)
	}
	// The line has no room for the confidences.
	if got, want := Answer(r), "within SLO gold 20 req/s, silver 39.8 req/s, none-such none, bronze 79.6 req/s or more"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for level, want := range []string{unknownLoad, noLoad} { // the client limited the lowest load, or a higher one than that which missed
		r = reportOfTiers()
		r.Levels[level].Others[1].Standing = metrics.LevelLimited
		if got := highestOf(&r, 2, false); got != want {
			t.Errorf("level %d limited: %q, want %q", level, got, want)
		}
	}
	r = reportOfTiers()
	r.Plan.Tiers, r.Answer.Others = r.Plan.Tiers[:1], nil
	if got, want := highestLoad(&r), "within SLO up to 20 req/s (97 % confidence)"; got != want {
		t.Errorf("one tier: %q, want %q", got, want)
	}
}

func TestTiersText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := Tiers(&b, reportOfTiers()); err != nil {
		t.Fatal(err)
	}
	const want = `
gold       up to 20 req/s (97 % confidence)            ttft:200 tpot:20
silver     up to 39.8 req/s (90 % confidence)          ttft:400 tpot:40
none-such  none                                        ttft:1 tpot:0.1
bronze     up to 79.6 req/s or more (99 % confidence)  ttft:4000 tpot:400
`
	if b.String() != want {
		t.Errorf("got%s\nwant%s", b.String(), want)
	}
	r := reportOfTiers()
	r.Plan.Tiers = nil
	b.Reset()
	if err := Tiers(&b, r); err != nil || b.Len() > 0 {
		t.Errorf("without tiers: %v, %q", err, b.String())
	}
}

// The name of a tier in a damaged journal is foreign text.
func TestForeignTier(t *testing.T) {
	t.Parallel()
	r := reportOfTiers()
	r.Plan.Tiers[1].Name = "\x1b[31msilver\n\u202e" + strings.Repeat("x", 500)
	var b strings.Builder
	if err := Tiers(&b, r); err != nil || strings.ContainsAny(b.String()+Answer(r), "\x1b\u202e") || strings.Count(b.String(), "\n") != 5 || len(Answer(r)) > maxAnswerWidth {
		t.Errorf("%v: %q\n%q", err, b.String(), Answer(r))
	}
}
