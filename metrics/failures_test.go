package metrics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What failed first in the data set is what is quoted, in whatever order the requests ended.
func TestFailuresGoByDataSetOrder(t *testing.T) {
	var all []Request
	for i := range 30 {
		q := refused(i, time.Duration(i)*time.Second, fmt.Sprint("text ", i%5))
		if i%3 == 0 {
			q.Failure, q.Status, q.Error = FailedConnect, 0, ""
		}
		if i%2 == 0 {
			q = simple(i, 0, time.Second, 0, 1)
		}
		all = append(all, q)
	}
	all[29].Failure, all[29].Error, all[29].Done = "", "", Never // not even that
	want := []FailureCount{
		{
			Kind: FailedStatus, Status: 503, Count: 9, Last: 25001 * time.Millisecond,
			Examples: []string{"text 1", "text 0", "text 2"},
		},
		{Kind: FailedConnect, Count: 5, Last: 27001 * time.Millisecond},
		{Kind: "", Status: 503, Count: 1, Last: 0},
	}
	first := []string{"text 1", "connect", "text 0", "text 2", "connect", "text 1", "text 3", "connect", "text 2", "text 4"}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		report, err := Summarize(yield(all), Run{Ended: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, report.Failures); diff != "" {
			t.Fatalf("failures (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(first, report.FirstErrors); diff != "" {
			t.Fatalf("first errors (-want +got):\n%s", diff)
		}
	}
	unfinished := slices.IndexFunc(all, func(q Request) bool { return q.Index == 29 })
	report, err := Summarize(yield(all[unfinished:unfinished+1]), Run{Ended: time.Minute})
	if err != nil || !slices.Equal(report.FirstErrors, []string{"unfinished"}) {
		t.Errorf("of an unfinished request: %q, %v", report.FirstErrors, err)
	}
}

// Marks stay when the log has long forgotten their events.
func TestMarks(t *testing.T) {
	rec := NewRecorder(time.Now(), &Plan{})
	rec.Log(LogEntry{At: 1, Text: "stage 2: 16 req/s", Mark: "16/s"})
	early := rec.Snapshot()
	for i := range 3 * logKept {
		rec.Log(LogEntry{At: time.Duration(i), Text: "noise"})
	}
	rec.Log(LogEntry{At: 2, Text: "stage 3", Mark: "32/s"})
	s := rec.Snapshot()
	want := []LogEntry{{At: 1, Text: "stage 2: 16 req/s", Mark: "16/s"}, {At: 2, Text: "stage 3", Mark: "32/s"}}
	if diff := cmp.Diff(want, s.Marks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(early.Marks) != 1 || len(s.Log) != logKept {
		t.Errorf("an early snapshot has %d marks, the log %d lines", len(early.Marks), len(s.Log))
	}
	for i := range 2 * marksKept {
		rec.Log(LogEntry{At: time.Duration(i), Mark: "x"})
	}
	if n := len(rec.Snapshot().Marks); n != marksKept {
		t.Errorf("%d marks, want %d", n, marksKept)
	}
}

// What a run knows beside its requests is in the report.
func TestReportOfTheSide(t *testing.T) {
	run := Run{
		Ended: time.Second, Events: []LogEntry{{Text: "hello"}}, Reason: "q", Unsent: 3,
		Probes: &Probes{Completed: 2}, SpecDecode: &SpecDecode{Drafts: 4}, Diffusion: &Diffusion{DenoisingSteps: 5},
	}
	r, err := Summarize(yield(nil), run)
	if err != nil {
		t.Fatal(err)
	}
	same := r.Probes == run.Probes && r.SpecDecode == run.SpecDecode && r.Diffusion == run.Diffusion
	if !same || len(r.Events) != 1 {
		t.Errorf("%+v, %+v, %+v, %v", r.Probes, r.SpecDecode, r.Diffusion, r.Events)
	}
	if want := (Interrupted{Reason: "q", Unsent: 3}); r.Interrupted == nil || *r.Interrupted != want {
		t.Errorf("interrupted %+v, want %+v", r.Interrupted, want)
	}
}

// A plan with a duration ends when its time is over: what was not sent by then is counted, but interrupted is what did not
// get as far as planned.
func TestInterruptedOrOver(t *testing.T) {
	done := simple(0, 0, time.Second, 0, 1)
	held := NewRequest(1)
	held.Scheduled, held.Due, held.Done, held.Failure = 0, 0, 5*time.Second, Cancelled
	inFlight := simple(2, time.Second, time.Second, 0, 1)
	inFlight.Failure = Cancelled
	inTime := Plan{Duration: 5 * time.Second}
	for name, c := range map[string]struct {
		run     Run
		also    []Request
		notSent int
		want    *Interrupted
	}{
		"all sent":              {Run{}, nil, 0, nil},
		"all sent, duration":    {Run{Plan: inTime}, nil, 0, nil},
		"time over":             {Run{Plan: inTime, Unsent: 3}, nil, 3, nil},
		"time over, one held":   {Run{Plan: inTime, Unsent: 3}, []Request{held}, 4, nil},
		"time over, one cut":    {Run{Plan: inTime, Unsent: 2}, []Request{inFlight}, 2, &Interrupted{Cancelled: 1, Unsent: 2}},
		"no duration":           {Run{Unsent: 3}, nil, 3, &Interrupted{Unsent: 3}},
		"no duration, one held": {Run{}, []Request{held}, 1, &Interrupted{Unsent: 1}},
		"stopped": {
			Run{Plan: inTime, Reason: "q", Unsent: 3}, []Request{held}, 4, &Interrupted{Reason: "q", Unsent: 4},
		},
		"stopped with all sent": {Run{Plan: inTime, Reason: "q"}, nil, 0, &Interrupted{Reason: "q"}},
	} {
		c.run.Ended = 5 * time.Second
		r, err := Summarize(yield(append([]Request{done}, c.also...)), c.run)
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

// The first error ends the reading; what came before it is in the report, whichever pass meets it.
func TestSummarizeOfADamagedJournal(t *testing.T) {
	broken := fmt.Errorf("line 3 is damaged")
	reqs := func(yield func(Request, error) bool) {
		for i := range 2 {
			if !yield(simple(i, 0, time.Second, time.Second, 1+i), nil) {
				return
			}
		}
		if yield(Request{}, broken) {
			yield(simple(2, 0, time.Second, 0, 1), nil)
		}
	}
	r, err := Summarize(reqs, Run{Plan: closedPlan(2), Ended: Never})
	if err != broken || r.Completed != 2 || r.Ended != 2*time.Second || r.SteadyState == nil || r.SteadyState.Total != 2 {
		t.Errorf("%v, %d completed until %s, steady state %+v", err, r.Completed, r.Ended, r.SteadyState)
	}
}
