package journal

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/report"
)

// clientSeconds are full, empty and random ones; the random figures have all digits.
func clientSeconds(t *testing.T) []metrics.ClientSecond {
	var full metrics.ClientSecond
	n := int64(0)
	fill(t, reflect.ValueOf(&full).Elem(), &n)
	out := []metrics.ClientSecond{full, {}, {DelayP50: metrics.Never, DelayP99: metrics.Never, DelayMax: metrics.Never}}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		out = append(out, metrics.ClientSecond{
			At: rndDuration(rnd, 1e15), Took: rndDuration(rnd, 2e9), CPU: rnd.Float64() * 8,
			CPUWait: rnd.ExpFloat64() / 1e6,
			Sched:   rndDuration(rnd, 1e9), GCPause: rndDuration(rnd, 1e6), Memory: rnd.Uint64N(1 << 40),
			DelayP99: rndDuration(rnd, 1e6),
		})
	}
	return out
}

// The report of a saved run is computed from the journal, so every bit must be kept.
func TestClientRoundTrip(t *testing.T) {
	f := journalFile(t)
	j := newJournal(t, f, metrics.Plan{})
	want := clientSeconds(t)
	q := metrics.NewRequest(0)
	for i := range want {
		if i == 2 {
			j.Done(&q)
		}
		j.tell(0, want[i])
	}
	var stamps metrics.Stamps
	n := int64(0)
	fill(t, reflect.ValueOf(&stamps).Elem(), &n)
	assert.Fine(t, j.End(metrics.Run{End: metrics.End{Ended: ms, Stamps: &stamps}}))
	j.tell(0, want[0]) // after the end
	run, seq, err := readRun(f.Name())
	assert.Fine(t, err)
	assert.Same(t, "Client", run.Client, want)
	assert.Same(t, "stamps", run.Stamps, &stamps)
	if got := collect(t, seq); len(got) != 1 || run.Damaged != 0 {
		t.Errorf("%d requests, %d damaged lines", len(got), run.Damaged)
	}
	content, _ := os.ReadFile(f.Name())
	if lines := bytes.SplitAfter(content, []byte("\n")); string(lines[4]) != "{\"client\":{}}\n" {
		t.Errorf("a second of which nothing is known: %s", lines[4])
	}
}

