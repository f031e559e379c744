package loadgen

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"benchtop/datasets"
	"benchtop/metrics"
)

// conversation is a conversation under way. A turn is due when all turns that it waits for have ended and its delay is
// over:
//
//	        ┌─delay─ turn 1 ─────┐
//	turn 0 ─┤                    ├─delay─ turn 3
//	        └─delay─ turn 2 ─┘ ┄┄┘
//
// Each turn takes a slot of its own, and has none during the delay before it. A turn that fails ends those that wait
// for it, because their prompts depend on its answer.
type conversation struct {
	datasets.Conversation
	engine *Engine
	number int           // of the conversation
	index  int           // of its first request
	model  string        // that all its requests ask for; "" for the engine's own
	begun  chan struct{} // closed when its first turn has its slot
	behind *conversation // that it must not overtake; nil for none
	server int           // of all its requests, once it has begun
	start  time.Duration // scheduled time of its first turn, or when that got its slot, if it waited for one
	next   [][]int       // the turns that wait for each turn; nil where each waits for the one before

	mu      sync.Mutex // guards everything below
	waits   []int      // the number of turns that each turn still waits for; nil as next is
	open    int        // turns whose delay runs, that wait for a slot, or that are in flight
	reached bool       // the last request got a connection
	echo    string     // the header of the last answer that had it, where turns send it back
	answers []string   // of the turns so far, where prompts hold them
}

func (e *Engine) newConversation(data datasets.Conversation, number, index int) *conversation {
	c := &conversation{Conversation: data, engine: e, number: number, index: index, begun: make(chan struct{}), open: 1}
	if e.options.ModelFor != nil {
		c.model = e.options.ModelFor(number)
	}
	if data.Replies {
		c.answers = make([]string, len(data.Turns))
	}
	for i := range data.Turns {
		if data.Turns[i].After != nil {
			c.link()
			break
		}
	}
	return c
}

// link notes which turns wait for which.
func (c *conversation) link() {
	c.next, c.waits = make([][]int, len(c.Turns)), make([]int, len(c.Turns))
	for i := 1; i < len(c.Turns); i++ {
		after := c.Turns[i].After
		if after == nil {
			after = []int{i - 1}
		}
		c.waits[i] = len(after)
		for _, before := range after {
			c.next[before] = append(c.next[before], i)
		}
	}
}

// newRequest is that of a turn.
func (c *conversation) newRequest(turn int) *metrics.Request {
	t, traits := &c.Turns[turn], &c.engine.encoder.traits
	q := metrics.NewRequest(c.index + turn)
	q.Conversation, q.Turn, q.ID, q.Class, q.Model = c.number, turn, c.RequestID(turn), t.Class, c.model
	if c.Several() {
		q.Turns, q.Session = len(c.Turns), c.Session
	}
	q.InputTokens, q.InputSource, q.DatasetTokens = t.InputTokens, c.engine.options.InputSource, t.InputTokens
	q.IdealTokens, q.IdealKnown = t.IdealTokens, t.IdealKnown
	q.MaxTokens, _ = c.engine.encoder.length(t)
	q.Inputs = traits.Inputs(t)
	if t.Audio != nil {
		q.Audio = t.Audio.Duration
	}
	return &q
}

// composed is the turn of a job with its prompt. Making it counts as encoding.
func (j *job) composed() (*datasets.Turn, error) {
	c, q, t := j.conversation, j.request, &j.Turns[j.turn]
	if t.Prompt.Compose == nil {
		return t, nil
	}
	from, own := c.engine.clock.Now(), *t
	if j.ahead != nil {
		own = j.ahead.turn
	} else {
		c.mu.Lock()
		answers := slices.Clone(c.answers[:min(j.turn, len(c.answers))])
		c.mu.Unlock()
		if err := t.Prompt.Compose(&own, answers); err != nil {
			return nil, fmt.Errorf("the prompt of turn %d of conversation %s: %w", j.turn, c.ID, err)
		}
	}
	if s := c.engine.options.Sharing; s != nil {
		s.Take(&own)
	}
	q.InputTokens, q.DatasetTokens, q.IdealTokens, q.IdealKnown = own.InputTokens, own.InputTokens, own.IdealTokens,
		own.IdealKnown
	q.Inputs = c.engine.encoder.traits.Inputs(&own)
	q.Encode = c.engine.clock.Now() - from
	return &own, nil
}

// enter begins the conversation, with the slot of its first turn.
func (c *conversation) enter() {
	close(c.begun)
	c.server = c.engine.servers.take(c.number)
	var free []int
	c.mu.Lock()
	for i, waits := range c.waits {
		if i > 0 && waits == 0 {
			free = append(free, i)
		}
	}
	c.open += len(free)
	c.mu.Unlock()
	c.release(free, c.start, "")
}

// release lets turns go when their delays after a moment are over. parent is the id of the request that ended then.
func (c *conversation) release(turns []int, from time.Duration, parent string) {
	for _, turn := range turns {
		j, at := &job{conversation: c, turn: turn, parent: parent}, from+c.Turns[turn].Delay
		if c.Timed {
			at = max(from, c.start+c.Turns[turn].At)
		}
		at = at.Round(time.Microsecond) // as the journal has it
		if at <= c.engine.clock.Now() {
			j.resume(at) // before a conversation that is new can take the slot
		} else {
			go j.wait(at)
		}
	}
}

// wait prepares a job, and resumes at its time, or ends it with the sending.
func (j *job) wait(at time.Duration) {
	if j.sleep(at - aheadTime) {
		j.prepare()
	}
	if j.sleep(at) {
		j.resume(at)
	} else {
		j.cancel()
	}
}

// sleep waits until a time; false when the sending ends first.
func (j *job) sleep(until time.Duration) bool {
	timer := time.NewTimer(time.Until(j.engine.clock.Start.Add(until)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-j.engine.stopping.Done():
		return false
	}
}

// resume gives a job to the limiter, unless the sending has ended.
func (j *job) resume(at time.Duration) {
	if j.engine.stopping.Err() != nil {
		j.cancel()
		return
	}
	if j.begin(at); !j.engine.limiter.resume(j) {
		j.cancel()
	}
}

// ended files the end of a turn, and lets those go that waited for it alone, with what they take over.
func (c *conversation) ended(j *job, with carried) {
	q, begun := j.request, c.hasBegun()
	var free []int
	c.mu.Lock()
	if q != nil && q.Admitted != metrics.Never {
		c.reached = q.Failure != metrics.FailedConnect
	}
	if q != nil && q.OK() && c.engine.stopping.Err() == nil {
		if with.answer != nil {
			c.answers[j.turn] = *with.answer
		}
		if with.echo != nil {
			c.echo = *with.echo
		}
		free = c.following(j.turn)
	}
	c.open += len(free) - 1
	over := c.open == 0
	c.mu.Unlock()
	if !over {
		if len(free) > 0 {
			c.release(free, q.Done, q.ID)
		}
		return
	}
	if begun {
		c.engine.servers.release(c.server, c.reached)
	}
	c.engine.limiter.leave(begun)
}

// hasBegun reports whether the first turn got its slot.
func (c *conversation) hasBegun() bool {
	select {
	case <-c.begun:
		return true
	default:
		return false
	}
}

// following are the turns that wait for no other turn any more when this one has ended. The lock is held.
func (c *conversation) following(turn int) []int {
	if c.next == nil {
		if turn+1 < len(c.Turns) {
			return []int{turn + 1}
		}
		return nil
	}
	var free []int
	for _, i := range c.next[turn] {
		if c.waits[i]--; c.waits[i] == 0 {
			free = append(free, i)
		}
	}
	return free
}
