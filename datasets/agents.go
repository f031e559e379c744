package datasets

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/datasets/agents"
	"benchtop/datasets/lengths"
	"benchtop/datasets/textfile"
	"benchtop/internal/usage"
)

// agentsKind is sessions of agents: trees of requests that share prefixes of exact lengths.
type agentsKind struct {
	Common
	timing string
}

// The values of --turn-timing.
const (
	turnDelays   = "delays"
	turnRecorded = "recorded"
)

func (k *agentsKind) Define(group func(string) Flags) {
	group(TraceHeading).StringVar(&k.timing, "turn-timing", k.timing,
		"agents: start requests after the recorded delays behind the answers that they wait for (delays), or not "+
			"before their recorded times (recorded)")
}

func (k agentsKind) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsTokenIDs | AsText, Ends: true, AllRows: true, FullLength: true,
		OwnOutputLens: true, Sessions: true, Shares: true}
}

func (k agentsKind) check() error {
	p := &problems{}
	if k.timing != turnDelays && k.timing != turnRecorded {
		p.add("--turn-timing %s: use %s or %s", usage.Quote(k.timing), turnDelays, turnRecorded)
	}
	return p.of("agents")
}

// open reads the sessions. Their prompts are made when they are sent.
func (k agentsKind) open(ctx context.Context, t Tools) (Flow, error) {
	c := k.Common
	d := &sessionPrompts{common: c, timed: k.timing == turnRecorded}
	all, err := textfile.Read(c.Path, "sessions, one on each line",
		func(r io.Reader) ([]*agents.Session, error) { return k.read(ctx, r) })
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no session is in the part that was asked for; recordings of other formats become sessions " +
			"with 'benchtop import'")
	}
	if err != nil {
		return Flow{}, inFile("agents", c.Path, err)
	}
	if c.otherTools() && slices.ContainsFunc(all, (*agents.Session).UsesTools) {
		return Flow{}, inFile("agents", c.Path, errOtherTools)
	}
	if c.SelfTimed {
		if err := inOrder(all, c.Replay); err != nil {
			return Flow{}, inFile("agents", c.Path, err)
		}
	} else if !c.DisableShuffle {
		draws := rand.New(rand.NewPCG(uint64(c.Seed), sessionSeed))
		draws.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	if d.want = c.Prompts; !c.Asked || d.want < 1 {
		d.want = min(max(1, c.Prompts), len(all))
		if c.Prompts < 1 {
			d.want = len(all)
		}
	}
	if c.SelfTimed {
		d.want = min(d.want, len(all)) // there are no more times
	}
	if c.Endless {
		d.want = 0
	}
	d.all, d.names, d.trees = all, sessionNames(all), map[int]*agents.RadixTree{}
	var assumed bool
	if d.text, assumed, err = newBlockText(ctx, c, t); err != nil {
		return Flow{}, inDataset("agents", err)
	}
	d.describe(assumed)
	return Flow{Next: d.take, Len: d.want, Turns: d.turns(), Times: d.times, About: d.about}, nil
}

// inOrder puts sessions into the order of their recorded starts, which it makes those of the replay.
func inOrder(all []*agents.Session, r Replay) error {
	if !slices.ContainsFunc(all, func(s *agents.Session) bool { return s.Start > 0 }) && len(all) > 1 {
		return fmt.Errorf("no session says when it starts (start_ms); leave out --self-timed, and set the load with " +
			"--request-rate or --max-active-conversations")
	}
	slices.SortStableFunc(all, func(a, b *agents.Session) int { return cmp.Compare(a.Start, b.Start) })
	now, before := time.Duration(0), all[0].Start
	for _, s := range all {
		gap := s.Start - before
		if r.MaxGap > 0 {
			gap = min(gap, r.MaxGap)
		}
		now, before = now+gap, s.Start
		s.Start = r.scaled(now)
	}
	return nil
}

// sessionNames are those of sessions, each once, of printable ASCII without blanks, as header fields have them, and
// without ~, which is before the number of a repetition.
func sessionNames(all []*agents.Session) []string {
	names, seen := make([]string, 0, len(all)), map[string]bool{}
	for i, s := range all {
		name := HeaderText(s.Name)
		name = name[:min(len(name), longestSessionName)]
		for own := name; name == "" || seen[name]; i++ { // the number may be in another's name
			name = own + "#" + strconv.Itoa(i)
		}
		names, seen[name] = append(names, name), true
	}
	return names
}

// HeaderText is a text as a header field can hold it, and JSON without escapes. The tilde is left for numbers of
// repetitions.
func HeaderText(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= '~' || r == '"' || r == '\\' {
			return '_'
		}
		return r
	}, s)
}

// longestSessionName keeps a header short.
const longestSessionName = 200

// sessionSeed sets the order of sessions apart from other draws of the same seed.
const sessionSeed = 0xa9e7