// Invalid values are not written; the rest of the line is.
func TestInvalidClientFigures(t *testing.T) {
	got, err := decodeLine(lineOf(metrics.ClientSecond{
		At: time.Second, Took: -5, CPU: math.NaN(), CPUWait: inf, Cores: -1, Memory: math.MaxUint64, GCs: -3, Sent: 7,
		Stall: math.MaxInt64, DelayP50: -7,
	}))
	want := metrics.ClientSecond{
		At: time.Second, Memory: largestCount, Sent: 7, Stall: longestRun,
		DelayP50: metrics.Never, // 0 is a value of the others
	}
	if diff := cmp.Diff(want, got.Value); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestDamage(t *testing.T) {
	for line, want := range map[string]string{
		`{"client":5}`:                                                   `"client"`,
		`{"client":{"at_ns":-1}}`:                                        `"at_ns"`,
		`{"client":{"took_ns":31622400000000001}}`:                       `366 days`,
		`{"client":{"sched_ns":9223372036854775808}}`:                    `"sched_ns"`,
		`{"client":{"stall_ns":1.5}}`:                                    `"stall_ns"`,
		`{"client":{"delay_p50_ns":null}}`:                               `"delay_p50_ns"`,
		`{"client":{"delay_max_ns":-1}}`:                                 `"delay_max_ns"`,
		`{"client":{"gcs":-1}}`:                                          `"gcs"`,
		`{"client":{"memory_bytes":-1}}`:                                 `"memory_bytes"`,
		`{"client":{"chunks":9007199254740993}}`:                         `"chunks"`,
		`{"client":{"cpu":-0.5}}`:                                        `"cpu"`,
		`{"client":{"cpu":1e999}}`:                                       `"cpu"`,
		`{"client":{"cpu_wait":"1"}}`:                                    `"cpu_wait"`,
		`{"client":{"cores":9007199254740994}}`:                          `"cores"`,
		`{"client":{"clock_step":1}}`:                                    `"clock_step"`,
		`{"end":{"stamps":[]}}`:                                          `"stamps"`,
		`{"end":{"stamps":{"shared":-1}}}`:                               `"shared"`,
		`{"end":{"stamps":{"delay_p999_ns":"x"}}}`:                       `"delay_p999_ns"`,
		`{"server":5}`:                                                   `"server"`,
		`{"server":{"at_ns":-1}}`:                                        `"at_ns"`,
		`{"server":{"running":"1"}}`:                                     `"running"`,
		`{"server":{"running":null}}`:                                    `"running"`,
		`{"server":{"kv_usage":1e999}}`:                                  `"kv_usage"`,
		`{"server":{"preemptions":9007199254740994}}`:                    `"preemptions"`,
		`{"server":{"ttft":1}}`:                                          `"ttft"`,
		`{"server":{"queue":{"n":-1}}}`:                                  `"n"`,
		`{"server":{"prefill":{"n":1,"mean_ns":-1}}}`:                    `"mean_ns"`,
		`{"gpus":[]}`:                                                    `"gpus"`,
		`{"gpus":{"each":{}}}`:                                           `"each"`,
		`{"gpus":{"each":[1]}}`:                                          `"each"`,
		`{"gpus":{"each":[{"index":-1}]}}`:                               `"index"`,
		`{"gpus":{"each":[{"name":5}]}}`:                                 `"name"`,
		`{"gpus":{"each":[{"power_w":"x"}]}}`:                            `"power_w"`,
		`{"gpus":{"each":[` + strings.Repeat("{},", 1024) + `{}]}}`:      `at most 1024`,
		`{"event":{"set":1}}`:                                            `"set"`,
		`{"event":{"set":{"rate":-1}}}`:                                  `"rate"`,
		`{"event":{"set":{"rate":"fast"}}}`:                              `"rate"`,
		`{"event":{"set":{"users":1.5}}}`:                                `"users"`,
		`{"event":{"set":{"paused":1}}}`:                                 `"paused"`,
		`{"event":{"set":{"ramp_over_ns":"1"}}}`:                         `"ramp_over_ns"`,
		`{"event":{"objectives":{}}}`:                                    `"objectives"`,
		`{"event":{"objectives":[1]}}`:                                   `"objectives"`,
		`{"event":{"objectives":[{"metric":1}]}}`:                        `"metric"`,
		`{"event":{"objectives":[{"limit_ms":"x"}]}}`:                    `"limit_ms"`,
		`{"event":{"objectives":[` + strings.Repeat("{},", 16) + `{}]}}`: `at most 16`,
		`{"index":1,"server_queue_us":"x"}`:                              `"server_queue_us"`,
		`{"source":{"kind":1}}`:                                          `"kind"`,
		`{"source":{"absent":[]}}`:                                       `"absent"`,
		`{"load":{"changes":-1}}`:                                        `"changes"`,
		`{"load":{"at_us":"x"}}`:                                         `"at_us"`,
		`{"phase":{"drain_by_us":[]}}`:                                   `"drain_by_us"`,
		`{"saving":{"path":5}}`:                                          `"path"`,
	} {
		assert.Fails(t, line, assert.Failure(decodeLine([]byte(line))), want)
	}
}

// Journals from before the client was monitored, and the server's metrics were read, have neither.
func TestReadJournalWithoutTelemetry(t *testing.T) {
	var old []string
	for line := range strings.Lines(string(sampleJournal(t))) {
		kind, _, _ := strings.Cut(line, ":")
		if slices.Contains([]string{`{"client"`, `{"server"`, `{"gpus"`, `{"source"`}, kind) {
			continue
		}
		if at := strings.Index(line, `,"stamps":`); at >= 0 {
			line = line[:at] + "}}\n"
		}
		old = append(old, line)
	}
	run, seq, err := readRun(tempJournal(t, []byte(strings.Join(old, ""))))
	if err != nil || run.Client != nil || run.Stamps != nil || run.Server != nil || run.GPUs != nil ||
		run.ServerKind != "" || run.Damaged != 0 || run.Ended != 1750*ms {
		t.Fatalf("%+v, %v", run, err)
	}
	r, err := report.Summarize(seq, run)
	if err != nil || r.Server != nil || r.GPUs != nil {
		t.Fatalf("%+v, %+v, %v", r.Server, r.GPUs, err)
	}
	if c := r.Client; c.Verdict.Limited() || c.Stamps.DelayP99 != metrics.Never || len(c.Seconds) != 0 {
		t.Errorf("%+v", c)
	}
}

// events are of every kind: empty, text, a load that was set, objectives that changed and that were removed.
func events() []metrics.LogEntry {
	return []metrics.LogEntry{
		{}, {At: metrics.Never, Level: metrics.Warn, Text: "a \"b\"\n", Mark: "16 users", Count: 3},
		{At: time.Second, Set: &metrics.LoadSetting{Load: metrics.Load{Value: 1. / 3}, By: metrics.ByUser}},
		{At: time.Second,
			Set: &metrics.LoadSetting{Load: metrics.Users.Of(16), RampTo: 32, RampOver: time.Minute,
				By: metrics.BySearch}},
		{Set: &metrics.LoadSetting{Load: metrics.Load{Value: inf}, RampTo: inf, Paused: true, By: "\x1b"}},
		{Set: &metrics.LoadSetting{}},
		{Objectives: &metrics.SLO{{Metric: metrics.TTFT, LimitMS: 412.3}, {Metric: metrics.E2EL, LimitMS: inf},
			{Metric: metrics.TPOT}}},
		{Objectives: new(metrics.SLO)},
		{Search: &metrics.SearchStep{Phase: metrics.SearchClimbing}},
		{Mark: metrics.FoundMark,
			Search: &metrics.SearchStep{Phase: metrics.SearchDone, Tested: 38.5, Tiers: []metrics.SearchTier{
				{Requests: 120, Good: 119, Within: true, Passed: 38.5, Failed: 40}, {}, {Requests: 7, Failed: 1. / 3},
			}}},
	}
}

// unsaid sets every float in v to Unsaid.
func unsaid(v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Field(i); f.CanFloat() {
			f.SetFloat(metrics.Unsaid())
		}
	}
}

