package prompts

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/datasets/lengths"
	"benchtop/internal/argv"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/jsonscan"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// The values of --replies.
const (
	repliesModel    = "model"
	repliesRecorded = "recorded"
)

// conversationOptions make conversations of prompts, and name them for the server.
type conversationOptions struct {
	multi     datasets.MultiTurn
	delay     float64 // milliseconds
	delayDist string
	replies   string
	header    string // that names the session; "" for none
	bodyID    bool   // the body names it, too
	echo      string // header of an answer that the next turn has; "" for none
}

// sessionHeader is the header field that routers know.
const sessionHeader = "X-Session-ID"

func (o *conversationOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.multi.On, "multi-turn", false,
		"make conversations of several turns: each prompt holds what was said before it")
	f.IntVar(&o.multi.Turns, "multi-turn-num-turns", 3, "turns of a conversation")
	f.IntVar(&o.multi.Min, "multi-turn-min-turns", 0,
		"fewest turns; 0 for --multi-turn-num-turns, sharegpt and custom: 2")
	f.IntVar(&o.multi.Max, "multi-turn-max-turns", 0,
		"most turns; 0 for --multi-turn-num-turns, sharegpt and custom: as many as there are")
	f.Float64Var(&o.delay, "multi-turn-delay-ms", 0,
		"pause between the end of a turn and the next one of its conversation, in ms")
	f.StringVar(&o.delayDist, "multi-turn-delay-dist", "",
		"distribution of these pauses in ms, as 'lognormal mean=8000 std=6000 max=60000'")
	f.Float64Var(&o.multi.GlobalPrefix, "multi-turn-prefix-global-ratio", 0,
		"random: share of a prompt that all prompts begin with; prompts then hold no earlier turns")
	f.Float64Var(&o.multi.ConversationPrefix, "multi-turn-prefix-conversation-ratio", 0,
		"random: share of a prompt, behind the global prefix, that those of its conversation begin with")
	f.IntVar(&o.multi.NextInput, "per-turn-input-len", 0,
		"random: tokens of each prompt after the first; 0 for those of the first")
	f.StringVar(&o.replies, "replies", repliesModel,
		"answers in later prompts: model, those of this run, or recorded, those of the data set")
	argv.OneOf(f, "replies", repliesModel, repliesRecorded)
	f.StringVar(&o.header, "session-header", sessionHeader,
		"header field with the id of the conversation, for routers; '' for none")
	f.StringVar(&o.echo, "echo-header", "",
		"header field of an answer that the next turn of its conversation sends back, such as x-session-token")
	f.BoolVar(&o.bodyID, "send-conversation-id", false,
		"send the id of the conversation in the body, too, as conversation_id")
}

// turnFlags are those that only conversations have.
var turnFlags = []string{"multi-turn-num-turns", "multi-turn-min-turns", "multi-turn-max-turns", "multi-turn-delay-ms",
	"multi-turn-delay-dist",
	"multi-turn-prefix-global-ratio", "multi-turn-prefix-conversation-ratio", "per-turn-input-len"}

// check reports problems of the flags, and completes the options of the data set.
func (o *conversationOptions) check(given *pflag.FlagSet, of *Options, to protocol.Protocol) (p usage.Problems) {
	needs := of.Needs()
	for _, name := range turnFlags {
		p.BadIf(!o.multi.On && given.Changed(name), "--%s: needs --multi-turn", name)
	}
	for _, name := range []string{"replies", "send-conversation-id", "echo-header", "multi-turn-concurrency",
		"max-active-conversations"} {
		p.BadIf(!o.multi.On && !needs.Sessions && given.Changed(name),
			"--%s: needs --multi-turn, or a data set of conversations", name)
	}
	for _, name := range [][2]string{{"session-header", o.header}, {"echo-header", o.echo}} {
		if name[1] == "" {
			continue
		}
		if err := target.CheckHeader(http.Header{name[1]: {"0"}}); err != nil {
			p.Bad("--%s: %w", name[0], err)
		}
		own := []string{"Content-Type", "Authorization", "Host", "X-Request-Id"}
		p.BadIf(slices.Contains(own, http.CanonicalHeaderKey(name[1])),
			"--%s %s: each request has that field already; use another, such as %s", name[0], name[1], sessionHeader)
	}
	p.BadIf(o.echo != "" && strings.EqualFold(o.echo, o.header),
		"--echo-header %s: it is that of --session-header; choose another, or --session-header '' for none", o.echo)
	o.multi.Recorded = o.replies == repliesRecorded
	p = append(p, o.checkDelay(given)...)
	if of.MultiTurn = o.multi; !o.multi.On {
		return p
	}
	p = append(p, o.multi.Validate()...)
	p.BadIf(needs.Sessions,
		"--multi-turn with --dataset-name %s: its sessions have turns of their own; leave the flag out", of.Name)
	p.BadIf(needs.Timed, "--multi-turn with --dataset-name %s: each of its requests has a time of its own; use "+
		"another data set", of.Name)
	p.BadIf(!needs.Forms.Overlap(datasets.AsText|datasets.AsTokenIDs),
		"--multi-turn with --dataset-name %s: conversations are of texts; use another data set", of.Name)
	p.BadIf(to != nil && to.Traits().LengthField == "",
		"--multi-turn: backend %s generates no text; use another, such as openai-chat", nameOf(to))
	p.BadIf(of.PromptTokenIDs, "--multi-turn and --prompt-token-ids: choose one; answers in later prompts are texts")
	p.BadIf(of.repeats.Count > 1, "--multi-turn and --repeat-count: choose one")
	random := needs.TakesInputLen
	p.BadIf(!random && o.multi.Prefixed(), "--multi-turn-prefix-global-ratio, --multi-turn-prefix-conversation-ratio: "+
		"only random has them; %s does not", of.Name)
	p.BadIf(!random && o.multi.NextInput > 0, "--per-turn-input-len: only random has it; %s does not", of.Name)
	return p
}