func (k agentsKind) read(ctx context.Context, r io.Reader) (all []*agents.Session, err error) {
	wanted := k.Replay.sampler(k.Seed)
	err = agents.Read(ctx, r, func(s *agents.Session) error {
		if !wanted() {
			return nil
		}
		if s = k.Replay.Session(s); s != nil {
			all = append(all, s)
		}
		return nil
	})
	return all, err
}

// sessionPrompts are sessions of agents.
type sessionPrompts struct {
	common Common
	all    []*agents.Session
	names  []string // of all, each once, fit for a header field
	want   int      // sessions; 0 for no end
	timed  bool
	text   *blockText
	about  string

	next  int
	trees map[int]*agents.RadixTree // of blocks that mean the same in all sessions, by their size
}

// describe sums the sessions up.
func (d *sessionPrompts) describe(assumed bool) {
	turns, agentRequests := 0, 0
	for _, s := range d.all {
		turns += len(s.Requests)
		for i := range s.Requests {
			if s.Requests[i].Agent != "" {
				agentRequests++
			}
		}
	}
	places := make([]*agents.Request, 0, turns)
	for _, s := range d.all {
		for i := range s.Requests {
			places = append(places, &s.Requests[i])
		}
	}
	input, output := lengths.Summarize(turns, func(i int) lengths.Pair {
		return lengths.Pair{Input: int32(places[i].Input), Output: int32(places[i].Output)}
	})
	d.about = fmt.Sprintf("agents: %d sessions in %s, %d requests, %d of them of sub-agents, %s input tokens%s",
		len(d.all), d.common.Path, turns, agentRequests,
		input, d.common.answers(output.String()))
	switch {
	case d.text.ids != nil:
		d.about += ", as token ids"
	case assumed:
		d.about += ", as words (about a token each)"
	default:
		d.about += ", as words that are tokens"
	}
	if d.about += d.common.Replay.String(); d.want > len(d.all) {
		d.about += fmt.Sprintf("; repeated with other tokens to make %d", d.want)
	}
}

// take is the next session. Where all were taken, they come again with other tokens.
func (d *sessionPrompts) take() (Conversation, error) {
	if d.want > 0 && d.next == d.want {
		return Conversation{}, io.EOF
	}
	s, round := d.all[d.next%len(d.all)], d.next/len(d.all)
	c := Conversation{Session: d.names[d.next%len(d.all)], At: s.Start, Timed: d.timed,
		Turns: make([]Turn, len(s.Requests))}
	if round > 0 {
		c.Session += fmt.Sprintf("~%d", round+1)
	}
	c.ID = d.common.IDPrefix + c.Session
	shared, number := s.Shared && round == 0, uint64(d.next)
	tree := &agents.RadixTree{}
	if shared {
		if d.trees[s.BlockSize] == nil {
			d.trees[s.BlockSize] = tree
		}
		tree = d.trees[s.BlockSize]
	}
	ideal := s.IdealIn(tree)
	for i := range s.Requests {
		q := &s.Requests[i]
		t := &c.Turns[i]
		p := agentPrompt{text: d.text, session: s, number: number, request: i, shared: shared}
		*t = Turn{InputTokens: q.Input, MaxTokens: max(1, q.Output), Delay: q.Delay, At: q.At, IdealTokens: ideal[i],
			IdealKnown: true}
		t.Prompt.Compose = func(t *Turn, _ []string) error { p.compose(t); return nil }
		if t.After = q.After; t.After == nil {
			t.After = []int{}
		}
		if q.Messages != nil && d.common.chat() {
			t.Messages, t.Prompt = slices.Clone(q.Messages), Prompt{}
		}
	}
	d.next++
	return c, nil
}

// times are the recorded starts of the sessions, as they are replayed.
func (d *sessionPrompts) times() []time.Duration {
	times := make([]time.Duration, min(d.want, len(d.all)))
	for i := range times {
		times[i] = d.all[i].Start
	}
	return times
}

// turns is the number of requests of all sessions; 0 for no end.
func (d *sessionPrompts) turns() (n int) {
	for i := range d.want {
		n += len(d.all[i%len(d.all)].Requests)
	}
	return n
}

// agentPrompt is the prompt of a request: its blocks, and then tokens of its own.
type agentPrompt struct {
	text    *blockText
	session *agents.Session
	number  uint64 // of the session in the run
	request int
	shared  bool // block numbers mean the same in all sessions with blocks of this size
}

// compose makes the prompt.
func (p agentPrompt) compose(t *Turn) {
	q, size := &p.session.Requests[p.request], p.session.BlockSize
	scope := NextName(NextName(0, 1), p.number)
	if p.shared {
		scope = NextName(NextName(0, 2), uint64(size))
	}
	indices := make([]uint32, 0, q.Input)
	for _, run := range q.Blocks {
		for i := range run.Count {
			if len(indices) >= q.Input {
				break
			}
			indices = p.text.block(indices, scope, run.First+uint64(i), min(size, q.Input-len(indices)))
		}
	}
	indices = p.text.own(indices, p.number, p.request, q.Input-len(indices))
	p.text.set(t, indices)
}
