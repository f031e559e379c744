package metrics

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// golden is a file of measurements and the figures numpy computed from them.
type golden struct {
	Generation []struct {
		Name        string
		Duration    float64            `json:"duration_s"`
		Percentiles []float64          `json:"percentiles"`
		SLO         map[string]float64 `json:"goodput_slo_ms"`
		Tokenizer   *string            `json:"tokenizer"`
		Requests    []struct {
			Success bool      `json:"success"`
			Start   float64   `json:"start_time"`
			TTFT    float64   `json:"ttft"`
			ITL     []float64 `json:"itl"`
			Latency float64   `json:"latency"`
			Output  int       `json:"output_tokens"`
			Input   int       `json:"prompt_len"`
			Text    string    `json:"generated_text"`
		}
		Expected  map[string]json.RawMessage
		ExactPeak int `json:"exact_peak_concurrency"`
	}
	Pooling []struct {
		Name        string
		Percentiles []float64 `json:"percentiles"`
		Requests    []struct {
			Success bool    `json:"success"`
			Latency float64 `json:"latency"`
		}
		Expected map[string]json.RawMessage
	}
	Statistics []struct {
		Name              string
		Values            []float64
		Mean, Std, Median float64
		Percentiles       [][2]float64
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// near allows for the order of additions. Of equal values numpy makes a standard deviation of 1e-14; it is 0.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-12*max(1, math.Abs(got), math.Abs(want))
}

func expectFloat(t *testing.T, what string, got float64, want json.RawMessage) {
	t.Helper()
	var w float64
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !near(got, w) {
		t.Errorf("%s = %v, want %v", what, got, w)
	}
}

func expectStatistic(t *testing.T, name string, s Statistic, want map[string]json.RawMessage) {
	t.Helper()
	expectFloat(t, "mean "+name+" ms", s.Mean, want["mean_"+name+"_ms"])
	expectFloat(t, "median "+name+" ms", s.Median, want["median_"+name+"_ms"])
	expectFloat(t, "std "+name+" ms", s.Std, want["std_"+name+"_ms"])
	var percentiles [][2]float64
	if err := json.Unmarshal(want["percentiles_"+name+"_ms"], &percentiles); err != nil {
		t.Fatal(err)
	}
	for _, p := range percentiles {
		if got, ok := s.Percentile(p[0]); !ok || !near(got, p[1]) {
			t.Errorf("p%v %s = %v ms, want %v", p[0], name, got, p[1])
		}
	}
}

// The formulas give what vLLM's client computes, to 1e-12.
func TestGolden(t *testing.T) {
	g := readGolden(t)
	if len(g.Generation) == 0 || len(g.Statistics) == 0 || len(g.Pooling) == 0 {
		t.Fatal("the golden file is empty")
	}
	for _, c := range g.Generation {
		t.Run(c.Name, func(t *testing.T) {
			var slo SLO
			for name, ms := range c.SLO {
				slo = slo.With(Objective{name, ms})
			}
			origin, failed := math.Inf(1), 0
			for _, q := range c.Requests {
				if q.Success {
					origin = min(origin, q.Start)
				} else {
					failed++
				}
			}
			sums := newTally(origin, slo)
			for _, q := range c.Requests {
				if !q.Success {
					continue
				}
				output := q.Output
				if output == 0 {
					output = 1
					if c.Tokenizer != nil {
						output = len(strings.Fields(q.Text))
					}
				}
				sums.add(outcome{start: q.Start, ttft: q.TTFT, latency: q.Latency, itls: q.ITL, input: q.Input, output: output})
			}
			plan := Plan{Goodput: slo, Percentiles: c.Percentiles}
			s := newSummary(Run{Plan: plan, Ended: secondsToDuration(c.Duration)}, overview{origin: origin})
			s.tally = sums
			for _, q := range c.Requests {
				if q.Success {
					start := time.Duration(math.Round(q.Start * 1e9))
					s.open.add(start, start+time.Duration(math.Round(q.Latency*1e9)))
				}
			}
			s.report.Failed = failed
			s.finish()
			r := s.report
			e := c.Expected
			expectFloat(t, "completed", float64(r.Completed), e["completed"])
			expectFloat(t, "failed", float64(r.Failed), e["failed"])
			expectFloat(t, "total input", float64(r.InputTokens), e["total_input"])
			expectFloat(t, "total output", float64(r.OutputTokens), e["total_output"])
			expectFloat(t, "request throughput", r.RequestThroughput, e["request_throughput"])
			expectFloat(t, "output throughput", r.OutputThroughput, e["output_throughput"])
			expectFloat(t, "total throughput", r.TotalThroughput, e["total_token_throughput"])
			if r.Goodput != nil {
				expectFloat(t, "goodput", *r.Goodput, e["request_goodput"])
			}
			expectStatistic(t, "ttft", r.TTFT, e)
			expectStatistic(t, "tpot", r.TPOT, e)
			expectStatistic(t, "itl", r.ITL, e)
			expectStatistic(t, "e2el", r.E2EL, e)
			expectFloat(t, "peak output per s", float64(r.PeakOutputPerSecond), e["max_output_tokens_per_s"])
			expectFloat(t, "peak concurrency", float64(r.PeakConcurrency), e["max_concurrent_requests"])
			if r.ExactPeakConcurrency != c.ExactPeak {
				t.Errorf("exact peak concurrency = %d, want %d", r.ExactPeakConcurrency, c.ExactPeak)
			}
		})
	}
	for _, c := range g.Statistics {
		t.Run("statistics/"+c.Name, func(t *testing.T) {
			s := sample{}
			var ps []float64
			for _, v := range c.Values {
				s.add(v)
			}
			for _, p := range c.Percentiles {
				ps = append(ps, p[0])
			}
			got := s.statistic(ps)
			for what, pair := range map[string][2]float64{
				"mean": {got.Mean, c.Mean}, "std": {got.Std, c.Std}, "median": {got.Median, c.Median},
			} {
				if !near(pair[0], pair[1]*1000) {
					t.Errorf("%s = %v ms, want %v", what, pair[0], pair[1]*1000)
				}
			}
			for i, p := range c.Percentiles {
				if !near(got.Percentiles[i].Value, p[1]*1000) {
					t.Errorf("p%v = %v ms, want %v", p[0], got.Percentiles[i].Value, p[1]*1000)
				}
			}
		})
	}
	for _, c := range g.Pooling {
		t.Run("pooling/"+c.Name, func(t *testing.T) {
			s := sample{}
			for _, q := range c.Requests {
				if q.Success {
					s.add(q.Latency)
				}
			}
			expectStatistic(t, "e2el", s.statistic(c.Percentiles), c.Expected)
		})
	}
}
