package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]Gate{
		"goodput<90%":                            {Metric: "goodput", Op: "<", Limit: 0.9, Percent: true},
		"goodput<0.9":                            {Metric: "goodput", Op: "<", Limit: 0.9},
		" goodput  <=  90% ":                     {Metric: "goodput", Op: "<=", Limit: 0.9, Percent: true},
		"error_rate>0.3%":                        {Metric: "error_rate", Op: ">", Limit: 0.003, Percent: true},
		"error_rate>=100%":                       {Metric: "error_rate", Op: ">=", Limit: 1, Percent: true},
		"error_rate>=1":                          {Metric: "error_rate", Op: ">=", Limit: 1},
		"p99_ttft_ms>500":                        {Metric: "p99_ttft_ms", Op: ">", Limit: 500},
		"p99_ttft>500ms":                         {Metric: "p99_ttft_ms", Op: ">", Limit: 500},
		"p99_ttft_ms > 0.5s":                     {Metric: "p99_ttft_ms", Op: ">", Limit: 500},
		"p099.90_e2el>=1.1s":                     {Metric: "p99.9_e2el_ms", Op: ">=", Limit: 1100},
		"mean_client_queue_time>5":               {Metric: "mean_client_queue_time_ms", Op: ">", Limit: 5},
		"max_e2el_including_client_queue_ms>1e3": {Metric: "max_e2el_including_client_queue_ms", Op: ">", Limit: 1000},
		"std_itl>.5":                             {Metric: "std_itl_ms", Op: ">", Limit: 0.5},
		"min_tpot<0":                             {Metric: "min_tpot_ms", Op: "<", Limit: 0},
		"median_tpot>25e-3s":                     {Metric: "median_tpot_ms", Op: ">", Limit: 25},
		"request_throughput<12.5":                {Metric: "request_throughput", Op: "<", Limit: 12.5},
		"max_concurrent_requests>8":              {Metric: "max_concurrent_requests", Op: ">", Limit: 8},
		"completed<+100":                         {Metric: "completed", Op: "<", Limit: 100},
	} {
		got, err := ParseGate(text)
		if err != nil || got != want {
			t.Errorf("ParseGate(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestGateString(t *testing.T) {
	for text, want := range map[string]string{
		"goodput< 90%": "goodput<90%", "goodput<.9": "goodput<0.9", "error_rate>0.3%": "error_rate>0.3%",
		"error_rate>=100%": "error_rate>=100%", "error_rate>0%": "error_rate>0%", "error_rate>12.345%": "error_rate>12.345%",
		"error_rate>1e-5%":  "error_rate>0.00001%",
		"p99.90_ttft>=0.5s": "p99.9_ttft_ms>=500", "completed<1e3": "completed<1000",
	} {
		g, err := ParseGate(text)
		if err != nil || g.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, g.String(), err, want)
		}
	}
}

func TestParseGateRefuses(t *testing.T) {
	for text, part := range map[string]string{
		"":                               "expected METRIC, one of < <= > >=, and a number",
		"goodput":                        "expected METRIC",
		"goodput=90%":                    "expected METRIC",
		"<5":                             "expected METRIC",
		"goodput<":                       "expected METRIC",
		"goodput<90 %":                   "expected METRIC",
		"goodput<<5":                     `"<5" is not a number`,
		"goodput<x":                      `"x" is not a number`,
		"failed>nan":                     `"nan" is not a number`,
		"failed>Inf":                     `"Inf" is not a number`,
		"failed>0x10":                    `"0x10" is not a number`,
		"failed>1_0":                     `"1_0" is not a number`,
		"failed>1e999":                   "too large",
		"failed>1e99999":                 "is not a number",
		"failed>-1":                      "must be 0 or more",
		"failed>5%":                      "failed is not a share",
		"failed>5ms":                     "failed is not a time",
		"p99_ttft>5%":                    "p99_ttft_ms is not a share",
		"goodput<5s":                     "goodput is not a time",
		"goodput<90":                     "goodput is a share of 1, so its limit cannot be 90; did you mean 90%?",
		"goodput<101%":                   "goodput cannot be more than 100%",
		"p99_tfft_ms>5":                  `unknown metric "p99_tfft_ms"; use goodput, `,
		"godput<90%":                     "p0 to p100 of ttft, tpot",
		"error-rate>1%":                  "error_rate",
		"p101_ttft>5":                    "unknown metric",
		"ttft>5":                         "unknown metric",
		"p99_ttft_ms_ms>5":               "unknown metric",
		"something else entirely>5":      "use goodput, error_rate",
		strings.Repeat("x", 1000) + ">5": "unknown metric",
	} {
		g, err := ParseGate(text)
		if err == nil {
			t.Errorf("ParseGate(%q) = %+v, want an error with %q", text, g, part)
		} else if !strings.Contains(err.Error(), part) {
			t.Errorf("ParseGate(%q): %v, want %q in it", text, err, part)
		}
	}
}

