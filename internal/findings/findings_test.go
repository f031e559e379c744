package findings

import (
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/text"
	"benchtop/metrics"
)

var goal = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}

// texts are the long and the short form of all findings of a run.
func texts(r *Run) (long, short string) {
	var l, s []string
	for _, f := range r.Findings() {
		l, s = append(l, f.Long), append(s, f.Short)
	}
	return strings.Join(l, " | "), strings.Join(s, " | ")
}

// judged is a run over a ramp with one answer.
func judged(a metrics.Answer) *Run {
	return &Run{
		Plan: &metrics.Plan{Goodput: goal, Ramp: &metrics.Ramp{From: 1, To: 48}}, Objectives: goal, Answer: &a, Done: 1,
		Levels: []metrics.LoadLevel{
			{Offered: 8, LevelVerdict: metrics.LevelVerdict{Standing: metrics.LevelMissed, Confidence: 0.979}},
			{Offered: 29, LevelVerdict: metrics.LevelVerdict{Standing: metrics.LevelUnknown, Confidence: 0.82,
				Missing: 24100 * time.Millisecond}},
		},
		Percentiles: func(metrics.Latency) (float64, float64, bool) { return 46, 309.4, true },
	}
}

// loads is a range of loads.
func loads(load, low, high float64) metrics.Range {
	return metrics.Range{Load: load, Low: low, High: high}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	type tier = metrics.TierAnswer
	probably := loads(31, 29.2, 32.8)
	proven := func(estimate metrics.Range) tier {
		return tier{Proven: 24, Confidence: 0.979, Estimate: estimate, HeldLevel: -1}
	}
	for _, c := range []struct {
		long, short string
		tier        tier
		on          bool
	}{
		{"within SLO: 24 req/s proven (97 %)", "SLO 24 req/s (97 %)", proven(loads(0, 0, 0)), false},
		{"within SLO: 24 req/s proven (97 %), estimate 29–33", "SLO 24 req/s (97 %)", proven(probably), false},
		{"within SLO: 24 req/s proven (97 %), estimate up to 33", "SLO 24 req/s (97 %)", proven(loads(25, 22, 33)),
			false},
		{"within SLO: 24 req/s proven (97 %)", "SLO 24 req/s (97 %)", proven(loads(20, 18, 24)), false},
		{"within SLO: 4 req/s proven (99 %), higher loads untested", "SLO 4 req/s (99 %)",
			tier{Proven: 4, Confidence: 1, Untested: true, HeldLevel: -1}, false},
		{"within SLO: estimate 29–33 req/s", "SLO estimate 29–33 req/s", tier{Estimate: probably, HeldLevel: -1},
			false},
		{"within SLO: estimate at least 29 req/s, higher loads untested", "SLO estimate at least 29 req/s",
			tier{Estimate: loads(31, 29.2, 0), Untested: true, HeldLevel: -1}, false},
		{"no load within SLO: 8 req/s missed (97 %)", "none in SLO: 8 req/s missed (97 %)", tier{None: true}, false},
		{"load within SLO unknown: few", "SLO unknown", tier{Why: "few", HeldLevel: 1}, false},
		{"load within SLO unknown: few, hold 25 s more", "SLO unknown, hold 25 s more", tier{Why: "few", HeldLevel: 1},
			true},
		{"load within SLO unknown", "SLO unknown", tier{HeldLevel: 7}, true},
		{"within SLO: 24 req/s proven (97 %); holding 29 req/s: 82 %, about 25 s more for a verdict",
			"SLO 24 req/s (97 %)",
			tier{Proven: 24, Confidence: 0.979, HeldLevel: 1}, true},
	} {
		r := judged(metrics.Answer{TierAnswer: c.tier, LowestTried: 8})
		r.On = c.on
		if f := r.Findings()[0]; f.Long != c.long || f.Short != c.short {
			t.Errorf("%q, %q\nwant %q, %q", f.Long, f.Short, c.long, c.short)
		}
		r.Plan.Tiers = []metrics.Tier{{Name: "gold", SLO: goal}, {Name: "silver", SLO: goal}}
		r.Answer.Others, r.Levels[0].Others = []metrics.TierAnswer{c.tier},
			[]metrics.LevelVerdict{r.Levels[0].LevelVerdict}
		r.Levels[1].Others = []metrics.LevelVerdict{r.Levels[1].LevelVerdict}
		gold, silver := r.Findings()[0], r.Findings()[1]
		if silver.Value != gold.Value || silver.Tier != "silver" || gold.Long != "gold: "+gold.Value ||
			gold.Short != "gold "+gold.Brief {
			t.Errorf("tiers: %+v\n%+v", gold, silver)
		}
	}
	good := judged(metrics.Answer{TierAnswer: tier{Proven: 24, Confidence: 0.979, HeldLevel: 1}, LowestTried: 8})
	good.On, good.Levels[1].Standing = true, metrics.LevelWithin
	if f := good.Findings()[0]; !strings.HasSuffix(f.Long, "holding 29 req/s: 82 %, about 25 s more for a proof") {
		t.Errorf("a load within the objectives: %q", f.Long)
	}
}

