package sweep

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/search"
	"benchtop/metrics"
)

// setsOf are the sets of a file.
func setsOf(t *testing.T, file string) []Set {
	t.Helper()
	sets, problems := parseSets([]byte(file))
	if problems != nil {
		t.Fatal(problems)
	}
	return sets
}

func TestReadSets(t *testing.T) {
	t.Parallel()
	sets := setsOf(t,
		`[{"p99_e2el_ms": "<=200"}, {"p99_ttft_ms": "< 100.5", "output_throughput": ">=500", "mean_tpot_ms": "<=3"}]`)
	if c := sets[0].Criteria[0]; c != (Criterion{"p99_e2el_ms", "<=", 200, metrics.E2EL, 99}) ||
		sets[0].file() != "SLA--p99_e2el_ms<=200.00.json" {
		t.Error(c, sets[0].file())
	}
	if got := sets[1].Conditions(); got != "p99_ttft_ms<100.50, output_throughput>=500.00, mean_tpot_ms<=3.00" ||
		sets[1].Criteria[2].Percentile != 0 {
		t.Error(got, sets[1].Criteria)
	}
	for file, want := range map[string]string{
		``:                         "invalid JSON",
		`{"p99_ttft_ms": "<=3"}`:   "instead of a list of objects; expected [",
		`[]`:                       "no entries",
		`[3]`:                      "entry 1: a number instead of an object",
		`[{}]`:                     "entry 1: no criteria",
		`[{"p101_ttft_ms": "<5"}]`: "percentile 101: must be",
		`[{"a": "<1"}, {"p99_ttft_ms": ` +
			`200}]`: "entry 2, key p99_ttft_ms: a number; expected an operator and a number in quotes",
		`[{"p99_ttft_ms": "==200"}]`:                   "entry 1, key p99_ttft_ms: ==200: expected <=",
		`[{"p99_ttft_ms": "<=x"}]`:                     "expected a number above 0 behind <=",
		`[{"p99_ttft_ms": "<=0"}]`:                     "expected a number above 0",
		`[{"output_throughput": ">=500"}]`:             "entry 1: no criterion with < or <=",
		`[{"a": "<1"}, {"a": "<1"}]`:                   "entry 2 stands there twice",
		`[{"` + strings.Repeat("a", 300) + `": "<1"}]`: "too long for the name of a file",
		"[{\"a\x1b\": \"<1\"}]":                        "",
	} {
		if _, problems := parseSets([]byte(file)); len(problems) == 0 || !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%s: %v, want %s", file, problems, want)
		}
	}
}

// Any file gives sets that bound the load, or an error.
func FuzzSets(f *testing.F) {
	f.Add([]byte(`[{"p99_e2el_ms": "<=200"}, {"median_itl_ms": "<9", "a": ">1"}]`))
	f.Fuzz(func(t *testing.T, file []byte) {
		sets, problems := parseSets(file)
		if len(sets) == 0 && len(problems) == 0 {
			t.Fatalf("%q: neither sets nor problems", file)
		}
		for _, s := range sets {
			if len(problems) == 0 && (!s.bounded() || strings.ContainsAny(s.file(), "/\x00\n")) {
				t.Errorf("%q: %+v", file, s)
			}
		}
	})
}

