package journal

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
)

func readClient(t *testing.T, line []byte) *metrics.ClientSecond {
	t.Helper()
	e, err := decodeLine(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil || e.client == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return e.client
}

// clientSeconds are seconds of every kind: full, empty, and random ones whose figures have all the digits there are.
func clientSeconds(t *testing.T) []metrics.ClientSecond {
	var full metrics.ClientSecond
	n := int64(0)
	fill(t, reflect.ValueOf(&full).Elem(), &n)
	out := []metrics.ClientSecond{full, {}, {DelayP50: metrics.Never, DelayP99: metrics.Never, DelayMax: metrics.Never}}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		out = append(out, metrics.ClientSecond{
			At: rndDuration(rnd, 1e15), Took: rndDuration(rnd, 2e9), CPU: rnd.Float64() * 8, CPUWait: rnd.ExpFloat64() / 1e6,
			Sched: rndDuration(rnd, 1e9), GCPause: rndDuration(rnd, 1e6), Memory: rnd.Uint64N(1 << 40), DelayP99: rndDuration(rnd, 1e6),
		})
	}
	return out
}

// The report of a saved run is computed from what is read back, so not a bit may change.
func TestClientRoundTrip(t *testing.T) {
	f := journalFile(t)
	j := newJournal(t, f, metrics.Plan{})
	want := clientSeconds(t)
	q := metrics.NewRequest(0)
	for i := range want {
		if i == 2 {
			j.Done(&q)
		}
		j.Client(want[i])
	}
	var stamps metrics.Stamps
	n := int64(0)
	fill(t, reflect.ValueOf(&stamps).Elem(), &n)
	if err := j.End(metrics.Run{Ended: ms, Stamps: &stamps}); err != nil {
		t.Fatal(err)
	}
	j.Client(want[0]) // too late
	run, seq, err := readRun(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, run.Client); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&stamps, run.Stamps); diff != "" {
		t.Errorf("stamps (-want +got):\n%s", diff)
	}
	if got := collect(t, seq); len(got) != 1 || run.Damaged != 0 {
		t.Errorf("%d requests, %d damaged lines", len(got), run.Damaged)
	}
	content, _ := os.ReadFile(f.Name())
	if lines := bytes.SplitAfter(content, []byte("\n")); string(lines[4]) != "{\"client\":{}}\n" {
		t.Errorf("a second of which nothing is known: %s", lines[4])
	}
}

// What cannot be is left out, and the rest of the line is kept.
func TestClientThatCannotBe(t *testing.T) {
	got := readClient(t, lineOf(metrics.ClientSecond{
		At: time.Second, Took: -5, CPU: math.NaN(), CPUWait: inf, Cores: -1, Memory: math.MaxUint64, GCs: -3, Sent: 7,
		Stall: math.MaxInt64, DelayP50: -7,
	}))
	want := &metrics.ClientSecond{
		At: time.Second, Memory: largestCount, Sent: 7, Stall: longestRun,
		DelayP50: metrics.Never, // and of the others 0 is what was given
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClientDamage(t *testing.T) {
	for line, want := range map[string]string{
		`{"client":5}`:                                `"client"`,
		`{"client":{"at_ns":-1}}`:                     `"at_ns"`,
		`{"client":{"took_ns":31622400000000001}}`:    `366 days`,
		`{"client":{"sched_ns":9223372036854775808}}`: `"sched_ns"`,
		`{"client":{"stall_ns":1.5}}`:                 `"stall_ns"`,
		`{"client":{"delay_p50_ns":null}}`:            `"delay_p50_ns"`,
		`{"client":{"delay_max_ns":-1}}`:              `"delay_max_ns"`,
		`{"client":{"gcs":-1}}`:                       `"gcs"`,
		`{"client":{"memory_bytes":-1}}`:              `"memory_bytes"`,
		`{"client":{"chunks":9007199254740993}}`:      `"chunks"`,
		`{"client":{"cpu":-0.5}}`:                     `"cpu"`,
		`{"client":{"cpu":1e999}}`:                    `"cpu"`,
		`{"client":{"cpu_wait":"1"}}`:                 `"cpu_wait"`,
		`{"client":{"cores":9007199254740994}}`:       `"cores"`,
		`{"client":{"clock_step":1}}`:                 `"clock_step"`,
		`{"end":{"stamps":[]}}`:                       `"stamps"`,
		`{"end":{"stamps":{"shared":-1}}}`:            `"shared"`,
		`{"end":{"stamps":{"delay_p999_ns":"x"}}}`:    `"delay_p999_ns"`,
	} {
		if _, err := decodeLine([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// Journals from before the client watched itself have neither its seconds nor stamps.
func TestReadJournalWithoutTheClient(t *testing.T) {
	var old []string
	for line := range strings.Lines(string(sampleJournal(t))) {
		if !strings.HasPrefix(line, `{"client":`) {
			if at := strings.Index(line, `,"stamps":`); at >= 0 {
				line = line[:at] + "}}\n"
			}
			old = append(old, line)
		}
	}
	run, seq, err := readRun(tempJournal(t, []byte(strings.Join(old, ""))))
	if err != nil || run.Client != nil || run.Stamps != nil || run.Damaged != 0 || run.Ended != 1750*ms {
		t.Fatalf("%+v, %v", run, err)
	}
	r, err := metrics.Summarize(seq, run)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Client; c.Verdict.Limited() || c.Stamps.DelayP99 != metrics.Never || len(c.Seconds) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestJournalClientDoesNotAllocate(t *testing.T) {
	j := newJournal(t, nil, metrics.Plan{})
	j.pending = make([]byte, 0, 1<<20)
	second := clientSeconds(t)[0]
	if n := testing.AllocsPerRun(200, func() { j.Client(second) }); n > 0 {
		t.Errorf("%v allocations per second of the client", n)
	}
}
