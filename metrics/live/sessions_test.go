package live

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// At its end a run has the groups and conversations of its report, also when the objectives were changed on the way.
func TestGroupsEqualReport(t *testing.T) {
	for seed := range uint64(8) {
		all := eventtest.DrawSessions(seed, 60)
		plan := metrics.Plan{Goodput: ttft(700),
			Workloads: []metrics.Workload{{Name: "class 1", Goodput: ttft(300)}, {Name: "class 2"}}}
		if seed%2 > 0 {
			plan.Warmup = 4 * second
		}
		view, changed := NewView(time.Now(), &plan), ttft(500)
		if seed%3 == 0 {
			view.index = newRequestIndex(100) // the others are judged when they end
		}
		if seed%4 > 1 {
			eventtest.Tell(view, metrics.LogEntry{Objectives: &changed})
		}
		eventtest.Play(view, all)
		run := metrics.Run{Plan: plan, End: metrics.End{Ended: eventtest.LastDone(all)}}
		if seed%4 > 0 {
			e := metrics.LogEntry{At: run.Ended, Objectives: &changed}
			run.Events = append(run.Events, e)
			eventtest.Tell(view, e)
		}
		r := assert.Must(report.Summarize(eventtest.Each(all), run))(t)
		s := view.SnapshotAt(run.Ended)
		for what, c := range map[string][2][]metrics.Group{"classes": {r.Classes, s.Classes},
			"turns": {r.Turns, s.Turns}} {
			exact := cmpopts.IgnoreFields(metrics.Slice{}, "Statistics", "Busy") // a sum of fractions
			if diff := cmp.Diff(c[0], c[1], exact, cmp.Comparer(eventtest.SameHistogram)); diff != "" || len(c[0]) < 3 {
				t.Errorf("seed %d: %s (-report +live):\n%s", seed, what, diff)
			}
			for i := range c[0] {
				for l, h := range c[1][i].Histograms {
					if n := c[0][i].Statistics[l].N; n != int(h.Count()) {
						t.Errorf("seed %d: %d samples of %s, want %d", seed, h.Count(), c[0][i].Name(), n)
					}
				}
			}
		}
		if x, y := r.Sessions, s.Sessions; y.Completed != x.Completed || y.Failed != x.Failed || y.Completed == 0 ||
			y.Failed == 0 || y.Active != 0 || y.Thinking != 0 {
			t.Errorf("seed %d: live %+v, report %+v", seed, y, x)
		}
		for number, c := range view.sessions.open {
			if c.Completed() {
				t.Errorf("seed %d: conversation %d is held, %+v", seed, number, c)
			}
		}
		good := func(all []metrics.LoadLevel) (n int) {
			for i := range all {
				n += all[i].Good
			}
			return n
		}
		if view.index.full == metrics.Never {
			view.JudgeAt(run.Ended)
			if x, y := good(r.Levels), good(view.SnapshotAt(run.Ended).Levels); x != y || x == 0 ||
				s.Totals.Good != r.Good {
				t.Errorf("seed %d: %d good in levels, %d in all, want %d and %d", seed, y, s.Totals.Good, x, r.Good)
			}
		}
		if s.Totals.Ideal != r.Ideal || r.Ideal.Requests == 0 {
			t.Errorf("seed %d: %+v, want %+v", seed, s.Totals.Ideal, r.Ideal)
		}
	}
}

// queued marks a turn that never got a slot.
const queued metrics.Failure = "queued"

// Between its turns a conversation thinks.
func TestThinking(t *testing.T) {
	view := NewView(time.Now(), &metrics.Plan{})
	want := func(what string, active, thinking, completed, failed int) {
		t.Helper()
		if got := view.Snapshot().Sessions; *got != (metrics.LiveSessions{Active: active, Thinking: thinking,
			Completed: completed, Failed: failed}) {
			t.Errorf("%s: %+v", what, *got)
		}
	}
	step := func(conversation, turn int, as metrics.Failure) func() {
		q := eventtest.Simple(10*conversation+turn, second, ms, ms, 2)
		q.Conversation, q.Turn, q.Turns = conversation, turn, 3
		eventtest.Step(view, event.Due, &q)
		if as != queued {
			eventtest.Step(view, event.Sent, &q)
		}
		return func() {
			if q.Failure = as; as == queued {
				q.Failure, q.Admitted, q.Sent = metrics.Cancelled, metrics.Never, metrics.Never
			}
			eventtest.Step(view, event.Done, &q)
		}
	}
	waiting := step(0, 0, queued)
	if s := view.Snapshot().Sessions; s != nil && s.Active > 0 {
		t.Errorf("a conversation without a slot is active: %+v", *s)
	}
	waiting()
	first := step(1, 0, "")
	want("the first turn", 1, 0, 0, 0)
	first()
	want("a pause", 1, 1, 0, 0)
	a, b := step(1, 1, ""), step(1, 2, "")
	want("two at once", 1, 0, 0, 0)
	a()
	want("one of them", 1, 0, 0, 0)
	b()
	want("the end", 0, 0, 1, 0)
	step(2, 0, metrics.FailedReset)()
	want("a failure", 0, 0, 1, 1)
	step(3, 0, metrics.Cancelled)()
	want("cut", 0, 0, 1, 1)
	step(4, 0, "")()
	step(4, 1, metrics.FailedReset)()
	want("a branch fails", 0, 0, 1, 2)
	step(4, 2, metrics.FailedReset)()
	want("the other one, after a pause", 0, 0, 1, 2)
}

// Requests without class and conversation take no more memory than before there were any.
func TestGroupsCostNothing(t *testing.T) {
	assert.Equal(t, unsafe.Sizeof(requestSummary{}), 48+unsafe.Sizeof(metrics.OtherObjectives{}), "bytes a request")
	var s sessions
	p := &metrics.Plan{}
	q := eventtest.Simple(1, 0, ms, ms, 2)
	n := testing.AllocsPerRun(100, func() {
		s.due(p, &q)
		s.done(p, &q)
	})
	if n > 0 || s.share() != nil {
		t.Errorf("%g allocations a request", n)
	}
	turns := 0
	for i := range 10_000 {
		for k := range 5 {
			q.Conversation, q.Turn, q.Turns = i, k, 5
			s.due(p, &q)
			s.done(p, &q)
			turns++
		}
	}
	if got := *s.share(); got.Completed != 10_000 || len(s.open) > 0 {
		t.Error(fmt.Sprint(turns, " turns: ", got))
	}
}
