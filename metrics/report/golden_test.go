package report

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// goldenFile is a file of measurements and the figures numpy computed from them.
type goldenFile struct {
	Generation []struct {
		Name        string             `json:"name"`
		Duration    float64            `json:"duration_s"`
		Percentiles []float64          `json:"percentiles"`
		SLO         map[string]float64 `json:"goodput_slo_ms"`
		Tokenizer   *string            `json:"tokenizer"`
		Requests    []goldenRequest    `json:"requests"`
		Expected    expectedFigures    `json:"expected"`
		ExactPeak   int                `json:"exact_peak_concurrency"`
	} `json:"generation"`
	Pooling []struct {
		Name        string    `json:"name"`
		Percentiles []float64 `json:"percentiles"`
		Requests    []struct {
			Success bool    `json:"success"`
			Latency float64 `json:"latency"`
		} `json:"requests"`
		Expected expectedFigures `json:"expected"`
	} `json:"pooling"`
	Statistics []struct {
		Name        string       `json:"name"`
		Values      []float64    `json:"values"`
		Mean        float64      `json:"mean"`
		Std         float64      `json:"std"`
		Median      float64      `json:"median"`
		Percentiles [][2]float64 `json:"percentiles"`
	} `json:"statistics"`
}

type goldenRequest struct {
	Success bool      `json:"success"`
	Start   float64   `json:"start_time"`
	TTFT    float64   `json:"ttft"`
	ITL     []float64 `json:"itl"`
	Latency float64   `json:"latency"`
	Output  int       `json:"output_tokens"` // as the server reported them, 0 for not at all
	Input   int       `json:"prompt_len"`
	Text    string    `json:"generated_text"`
}

// outputTokens is the test's own count where a server did not report one: words, or one without a tokenizer, as in
// vLLM.
func (q *goldenRequest) outputTokens(tokenizer *string) int {
	switch {
	case !q.Success || q.Output > 0:
		return q.Output
	case tokenizer != nil:
		return len(strings.Fields(q.Text))
	}
	return 1
}

// readGolden reads the file. It has some keys beside those compared: there is no audio in it, and of pooling the
// statistics count.
func readGolden(t *testing.T) (g goldenFile) {
	t.Helper()
	data, err := os.ReadFile("testdata/metrics.json")
	if err == nil {
		err = json.Unmarshal(data, &g)
	}
	assert.Fine(t, err)
	return g
}

// expectedFigures are the figures of a case.
type expectedFigures map[string]json.RawMessage

