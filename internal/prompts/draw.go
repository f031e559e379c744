// Package prompts prepares the prompts of a run: it chooses data set and tokenizer, draws ahead of need, sets the other fields of
// requests, and sends the warm-ups.
package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"benchtop/datasets"
	"benchtop/internal/files"
	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/hf/endpoint"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/server"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Reporter receives the progress of the preparation.
type Reporter interface {
	server.Reporter
	Step(name string)
	// Count reports the progress of a step; a total of 0 is unknown. The line names the counted things, "" for none.
	Count(done, total int, line string)
	CountEvery() time.Duration // how often to call Count
}

// The steps of a preparation, as the dashboard calls them.
const (
	StepTokenizer = "tokenizer"
	StepPrompts   = "prompts"
	StepLengths   = "prompt lengths"
	StepReady     = "test request"
	StepWarmups   = "warm-up"
)

// Drawing draws from a data set and is the set's [datasets.Tools].
type Drawing struct {
	Options   *Options
	Server    *server.Options
	Client    *http.Client // to reach the server
	Model     server.Model
	AskServer bool             // it may be asked to count
	Patience  *server.Patience // with the server, nil for none
	Draws     *numpy.Streams
	IDPrefix  string // of requests, "" for a new one
	GoesOn    bool   // the run needs prompts after those that were asked for
	To        Reporter

	tokenizing *Tokenizing
	hub        *hub.Hub
	common     datasets.Common // completed while drawing
	words      *lengthModel    // of prompts that are made of words; nil for others
	// ctx is for a server that makes the text of prompts. It outlives the preparation, since some are drawn during the run, and
	// ends before Close waits for the drawing.
	ctx context.Context
}

// Open finds a tokenizer and makes the source of the prompts. It leaves the random generators as vLLM's client would. After an
// error of ctx d must not be used: it may still be drawing.
func (d *Drawing) Open(ctx context.Context) (datasets.Source, *Tokenizing, error) {
	d.ctx = ctx
	if err := d.findTokenizing(ctx); err != nil {
		return nil, nil, err
	}
	source, err := d.open(ctx)
	if err != nil {
		return nil, d.tokenizing, err
	}
	sent, err := d.sending(source)
	return sent, d.tokenizing, err
}

// open makes the source of the prompts.
func (d *Drawing) open(ctx context.Context) (datasets.Source, error) {
	d.common.Forms, d.common.NoAnswers = d.Server.Protocol.Traits().Forms, d.Server.Protocol.Traits().LengthField == ""
	if d.takesTextOnly() {
		d.common.Forms &^= datasets.AsTokenIDs
	}
	// The ids tell runs apart in the server's log, so they must not come from the seed.
	d.common.IDPrefix = cmp.Or(d.IDPrefix, fmt.Sprintf("bench-%08x-", rand.Uint32()))
	source, err := files.OrStopped(ctx, func() (datasets.Source, error) {
		if len(d.Options.mix) > 0 {
			return d.mixed(ctx)
		}
		return d.source(ctx)
	})
	m := d.tokenizing
	switch {
	case ctx.Err() != nil:
		return source, err
	case errors.Is(err, datasets.ErrNoTemplate):
		return source, usage.Errorf("dataset %s: its prompts need the model's chat template, and %s has none; %s",
			d.Options.Name, m.counter(), d.Options.templateAdvice())
	case errors.Is(err, chattemplate.ErrAbsent), errors.As(err, new(*chattemplate.TemplateError)):
		return source, usage.Errorf("%w; %s", err, d.Options.templateAdvice())
	case err != nil:
		return source, DrawError(err)
	}
	if m.renderer != nil && m.renderer.Source() == chattemplate.FromNone {
		m.note("prompts are sent without a chat template, because none was found")
	}
	if d.Options.Needs().Forms == datasets.AsTokenIDs {
		m.Counted = metrics.TokensFromIDs // which are exact
	}
	return source, nil
}

// source is the data set as it is asked for: once, repeated, or as conversations.
func (d *Drawing) source(ctx context.Context) (datasets.Source, error) {
	common, r := d.common, d.Options.repeats
	common.Prompts = (common.Prompts + r.Count - 1) / max(1, r.Count) // each prompt counts as often as it is sent
	kind := d.Options.kind()
	open := func(c datasets.Common) (datasets.Source, error) { return kind.Open(ctx, c, d) }
	if common.MultiTurn.On && !kind.Needs(common).Turns {
		return d.conversations(open, common)
	}
	source, err := open(common)
	if err != nil || r.Count <= 1 {
		return source, err
	}
	return r.Of(source, d.common.Prompts, d.common.IDPrefix)
}