// Of several criteria the worst is the evidence; one on a figure of the run counts as one observation, and those that
// ask for at least a figure do not count.
func TestEvidence(t *testing.T) {
	t.Parallel()
	sets := setsOf(t, `[{"p90_ttft_ms": "<=100", "mean_e2el_ms": "<500", "output_throughput": ">=500"}]`)
	record := func(text string) Record { return Record{item(t, text)} }
	good := []float64{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1.5}
	bad := []float64{.1, .2, .3, .4, .5, .6, .7, .8, 1.1, 1.5}
	for _, c := range []struct {
		name   string
		ratios []float64
		record string
		want   search.Evidence
	}{
		{"all met, the requests nearer to their limit", good, `{"mean_e2el_ms": 50}`,
			search.Evidence{Good: 9, Requests: 10, Share: .9, Ratio: .9}},
		{"too many requests beyond", bad, `{"mean_e2el_ms": 50}`,
			search.Evidence{Good: 8, Requests: 10, Share: .9, Ratio: 1.1}},
		{"the run misses", good, `{"mean_e2el_ms": 500}`,
			search.Evidence{Requests: 1, Share: .9, Ratio: 1.0000000000000002, Missed: true}},
		{"a figure that the run lacks", good, `{}`, search.Evidence{Requests: 1, Share: .9, Ratio: .9, Missed: true}},
	} {
		j := judgement{set: sets[0], ratios: [][]float64{c.ratios, nil, nil}, requests: 10}
		if got := j.evidence(&metrics.Plan{}, record(c.record), make([]metrics.LevelVerdict, 3)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if unmet := sets[0].unmet([]Record{record(`{"output_throughput": 300}`),
		record(`{"output_throughput": 600}`)}); len(unmet) != 1 {
		t.Error(unmet)
	}
	if unmet := sets[0].unmet([]Record{record(`{"output_throughput": 600}`)}); len(unmet) != 0 {
		t.Error(unmet)
	}
}

// Criteria with other shares, and of which one has many observations a request, are on one scale: a load whose 99th
// percentile fails is not taken for better than a lower one whose median is near its limit.
func TestEvidenceScale(t *testing.T) {
	t.Parallel()
	sets := setsOf(t, `[{"median_e2el_ms": "<=100", "p99_itl_ms": "<=10"}]`)
	of := func(n, bad int) (ratios []float64) {
		for i := range n {
			ratios = append(ratios, map[bool]float64{true: 1.1, false: .5}[i < bad])
		}
		return ratios
	}
	s := search.New(search.Options{From: 1, Most: 100})
	for load, c := range map[float64]struct {
		median, gaps []float64
		want         search.Evidence
	}{
		1: {of(100, 40), of(3000, 10), search.Evidence{Good: 100, Requests: 100, Share: .99, Ratio: .5}},
		2: {of(100, 45), of(3000, 31), search.Evidence{Good: 98, Requests: 100, Share: .99, Ratio: 1.1}},
		4: {of(100, 51), of(3000, 0), search.Evidence{Good: 98, Requests: 100, Share: .99, Ratio: 1.1}},
	} {
		j := judgement{set: sets[0], ratios: [][]float64{c.median, c.gaps}, requests: 100}
		got := j.evidence(&metrics.Plan{}, Record{}, make([]metrics.LevelVerdict, 2))
		assert.Equal(t, got, c.want, "load %g", load)
		s.Observe(load, []search.Evidence{got})
	}
	if r := s.Results()[0]; r.Passed != 1 || r.Failed != 2 {
		t.Errorf("%+v", r)
	}
}

// The answer says what was measured, and what was not found.
func TestAnswerText(t *testing.T) {
	t.Parallel()
	gold := Set{Name: "gold", Tier: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}}}
	for _, c := range []struct {
		a        Answer
		variable string
		want     string
	}{
		{Answer{Set: gold, Result: search.Result{Passed: 34, Failed: 35, Confidence: .973, Runs: 2, Why: "why"},
			Achieved: 33.456}, RequestRate,
			"Maximum request_rate for SLA gold: 34 req/s (33.46 req/s completed, 2 runs, proven: 97 % confidence); " +
				"why."},
		{Answer{Set: gold, Result: search.Result{Passed: 16, Confidence: .9, Runs: 1, AtLeast: true, Why: "why"}},
			MaxConcurrency,
			"Maximum max_concurrency for SLA gold: at least 16 users (1 run, not proven: 90 % confidence); why."},
		{Answer{Set: gold, Result: search.Result{Passed: 34, Failed: 35, Runs: 1, Why: "why"}}, RequestRate,
			"Maximum request_rate for SLA gold: 34 req/s (1 run, not proven); why."},
		{Answer{Set: gold, Result: search.Result{Failed: 1, Why: "even 1 user misses the objectives"}}, MaxConcurrency,
			"Maximum max_concurrency for SLA gold: none; even 1 user misses the objectives."},
		{Answer{Set: gold, Result: search.Result{Passed: 16, Failed: 17, Runs: 1},
			Unmet: []Criterion{{Key: "output_throughput", Op: ">=", Limit: 500}}}, RequestRate,
			"Maximum request_rate for SLA gold: none; at 16 req/s, the most within the other criteria, " +
				"output_throughput>=500.00 is not met."},
	} {
		assert.Equal(t, c.a.Text(c.variable), c.want, "Text")
	}
}
