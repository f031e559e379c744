package metrics_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// The report quotes the first failures in data-set order, for any order of ends.
func TestFailuresGoByDataSetOrder(t *testing.T) {
	var all []Request
	for i := range 30 {
		q := eventtest.Busy(i, time.Duration(i)*second, "text "+string(rune('a'+i%5)))
		if i%3 == 0 {
			q.Failure, q.Status, q.Error = FailedConnect, 0, ""
		}
		if i == 25 {
			q.Status = 429
		}
		if i%2 == 0 {
			q = eventtest.Simple(i, 0, second, 0, 1)
		}
		all = append(all, q)
	}
	all[29].Failure, all[29].Error, all[29].Done = "", "", Never // not even that
	want := []FailureCount{
		{
			Kind: FailedStatus, Status: 503, Count: 8, Last: 23001 * ms,
			Examples: []string{"text b", "text a", "text c"},
		},
		{Kind: FailedConnect, Count: 5, Last: 27001 * ms},
		{Kind: "", Status: 503, Count: 1, Last: 0},
		{Kind: FailedStatus, Status: 429, Count: 1, Last: 25001 * ms, Examples: []string{"text a"}},
	}
	first := []string{"text b", "connect", "text a", "text c", "connect", "text b", "text d", "connect", "text c",
		"text e"}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		summary := summarize(t, all, runOf(Plan{}, minute))
		if diff := cmp.Diff(want, summary.Failures); diff != "" {
			t.Fatalf("failures (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(first, errorsOf(summary.FailedRequests)[:10]); diff != "" {
			t.Fatalf("first errors (-want +got):\n%s", diff)
		}
	}
	unfinished := slices.IndexFunc(all, func(q Request) bool { return q.Index == 29 })
	summary := summarize(t, all[unfinished:unfinished+1], runOf(Plan{}, minute))
	if !slices.Equal(errorsOf(summary.FailedRequests), []string{"unfinished"}) {
		t.Errorf("of an unfinished request: %+v", summary.FailedRequests)
	}
}

func errorsOf(failed []DetailedRequest) []string {
	return Each(failed, func(f DetailedRequest) string { return f.Error })
}

// A report without detail has the first failed requests in data-set order, for any order of ends, and one with detail
// has all.
func TestFailedRequests(t *testing.T) {
	var all []Request
	for i := range MostFailedRequests + 500 {
		all = append(all, eventtest.Busy(i, 0, "no"))
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for detailed, want := range map[bool]int{false: MostFailedRequests, true: len(all)} {
		summary := summarize(t, all, runOf(Plan{Detailed: detailed}, minute))
		if len(summary.FailedRequests) != want || summary.Failed != len(all) {
			t.Fatalf("%d of %d failed requests, want %d", len(summary.FailedRequests), summary.Failed, want)
		}
		for i, f := range summary.FailedRequests {
			if f.Index != i || f.Error != "no" || f.TTFT != Never {
				t.Fatalf("detailed %t: %d is %+v", detailed, i, f)
			}
		}
	}
}

// Facts of a run are in its report.
func TestReportOfTheSide(t *testing.T) {
	run := Run{
		End: End{Ended: second, Reason: "q", Unsent: 3, Probes: &Probes{Completed: 2},
			SpecDecode: &SpecDecode{Drafts: 4}, Diffusion: &Diffusion{DenoisingSteps: 5}},
		Events: []LogEntry{{Text: "hello"}},
	}
	r := summarize(t, nil, run)
	same := r.Probes == run.Probes && r.SpecDecode == run.SpecDecode && r.Diffusion == run.Diffusion
	if !same || len(r.Events) != 1 {
		t.Errorf("%+v, %+v, %+v, %v", r.Probes, r.SpecDecode, r.Diffusion, r.Events)
	}
	if want := (Interruption{Reason: "q", Unsent: 3}); r.Interrupted == nil || *r.Interrupted != want {
		t.Errorf("interrupted %+v, want %+v", r.Interrupted, want)
	}
}

// A plan with a duration ends when its time is over. Unsent requests are counted, but only a run short of its plan is
// interrupted.
func TestInterruptedOrOver(t *testing.T) {
	done := eventtest.Simple(0, 0, second, 0, 1)
	held := NewRequest(1)
	held.Scheduled, held.Due, held.Done, held.Failure = 0, 0, 5*second, Cancelled
	inFlight := eventtest.Simple(2, second, second, 0, 1)
	inFlight.Failure = Cancelled
	inTime := Plan{Duration: 5 * second}
	for _, c := range []struct {
		name    string
		run     Run
		also    []Request
		notSent int
		want    *Interruption
	}{
		{"all sent", Run{}, nil, 0, nil},
		{"all sent, duration", Run{Plan: inTime}, nil, 0, nil},
		{"time over", Run{Plan: inTime, End: End{Unsent: 3}}, nil, 3, nil},
		{"time over, one held", Run{Plan: inTime, End: End{Unsent: 3}}, []Request{held}, 4, nil},
		{"time over, one cut", Run{Plan: inTime, End: End{Unsent: 2}}, []Request{inFlight}, 2,
			&Interruption{Cancelled: 1, Unsent: 2}},
		{"no duration", Run{End: End{Unsent: 3}}, nil, 3, &Interruption{Unsent: 3}},
		{"no duration, one held", Run{}, []Request{held}, 1, &Interruption{Unsent: 1}},
		{
			"stopped", Run{Plan: inTime, End: End{Reason: "q", Unsent: 3}}, []Request{held}, 4,
			&Interruption{Reason: "q", Unsent: 4},
		},
		{"stopped with all sent", Run{Plan: inTime, End: End{Reason: "q"}}, nil, 0, &Interruption{Reason: "q"}},
	} {
		c.run.Ended = 5 * second
		r := summarize(t, append([]Request{done}, c.also...), c.run)
		assert.Equal(t, r.NotSent, c.notSent, "%s: not sent", c.name)
		assert.Same(t, fmt.Sprintf("%s: interrupted", c.name), r.Interrupted, c.want)
	}
}

// The first error ends the reading, and the requests before it are in the report.
func TestSummarizeOfADamagedJournal(t *testing.T) {
	broken := fmt.Errorf("line 3 is damaged")
	reqs := func(yield func(Request, error) bool) {
		for i := range 2 {
			if !yield(eventtest.Simple(i, 0, second, second, 1+i), nil) {
				return
			}
		}
		if yield(Request{}, broken) {
			yield(eventtest.Simple(2, 0, second, 0, 1), nil)
		}
	}
	r, err := report.Summarize(reqs, runOf(closedPlan(2), Never))
	if err != broken || r.Completed != 2 || r.Ended != 2*second || r.SteadyState == nil || r.SteadyState.Total != 2 {
		t.Errorf("%v, %d completed until %s, steady state %+v", err, r.Completed, r.Ended, r.SteadyState)
	}
}
