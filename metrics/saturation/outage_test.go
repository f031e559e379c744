package saturation_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// killed is the story of the same requests with a server that was killed at a moment and came back at another: it refuses connections
// meanwhile, and cut streams break in the given way.
func killed(all []metrics.Request, at, back time.Duration, kind metrics.Failure) []metrics.Request {
	out := slices.Clone(all)
	for i := range out {
		q := &out[i]
		switch {
		case q.Sent >= at && q.Sent < back:
			q.Failure, q.Error, q.Done, q.Sent = metrics.FailedConnect, "connection refused", q.Sent+time.Millisecond, metrics.Never
		case q.Sent < at && q.Done > at:
			q.Failure, q.Error, q.Done = kind, "EOF", at+time.Millisecond
		default:
			continue
		}
		chunks := q.Chunks
		q.Chunks, q.FirstChunk, q.FirstToken, q.LastChunk, q.OutputTokens = nil, metrics.Never, metrics.Never, metrics.Never, 0
		for _, c := range chunks {
			if q.Sent != metrics.Never && c.At < at {
				q.Add(c)
			}
		}
	}
	return out
}

// liveAnswer is the answer of the run at a moment.
func liveAnswer(plan metrics.Plan, all []metrics.Request, at time.Duration) (metrics.Answer, []metrics.LoadLevel) {
	rec := live.NewView(time.Now(), &plan)
	eventtest.Again(rec, all, at)
	rec.JudgeAt(at)
	s := rec.SnapshotAt(at)
	return *s.Answer, s.Levels
}

// A server that dies in the middle of a ramp far below its capacity is not saturated, while the run is on and at its end.
func TestDeadServerIsNotSaturated(t *testing.T) {
	ramp := linear(2, 40, time.Minute)
	for name, c := range map[string]struct {
		server server
		kind   metrics.Failure
	}{
		"stream cut":      {many, metrics.FailedTruncated},
		"reset":           {many, metrics.FailedReset},
		"error in stream": {many, metrics.FailedInStream},
		"long answers":    {wide, metrics.FailedTruncated},
	} {
		r := rand.New(rand.NewPCG(1, 7))
		all := killed(c.server.serve(poisson(ramp, r), r), 16*time.Second, time.Hour, c.kind)
		plan := rampPlan(ramp)
		plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}}
		slices.Reverse(all) // the order in which they are read does not count
		a := answerTo(t, plan, all)
		slices.Reverse(all)
		if a.Answer.Saturates || !strings.HasPrefix(a.Answer.Why, "no saturation up to ") || !a.Answer.Within || a.Answer.Highest > ramp.RateAt(16*time.Second) {
			t.Errorf("%s: %+v", name, a.Answer)
		}
		for _, l := range a.Levels {
			if l.To > 16*time.Second != (l.Standing == metrics.LevelUnanswered) && name != "long answers" {
				t.Errorf("%s: from %s to %s %q", name, l.From, l.To, l.Standing)
			}
		}
		plan.Requests = len(all)
		for at := 5 * time.Second; at <= time.Minute; at += time.Second {
			if a, levels := liveAnswer(plan, all, at); a.Saturates || strings.HasPrefix(a.Why, "saturated") {
				t.Errorf("%s: at %s: %+v, %+v", name, at, a, levels)
			}
		}
	}
}

// A server that was dead for a while saturates where it does without.
func TestSaturationAfterAnOutage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	ramp := linear(4, 60, time.Minute)
	all := killed(many.serve(poisson(ramp, r), r), 8*time.Second, 12*time.Second, metrics.FailedTruncated)
	plan := rampPlan(ramp)
	if a := answerTo(t, plan, all).Answer; !a.Saturates || math.Abs(middle(&a)/many.capacity()-1) > 0.15 {
		t.Errorf("%+v, capacity %.1f", a, many.capacity())
	}
}

// A server that refuses connections while it answers others is overloaded, not dead, even if no answer ends meanwhile.
func TestRefusedConnectionsUnderLoadAreEvidence(t *testing.T) {
	long := server{slots: 30, service: 50 * time.Second, first: 50 * time.Millisecond, room: 1}
	plan := metrics.Plan{Rate: metrics.Rate(math.Inf(1)), Burstiness: 1, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 200}},
		Stages: []metrics.Stage{{Length: 20 * time.Second, Rate: 1}, {Start: 20 * time.Second, Length: 20 * time.Second, Rate: 10}}}
	var arrivals []time.Duration
	for at := time.Duration(0); at < 40*time.Second; {
		arrivals = append(arrivals, at)
		if at += time.Second; at > 20*time.Second {
			at -= 900 * time.Millisecond
		}
	}
	all := long.serve(arrivals, rand.New(rand.NewPCG(1, 7)))
	for i := range all {
		q := &all[i]
		if q.Failure != "" {
			q.Failure, q.Status, q.Sent, q.Error = metrics.FailedConnect, 0, metrics.Never, "connection refused"
			continue
		}
		end := q.Done
		for q.Chunks, q.LastChunk = q.Chunks[:1], q.FirstChunk; q.LastChunk < end; {
			q.Add(metrics.Chunk{At: min(end, q.LastChunk+200*time.Millisecond), Tokens: 1})
		}
	}
	a := answerTo(t, plan, all)
	if !a.Answer.Saturates || a.Levels[1].Standing != metrics.LevelMissed {
		t.Errorf("%+v, %+v", a.Answer, a.Levels)
	}
	plan.Requests = len(all)
	for at := 24 * time.Second; at < 40*time.Second; at += time.Second {
		if _, levels := liveAnswer(plan, all, at); len(levels) < 2 || levels[1].Standing != metrics.LevelMissed {
			t.Errorf("at %s: %+v", at, levels)
		}
	}
}

// Where no level is left, the reason is the server that did not answer.
func TestNothingButAnOutage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	plan, arrivals := stagesOf(10*time.Second, r, 8, 16)
	all := many.serve(arrivals, r)
	for want, at := range map[string]time.Duration{"server stopped answering after 4s": 4 * time.Second, "server did not answer": 0} {
		a := answerTo(t, plan, killed(all, at, time.Hour, metrics.FailedTruncated)).Answer
		if a.Why != want || a.Saturates || a.Within {
			t.Errorf("%q: %+v", want, a)
		}
	}
	one, arrivals := stagesOf(time.Minute, r, 20)
	all = killed(many.serve(arrivals, r), 30*time.Second, 30500*time.Millisecond, metrics.FailedTruncated)
	if s, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: one, End: metrics.End{Ended: eventtest.LastDone(all)}}); err != nil || s.Answer.Why != "steady load" {
		t.Errorf("a few lost requests: %v, %+v, %+v", err, s.Answer, s.Levels)
	}
}
