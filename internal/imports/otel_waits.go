package imports

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"benchtop/datasets/agents"
)

const (
	// mostOpen bounds how many requests of an agent one may wait for, mostWaits how many waits there are in a session.
	mostOpen, mostWaits = 1 << 10, 1 << 22
	// mostLevels bounds how far above and below an agent the requests may be that one waits for.
	mostLevels = 64
)

// sessionBuilder makes the requests of a session, in the order of their starts.
type sessionBuilder struct {
	*agents.Session
	spans   *spans
	above   []ancestry
	byAgent map[int32]*agentState // by the span of the sub-agent, -1 for the session's own agent
	names   map[string]int        // how many sub-agents have a name
	begin   int64                 // start of the first request
	waits   int
}

// agentState is an agent so far.
type agentState struct {
	name     string
	open     []openRequest // those that no ended request waits for
	last     int           // place of the last request, -1 for none
	tools    cover
	children []int32 // its sub-agents by their ends
	joined   int     // children that a request waits for, or that had ended before one
}

// openRequest is a request for which a later one may wait.
type openRequest struct {
	place   int
	end     int64
	applied bool // those that it waits for are no longer open
}

// owner is the sub-agent at or above a span of an agent, -1 for the session's own: the outermost agents are its own,
// turn by turn.
func (b *sessionBuilder) owner(agent int32) int32 {
	if agent < 0 || b.above[agent].agent < 0 {
		return -1
	}
	return agent
}

// parent is the agent that a sub-agent works for.
func (b *sessionBuilder) parent(agent int32) int32 { return b.owner(b.above[agent].agent) }

func (b *sessionBuilder) agent(owner int32) *agentState {
	state := b.byAgent[owner]
	if state == nil {
		state = &agentState{last: -1}
		b.byAgent[owner] = state
	}
	return state
}

// call gives a sub-agent a name that no other of the session has.
func (b *sessionBuilder) call(owner int32, state *agentState) {
	if owner < 0 || state.name != "" {
		return
	}
	state.name = cmp.Or(b.spans.all[owner].agent, "sub-agent")
	if b.names[state.name]++; b.names[state.name] > 1 {
		state.name = fmt.Sprintf("%s/%d", state.name, b.names[state.name])
	}
}

// add adds the request of a model call.
func (b *sessionBuilder) add(i int) {
	s := &b.spans.all[i]
	if len(b.Requests) == 0 {
		b.begin = s.start
	}
	if s.start-b.begin > int64(agents.Longest) {
		b.spans.m.summary.skip("model calls more than a year behind the first of their session")
		return
	}
	owner := b.owner(b.above[i].agent)
	state := b.agent(owner)
	b.call(owner, state)
	q := agents.Request{Input: s.input, Output: max(s.output, 1), Agent: state.name,
		At: time.Duration(s.start - b.begin), Messages: s.messages}
	waits := append(state.ended(b, s.start), b.join(state, s.start, 0)...)
	if len(waits) == 0 && owner >= 0 {
		waits = b.launch(owner, s.start)
	}
	if b.waits += len(waits); b.waits > mostWaits && len(waits) > 1 {
		waits = waits[len(waits)-1:]
	}
	from := b.begin
	for _, w := range waits {
		q.After = append(q.After, w.place)
		from = max(from, w.end)
	}
	slices.Sort(q.After)
	q.After = slices.Compact(q.After)
	q.Delay = time.Duration(max(0, s.start-from))
	q.Tools = min(state.tools.within(from, s.start), q.Delay)
	q.Blocks = b.blocks(s, state)
	state.last = len(b.Requests)
	state.open = append(state.open, openRequest{place: state.last, end: s.end})
	state.open = state.open[max(0, len(state.open)-mostOpen):]
	b.Requests = append(b.Requests, q)
}

// ended are the open requests of an agent that ended by a time, but those that others of them wait for.
func (a *agentState) ended(b *sessionBuilder, by int64) (ended []openRequest) {
	covered := map[int]bool{}
	for i := range a.open {
		if o := &a.open[i]; o.end <= by && !o.applied {
			o.applied = true
			for _, place := range b.Requests[o.place].After {
				covered[place] = true
			}
		}
	}
	if len(covered) > 0 {
		a.open = slices.DeleteFunc(a.open, func(o openRequest) bool { return covered[o.place] })
	}
	for _, o := range a.open {
		if o.end <= by {
			ended = append(ended, o)
		}
	}
	return ended
}

// join are the last requests of the sub-agents that ended by a time and that no request has waited for.
func (b *sessionBuilder) join(a *agentState, by int64, depth int) (last []openRequest) {
	for ; a.joined < len(a.children) && depth < mostLevels; a.joined++ {
		child := a.children[a.joined]
		if b.spans.all[child].end > by {
			break
		}
		state := b.agent(child)
		last = append(last, state.ended(b, by)...)
		last = append(last, b.join(state, by, depth+1)...)
	}
	return last
}

// launch is the last request, of the agent that a sub-agent works for, that ended by a time; or of the agent above
// that.
func (b *sessionBuilder) launch(owner int32, by int64) []openRequest {
	for depth := 0; owner >= 0 && depth < mostLevels; depth++ {
		owner = b.parent(owner)
		ended := b.agent(owner).ended(b, by)
		if len(ended) > 0 {
			return []openRequest{slices.MaxFunc(ended, func(p, q openRequest) int { return cmp.Compare(p.end, q.end) })}
		}
	}
	return nil
}

// blocks are those of a prompt: by its text, or else by its length.
func (b *sessionBuilder) blocks(s *span, state *agentState) []agents.Run {
	p := b.spans.prefixes
	if s.prompt != nil {
		b.Shared = true
		b.spans.m.summary.estimate("tokens that prompts share, by their texts, in proportion to the lengths of these")
		if p.full() {
			b.spans.m.summary.estimate(tooManyTexts)
		}
		return p.blocks(s.prompt, s.input, b.BlockSize)
	}
	b.spans.m.summary.estimate("tokens that prompts share where no texts were recorded: a prompt that is at least as " +
		"long as the one before it is taken to begin with it")
	var runs []agents.Run
	if state.last >= 0 {
		before := &b.Requests[state.last]
		shared := before.Input / b.BlockSize
		if s.input < before.Input {
			shared = 1
		}
		runs = first(before.Blocks, min(shared, s.input/b.BlockSize))
	}
	return p.fresh(runs, s.input/b.BlockSize)
}

// cover is the time that intervals cover together. They are added in the order of their starts.
type cover struct{ from, to, before []int64 }

func (c *cover) add(from, to int64) {
	n := len(c.from)
	if n > 0 && from <= c.to[n-1] {
		c.to[n-1] = max(c.to[n-1], to)
		return
	}
	total := int64(0)
	if n > 0 {
		total = c.before[n-1] + c.to[n-1] - c.from[n-1]
	}
	c.from, c.to, c.before = append(c.from, from), append(c.to, to), append(c.before, total)
}

// until is the time covered before a moment.
func (c *cover) until(at int64) int64 {
	n := sort.Search(len(c.from), func(i int) bool { return c.from[i] >= at })
	if n == 0 {
		return 0
	}
	return c.before[n-1] + min(at, c.to[n-1]) - c.from[n-1]
}

// within is the time covered between two moments.
func (c *cover) within(from, to int64) time.Duration {
	return time.Duration(max(0, c.until(to)-c.until(from)))
}
