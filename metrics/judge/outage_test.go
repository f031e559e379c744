package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
)

// killed is the story of the same requests with a server that was killed at a moment and came back at another: it
// refuses connections meanwhile, and cut streams break in the given way.
func killed(all []metrics.Request, at, back time.Duration, kind metrics.Failure) []metrics.Request {
	out := slices.Clone(all)
	for i := range out {
		q := &out[i]
		switch {
		case q.Sent >= at && q.Sent < back:
			q.Failure, q.Error, q.Done, q.Sent = metrics.FailedConnect, "connection refused", q.Sent+ms, metrics.Never
		case q.Sent < at && q.Done > at:
			q.Failure, q.Error, q.Done = kind, "EOF", at+ms
		default:
			continue
		}
		chunks := q.Chunks
		q.Chunks, q.FirstChunk, q.FirstToken, q.LastChunk, q.OutputTokens = nil, metrics.Never, metrics.Never,
			metrics.Never, 0
		for _, c := range chunks {
			if q.Sent != metrics.Never && c.At < at {
				q.Add(c)
			}
		}
	}
	return out
}

// A server that dies far below its capacity is not saturated, while the run is on and at its end.
func TestDeadServerIsNotSaturated(t *testing.T) {
	ci.SkipUnderRace(t)
	t.Parallel()
	ramp := linear(2, 40, minute)
	for name, c := range map[string]struct {
		server server
		kind   metrics.Failure
	}{
		"stream cut": {many, metrics.FailedTruncated}, "reset": {many, metrics.FailedReset},
		"error in stream": {many, metrics.FailedInStream}, "long answers": {wide, metrics.FailedTruncated},
	} {
		r := rand.New(rand.NewPCG(1, 7))
		all := killed(c.server.serve(poisson(ramp, r), r), 16*second, time.Hour, c.kind)
		plan := rampPlan(ramp)
		plan.Goodput = ttft(200)
		s := reported(t, plan, all)
		if a := s.Answer; a.Saturates || !strings.HasPrefix(a.Why, "no saturation up to ") ||
			a.HighestTried > ramp.RateAt(16*second) || a.None {
			t.Errorf("%s: %+v", name, a)
		}
		if s.Unreached < 500 || s.Conclusion != metrics.RunFailed {
			t.Errorf("%s: %d unreached at the end, conclusion %v", name, s.Unreached, s.Conclusion)
		}
		for _, l := range s.Levels {
			if l.To > 16*second != (l.Standing == metrics.LevelUnanswered) && name != "long answers" {
				t.Errorf("%s: from %s to %s %q", name, l.From, l.To, l.Standing)
			}
		}
		for at := 5 * second; at <= minute; at += 5 * second {
			if s := liveAt(plan, all, at); s.Answer.Saturates || s.Answer.None {
				t.Errorf("%s: at %s: %+v, %+v", name, at, s.Answer, s.Levels)
			}
		}
	}
}

// A server that was dead for a while saturates where it does without.
func TestSaturationAfterAnOutage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	ramp := linear(4, 60, minute)
	s := reported(t, rampPlan(ramp),
		killed(many.serve(poisson(ramp, r), r), 8*second, 12*second, metrics.FailedTruncated))
	if a := s.Answer; !a.Saturates || math.Abs(a.Capacity.Load/many.capacity()-1) > 0.15 || s.Unreached != 0 {
		t.Errorf("%+v, capacity %.1f, %d unreached", a, many.capacity(), s.Unreached)
	}
}

// A server that refuses connections while it answers others is overloaded, not gone, even if no answer ends meanwhile.
func TestRefusedConnectionsUnderLoadAreEvidence(t *testing.T) {
	t.Parallel()
	long := server{slots: 30, service: 50 * second, first: 50 * ms, room: 1}
	plan := metrics.Plan{Rate: inf, Burstiness: 1, Goodput: ttft(200),
		Stages: []metrics.Stage{{Length: 20 * second, Load: perSecond(1)},
			{Start: 20 * second, Length: 20 * second, Load: perSecond(10)}}}
	var arrivals []time.Duration
	for at := time.Duration(0); at < 40*second; {
		arrivals = append(arrivals, at)
		if at += second; at > 20*second {
			at -= 900 * ms
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
			q.Add(metrics.Chunk{At: min(end, q.LastChunk+200*ms), Tokens: 1})
		}
	}
	if s := reported(t, plan, all); s.Levels[1].Standing == metrics.LevelUnanswered ||
		s.Levels[1].Standing == metrics.LevelWithin || s.Unreached != 0 {
		t.Errorf("%+v, %+v", s.Answer, s.Levels)
	}
	for at := 24 * second; at < 40*second; at += 4 * second {
		if levels := liveAt(plan, all, at).Levels; len(levels) < 2 || levels[1].Standing == metrics.LevelUnanswered {
			t.Errorf("at %s: %+v", at, levels)
		}
	}
}

// Where no level is left, the reason is the server that did not answer.
func TestNothingButAnOutage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 7))
	plan, arrivals := stagesOf(10*second, r, 8, 16)
	all := many.serve(arrivals, r)
	for want, at := range map[string]time.Duration{"server stopped answering after 4s": 4 * second,
		"server did not answer": 0} {
		a := reported(t, plan, killed(all, at, time.Hour, metrics.FailedTruncated)).Answer
		if a.Why != want || a.TierAnswer.Why != want || a.Saturates || a.Proven > 0 || a.None {
			t.Errorf("%q: %+v", want, a)
		}
	}
}
