package metrics_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// The report quotes the first failures in data-set order, for any order of ends.
func TestFailuresGoByDataSetOrder(t *testing.T) {
	var all []metrics.Request
	for i := range 30 {
		q := eventtest.Busy(i, time.Duration(i)*time.Second, "text "+string(rune('a'+i%5)))
		if i%3 == 0 {
			q.Failure, q.Status, q.Error = metrics.FailedConnect, 0, ""
		}
		if i%2 == 0 {
			q = eventtest.Simple(i, 0, time.Second, 0, 1)
		}
		all = append(all, q)
	}
	all[29].Failure, all[29].Error, all[29].Done = "", "", metrics.Never // not even that
	want := []metrics.FailureCount{
		{
			Kind: metrics.FailedStatus, Status: 503, Count: 9, Last: 25001 * time.Millisecond,
			Examples: []string{"text b", "text a", "text c"},
		},
		{Kind: metrics.FailedConnect, Count: 5, Last: 27001 * time.Millisecond},
		{Kind: "", Status: 503, Count: 1, Last: 0},
	}
	first := []string{"text b", "connect", "text a", "text c", "connect", "text b", "text d", "connect", "text c", "text e"}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		summary, err := report.Summarize(eventtest.Each(all), metrics.Run{End: metrics.End{Ended: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, summary.Failures); diff != "" {
			t.Fatalf("failures (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(first, errorsOf(summary.FailedRequests)[:10]); diff != "" {
			t.Fatalf("first errors (-want +got):\n%s", diff)
		}
	}
	unfinished := slices.IndexFunc(all, func(q metrics.Request) bool { return q.Index == 29 })
	summary, err := report.Summarize(eventtest.Each(all[unfinished:unfinished+1]), metrics.Run{End: metrics.End{Ended: time.Minute}})
	if err != nil || !slices.Equal(errorsOf(summary.FailedRequests), []string{"unfinished"}) {
		t.Errorf("of an unfinished request: %+v, %v", summary.FailedRequests, err)
	}
}

func errorsOf(failed []metrics.FailedRequest) []string {
	return metrics.Each(failed, func(f metrics.FailedRequest) string { return f.Error })
}

// A report without detail has the first failed requests in data-set order, for any order of ends, and one with detail has all.
func TestFailedRequests(t *testing.T) {
	var all []metrics.Request
	for i := range metrics.MostFailedRequests + 500 {
		all = append(all, eventtest.Busy(i, 0, "no"))
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for detailed, want := range map[bool]int{false: metrics.MostFailedRequests, true: len(all)} {
		summary, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: metrics.Plan{Detailed: detailed}, End: metrics.End{Ended: time.Minute}})
		if err != nil || len(summary.FailedRequests) != want || summary.Failed != len(all) {
			t.Fatalf("%d of %d failed requests, want %d: %v", len(summary.FailedRequests), summary.Failed, want, err)
		}
		for i, f := range summary.FailedRequests {
			if f.Index != i || f.Error != "no" || f.TTFT != metrics.Never {
				t.Fatalf("detailed %t: %d is %+v", detailed, i, f)
			}
		}
	}
}

// Facts of a run are in its report.
func TestReportOfTheSide(t *testing.T) {
	run := metrics.Run{
		End: metrics.End{Ended: time.Second, Reason: "q", Unsent: 3, Probes: &metrics.Probes{Completed: 2}, SpecDecode: &metrics.SpecDecode{Drafts: 4}, Diffusion: &metrics.Diffusion{DenoisingSteps: 5}}, Events: []metrics.LogEntry{{Text: "hello"}},
	}
	r, err := report.Summarize(eventtest.Each(nil), run)
	if err != nil {
		t.Fatal(err)
	}
	same := r.Probes == run.Probes && r.SpecDecode == run.SpecDecode && r.Diffusion == run.Diffusion
	if !same || len(r.Events) != 1 {
		t.Errorf("%+v, %+v, %+v, %v", r.Probes, r.SpecDecode, r.Diffusion, r.Events)
	}
	if want := (metrics.Interrupted{Reason: "q", Unsent: 3}); r.Interrupted == nil || *r.Interrupted != want {
		t.Errorf("interrupted %+v, want %+v", r.Interrupted, want)
	}
}

// A plan with a duration ends when its time is over. Unsent requests are counted, but only a run short of its plan is interrupted.
func TestInterruptedOrOver(t *testing.T) {
	done := eventtest.Simple(0, 0, time.Second, 0, 1)
	held := metrics.NewRequest(1)
	held.Scheduled, held.Due, held.Done, held.Failure = 0, 0, 5*time.Second, metrics.Cancelled
	inFlight := eventtest.Simple(2, time.Second, time.Second, 0, 1)
	inFlight.Failure = metrics.Cancelled
	inTime := metrics.Plan{Duration: 5 * time.Second}
	for name, c := range map[string]struct {
		run     metrics.Run
		also    []metrics.Request
		notSent int
		want    *metrics.Interrupted
	}{
		"all sent":              {metrics.Run{}, nil, 0, nil},
		"all sent, duration":    {metrics.Run{Plan: inTime}, nil, 0, nil},
		"time over":             {metrics.Run{Plan: inTime, End: metrics.End{Unsent: 3}}, nil, 3, nil},
		"time over, one held":   {metrics.Run{Plan: inTime, End: metrics.End{Unsent: 3}}, []metrics.Request{held}, 4, nil},
		"time over, one cut":    {metrics.Run{Plan: inTime, End: metrics.End{Unsent: 2}}, []metrics.Request{inFlight}, 2, &metrics.Interrupted{Cancelled: 1, Unsent: 2}},
		"no duration":           {metrics.Run{End: metrics.End{Unsent: 3}}, nil, 3, &metrics.Interrupted{Unsent: 3}},
		"no duration, one held": {metrics.Run{}, []metrics.Request{held}, 1, &metrics.Interrupted{Unsent: 1}},
		"stopped": {
			metrics.Run{Plan: inTime, End: metrics.End{Reason: "q", Unsent: 3}}, []metrics.Request{held}, 4, &metrics.Interrupted{Reason: "q", Unsent: 4},
		},
		"stopped with all sent": {metrics.Run{Plan: inTime, End: metrics.End{Reason: "q"}}, nil, 0, &metrics.Interrupted{Reason: "q"}},
	} {
		c.run.Ended = 5 * time.Second
		r, err := report.Summarize(eventtest.Each(append([]metrics.Request{done}, c.also...)), c.run)
		if err != nil {
			t.Fatal(err)
		}
		if r.NotSent != c.notSent {
			t.Errorf("%s: %d not sent, want %d", name, r.NotSent, c.notSent)
		}
		if diff := cmp.Diff(c.want, r.Interrupted); diff != "" {
			t.Errorf("%s: interrupted (-want +got):\n%s", name, diff)
		}
	}
}

// The first error ends the reading, and the requests before it are in the report.
func TestSummarizeOfADamagedJournal(t *testing.T) {
	broken := fmt.Errorf("line 3 is damaged")
	reqs := func(yield func(metrics.Request, error) bool) {
		for i := range 2 {
			if !yield(eventtest.Simple(i, 0, time.Second, time.Second, 1+i), nil) {
				return
			}
		}
		if yield(metrics.Request{}, broken) {
			yield(eventtest.Simple(2, 0, time.Second, 0, 1), nil)
		}
	}
	r, err := report.Summarize(reqs, metrics.Run{Plan: closedPlan(2), End: metrics.End{Ended: metrics.Never}})
	if err != broken || r.Completed != 2 || r.Ended != 2*time.Second || r.SteadyState == nil || r.SteadyState.Total != 2 {
		t.Errorf("%v, %d completed until %s, steady state %+v", err, r.Completed, r.Ended, r.SteadyState)
	}
}