// Drawn are the prompts of a data set.
type Drawn struct {
	Tokenizing  *Tokenizing
	Sharing     *datasets.Sharing // of the prompts of the run
	Source      loadgen.Source
	First       datasets.Conversation
	N           int // conversations in it, math.MaxInt for no end
	Turns       int // turns of all conversations; 0 where each has one, or where their number is not known
	Description string
	// More gives prompts when there are no more of these; nil where they never end.
	More    func() (loadgen.Source, error)
	Times   []time.Duration // of a trace
	Notes   []string
	fetched *Prefetcher
}

// drawPatience limits the wait of an endless run for its first prompts.
const drawPatience = 2 * time.Second

// Draw prepares the prompts of a load: it finds a tokenizer, draws, and aligns the lengths with the server's tokenizer. A bounded
// load never exceeds the user's number of prompts; searching is for a search of the highest load.
func (d *Drawing) Draw(ctx context.Context, all *Prefetchers, load shape.Shape, bounded, searching bool) (Drawn, error) {
	o := d.Options
	if !o.Tokens.Skip {
		d.To.Step(StepTokenizer)
		d.To.Show("looking for that of " + cmp.Or(o.Tokens.Name, d.Model.Root))
	}
	if err := d.findTokenizing(ctx); err != nil {
		return Drawn{}, err
	}
	m := d.tokenizing
	d.showTokenizer()
	d.To.Step(StepPrompts)
	d.ctx, d.common.Endless, d.common.Sharing = all.ctx, load.Endless(), all.sharing
	needs := o.Needs()
	all.sharing.Each = needs.Shares || o.MultiTurn.On || o.repeats.Count > 1
	source, err := d.open(ctx)
	if err != nil {
		return Drawn{}, err
	}
	sent, err := d.sending(source)
	if err != nil {
		return Drawn{}, err
	}
	// The source is described before the prefetcher draws from it.
	x := Drawn{Tokenizing: m, Sharing: all.sharing, N: source.Len(), Description: sent.Description()}
	if turns := turnsIn(source, 0); turns != x.N {
		x.Turns = turns
	}
	if trace, ok := source.(interface{ Times() []time.Duration }); ok && o.SelfTiming() {
		x.Times = trace.Times()
	}
	x.fetched = all.Begin(sent, prefetchBytes)
	patience := drawPatience
	if x.N > 0 {
		patience = 0
	}
	err = x.fetched.Fill(ctx, patience, d.To.CountEvery(), func(n int) { d.To.Count(n, x.N, "prompts drawn") })
	if err != nil && ctx.Err() == nil {
		err = DrawError(err)
	}
	if err != nil {
		return x, err
	}
	ahead := x.fetched.ahead()
	if len(ahead) == 0 {
		return x, usage.Wrap(errors.New("the data set has no prompt that can be sent"))
	}
	if x.First, err = composed(ahead[0]); err != nil {
		return x, err
	}
	if x.fetched.all() != nil { // all is drawn
		m.note(OffLength(source))
	}
	if err := x.shortened(sent); err != nil {
		return x, err
	}
	x.Notes = m.Notes
	if o.Needs().Aligned {
		x.Notes = append(x.Notes, m.align(ctx, d.To, x.fetched)...)
	}
	odd, err := checkContext(d.Model, x.fetched.ahead(), m.Counted, !d.Server.Protocol.Traits().Streams)
	if err != nil {
		return x, err
	}
	x.Notes = append(x.Notes, odd...)
	x.Source = x.fetched
	switch m.Counted {
	case metrics.TokensFromEstimate:
		x.Description += ", lengths estimated"
	case metrics.TokensFromTokenizer, metrics.TokensFromServer:
		x.Description += ", tokens by " + m.counter()
	}
	x.extend(sent, all, !bounded && (searching || load.End() > 0), searching)
	if d.GoesOn && x.More == nil && x.N != math.MaxInt {
		x.goOn()
	}
	x.each(func(s loadgen.Source) loadgen.Source { return &named{s, &o.conversations} })
	return x, nil
}

