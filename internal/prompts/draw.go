// Package prompts prepares the prompts of a run: it chooses data set and tokenizer, draws ahead of need, sets the other
// fields of requests, and sends the warm-ups.
package prompts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"benchtop/internal/text"
	"benchtop/internal/usage"
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
	byServer   *serverMaker    // makes the text of prompts; nil if this machine does
	// ctx is for a server that makes the text of prompts. It outlives the preparation, since some are drawn during the
	// run, and ends before Close waits for the drawing.
	ctx context.Context
}

// Open finds a tokenizer and opens the prompts. It leaves the random generators as vLLM's client would. After an
// error of ctx d must not be used: it may still be drawing.
func (d *Drawing) Open(ctx context.Context) (datasets.Flow, *Tokenizing, error) {
	d.ctx = ctx
	if err := d.findTokenizing(ctx); err != nil {
		return datasets.Flow{}, nil, err
	}
	flow, _, err := d.open(ctx)
	return flow, d.tokenizing, err
}

// open opens the prompts, as they are sent.
func (d *Drawing) open(ctx context.Context) (datasets.Flow, *limit, error) {
	d.common.Forms, d.common.NoAnswers = d.Server.Protocol.Traits().Forms, d.Server.Protocol.Traits().LengthField == ""
	if d.takesTextOnly() {
		d.common.Forms &^= datasets.AsTokenIDs
	}
	// The ids tell runs apart in the server's log, so they must not come from the seed.
	d.common.IDPrefix = cmp.Or(d.IDPrefix, fmt.Sprintf("bench-%08x-", rand.Uint32()))
	flow, err := files.OrStopped(ctx, func() (datasets.Flow, error) {
		if len(d.Options.mix) > 0 {
			return d.mixed(ctx)
		}
		return d.flow(ctx)
	})
	m := d.tokenizing
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return flow, nil, err
	case errors.Is(err, datasets.ErrNoTemplate):
		return flow, nil, usage.Errorf("dataset %s: its prompts need the model's chat template, and %s has none; %s",
			d.Options.Name, m.counter(), d.Options.templateAdvice())
	case errors.Is(err, chattemplate.ErrAbsent), errors.As(err, new(*chattemplate.TemplateError)):
		return flow, nil, usage.Errorf("%w; %s", err, d.Options.templateAdvice())
	default:
		return flow, nil, DrawError(err)
	}
	if m.renderer != nil && m.renderer.Source() == chattemplate.FromNone {
		m.note("prompts are sent without a chat template, because none was found")
	}
	if d.Options.Needs().Forms == datasets.AsTokenIDs {
		m.Counted = metrics.TokensFromIDs // which are exact
	}
	return d.sending(flow)
}

// flow is the data set as it is asked for: once, repeated, or as conversations.
func (d *Drawing) flow(ctx context.Context) (datasets.Flow, error) {
	common, r := d.common, d.Options.repeats
	common.Prompts = (common.Prompts + r.Count - 1) / max(1, r.Count) // each prompt counts as often as it is sent
	kind := d.Options.kind()
	open := func(c datasets.Common) (datasets.Flow, error) { return kind.Open(ctx, c, d) }
	if common.MultiTurn.On && !kind.Needs(common).Turns {
		return d.conversations(open, common)
	}
	flow, err := open(common)
	if err != nil || r.Count <= 1 {
		return flow, err
	}
	return r.Of(flow, d.common.Prompts, d.common.IDPrefix)
}

const (
	// drawPatience limits the wait of an endless run for its first prompts, and amplePrompts their number: no burst
	// takes more.
	drawPatience = 2 * time.Second
	amplePrompts = 10_000
	// serverPatience limits the wait for prompts that the server makes. The others are made beside the load where the
	// server makes serverOutpaces times as many as the load needs, so that they take little of its time.
	serverPatience = 10 * time.Second
	serverOutpaces = 20
)

// after is enough for a load without end.
func after(patience time.Duration) func(int, time.Duration) bool {
	return func(drawn int, in time.Duration) bool { return drawn >= amplePrompts || in >= patience }
}

// lightLoad is enough for a load of so many prompts a second, 0 for any number, if the server makes them and that takes
// little of its time. Otherwise all are made before, which it says.
func (d *Drawing) lightLoad(perSecond float64) func(int, time.Duration) bool {
	before, decided := 0, false
	return func(drawn int, in time.Duration) bool {
		grown := drawn > before // many are done together, and then the server works on none
		if before = drawn; decided || !grown || in < serverPatience {
			return false
		}
		made := float64(drawn) / in.Seconds()
		if perSecond > 0 && made >= serverOutpaces*perSecond {
			d.byServer.beside.Store(true)
			return true
		}
		if in < 2*serverPatience { // a part of those that are done together would look slow
			return false
		}
		need := "may need any number of them"
		if perSecond > 0 {
			need = "needs " + text.Digits(perSecond, 3)
		}
		d.To.Tell(fmt.Sprintf("the server's tokenizer makes %s prompts a second, and the load %s; all are made "+
			"before it, which they would slow down; --tokenizer DIRECTORY makes them on this machine",
			text.Digits(made, 3), need))
		decided = true
		return false
	}
}