// checkDelay reads the pauses.
func (o *conversationOptions) checkDelay(given *pflag.FlagSet) (p usage.Problems) {
	p.BadIf(!(o.delay >= 0) || o.delay > math.MaxInt32, "--multi-turn-delay-ms %g: must be from 0 to %d", o.delay,
		math.MaxInt32)
	p.BadIf(o.delayDist != "" && given.Changed("multi-turn-delay-ms"),
		"--multi-turn-delay-ms and --multi-turn-delay-dist: choose one")
	switch {
	case o.delayDist != "":
		d, err := lengths.Parse(o.delayDist)
		if err != nil {
			p.Bad("--multi-turn-delay-dist %w", err)
		}
		o.multi.Delay = &d
	case o.delay >= 0.5 && o.delay <= math.MaxInt32:
		d := lengths.Fixed(int(math.Round(o.delay)))
		o.multi.Delay = &d
	}
	return p
}

// name gives a conversation's id to the server.
func (o *conversationOptions) name(c *datasets.Conversation) {
	if c.Session == "" {
		return
	}
	c.Turns = slices.Clone(c.Turns)
	for i := range c.Turns {
		if o.header != "" {
			c.Turns[i].AddHeader(o.header, c.Session)
		}
		if o.bodyID {
			c.Turns[i].AddField("conversation_id", string(jsonscan.Quote(c.Session)))
		}
	}
}

// conversations makes conversations of the prompts of a kind that has none of its own.
func (d *Drawing) conversations(open func(datasets.Common) (datasets.Flow, error),
	c datasets.Common) (datasets.Flow, error) {
	m, n := c.MultiTurn, c.Prompts
	first, next := c, c
	turns := m.TurnsOf(max(n, 0), c.Seed)
	if first.Prompts = turns; m.NextInput > 0 {
		first.Prompts, next.Prompts = n, max(1, turns-n)
		next.SharedInputLen, next.Seed = m.NextInput, c.Seed+1
	}
	flow, err := open(first)
	if err != nil {
		return datasets.Flow{}, err
	}
	var later *datasets.Flow
	if m.NextInput > 0 {
		f, err := open(next)
		if err != nil {
			return datasets.Flow{}, err
		}
		later = &f
	}
	var tok tokenizer.Tokenizer
	if m.Prefixed() {
		if tok, err = d.Maker(); err != nil {
			return datasets.Flow{}, err
		}
	}
	return datasets.Group(flow, later, c, tok), nil
}

// EchoHeader is a header field of an answer that the next turn of its conversation has; "" for none.
func (o *Options) EchoHeader() string { return o.conversations.echo }

// Conversations describe those that are drawn, for the plan of a run; nil where each prompt is a request of its own.
func (o *Options) Conversations(x *Supply) *metrics.Conversations {
	if x.Turns == 0 && !o.MultiTurn.On && !o.Needs().Sessions {
		return nil
	}
	c := &metrics.Conversations{GlobalPrefix: o.MultiTurn.GlobalPrefix,
		ConversationPrefix: o.MultiTurn.ConversationPrefix, Replies: o.conversations.replies}
	if x.Turns > 0 && x.Len > 0 {
		c.Count, c.Turns = x.Len, float64(x.Turns)/float64(x.Len)
	} else {
		turns, n := len(x.First.Turns), 1
		for drawn := range x.ahead.queued {
			turns, n = turns+len(drawn.Turns), n+1
		}
		c.Turns = float64(turns) / float64(n)
	}
	if o.MultiTurn.Prefixed() {
		c.Replies = ""
	}
	if d := o.MultiTurn.Delay; d != nil && d.Name == "" {
		c.Delay = time.Duration(d.Min) * time.Millisecond
	}
	return c
}

// Requests is the number of requests of so many conversations.
func (x *Supply) Requests(conversations int) int {
	if x.Turns == 0 || x.Len == 0 {
		return conversations
	}
	return int(math.Round(float64(conversations) * float64(x.Turns) / float64(x.Len)))
}