func FuzzParseGate(f *testing.F) {
	for _, seed := range []string{
		"goodput<90%", "p99_ttft_ms > 0.5s", "error_rate>=1e-3", "p97.5_itl<=.5ms", "max_e2el_ms>1e300s", "x<1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGate(text)
		if err != nil {
			if g != (Gate{}) || err.Error() == "" {
				t.Errorf("%q: %+v with error %q", text, g, err)
			}
			return
		}
		if math.IsNaN(g.Limit) || math.IsInf(g.Limit, 0) || g.Limit < 0 {
			t.Errorf("%q: limit %v", text, g.Limit)
		}
		again, err := ParseGate(g.String())
		if err != nil || again != g {
			t.Errorf("%q is %+v, its text %q is %+v, %v", text, g, g.String(), again, err)
		}
		if f, ok := parseFigure(g.Metric); !ok || f.String() != g.Metric {
			t.Errorf("%q: %q is not the name of a metric", text, g.Metric)
		}
	})
}

func TestGateMissed(t *testing.T) {
	for _, c := range []struct {
		op                  string
		below, equal, above bool
	}{
		{"<", true, false, false}, {"<=", true, true, false}, {">", false, false, true}, {">=", false, true, true},
		{"?", true, true, true},
	} {
		g := Gate{Metric: "failed", Op: c.op, Limit: 5}
		if g.Missed(4) != c.below || g.Missed(5) != c.equal || g.Missed(6) != c.above {
			t.Errorf("4, 5 and 6 %s 5: %v, %v, %v", c.op, g.Missed(4), g.Missed(5), g.Missed(6))
		}
	}
}

