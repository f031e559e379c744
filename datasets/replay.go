package datasets

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"benchtop/datasets/agents"
)

// Replay says which part of a recording is sent, and how fast. The zero value is all of it, as recorded.
type Replay struct {
	// Scale is how many times as fast as recorded; 0 for 1.
	Scale float64
	// From and To are the part of the recording, from its start; To is 0 for all the rest. For sessions it is a part of
	// each.
	From time.Duration
	To   time.Duration
	// MaxGap bounds recorded gaps in which nothing starts, before they are scaled; 0 for no bound.
	MaxGap time.Duration
	// Sample is the share of the sessions, or of the requests of a recording without sessions, that is sent; 0 for 1.
	Sample float64
}

func (r Replay) scale() float64 { return cmp.Or(r.Scale, 1) }

func (r Replay) share() float64 { return cmp.Or(r.Sample, 1) }

// define adds the flags.
func (r *Replay) define(f Flags) {
	r.Scale, r.Sample = 1, 1
	f.Float64Var(&r.Scale, "time-scale", r.Scale, "how many times as fast as recorded, as 2 or 0.5")
	f.DurationVar(&r.From, "trace-from", 0, "start this long after the first request, as 10m; sessions: each of them")
	f.DurationVar(&r.To, "trace-to", 0, "end this long after the first request; 0 for the end of the recording")
	f.DurationVar(&r.MaxGap, "max-gap", 0,
		"shorten recorded gaps without a request to this time, before they are scaled; 0 leaves them")
	f.Float64Var(&r.Sample, "sample", r.Sample,
		"share of the sessions, or of the requests where there are none, that is sent, above 0 and at most 1")
}

// Validate reports every problem, in terms of the flags.
func (r Replay) Validate() []error {
	p := &problems{}
	if !(r.Scale >= 0) || math.IsInf(r.Scale, 0) {
		p.add("--time-scale %v: must be above 0", r.Scale)
	}
	if r.From < 0 || r.To < 0 || r.To > 0 && r.From >= r.To {
		p.add("--trace-from %v and --trace-to %v: the part of the recording between them is empty", r.From, r.To)
	}
	if r.MaxGap < 0 {
		p.add("--max-gap %v: must not be negative", r.MaxGap)
	}
	if !(r.Sample >= 0 && r.Sample <= 1) {
		p.add("--sample %v: must be above 0 and at most 1", r.Sample)
	}
	return *p
}

// sampleSeed sets the choice of a sample apart from other draws of the same seed.
const sampleSeed = 0x5a3e

// sampler chooses the sample, one session after the other.
func (r Replay) sampler(seed int64) func() bool {
	draws := rand.New(rand.NewPCG(uint64(seed), sampleSeed))
	return func() bool { return r.share() >= 1 || draws.Float64() < r.share() }
}

// scaled is a recorded time as it is replayed.
func (r Replay) scaled(d time.Duration) time.Duration {
	return time.Duration(math.Round(min(float64(d)/r.scale(), float64(agents.Longest))))
}

// Times are those at which the requests of a recording start, and which of them are sent, at most so many; 0 for no
// bound. at are ascending.
func (r Replay) Times(at []time.Duration, seed int64, most int) (times []time.Duration, sent []bool) {
	if len(at) == 0 {
		return nil, nil
	}
	wanted, origin := r.sampler(seed), at[0]
	now, before := time.Duration(0), r.From
	sent = make([]bool, len(at))
	for i, t := range at {
		if most > 0 && len(times) == most {
			break
		}
		t -= origin
		if t < r.From || r.To > 0 && t >= r.To || !wanted() {
			continue
		}
		gap := t - before
		if r.MaxGap > 0 {
			gap = min(gap, r.MaxGap)
		}
		now, before, sent[i] = now+gap, t, true
		times = append(times, r.scaled(now))
	}
	return times, sent
}

// Session is the part of a session that is sent, at its times. It is nil where nothing of it is.
func (r Replay) Session(s *agents.Session) *agents.Session {
	out := *s
	out.Requests = slices.Clone(s.Requests)
	if r.From > 0 || r.To > 0 {
		out.Requests = r.window(s.Requests)
	}
	if len(out.Requests) == 0 {
		return nil
	}
	at := r.starts(out.Requests)
	for i := range out.Requests {
		q := &out.Requests[i]
		if r.MaxGap > 0 {
			q.Delay, q.Tools = min(q.Delay, r.MaxGap), min(q.Tools, r.MaxGap)
		}
		q.Delay, q.Tools, q.At = r.scaled(q.Delay), r.scaled(q.Tools), r.scaled(at[i])
	}
	return &out
}

// starts are the recorded starts from the first one, without the part of each gap that is too long.
func (r Replay) starts(all []agents.Request) []time.Duration {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].At, all[b].At) })
	at := make([]time.Duration, len(all))
	now, before := time.Duration(0), all[order[0]].At
	for _, i := range order {
		gap := all[i].At - before
		if r.MaxGap > 0 {
			gap = min(gap, r.MaxGap)
		}
		now, before = now+gap, all[i].At
		at[i] = now
	}
	return at
}

// window keeps the requests that start in the part of a session. A request that waited for one that is left out waits
// for those that that one waited for.
func (r Replay) window(all []agents.Request) (kept []agents.Request) {
	// of a kept request its place, of another those it waited for
	place, behind := make([]int, len(all)), make([][]int, len(all))
	for i := range all {
		var after []int
		for _, a := range all[i].After {
			if place[a] >= 0 {
				after = append(after, place[a])
			} else {
				after = append(after, behind[a]...)
			}
		}
		slices.Sort(after)
		after = slices.Compact(after)
		if at := all[i].At; at < r.From || r.To > 0 && at >= r.To {
			place[i], behind[i] = -1, after
			continue
		}
		place[i] = len(kept)
		q := all[i]
		if q.After = after; len(after) == 0 {
			q.Delay = 0
			if len(kept) > 0 {
				q.Delay = max(0, q.At-kept[0].At)
			}
		}
		kept = append(kept, q)
	}
	return kept
}

// String describes a replay that is not as recorded, "" for one that is.
func (r Replay) String() (s string) {
	if r.scale() != 1 {
		s += fmt.Sprintf("; at %g times the speed", r.scale())
	}
	if r.From > 0 || r.To > 0 {
		s += fmt.Sprintf("; from %v", r.From)
		if r.To > 0 {
			s += fmt.Sprintf(" to %v", r.To)
		}
	}
	if r.MaxGap > 0 {
		s += fmt.Sprintf("; gaps of at most %v", r.MaxGap)
	}
	if r.share() < 1 {
		s += fmt.Sprintf("; a sample of %g", r.share())
	}
	return s
}

// replay is the part of a recording with times that is sent.
func (r Replay) replay(f Flow, seed int64, most int) (Flow, error) {
	if r.String() == "" {
		return f, nil
	}
	times, sent := r.Times(f.Times(), seed, most)
	if len(times) == 0 {
		return Flow{}, fmt.Errorf("no request lies in the part of the recording that was asked for")
	}
	recorded, read, next := f.Next, 0, 0
	f.About, f.Len, f.Times = f.About+r.String(), len(times), func() []time.Duration { return slices.Clone(times) }
	f.Next = func() (Conversation, error) {
		for next < len(times) {
			c, err := recorded()
			if err != nil {
				return c, err
			}
			if read++; sent[read-1] {
				c.At = times[next]
				next++
				return c, nil
			}
		}
		return Conversation{}, io.EOF
	}
	return f, nil
}