// Draw prepares the prompts of a load: it finds a tokenizer, draws, and aligns the lengths with the server's tokenizer.
// A bounded load never exceeds the user's number of prompts; searching is for a search of the highest load.
func (d *Drawing) Draw(ctx context.Context, all *Prefetchers, load shape.Shape,
	bounded, searching bool) (*Supply, error) {
	o := d.Options
	if !o.Tokens.Skip {
		d.To.Step(StepTokenizer)
		d.To.Show("looking for that of " + cmp.Or(o.Tokens.Name, d.Model.Root))
	}
	if err := d.findTokenizing(ctx); err != nil {
		return nil, err
	}
	m := d.tokenizing
	d.showTokenizer()
	d.To.Step(StepPrompts)
	d.ctx, d.common.Endless, d.common.Sharing = all.ctx, load.Endless(), all.sharing
	needs := o.Needs()
	all.sharing.Each = needs.Shares || o.MultiTurn.On || o.repeats.Count > 1
	flow, limit, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	x := &Supply{Flow: flow, Tokenizing: m, Sharing: all.sharing, ahead: all.Begin(flow, prefetchBytes)}
	if x.Turns == x.Len {
		x.Turns = 0
	}
	enough := after(drawPatience)
	switch {
	case x.Len > 0 && d.byServer != nil && !searching && !d.GoesOn:
		enough = d.lightLoad(load.Peak(0).RequestsPerSecond)
	case x.Len > 0:
		enough = nil
	}
	if err := d.fill(ctx, x, limit, enough); err != nil {
		return nil, err
	}
	x.Notes = m.Notes
	if needs.Aligned {
		x.Notes = append(x.Notes, m.align(ctx, d.To, x.ahead)...)
	}
	odd, err := checkContext(d.Model, x.ahead.queued, m.Counted, !d.Server.Protocol.Traits().Streams)
	if err != nil {
		return nil, err
	}
	x.Notes = append(x.Notes, odd...)
	switch m.Counted {
	case metrics.TokensFromEstimate:
		x.About += ", lengths estimated"
	case metrics.TokensFromTokenizer, metrics.TokensFromServer:
		x.About += ", tokens by " + m.counter()
	}
	x.Next = x.ahead.Next
	x.extend(all, !bounded && (searching || load.End() > 0), searching, d.GoesOn)
	x.Flow = x.Map(o.conversations.name)
	return x, nil
}

// fill draws ahead, all of the prompts if they end and fit into memory, or enough, and looks at the first.
func (d *Drawing) fill(ctx context.Context, x *Supply, l *limit, enough func(int, time.Duration) bool) error {
	err := x.ahead.Fill(ctx, enough, d.To.CountEvery(), func(n int) { d.To.Count(n, x.Len, "prompts drawn") })
	if err != nil && ctx.Err() == nil {
		err = DrawError(err)
	}
	if err != nil {
		return err
	}
	for c := range x.ahead.queued {
		x.First, err = composed(c)
		break
	}
	drawn, all := x.ahead.drawn()
	if drawn == 0 {
		return usage.Wrap(errors.New("the data set has no prompt that can be sent"))
	}
	if err != nil {
		return err
	}
	switch {
	case all:
		x.Tokenizing.note(OffLength(x.Flow))
	case d.byServer != nil:
		x.Tokenizing.note(fmt.Sprintf("the server's tokenizer makes prompts beside the load, of which %d of %d were "+
			"made before; --tokenizer DIRECTORY makes them on this machine", drawn, x.Len))
	}
	return x.shorten(l, d.Options.SelfTiming())
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

// DrawError is wrong usage, unless the server that helps with drawing was busy or out of reach.
func DrawError(err error) error {
	if endpoint.Unready(err) {
		return err
	}
	return usage.Wrap(err)
}

// OffLength reports by how many tokens the prompts are longer or shorter than asked for, "" if they are not.
func OffLength(f datasets.Flow) string {
	if f.Miss == nil || f.Miss() == 0 {
		return ""
	}
	return fmt.Sprintf("the tokenizer does not round-trip its own text: "+
		"in total, prompts are %+d tokens off the lengths requested", f.Miss())
}