func gates(t *testing.T, texts ...string) []Gate {
	t.Helper()
	var all []Gate
	for _, text := range texts {
		g, err := ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// simple makes a request sent at a moment that takes ttft and then a gap for each further token.
func simple(index int, sent, ttft, gap time.Duration, tokens int) Request {
	q := NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	for i := range tokens {
		q.Add(Chunk{At: sent + ttft + gap*time.Duration(i), Tokens: 1})
	}
	q.InputTokens, q.OutputTokens, q.Done = 10, tokens, q.LastChunk
	return q
}

func refused(index int, sent time.Duration, words string) Request {
	q := NewRequest(index)
	q.Scheduled, q.Due, q.Admitted, q.Sent = sent, sent, sent, sent
	q.Failure, q.Status, q.Error, q.Done = FailedStatus, 503, words, sent+time.Millisecond
	return q
}

// gatedRun has eight successes with TTFTs of 100 to 800 ms and two failures in ten seconds.
func gatedRun() []Request {
	var all []Request
	for i := range 8 {
		q := simple(i, time.Duration(i)*time.Second, time.Duration(i+1)*100*time.Millisecond, 50*time.Millisecond, 5)
		q.Due -= time.Duration(i) * time.Millisecond // held so long
		all = append(all, q)
	}
	return append(all, refused(8, 8*time.Second, "busy"), refused(9, 9*time.Second, "busy"))
}

func TestGatesOfAReport(t *testing.T) {
	plan := Plan{
		Percentiles: []float64{99}, Goodput: SLO{{TTFT, 600}},
		Gates: gates(t,
			"goodput<60%", "goodput<=60%", "error_rate>0.2", "error_rate>=20%", "request_goodput<1", "request_throughput<0.8",
			"output_throughput<=4", "total_token_throughput>12", "completed<9", "failed>1", "max_concurrent_requests>2",
			"mean_ttft>450", "median_ttft>=450", "std_ttft>1s", "min_ttft<100", "max_ttft>=800",
			"p97.5_ttft>783", "p97.5_ttft>782", "mean_itl>50", "max_e2el>1s", "p50_tpot>=50",
			"max_client_queue_time_ms>6", "max_e2el_including_client_queue>1007"),
	}
	r, err := Summarize(yield(gatedRun()), Run{Plan: plan, Ended: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		value  float64
		missed bool
	}{
		{0.6, false}, {0.6, true}, {0.2, false}, {0.2, true}, {0.6, true}, {0.8, false},
		{4, true}, {12, false}, {8, true}, {2, true}, {1, false},
		{450, false}, {450, true}, {229.128784747792, false}, {100, false}, {800, true},
		{782.5, false}, {782.5, true}, {50, false}, {1000, false}, {50, true},
		{7, true}, {1007, false},
	}
	for i, got := range r.Gates {
		if !got.Known || !near(got.Value, want[i].value) || got.Missed != want[i].missed || got.Gate != plan.Gates[i] {
			t.Errorf("%s: %+v, want %+v", plan.Gates[i], got, want[i])
		}
	}
	if len(r.Gates) != len(want) {
		t.Errorf("%d results, want %d", len(r.Gates), len(want))
	}
	// A gate's percentile is not among those that were asked for.
	if len(r.Statistics[TTFT].Percentiles) != 1 || len(r.Statistics[ITL].Gated) != 0 {
		t.Errorf("percentiles of TTFT %v, gated ones of ITL %v", r.Statistics[TTFT].Percentiles, r.Statistics[ITL].Gated)
	}
}

func TestGatesWithoutASample(t *testing.T) {
	all := gates(t, "goodput<90%", "error_rate>1%", "request_goodput<1", "request_throughput<1", "output_throughput<1",
		"total_token_throughput<1", "max_concurrent_requests>5", "p99_ttft>5", "max_client_queue_time>1")
	all = append(all, Gate{Metric: "nonsense", Op: "<", Limit: 1})
	r, err := Summarize(yield(nil), Run{Plan: Plan{Gates: all, Goodput: SLO{{TTFT, 1}}}, Ended: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Gates {
		if g.Known || !g.Missed {
			t.Errorf("%s: %+v, want unknown and missed", g.Gate, g)
		}
	}
	live := NewRecorder(time.Now(), &r.Plan).Snapshot()
	for _, g := range live.CheckGates() {
		if g.Known || g.Missed {
			t.Errorf("live, %s: %+v, want unknown and not missed", g.Gate, g)
		}
	}
	r, err = Summarize(yield(nil), Run{Plan: Plan{Gates: gates(t, "completed<1", "failed>0", "goodput<1")}, Ended: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	got := []bool{r.Gates[0].Known, r.Gates[0].Missed, r.Gates[1].Known, r.Gates[1].Missed, r.Gates[2].Known, r.Gates[2].Missed}
	if diff := cmp.Diff([]bool{true, true, true, false, false, true}, got); diff != "" {
		t.Errorf("completed, failed, goodput: (-want +got)\n%s", diff)
	}
	if !all[0].NeedsObjectives() || !all[2].NeedsObjectives() || all[1].NeedsObjectives() || all[7].NeedsObjectives() {
		t.Error("goodput and request_goodput need objectives, the others do not")
	}
}

// Live, gates come from histograms and totals: shares and rates are the same, latencies to the width of a bucket.
func TestGatesLive(t *testing.T) {
	names := slices.Clone(gateNumbers)
	for _, s := range []string{"mean", "median", "std", "min", "max", "p95", "p97.5"} {
		for _, l := range LatencyKeys() {
			names = append(names, s+"_"+l+"_ms")
		}
	}
	plan := Plan{Goodput: SLO{{TTFT, 700}}, Warmup: 3 * time.Second}
	for _, n := range names {
		plan.Gates = append(plan.Gates, Gate{Metric: n, Op: ">=", Limit: 0})
	}
	all := drawRun(4, 600)
	ended := time.Duration(0)
	for i := range all {
		ended = max(ended, all[i].Done)
	}
	r, err := Summarize(yield(all), Run{Plan: plan, Ended: ended})
	if err != nil {
		t.Fatal(err)
	}
	rec := NewRecorder(time.Now(), &plan)
	play(rec, all)
	s := rec.Snapshot()
	s.At = ended
	live := s.CheckGates()
	for i, want := range r.Gates {
		got := live[i]
		tolerance := 0.04*want.Value + 0.001
		if want.Gate.Metric == "max_concurrent_requests" {
			tolerance = want.Value // all requests, not only successes, and other seconds
		}
		if !got.Known || !got.Missed || math.Abs(got.Value-want.Value) > tolerance || got.Value == 0 {
			t.Errorf("%s: live %+v, report %+v", want.Gate.Metric, got, want)
		}
	}
	// Too few requests are no failure as long as more may come.
	plan.Gates = gates(t, "completed<1000", "completed>1000", "completed<=5000")
	for _, g := range s.CheckGates() {
		if g.Missed || !g.Known {
			t.Errorf("%s is missed while the run is on: %+v", g.Gate, g)
		}
	}
	rec.Finish(&r)
	s = rec.Snapshot()
	if got := s.CheckGates(); !cmp.Equal(got, r.Gates) {
		t.Errorf("after the end %+v, want the report's", got)
	}
	if got := (&Snapshot{}).CheckGates(); got != nil {
		t.Errorf("without a plan: %+v", got)
	}
}

// The estimate of the standard deviation is as good as the buckets are narrow.
func TestHistogramDeviation(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var h Histogram
	s := sample{}
	for range 5000 {
		v := time.Duration(100_000+50_000*r.ExpFloat64()) * time.Microsecond
		h.Add(v)
		s.add(v.Seconds())
	}
	if got, want := h.deviation(), s.statistic(nil).Std; math.Abs(got/want-1) > 0.01 {
		t.Errorf("%v ms, want %v", got, want)
	}
	if got := new(Histogram).deviation(); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
