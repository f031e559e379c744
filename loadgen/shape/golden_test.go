package shape

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
	"benchtop/metrics"
)

// number is a JSON number, or "inf".
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == `"inf"` {
		*n = number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// The offsets are those that numpy gives for vLLM's rules, to 1e-12 of their value, and the durations made of them are
// off by less than a nanosecond.
func TestGoldenArrivals(t *testing.T) {
	var golden struct {
		Cases []struct {
			Name       string
			Seed       uint32
			N          int      `json:"num_requests"`
			Rate       number   `json:"request_rate"`
			Burstiness number   `json:"burstiness"`
			Strategy   string   `json:"ramp_up_strategy"`
			From       float64  `json:"ramp_up_start_rps"`
			To         float64  `json:"ramp_up_end_rps"`
			Offsets    []number `json:"send_offsets_s"`
			Rates      []number `json:"rates_rps"`
		}
		AfterDataset []struct {
			Name       string
			Seed       uint32
			Prompts    int     `json:"num_prompts"`
			N          int     `json:"num_requests"`
			Rate       float64 `json:"request_rate"`
			Burstiness float64 `json:"burstiness"`
			Dataset    struct {
				Name       string
				Vocabulary int     `json:"vocab_size"`
				InputLen   int     `json:"input_len"`
				OutputLen  int     `json:"output_len"`
				RangeRatio float64 `json:"range_ratio"`
				PrefixLen  int     `json:"prefix_len"`
				SuffixLen  int     `json:"suffix_len"`
				Prefixes   int     `json:"num_prefixes"`
			}
			Offsets []number `json:"send_offsets_s"`
		} `json:"after_dataset"`
		SelfTimed []struct {
			Timestamps []*float64 `json:"timestamps_s"`
			Offsets    []number   `json:"send_offsets_s"`
		} `json:"self_timed"`
	}
	data, err := os.ReadFile("testdata/arrivals.json")
	assert.Fine(t, err)
	assert.Fine(t, json.Unmarshal(data, &golden))
	if len(golden.Cases) == 0 || len(golden.AfterDataset) == 0 || len(golden.SelfTimed) == 0 {
		t.Fatalf("%d cases, %d after data sets, %d self-timed", len(golden.Cases), len(golden.AfterDataset),
			len(golden.SelfTimed))
	}

	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			var got []float64
			var offsets []time.Duration
			rate := func(int) float64 { return float64(c.Rate) }
			if ramp := (metrics.Ramp{Strategy: c.Strategy, From: c.From, To: c.To}); c.Strategy != "" {
				r := Ramp{Line: ramp, Burstiness: float64(c.Burstiness)}
				got, offsets = r.seconds(c.N, legacy(c.Seed)), r.Offsets(c.N, legacy(c.Seed))
				rate = func(i int) float64 { return ramp.RateOf(i, c.N) }
			} else {
				r := Rate{PerSecond: metrics.Rate(c.Rate), Burstiness: float64(c.Burstiness)}
				got, offsets = r.seconds(c.N, legacy(c.Seed)), r.Offsets(c.N, legacy(c.Seed))
			}
			compareOffsets(t, got, offsets, c.Offsets)
			for i, want := range c.Rates {
				if got := rate(i); got != float64(want) && !near(got, float64(want)) {
					t.Errorf("rate of request %d: %v, want %v", i, got, want)
				}
			}
		})
	}
	for _, c := range golden.AfterDataset {
		t.Run(c.Name, func(t *testing.T) {
			streams := numpy.NewStreams(c.Seed)
			d := c.Dataset
			switch d.Name {
			case "random": // draws from a generator of its own
				o := datasets.RandomDefaults()
				o.Prompts, o.Seed, o.InputLen, o.OutputLen, o.PrefixLen = c.Prompts, int64(c.Seed), d.InputLen,
					d.OutputLen, d.PrefixLen
				o.Ratio = datasets.RangeRatio{Input: d.RangeRatio, Output: d.RangeRatio}
				o.Vocabulary = datasets.Vocabulary{Size: d.Vocabulary}
				r, err := datasets.NewRandom(o, nil)
				assert.Fine(t, err)
				for n := 0; ; n++ {
					if _, err := r.Next(); err == io.EOF && n == c.N {
						break
					} else if err != nil {
						t.Fatalf("after %d of %d prompts: %v", n, c.N, err)
					}
				}
			case "prefix_repetition": // draws every token id from the generator that the arrivals go on with
				streams.Legacy.Seed(c.Seed)
				streams.Legacy.Choice(d.Vocabulary, d.Prefixes*(d.PrefixLen+c.Prompts/d.Prefixes*d.SuffixLen))
			default:
				t.Fatalf("data set %q is not known", d.Name)
			}
			ahead := *streams.Legacy
			r := Rate{PerSecond: metrics.Rate(c.Rate), Burstiness: c.Burstiness}
			compareOffsets(t, r.seconds(c.N, streams.Legacy), r.Offsets(c.N, &ahead), c.Offsets)
		})
	}
	for _, c := range golden.SelfTimed {
		got, offsets := make([]float64, len(c.Timestamps)), []time.Duration{}
		for i, s := range c.Timestamps {
			if s != nil {
				got[i] = *s
			}
		}
		// A schedule takes offsets as they are; one before its predecessor is due at once.
		for at := range At(durations(got)) {
			offsets = append(offsets, at)
		}
		compareOffsets(t, got, offsets, c.Offsets)
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Abs(want) }

func compareOffsets(t *testing.T, got []float64, offsets []time.Duration, want []number) {
	t.Helper()
	if len(got) != len(want) || len(offsets) != len(want) {
		t.Fatalf("%d and %d offsets, want %d", len(got), len(offsets), len(want))
	}
	for i, w := range want {
		if !near(got[i], float64(w)) {
			t.Errorf("offset %d is %v s, want %v s", i, got[i], w)
		}
		if d := math.Abs(float64(offsets[i]) - float64(w)*1e9); d > 0.51 {
			t.Errorf("offset %d is %s, %v ns from %v s", i, offsets[i], d, w)
		}
	}
}