func TestNearTheObjectives(t *testing.T) {
	t.Parallel()
	r := judged(metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 24, Confidence: 0.979, HeldLevel: 1}})
	r.On = true
	r.Levels[1].LevelVerdict = metrics.LevelVerdict{Standing: metrics.LevelWithin, Confidence: .61, Near: true}
	assert.Equal(t, r.Findings()[0].Long,
		"within SLO: 24 req/s proven (97 %); holding 29 req/s: 61 %, so near the SLO that a proof may not come", "")
}

func TestSaturation(t *testing.T) {
	t.Parallel()
	const perSecond, users = metrics.RequestsPerSecond, metrics.Users
	for _, c := range []struct {
		long, short string
		from, to    float64
		unit        metrics.Unit
		capacity    metrics.Range
	}{
		{"saturates at 33.5 req/s (32–35)", "saturates 33.5 req/s", 24, 48, perSecond, loads(33.5, 32.2, 34.9)},
		{"saturates between 24 and 48 req/s", "saturates 24–48 req/s", 24, 48, perSecond, loads(33.5, 25, 35)},
		{"saturates below 8 req/s", "saturates below 8 req/s", 0, 8, perSecond, loads(0, 0, 0)},
		{"saturates at 33–36 req/s", "saturates 33–36 req/s", 24, 0, perSecond, loads(33.1, 33, 36)},
		{"saturates above 24 req/s", "saturates above 24 req/s", 24, 0, perSecond, loads(0, 0, 0)},
		{"saturates between 1 and 8 users", "saturates 1–8 users", 1, 8, users, loads(3, 3, 3)},
		{"saturates below 1 user", "saturates below 1 user", 0, 1, users, loads(0, 0, 0)},
		{"saturates at an unknown load", "saturates at an unknown load", 0, 0, perSecond, loads(0, 0, 0)},
	} {
		r := judged(metrics.Answer{Saturates: true, Confirmed: true, Before: -1, After: -1,
			From: c.from, To: c.to, Unit: c.unit, Capacity: c.capacity})
		if f := r.Findings()[1]; f.Long != c.long || f.Short != c.short || f.Severity != Bad {
			t.Errorf("%q, %q\nwant %q, %q", f.Long, f.Short, c.long, c.short)
		}
	}
}

func TestSaturationThatIsNotKnown(t *testing.T) {
	t.Parallel()
	type answer = metrics.Answer
	why := func(words string) answer { return answer{Why: words} }
	for _, c := range []struct {
		long   string
		a      answer
		change func(*Run)
	}{
		{"saturating? 24–48 req/s", answer{Saturates: true, From: 24, To: 48}, nil},
		{"saturating? 33 req/s", answer{Saturates: true, Capacity: loads(33, 32, 34)}, nil},
		{"drifting: the server became slower under a constant load; no border named",
			answer{Drifting: true, Saturates: true}, nil},
		{"no saturation up to 20 req/s", why("no saturation up to 20 req/s"), nil},
		{"saturation unknown: too few requests", why("too few requests"), nil},
		{"", answer{}, nil}, // yet
		{"saturation unknown", answer{}, func(r *Run) { r.Over = true }},
		{"", why("too few requests"), func(r *Run) { r.Over, r.Plan.Find = true, &metrics.Find{} }},
	} {
		r := judged(c.a)
		if c.change != nil {
			c.change(r)
		}
		got := ""
		for _, f := range r.Findings() {
			if f.ID == Saturation {
				got = f.Long
			}
		}
		if got != c.long {
			t.Errorf("%q, want %q", got, c.long)
		}
	}
}

