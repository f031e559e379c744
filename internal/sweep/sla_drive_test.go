package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// queue is a server that answers in 50 ms and 1 ms more for each request per second, and whose waits grow without end
// above its capacity; each run is written as a record and a journal.
type queue struct {
	t        *testing.T
	capacity float64
	runs     []string
	fail     string // the load whose runs fail
}

func (q *queue) Lines(Run) []string { return []string{"run"} }

func (q *queue) Run(_ context.Context, r Run) error {
	q.runs = append(q.runs, r.Load)
	rate := assert.Must(strconv.ParseFloat(strings.TrimPrefix(r.Load, RequestRate+"="), 64))(q.t)
	if r.Load == q.fail {
		return errors.New("broken")
	}
	const n = 200
	each := time.Duration(0)
	if !math.IsInf(rate, 1) {
		each = time.Duration(float64(time.Second) / rate)
	}
	plan := metrics.Plan{Rate: metrics.Rate(rate), Requests: n, Percentiles: []float64{99}}
	f, err := os.Create(strings.TrimSuffix(r.Path, ".json") + ".jsonl")
	if err != nil {
		return err
	}
	w, err := journal.NewWriter(f, plan)
	if err != nil {
		return err
	}
	free, end := time.Duration(0), time.Duration(0)
	for i := range n {
		at := time.Duration(i) * each
		free = max(free, at) + time.Duration(float64(time.Second)/q.capacity)
		first := free + 50*time.Millisecond + time.Duration(min(rate, q.capacity)*float64(time.Millisecond))
		end = first + 10*time.Millisecond
		w.Take(&event.Event{At: end, Kind: event.Done, Request: &metrics.Request{
			Index: i, Scheduled: at, Due: at, Admitted: at, Sent: at, FirstChunk: first, FirstToken: first,
			LastChunk: end, Done: end, OutputTokens: 2,
		}})
	}
	w.Take(&event.Event{At: end, Kind: event.Fact, Value: metrics.End{Ended: end}})
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		return err
	}
	return os.WriteFile(r.Path, fmt.Appendf(nil, `{"request_throughput": %g, "output_throughput": %g, "benchtop": {}}`,
		n/end.Seconds(), 2*n/end.Seconds()), 0o644)
}

// searched performs a search in a directory, and reads its answers.
func searched(t *testing.T, dir string, q *queue, o SLA) (storedAnswers, string) {
	t.Helper()
	var out strings.Builder
	o.Variable, o.Most = RequestRate, 8192
	pair := Combination{Bench: item(t, `{"num_prompts": 200}`)}
	s := New(Options{Dir: dir, ID: "id", Pairs: []Combination{pair}, Runs: 1, Driver: &o, Runner: q, Out: &out,
		ContinueOnError: true})
	assert.Must(s.Run(t.Context()))(t)
	var a storedAnswers
	raw, err := os.ReadFile(filepath.Join(dir, pair.Dir(), answersFile))
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return a, out.String()
}