// showTokenizer says which one was found.
func (d *Drawing) showTokenizer() {
	switch m := d.tokenizing; {
	case d.Options.Tokens.Skip:
	case m.Counter == nil:
		d.To.Show("none: " + m.absent)
	default:
		d.To.Show(m.String())
	}
}

// shortened takes note of the requests that were left out. A trace goes on without their times.
func (x *Drawn) shortened(s *sent) error {
	all := x.fetched.all()
	note := s.note(all != nil)
	if note == "" {
		return nil
	}
	x.Tokenizing.note(note)
	if x.Times != nil && all == nil {
		return usage.Errorf("--max-model-len %d: the trace is too long to leave requests out; add --no-self-timed, or remove them from the file", s.most)
	}
	if all != nil {
		x.N = len(all)
		x.countTurns(all)
	}
	if x.Times != nil {
		x.Times = x.Times[:0]
		now := time.Duration(0)
		for _, c := range all {
			now = max(now, c.At) // as the trace has it
			x.Times = append(x.Times, now)
		}
	}
	return nil
}

// countTurns counts the turns of all conversations.
func (x *Drawn) countTurns(all []datasets.Conversation) {
	turns := 0
	for _, c := range all {
		turns += len(c.Turns)
	}
	if x.Turns = 0; turns != len(all) {
		x.Turns = turns
	}
}

// Fit is an error if a backend cannot send one of the prompts drawn so far.
func (d Drawn) Fit(dataset string, to protocol.Traits) error {
	return d.check("--dataset-name "+dataset, to.Accepts)
}

// each puts a source behind each of the prompts, those that come later among them.
func (x *Drawn) each(behind func(loadgen.Source) loadgen.Source) {
	x.Source = behind(x.Source)
	if more := x.More; more != nil {
		x.More = func() (loadgen.Source, error) {
			source, err := more()
			if err != nil {
				return nil, err
			}
			return behind(source), nil
		}
	}
}

// check checks the prompts drawn so far.
func (d Drawn) check(flag string, check func(*datasets.Turn) error) error {
	all := []datasets.Conversation{d.First}
	if d.fetched != nil {
		all = d.fetched.ahead()
	}
	for _, c := range all {
		for i := range c.Turns {
			if err := check(&c.Turns[i]); err != nil {
				return usage.Errorf("%s, prompt %s: %w", flag, c.ID, err)
			}
		}
	}
	return nil
}

// extend provides more prompts than were asked for, since the load may be steered. A data set without more is repeated if it may.
func (x *Drawn) extend(s *sent, all *Prefetchers, repeat, searching bool) {
	var draw func() (datasets.Source, error)
	if source, ok := s.Source.(datasets.Extensible); ok {
		draw = source.More()
	}
	switch {
	case x.N == 0:
		x.N = math.MaxInt
	case draw != nil:
		x.More = func() (loadgen.Source, error) {
			more, err := draw()
			if err != nil {
				return nil, err
			}
			return all.Begin(&sent{Source: more, encoder: s.encoder, words: s.words, most: s.most}, moreBytes), nil
		}
	case repeat:
		x.Source = Repeat(x.fetched) // a higher rate may need more than there are
		if searching {
			x.Notes = append(x.Notes, fmt.Sprintf("the search repeats the data set's %d prompts; repeated ones may hit the server's prefix cache", x.N))
		}
	}
}

// goOn repeats the prompts after their end.
func (x *Drawn) goOn() {
	if _, repeats := x.Source.(*repeated); !repeats {
		again := &repeated{rest: x.fetched}
		x.Source, x.More = once{again}, func() (loadgen.Source, error) { return again, nil }
	}
	x.Notes = append(x.Notes, fmt.Sprintf("the confirmation repeats the data set's %d prompts; repeated ones may hit the server's prefix cache", x.N))
}

// DrawError is wrong usage, unless the server that helps with drawing was busy or out of reach.
func DrawError(err error) error {
	if endpoint.Unready(err) {
		return err
	}
	return usage.Wrap(err)
}

// OffLength reports by how many tokens the prompts are longer or shorter than asked for, "" if they are not.
func OffLength(source datasets.Source) string {
	source = innermost(source)
	random, ok := source.(interface{ Miss() int })
	if !ok || random.Miss() == 0 {
		return ""
	}
	return fmt.Sprintf("the tokenizer does not round-trip its own text: in total, prompts are %+d tokens off the lengths requested", random.Miss())
}
