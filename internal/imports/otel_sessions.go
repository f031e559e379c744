package imports

import (
	"cmp"
	"slices"
	"time"

	"benchtop/datasets/agents"
)

// ancestry is what a span has from the spans around it.
type ancestry struct {
	agent        int32 // the nearest span of an agent, -1 for none
	inModel      bool  // it is inside a call of a model
	conversation string
	state        climb
}

// climb is how far the ancestry of a span is known.
type climb uint8

const (
	unknown climb = iota
	onTheWay
	known
)

// ancestries climbs from each span to its root once. Spans that are their own ancestors count as roots.
func (t *spans) ancestries() []ancestry {
	all := make([]ancestry, len(t.all))
	var path []int
	for i := range t.all {
		for at := i; all[at].state == unknown; {
			all[at].state = onTheWay
			path = append(path, at)
			parent, there := t.at[spanID{t.all[at].trace, t.all[at].parent}]
			if !there {
				break
			}
			at = parent
		}
		for ; len(path) > 0; path = path[:len(path)-1] {
			at := path[len(path)-1]
			s := &t.all[at]
			a := ancestry{agent: -1, conversation: s.conversation, state: known}
			if parent, there := t.at[spanID{s.trace, s.parent}]; there && all[parent].state == known {
				above := &all[parent]
				a.agent, a.inModel = above.agent, above.inModel || t.all[parent].kind == modelSpan
				if t.all[parent].kind == agentSpan {
					a.agent = int32(parent)
				}
				a.conversation = cmp.Or(a.conversation, above.conversation)
			}
			all[at] = a
		}
	}
	return all
}

// conversation is what the spans of a session have in common: the id of a conversation, or else the trace.
type conversation struct {
	name    string
	isTrace bool
}

// sessions emits the sessions in the order of their starts.
func (t *spans) sessions() error {
	above := t.ancestries()
	inTrace := map[string]string{} // the conversation that a trace names first
	for i := range t.all {
		if c := above[i].conversation; c != "" && inTrace[t.all[i].trace] == "" {
			inTrace[t.all[i].trace] = c
		}
	}
	bySession := map[conversation][]int{}
	var order []conversation
	for i := range t.all {
		s := &t.all[i]
		if s.kind == otherSpan || !t.usable(i, above) {
			continue
		}
		key := conversation{name: cmp.Or(above[i].conversation, inTrace[s.trace])}
		if key.name == "" {
			key = conversation{s.trace, true}
		}
		if bySession[key] == nil {
			order = append(order, key)
		}
		bySession[key] = append(bySession[key], i)
	}
	for _, list := range bySession {
		slices.SortStableFunc(list, func(a, b int) int { return t.before(a, b) })
	}
	order = slices.DeleteFunc(order, func(key conversation) bool { return t.firstCall(bySession[key]) < 0 })
	slices.SortStableFunc(order,
		func(a, b conversation) int { return t.before(t.firstCall(bySession[a]), t.firstCall(bySession[b])) })
	for _, key := range order {
		if err := t.m.ctx.Err(); err != nil {
			return err
		}
		s := t.session(key.name, bySession[key], above)
		origin := t.all[t.firstCall(bySession[order[0]])].start
		s.Start = min(time.Duration(t.all[t.firstCall(bySession[key])].start-origin), agents.Longest)
		if err := t.m.each(s); err != nil {
			return err
		}
	}
	return nil
}

// firstCall is the first model call of a list, -1 for none.
func (t *spans) firstCall(list []int) int {
	if i := slices.IndexFunc(list, func(i int) bool { return t.all[i].kind == modelSpan }); i >= 0 {
		return list[i]
	}
	return -1
}

// before compares spans by their times.
func (t *spans) before(a, b int) int {
	p, q := &t.all[a], &t.all[b]
	return cmp.Or(cmp.Compare(p.start, q.start), cmp.Compare(p.end, q.end))
}

// usable reports whether a span counts, and counts those that do not.
func (t *spans) usable(i int, above []ancestry) bool {
	s := &t.all[i]
	switch {
	case s.kind != modelSpan:
	case above[i].inModel:
		t.m.summary.skip("model calls inside others")
		return false
	case s.input < 1 || s.output < 0:
		t.m.summary.skip("model calls without token counts")
		return false
	}
	return true
}

// session makes a session of its spans, which are in the order of their starts.
func (t *spans) session(name string, list []int, above []ancestry) *agents.Session {
	b := &sessionBuilder{spans: t, above: above, byAgent: map[int32]*agentState{}, names: map[string]int{},
		Session: &agents.Session{Name: name, BlockSize: t.m.BlockSize}}
	for _, i := range list {
		switch s := &t.all[i]; s.kind {
		case toolSpan:
			state := b.agent(b.owner(above[i].agent))
			state.tools.add(s.start, s.end)
		case agentSpan:
			if owner := b.owner(int32(i)); owner >= 0 {
				parent := b.agent(b.parent(owner))
				parent.children = append(parent.children, owner)
			}
		}
	}
	for _, state := range b.byAgent {
		slices.SortStableFunc(state.children, func(x, y int32) int { return cmp.Compare(t.all[x].end, t.all[y].end) })
	}
	for _, i := range list {
		if t.all[i].kind == modelSpan {
			b.add(i)
		}
	}
	return b.Session
}
