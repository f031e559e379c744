package report

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

const (
	ms     = time.Millisecond
	second = time.Second
	minute = time.Minute
)

// list yields some events, and then an error unless it is nil.
func list(all []event.Event, last error) event.Events {
	return func(yield func(event.Event, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
		if last != nil {
			yield(event.Event{}, last)
		}
	}
}

func fact(v any) event.Event { return event.Event{Kind: event.Fact, Value: v} }

func collect(all event.Events) (out []event.Event) {
	for e := range all {
		out = append(out, e)
	}
	return out
}

// summarize is the report of requests.
func summarize(t *testing.T, all []metrics.Request, run metrics.Run) metrics.Report {
	t.Helper()
	r := assert.Must(Summarize(eventtest.Each(all), run))(t)
	return r
}

// ttft are objectives of one limit.
func ttft(ms float64) metrics.SLO { return metrics.SLO{{Metric: metrics.TTFT, LimitMS: ms}} }

// runOf is a run without facts that ended at a moment.
func runOf(p metrics.Plan, ended time.Duration) metrics.Run {
	return metrics.Run{Plan: p, End: metrics.End{Ended: ended}}
}

// The report does not depend on the order in which requests ended, nor on when it is computed.
func TestOrderDoesNotMatter(t *testing.T) {
	ci.SkipUnderRace(t)
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			run, _ := eventtest.Sample()
			all := eventtest.DrawRun(seed, 200)
			run.Ended = 30 * second
			switch p := &run.Plan; seed % 4 {
			case 1:
				p.Warmup, p.Detailed = 3*second, false
			case 2:
				p.MaxConcurrency, p.Rate = 2, metrics.Rate(math.Inf(1))
			case 3:
				p.Requests, p.Ramp = len(all), &metrics.Ramp{Strategy: "linear", From: 5, To: 20}
				p.Gates = eventtest.Gates(t, "p97.5_itl_ms>1")
			}
			want, err := Of(eventtest.Of(run, eventtest.Each(all)))
			if err != nil || want.Completed < 10 || len(want.FailedRequests) < 10 ||
				seed%4 == 3 && len(want.Levels)+len(want.RateSteps) < 10 {
				t.Fatalf("%v: too little to compare", err)
			}
			for turn := range 2 {
				time.Sleep(time.Hour)
				rand.New(rand.NewPCG(seed, uint64(turn))).Shuffle(len(all),
					func(i, j int) { all[i], all[j] = all[j], all[i] })
				got, err := Of(eventtest.Of(run, eventtest.Each(all)))
				options := []cmp.Option{cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(metrics.Request{}),
					cmp.Comparer(eventtest.SameHistogram)}
				if diff := cmp.Diff(want, got, options...); err != nil || diff != "" {
					t.Fatalf("seed %d: %v (-in order +in another):\n%s", seed, err, diff)
				}
			}
		})
	}
}

// Facts of each kind reach the report, the last one of each kind counts.
func TestFactsReachTheReport(t *testing.T) {
	run, qs := eventtest.Sample()
	got, all, err := Gather(eventtest.Of(run, eventtest.Each(qs)))
	assert.Fine(t, err)
	assert.Same(t, "(-told +gathered)", got, run, cmpopts.EquateNaNs())
	n := 0
	for q, err := range all {
		if err != nil || q.ID != qs[n].ID {
			t.Errorf("request %d: %q, %v", n, q.ID, err)
		}
		n++
	}
	assert.Equal(t, n, len(qs), "requests")
}

// The last recount of an answer's tokens counts, at any place among the events.
func TestRecounts(t *testing.T) {
	run, qs := eventtest.Sample()
	recount := func(index, tokens int) event.Event {
		return fact(metrics.Recount{Index: index, Tokens: tokens, Source: metrics.TokensFromTokenizer})
	}
	all := collect(eventtest.Of(run, eventtest.Each(qs)))
	for name, of := range map[string][]event.Event{
		"behind": slices.Concat(all, []event.Event{recount(1, 50), recount(1, 7), recount(99, 1)}),
		"before": slices.Concat(all[:1], []event.Event{recount(1, 7)}, all[1:]),
	} {
		events := list(of, nil)
		r, err := Of(events)
		if want := qs[0].OutputTokens + 7 + qs[2].OutputTokens; err != nil || r.OutputTokens != want ||
			r.OutputSources[metrics.TokensFromTokenizer] != 1 {
			t.Errorf("%s: %v, %d output tokens, want %d; %v", name, err, r.OutputTokens, want, r.OutputSources)
		}
		_, gathered, _ := Gather(events)
		for q := range gathered {
			if q.Index == 0 && (q.OutputTokens != qs[0].OutputTokens || q.OutputSource != qs[0].OutputSource) {
				t.Errorf("%s: another request has %d tokens by %s", name, q.OutputTokens, q.OutputSource)
			}
		}
	}
}