// A search begins at a guess, finds the highest rate of each set in few runs that all sets share, and stores its
// answers beside the runs; once more in the same directory it makes no run, and another set costs only its new loads.
func TestSLASearch(t *testing.T) {
	t.Parallel()
	sets := setsOf(t, `[{"p99_ttft_ms": "<=85"}, {"p99_ttft_ms": "<=200", "output_throughput": ">=500"}]`)
	dir, q := t.TempDir(), &queue{t: t, capacity: 40}
	a, out := searched(t, dir, q, SLA{Sets: sets, Repeats: 3, Iters: 20})
	if len(a.Sets) != 2 || !a.Complete || a.Unit != "req/s" {
		t.Fatalf("%+v\n%s", a, out)
	}
	// 50 ms, 25 ms of service, and a millisecond for each request per second: 85 ms are reached at 10 per second.
	tight, wide := a.Sets[0], a.Sets[1]
	if h := *tight.Highest; h > 10 || h < 8.5 || *tight.Failed < 10 || *tight.Failed > 12.5 || tight.AtLeast ||
		*tight.Confidence > .95 || tight.Proven ||
		tight.Estimate.Low > 10 || *tight.Estimate.High < 10 {
		t.Errorf("the first set: %g, %g, %+v", *tight.Highest, *tight.Failed, tight)
	}
	if wide.Highest != nil || len(wide.Unmet) != 1 || *wide.Failed < 40 {
		t.Errorf("the second set: %+v", wide)
	}
	if len(q.runs) > 20 || q.runs[0] != "request_rate=inf" {
		t.Errorf("%d runs: %v", len(q.runs), q.runs)
	}
	assert.Has(t, out, "SLA criteria: p99_ttft_ms<=85.00\n", "Testing request_rate: ", " | FAILED\n",
		"Maximum request_rate for SLA p99_ttft_ms<=85.00: ",
		"output_throughput>=500.00 is not met.\n[SLA END]")
	for _, name := range []string{"SLA--p99_ttft_ms<=85.00.json", "request_rate=inf/run=0.json",
		q.runs[1] + "/summary.json"} {
		if _, err := os.Stat(filepath.Join(dir, "BENCH--num_prompts=200", name)); err != nil {
			t.Error(err)
		}
	}
	once := len(q.runs)
	again, _ := searched(t, dir, q, SLA{Sets: sets, Repeats: 3, Iters: 20})
	if len(q.runs) != once || *again.Sets[0].Highest != *tight.Highest {
		t.Errorf("resumed: %d runs more, %g", len(q.runs)-once, *again.Sets[0].Highest)
	}
	third, _ := searched(t, dir, q, SLA{Sets: setsOf(t, `[{"p99_ttft_ms": "<=90"}]`), Repeats: 3, Iters: 20})
	if n := len(q.runs) - once; n == 0 || n > 10 || *third.Sets[0].Highest > 15 || *third.Sets[0].Highest < 13.5 {
		t.Errorf("another set: %d runs more, %g", n, *third.Sets[0].Highest)
	}
}

// A condition on a key that the results lack is an error of the first run.
func TestSLAKeyMissing(t *testing.T) {
	t.Parallel()
	o := SLA{Sets: setsOf(t, `[{"mean_ttft_ms": "<=85"}]`), Variable: RequestRate, From: 4, Most: 100}
	s := New(Options{Dir: t.TempDir(), Pairs: []Combination{{}}, Runs: 1, Driver: &o,
		Runner: &queue{t: t, capacity: 40}, Out: io.Discard})
	assert.Complains(t, assert.Failure(s.Run(t.Context())), "the results have no key mean_ttft_ms")
}

// No concurrency above the number of requests is tried, and the search begins at 16.
func TestSLAUsers(t *testing.T) {
	t.Parallel()
	o := SLA{Variable: MaxConcurrency, Most: 100, Prompts: 12}
	c := o.Planned(Combination{})[0]
	if c.Place != "max_concurrency=12" || o.most(Combination{Bench: item(t, `{"num_prompts": 50}`)}) != 50 ||
		string(c.Bench.JSON()) != `{"max_concurrency": 12}` {
		t.Errorf("%+v", c)
	}
}

// A run that fails where the sweep goes on ends the search with what is known.
func TestSLASearchBroken(t *testing.T) {
	t.Parallel()
	tiers := TierSets([]metrics.Tier{{Name: "gold", SLO: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 85}}}})
	q := &queue{t: t, capacity: 40, fail: "request_rate=6"}
	a, out := searched(t, t.TempDir(), q, SLA{Sets: tiers, From: 4, Repeats: 1})
	if a.Complete || len(a.Sets) != 1 || a.Sets[0].Name != "gold" ||
		!strings.Contains(out, "The search ended early: ") {
		t.Errorf("%+v\n%s", a, out)
	}
}
