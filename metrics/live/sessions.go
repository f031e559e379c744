package live

import "benchtop/metrics"

// mostSessions bounds the conversations that are followed at once. Further ones are not counted.
const mostSessions = 1 << 18

// sessions follow the conversations of several turns: those that are under way, in a few bytes each.
type sessions struct {
	open   map[int]session // by number
	counts metrics.LiveSessions
}

// session is a conversation that may have further turns. Like a conversation of the engine it is over when a turn
// fails.
type session struct {
	metrics.TurnCounts
	inFlight int  // turns that are due and have not ended
	warming  bool // a turn of it was in the warm-up
	counted  bool // as completed or failed
}

func (s *session) over() bool { return s.Failed+s.Cut > 0 || s.Planned > 0 && s.Completed() }

// level adds the conversation to those that are active, or takes it from them.
func (s *session) level(n *metrics.LiveSessions, by int) {
	if s.over() {
		return
	}
	n.Active += by
	if s.inFlight == 0 {
		n.Thinking += by
	}
}

// due files a turn that begins. The first begins with its slot, which sent tells.
func (s *sessions) due(p *metrics.Plan, q *metrics.Request) {
	if q.Turn > 0 {
		s.turn(p, q, false)
	}
}

// sent files a first turn that begins.
func (s *sessions) sent(p *metrics.Plan, q *metrics.Request) {
	if q.Turn == 0 {
		s.turn(p, q, false)
	}
}

// done files a turn that ended. One that got no slot says nothing.
func (s *sessions) done(p *metrics.Plan, q *metrics.Request) {
	if q.Admitted != metrics.Never || s.follows(q) {
		s.turn(p, q, true)
	}
}

func (s *sessions) follows(q *metrics.Request) bool {
	_, known := s.open[q.Conversation]
	return known
}

func (s *sessions) turn(p *metrics.Plan, q *metrics.Request, ended bool) {
	if !q.OfConversation() {
		return
	}
	if s.open == nil {
		s.open = map[int]session{}
	}
	c, known := s.open[q.Conversation]
	if known {
		c.level(&s.counts, -1)
	} else if len(s.open) >= mostSessions && !s.forget() {
		return
	}
	c.warming = c.warming || p.Warming(q)
	if ended {
		c.inFlight = max(0, c.inFlight-1)
		c.Count(q)
		s.count(&c)
	} else {
		c.inFlight++
	}
	c.level(&s.counts, +1)
	if c.Planned > 0 && c.Completed() && c.inFlight == 0 {
		delete(s.open, q.Conversation)
		return
	}
	s.open[q.Conversation] = c // also one that failed: its other branches go on
}

// forget makes room by forgetting a conversation that is over, if there is one among a few.
func (s *sessions) forget() bool {
	looked := 0
	for number, c := range s.open {
		if c.over() && c.inFlight == 0 {
			delete(s.open, number)
			return true
		}
		if looked++; looked == 64 {
			break
		}
	}
	return false
}

// count counts a conversation that has come to an end, once.
func (s *sessions) count(c *session) {
	failed := c.Failed > 0
	if c.warming || c.counted || !failed && !c.Completed() {
		return
	}
	c.counted = true
	if failed {
		s.counts.Failed++
	} else {
		s.counts.Completed++
	}
}

// share returns the counts for a reader; nil for no conversation of several turns.
func (s *sessions) share() *metrics.LiveSessions {
	if s.open == nil {
		return nil
	}
	n := s.counts
	return &n
}
