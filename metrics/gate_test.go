package metrics

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
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
		assert.Equal(t, assert.Must(ParseGate(text))(t), want, "ParseGate(%q)", text)
	}
}

func TestGateString(t *testing.T) {
	for text, want := range map[string]string{
		"goodput< 90%": "goodput<90%", "goodput<.9": "goodput<0.9", "error_rate>0.3%": "error_rate>0.3%",
		"error_rate>=100%": "error_rate>=100%", "error_rate>0%": "error_rate>0%",
		"error_rate>12.345%": "error_rate>12.345%",
		"error_rate>1e-5%":   "error_rate>0.00001%",
		"p99.90_ttft>=0.5s":  "p99.9_ttft_ms>=500", "completed<1e3": "completed<1000",
	} {
		assert.Equal(t, assert.Must(ParseGate(text))(t).String(), want, "%q", text)
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
		"changed_answers>1":              "changed_answers is a share of 1, so its limit cannot be 1; did you mean 1%?",
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

// The estimate of the standard deviation is as good as the buckets are narrow.
func TestHistogramDeviation(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var h Histogram
	s := Sample{}
	for range 5000 {
		v := time.Duration(100_000+50_000*r.ExpFloat64()) * time.Microsecond
		h.Add(v)
		s.Add(v.Seconds())
	}
	if got, want := h.deviation(), s.Statistic(nil).Std; math.Abs(got/want-1) > 0.01 {
		t.Errorf("%v ms, want %v", got, want)
	}
	assert.Equal(t, new(Histogram).deviation(), 0, "of nothing")
}