// read reads a figure into v.
func (e expectedFigures) read(t *testing.T, key string, v any) {
	t.Helper()
	if err := json.Unmarshal(e[key], v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
}

func (e expectedFigures) float(t *testing.T, key string, got float64) {
	t.Helper()
	var want float64
	e.read(t, key, &want)
	if !near(got, want) {
		t.Errorf("%s = %v, want %v", key, got, want)
	}
}

func (e expectedFigures) statistic(t *testing.T, name string, s metrics.Statistic) {
	t.Helper()
	e.float(t, "mean_"+name+"_ms", s.Mean)
	e.float(t, "median_"+name+"_ms", s.Median)
	e.float(t, "std_"+name+"_ms", s.Std)
	var percentiles [][2]float64
	e.read(t, "percentiles_"+name+"_ms", &percentiles)
	for _, p := range percentiles {
		if got, ok := s.Percentile(p[0]); !ok || !near(got, p[1]) {
			t.Errorf("p%v %s = %v ms, want %v", p[0], name, got, p[1])
		}
	}
}

// near allows for the order of additions. numpy gives equal values a standard deviation of 1e-14 rather than 0.
func near(got, want float64) bool {
	return math.Abs(got-want) <= 1e-12*max(1, math.Abs(got), math.Abs(want))
}

// The formulas give what vLLM's client computes, to 1e-12.
func TestGolden(t *testing.T) {
	g := readGolden(t)
	if len(g.Generation) == 0 || len(g.Statistics) == 0 || len(g.Pooling) == 0 {
		t.Fatal("the golden file is empty")
	}
	for _, c := range g.Generation {
		t.Run(c.Name, func(t *testing.T) {
			var slo metrics.SLO
			for name, ms := range c.SLO {
				metric, _ := metrics.LatencyOf(name)
				slo = slo.With(metrics.Objective{Metric: metric, LimitMS: ms})
			}
			origin := math.Inf(1)
			for _, q := range c.Requests {
				if q.Success {
					origin = min(origin, q.Start)
				}
			}
			plan := metrics.Plan{Goodput: slo, Percentiles: c.Percentiles}
			s := newSummary(&plan, slo, 0)
			s.accumulator.origin = origin
			var outputs []int
			for i, q := range c.Requests {
				outputs = append(outputs, q.outputTokens(c.Tokenizer))
				if !q.Success {
					failed := eventtest.Busy(i, 0, "busy")
					// the file does not say how long it took, which the exact peak would count
					failed.Done = failed.Sent
					s.add(&failed)
					continue
				}
				// Not as a request, because the file's times are no whole microseconds.
				for _, gap := range q.ITL {
					s.accumulator.samples[metrics.ITL].Add(gap)
				}
				o := metrics.Outcome{Start: q.Start, TTFT: q.TTFT, E2EL: q.Latency, ITLs: q.ITL, Input: q.Input,
					Output: outputs[i]}
				s.accumulator.addChunks(&o)
				s.accumulator.addSpan(&o)
				for l := range metrics.NumLatencies {
					if v, times := l.Exact(&o); times > 0 {
						s.accumulator.samples[l].AddTimes(v, times)
					}
				}
				counts := metrics.Counts{Completed: 1, InputTokens: q.Input, OutputTokens: outputs[i]}
				counts.MetCount.Add(slo.Judge(&o), outputs[i])
				s.line.Totals.Merge(&counts)
				start := time.Duration(math.Round(q.Start * 1e9))
				s.open.add(start, start+time.Duration(math.Round(q.Latency*1e9)))
			}
			r, e := s.finish(runOf(plan, secondsToDuration(c.Duration)), nil), c.Expected
			var wantOutputs []int
			e.read(t, "actual_output_lens", &wantOutputs)
			assert.EqualAll(t, outputs, wantOutputs, "output tokens")
			e.float(t, "completed", float64(r.Completed))
			e.float(t, "failed", float64(r.Failed))
			e.float(t, "total_input", float64(r.InputTokens))
			e.float(t, "total_output", float64(r.OutputTokens))
			e.float(t, "request_throughput", r.RequestThroughput)
			e.float(t, "output_throughput", r.OutputThroughput)
			e.float(t, "total_token_throughput", r.TotalThroughput)
			goodput := 0.0 // is what the file has without objectives
			if r.Goodput != nil {
				goodput = *r.Goodput
			}
			assert.Equal(t, r.Goodput == nil, len(c.SLO) == 0, "goodput %v with objectives %v", r.Goodput, c.SLO)
			e.float(t, "request_goodput", goodput)
			e.statistic(t, "ttft", r.Statistics[metrics.TTFT])
			e.statistic(t, "tpot", r.Statistics[metrics.TPOT])
			e.statistic(t, "itl", r.Statistics[metrics.ITL])
			e.statistic(t, "e2el", r.Statistics[metrics.E2EL])
			e.float(t, "max_output_tokens_per_s", float64(r.PeakOutputPerSecond))
			e.float(t, "max_concurrent_requests", float64(r.PeakConcurrency))
			assert.Equal(t, r.ExactPeakConcurrency, c.ExactPeak, "exact peak concurrency")
		})
	}
	for _, c := range g.Statistics {
		t.Run("statistics/"+c.Name, func(t *testing.T) {
			s := metrics.Sample{}
			var ps []float64
			for _, v := range c.Values {
				s.Add(v)
			}
			for _, p := range c.Percentiles {
				ps = append(ps, p[0])
			}
			got := s.Statistic(ps)
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
			s := metrics.Sample{}
			for _, q := range c.Requests {
				if q.Success {
					s.Add(q.Latency)
				}
			}
			c.Expected.statistic(t, "e2el", s.Statistic(c.Percentiles))
		})
	}
}

func secondsToDuration(s float64) time.Duration { return time.Duration(s * float64(second)) }