// The reason of an early end comes from the end, from damage, or from the lack of both.
func TestReasons(t *testing.T) {
	run, qs := eventtest.Sample()
	whole := collect(eventtest.Of(run, eventtest.Each(qs)))
	cut := whole[:len(whole)-1]
	damage := func(of []event.Event, words ...string) []event.Event {
		of = slices.Clone(of)
		for _, w := range words {
			of = append(of, fact(event.Damage{Lines: 1, Err: errors.New(w)}))
		}
		return of
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		events  event.Events
		reason  string
		damaged int
		words   string // of the last line of the log
		err     error
	}{
		{"it ended", list(whole, nil), "", 0, "", nil},
		{"it was killed", list(cut, nil), Killed, 0, "", nil},
		{"a damaged line", list(damage(whole, "line 3"), nil), "", 1, "damaged journal line skipped: line 3", nil},
		{"damaged lines and no end", list(damage(cut, "line 3", "line 5"), nil), damaged, 2,
			"2 damaged journal lines skipped, the first: line 3", nil},
		{"an error", list(cut, broken), damaged, 0, "", broken},
		{"an error behind the end", list(whole, broken), damaged, 0, "", broken},
	} {
		r, err := Of(c.events)
		reason := ""
		if r.Interrupted != nil {
			reason = r.Interrupted.Reason
		}
		if !errors.Is(err, c.err) || reason != c.reason || r.Damaged != c.damaged || r.Completed != 3 {
			t.Errorf("%s: %v, reason %q, %d damaged, %d successes", c.name, err, reason, r.Damaged, r.Completed)
		}
		if last := r.Events[len(r.Events)-1].Text; c.words != "" && last != c.words ||
			len(r.Events) != 1+min(1, c.damaged) {
			t.Errorf("%s: log of %d ends with %q, want %q", c.name, len(r.Events), last, c.words)
		}
	}
}

// An error comes with the report of the events before it, and before the plan there is none.
func TestErrors(t *testing.T) {
	run, qs := eventtest.Sample()
	all := collect(eventtest.Of(run, eventtest.Each(qs)))
	broken := errors.New("broken")
	for name, before := range map[string][]event.Event{"nothing before": nil, "no plan before": all[1:3]} {
		if r, err := Of(list(before, broken)); !errors.Is(err, broken) || r.Plan.ModelID != "" {
			t.Errorf("%s: %v, report of %q", name, err, r.Plan.ModelID)
		}
		if _, requests, err := Gather(list(before, broken)); !errors.Is(err, broken) || requests != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	first := slices.IndexFunc(all, func(e event.Event) bool { return e.Kind == event.Done })
	r, err := Of(list(all[:first+2], broken))
	if !errors.Is(err, broken) || r.Completed != 2 || r.Plan.ModelID != run.Plan.ModelID {
		t.Errorf("%v, %d successes of %q", err, r.Completed, r.Plan.ModelID)
	}
	_, requests, err := Gather(list(all[:first+2], broken))
	assert.Fine(t, err)
	var got []string
	for q, err := range requests {
		got = append(got, fmt.Sprint(strings.TrimPrefix(q.ID, "sample-"), err))
	}
	if want := "A<nil> B<nil> broken"; strings.Join(got, " ") != want {
		t.Errorf("requests %q, want %q", got, want)
	}
}

// vLLM counts other first chunks where a server names its reasoning in a way that vLLM does not read.
func TestReadingOfVLLM(t *testing.T) {
	var all []metrics.Request
	for i := range 3 {
		all = append(all, eventtest.Simple(i, 0, 100*ms, ms, 3))
	}
	all[1].VLLMLater, all[2].VLLMLater = 200*ms, metrics.Never
	run := runOf(metrics.Plan{}, second)
	run.Events = []metrics.LogEntry{{At: 1, Objectives: &metrics.SLO{}}}
	r := summarize(t, all, run)
	if r.VLLM == nil || r.VLLM.TTFT.N != 2 || math.Abs(r.VLLM.TTFT.Mean-200) > 1e-9 || r.VLLM.Unread != 1 {
		t.Errorf("%+v", r.VLLM)
	}
	if r.Objectives == nil || r.Goodput != nil {
		t.Errorf("objectives %v, goodput %v", r.Objectives, r.Goodput)
	}
	r = summarize(t, all[:1], runOf(metrics.Plan{Pooling: true}, second))
	if r.VLLM != nil || r.Statistics[metrics.TTFT].N != 0 || r.Statistics[metrics.E2EL].N != 1 ||
		len(r.OutputSources) != 0 {
		t.Errorf("pooling: %+v", r.Statistics[metrics.TTFT])
	}
}

// A bug in the sum of a request does not end the run: its report is that of the events.
func TestFoldIsBroken(t *testing.T) {
	plan := metrics.Plan{Requests: 1}
	q := metrics.NewRequest(0)
	q.Sent, q.FirstChunk, q.LastChunk, q.Done = 0, time.Second, time.Second, time.Second
	source := func(event.Pick) event.Events {
		return event.Followed(func(yield func(event.Event, error) bool) {
			_ = yield(event.Event{Kind: event.Fact, Value: plan}, nil) &&
				yield(event.Event{Kind: event.Done, Request: &q}, nil)
		}, metrics.End{Ended: time.Second})
	}
	f := NewFold(&plan)
	f.sums = &summary{}
	f.Take(&event.Event{Kind: event.Done, Request: &q})
	assert.Equal(t, assert.Must(f.Report(source))(t).Completed, 1, "Report")
}