// serverSeconds are full, without figures, of an idle server, and random ones; the random figures have all digits.
func serverSeconds(t *testing.T) []metrics.ServerSecond {
	var full, silent metrics.ServerSecond
	n := int64(0)
	fill(t, reflect.ValueOf(&full).Elem(), &n)
	unsaid(reflect.ValueOf(&silent).Elem())
	out := []metrics.ServerSecond{full, silent, {}}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		s := silent
		s.At, s.Took = rndDuration(rnd, 1e15), rndDuration(rnd, 2e9)
		s.KVUsage, s.HitRate, s.OutputTokens = rnd.Float64(), rnd.ExpFloat64()/1e6, float64(rnd.Uint64N(1<<40))
		s.Queue = metrics.ServerLatency{N: 1 + float64(rnd.IntN(500)), Mean: rndDuration(rnd, 1e9)}
		out = append(out, s)
	}
	return out
}

func gpuSeconds(t *testing.T) []metrics.GPUSecond {
	var full metrics.GPUSecond
	n := int64(0)
	fill(t, reflect.ValueOf(&full).Elem(), &n)
	var silent metrics.GPU
	unsaid(reflect.ValueOf(&silent).Elem())
	silent.Index = 7
	return []metrics.GPUSecond{full, full, {At: 1, GPUs: []metrics.GPU{silent, {Temperature: -5.5}}}, {}}
}

// Invalid values are not written; the rest of the line is.
func TestInvalidServerFigures(t *testing.T) {
	e, err := decodeLine(lineOf(metrics.ServerSecond{
		At: time.Second, Took: -5, Running: inf, Waiting: -inf, KVUsage: metrics.Unsaid(), Preemptions: 1e300,
		TTFT: metrics.ServerLatency{N: metrics.Unsaid(), Mean: 5}, Queue: metrics.ServerLatency{N: -1, Mean: 5},
		Prefill: metrics.ServerLatency{N: 3, Mean: metrics.Never},
	}))
	assert.Fine(t, err)
	nan := metrics.Unsaid()
	want := metrics.ServerSecond{At: time.Second, Running: nan, Waiting: nan, KVUsage: nan, Preemptions: largestCount}
	assert.Same(t, "Value", e.Value, want, cmpopts.EquateNaNs())
	many := metrics.GPUSecond{GPUs: make([]metrics.GPU, maxGPUs+5)}
	many.GPUs[0].Name = strings.Repeat("é", maxNameBytes)
	e, err = decodeLine(lineOf(many))
	if got := e.Value.(metrics.GPUSecond).GPUs; err != nil || len(got) != maxGPUs || len(got[0].Name) != maxNameBytes {
		t.Errorf("%d accelerators, %v", len(got), err)
	}
}

func TestServerLineWithoutFigures(t *testing.T) {
	silent := serverSeconds(t)[1]
	assert.Equal(t, string(lineOf(silent)), `{"server":{}}`, "lineOf")
	assert.Equal(t, string(lineOf(metrics.GPUSecond{})), `{"gpus":{"each":[]}}`, "lineOf")
}

// A journal above the limits is read up to the limits.
func TestLimits(t *testing.T) {
	l := limits{server: maxSeconds, gpus: 7, readings: maxReadings - maxGPUs + 1, events: maxEvents - 1,
		recounts: maxRecounts, states: maxStates}
	for _, fact := range []any{
		metrics.ServerSecond{}, metrics.GPUSecond{GPUs: make([]metrics.GPU, maxGPUs)}, metrics.Recount{},
		metrics.Steering{}, metrics.Phase{},
	} {
		if err := l.allow(fact); err == nil || !strings.Contains(err.Error(), "expected at most ") {
			t.Errorf("%T: %v", fact, err)
		}
	}
	for _, fact := range []any{metrics.ClientSecond{}, metrics.GPUSecond{}, metrics.LogEntry{}, metrics.End{}} {
		if l.readings = 0; l.allow(fact) != nil {
			t.Errorf("%T is one too many", fact)
		}
	}
	long := limits{}
	for _, err := range []error{l.allow(metrics.LogEntry{}),
		long.allow(metrics.LogEntry{Text: strings.Repeat("x", maxEventBytes+1)})} {
		if err != errTooManyEvents {
			t.Errorf("%v", err)
		}
	}
}
