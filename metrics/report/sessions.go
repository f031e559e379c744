package report

import (
	"slices"
	"sort"
	"time"

	"benchtop/metrics"
)

// sessions sum up conversations of several turns. A conversation is held until all its turns have succeeded, in a few
// numbers; other requests are not held.
type sessions struct {
	open                        map[int]*conversation // by number
	completed, turns            int
	planned                     int
	makespan, waiting, cachings metrics.Sample
}

// conversation is one that may have further turns.
type conversation struct {
	metrics.TurnCounts
	warming bool // a turn of it was in the warm-up
	cached  metrics.TokenShare
	busy    []span // in order of time, apart from each other
}

// span is a part of the run in which a turn of a conversation was under way.
type span struct{ from, to time.Duration }

// add counts a turn, in any order.
func (s *sessions) add(p *metrics.Plan, q *metrics.Request) {
	// A turn without a slot says nothing; without any, the conversation never began.
	if !q.OfConversation() || q.Admitted == metrics.Never {
		return
	}
	if s.open == nil {
		s.open = map[int]*conversation{}
	}
	c := s.open[q.Conversation]
	if c == nil {
		c = &conversation{}
		s.open[q.Conversation] = c
	}
	c.Count(q)
	c.warming = c.warming || p.Warming(q)
	if q.OK() {
		c.cached.Join(q.Cached())
	}
	if q.Done != metrics.Never {
		c.take(span{q.Admitted, q.Done})
	}
	if c.Completed() {
		s.complete(c)
		delete(s.open, q.Conversation)
	}
}

// take joins a span with those that it touches.
func (c *conversation) take(s span) {
	from := sort.Search(len(c.busy), func(i int) bool { return c.busy[i].to >= s.from })
	to := from
	for ; to < len(c.busy) && c.busy[to].from <= s.to; to++ {
		s.from, s.to = min(s.from, c.busy[to].from), max(s.to, c.busy[to].to)
	}
	c.busy = slices.Replace(c.busy, from, to, s)
}

// complete files the figures of a conversation.
func (s *sessions) complete(c *conversation) {
	if c.warming || len(c.busy) == 0 {
		return
	}
	s.completed++
	s.turns, s.planned = s.turns+c.Done, s.planned+c.Planned
	waiting := time.Duration(0)
	for _, b := range c.busy {
		waiting += b.to - b.from
	}
	s.waiting.Add(waiting.Seconds())
	s.makespan.Add((c.busy[len(c.busy)-1].to - c.busy[0].from).Seconds())
	if c.cached.Of > 0 {
		s.cachings.Add(c.cached.Rate())
	}
}

// report is nil without conversations of several turns.
func (s *sessions) report(percentiles []float64) *metrics.Sessions {
	out := metrics.Sessions{Conversations: s.completed, Completed: s.completed}
	turns, planned := s.turns, s.planned
	for _, c := range s.open {
		if c.warming {
			continue
		}
		out.Conversations++
		turns, planned = turns+c.Done, planned+c.Planned
		out.NotSent += c.NotSent()
		if c.Failed > 0 {
			out.Failed++
		} else {
			out.Unfinished++
		}
	}
	if out.Conversations == 0 {
		return nil
	}
	out.Turns, out.Planned = metrics.Share(turns, out.Conversations), metrics.Share(planned, out.Conversations)
	out.Makespan, out.Waiting = s.makespan.Statistic(percentiles), s.waiting.Statistic(percentiles)
	out.CachedShare = s.cachings.Shares(percentiles)
	return &out
}