// A run without objectives says what it measured.
func TestFindingsOfARun(t *testing.T) {
	t.Parallel()
	r := judged(metrics.Answer{
		Saturates: true, Confirmed: true, From: 24, To: 48,
		Bottleneck: metrics.Bottleneck{Part: metrics.QueuePart, Share: 0.799, Of: "TTFT"},
	})
	r.Objectives, r.Plan.Goodput, r.Peak, r.Done, r.Failed = nil, nil, 2249, 95, 5
	const long = "saturates between 24 and 48 req/s | limit: queue, 79 % of TTFT | peak 2.2k tok/s | TTFT p50 46 ms, " +
		"p99 309 ms | ITL p50 46 ms, p99 309 ms | 5 errors, 5.00 %"
	const short = "saturates 24–48 req/s | limit: queue | peak 2.2k tok/s | TTFT p99 309 ms | ITL p99 309 ms | 5 errors"
	if l, s := texts(r); l != long || s != short {
		t.Errorf("%s\n%s", l, s)
	}
	r.Plan.Pooling, r.Failed = true, 1
	if l, _ := texts(r); strings.Contains(l, "ITL") || strings.Contains(l, "peak") ||
		!strings.HasSuffix(l, "1 error, 1.04 %") {
		t.Errorf("pooling: %s", l)
	}
	r.Answer, r.Done, r.Failed = nil, 0, 0
	if got := r.Findings(); got != nil {
		t.Errorf("before the first request ended: %+v", got)
	}
	r.Done, r.Objectives, r.Plan.Pooling = 1, goal, false
	if l, _ := texts(r); l != "load within SLO unknown: too early | peak 2.2k tok/s" {
		t.Errorf("before the first verdict: %s", l)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{Number(8.45), "8.5"}, {Number(8), "8"}, {Number(0.24444), "0.24"}, {Number(0.999), "1"},
		{Number(1e-9), "0.001"}, {Number(0), "0"},
		{Number(math.NaN()), "0"}, {Number(math.Inf(1)), "9P"}, {Number(12_345), "12.3k"},
		{Load(metrics.Users.Of(1)), "1 user"}, {Load(metrics.Load{Value: 24.04}), "24 req/s"},
		{Bounds(29.9, 33.1), "29–34"}, {Bounds(4.27, 4.88), "4.2–4.9"}, {Bounds(0.243, 0.247), "0.24–0.25"},
		{Bounds(30, 30), "30"},
		{Confidence(0.9799), "97 %"}, {Confidence(0.97), "97 %"}, {Confidence(1), "99 %"}, {Confidence(0.999), "99 %"},
		{Confidence(0), ""}, {Confidence(0.004), ""},
		{Confidence(math.NaN()), ""}, {Missing(39100 * time.Millisecond), "hold 40 s more"},
		{Missing(150 * time.Second), "hold 3 min more"}, {Missing(512 * time.Minute), "hold 9 h more"},
		{Share(0.00001), "<0.01 %"}, {Share(0.05), "5.00 %"}, {Share(0.5), "50.0 %"},
		{Milliseconds(0.4), "0.40 ms"}, {Milliseconds(15.72), "15.7 ms"}, {Milliseconds(46.04), "46 ms"},
		{Milliseconds(999.4), "999 ms"}, {Milliseconds(2100), "2.10 s"}, {Milliseconds(999.6), "1.00 s"},
		{text.Short(2200), "2.2k"}, {text.Short(980), "980"}, {text.Short(sane(1e300)), "9P"},
		{text.Cut(strings.Repeat("ü", 80), mostWords), strings.Repeat("ü", 59) + "…"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}
