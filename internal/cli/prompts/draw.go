// Package prompts is about the prompts of a run: which data set and tokenizer they come from, how they are drawn ahead of need,
// what requests carry beside them, and what is sent before the run.
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
	"benchtop/datasets/chattemplate"
	"benchtop/datasets/endpoint"
	"benchtop/datasets/hub"
	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
	"benchtop/export"
	"benchtop/internal/cli/server"
	"benchtop/internal/files"
	"benchtop/internal/usage"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// Reporter hears how far the preparation of prompts is.
type Reporter interface {
	server.Reporter
	Step(name string)
	// Count says how much of a step is done; a total of 0 is not known. The line says what was counted, "" for nothing.
	Count(done, total int, line string)
	CountEvery() time.Duration // how often that is worth while
}

// The steps of a preparation, as the dashboard calls them.
const (
	StepTokenizer = "tokenizer"
	StepPrompts   = "prompts"
	StepLengths   = "prompt lengths"
	StepReady     = "test request"
	StepWarmups   = "warm-up"
)

// Drawing draws from a data set, and is its tools.
type Drawing struct {
	Options   *Options
	Server    *server.Options
	Client    *http.Client // to reach the server
	Model     server.Model
	AskServer bool             // it may be asked to count
	Patience  *server.Patience // with the server, nil for none
	Draws     *numpy.Streams
	IDPrefix  string // of requests, "" for a new one
	To        Reporter

	tokenizing *Tokenizing
	hub        *hub.Hub
	common     datasets.Common // with what is known by now
	// ctx is that of a server that makes the text of prompts. It ends later than the preparation, for some may be drawn while
	// the run goes on, and earlier than anybody waits for the drawing.
	ctx context.Context
}

// Open finds a tokenizer and makes the source of the prompts. It leaves the generators as vLLM's client would. After an error of
// ctx nothing of d may be used any more: it may still be drawing.
func (d *Drawing) Open(ctx context.Context) (datasets.Source, *Tokenizing, error) {
	d.ctx = ctx
	if err := d.findTokenizing(ctx); err != nil {
		return nil, nil, err
	}
	source, err := d.open(ctx)
	return source, d.tokenizing, err
}

// open makes the source of the prompts.
func (d *Drawing) open(ctx context.Context) (datasets.Source, error) {
	d.common.Forms, d.common.NoAnswers = d.Server.Protocol.Traits().Forms, d.Server.Protocol.Traits().LengthField == ""
	// The ids tell runs apart in the server's log, so they must not come from the seed.
	d.common.IDPrefix = cmp.Or(d.IDPrefix, fmt.Sprintf("bench-%08x-", rand.Uint32()))
	source, err := files.OrStopped(ctx, func() (datasets.Source, error) { return d.Options.kind().Open(ctx, d.common, d) })
	m := d.tokenizing
	switch {
	case ctx.Err() != nil:
		return source, err
	case errors.Is(err, datasets.ErrNoTemplate):
		return source, usage.Errorf("dataset %s: its prompts go through the model's chat template, and %s has none; %s",
			d.Options.Name, m.counter(), d.Options.templateWay())
	case errors.Is(err, chattemplate.ErrAbsent), errors.As(err, new(*chattemplate.TemplateError)):
		return source, usage.Errorf("%w; %s", err, d.Options.templateWay())
	case err != nil:
		return source, DrawError(err)
	}
	if m.renderer != nil && m.renderer.Source() == chattemplate.FromNone {
		m.note("prompts are sent as the data set has them, because no chat template was found")
	}
	if d.Options.Needs().Forms == datasets.AsTokenIDs {
		m.Counted = metrics.TokensFromIDs // which are exact
	}
	return source, nil
}

// Drawn is what the data set gave.
type Drawn struct {
	Tokenizing  *Tokenizing
	Source      loadgen.Source
	First       datasets.Conversation
	N           int // conversations in it, math.MaxInt for no end
	Description string
	// More gives prompts when there are no more of these; nil where they never end.
	More    func() (loadgen.Source, error)
	Times   []time.Duration // of a trace
	Notes   []string
	fetched *Prefetcher
}

// drawPatience is how long a run without end waits for its first prompts.
const drawPatience = 2 * time.Second

// Draw prepares the prompts of a load: it finds a tokenizer, draws and, where the server counts otherwise, cuts to its measure.
// bounded says that the user gave a number of prompts, which is not exceeded; searching that the load is searched for.
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
	switch {
	case o.Tokens.Skip:
	case m.Counter == nil:
		d.To.Show("none: " + m.absent)
	default:
		d.To.Show(m.String())
	}
	d.To.Step(StepPrompts)
	d.ctx, d.common.Endless = all.ctx, load.Endless()
	source, err := d.open(ctx)
	if err != nil {
		return Drawn{}, err
	}
	// What the source says of itself is asked before it is drawn from ahead of need.
	x := Drawn{Tokenizing: m, N: source.Len(), Description: source.Description()}
	if trace, ok := source.(interface{ Times() []time.Duration }); ok && o.SelfTiming() {
		x.Times = trace.Times()
	}
	x.fetched = all.Begin(source, prefetchBytes)
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
		return x, usage.Wrap(errors.New("the data set holds not one prompt that can be sent"))
	}
	x.First = ahead[0]
	if x.fetched.all() != nil { // all is drawn
		m.note(OffLength(source))
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
	x.goOn(source, all, !bounded && (searching || load.End() > 0), searching)
	return x, nil
}

// goOn arranges for more prompts than the data set was asked for, where the load may be steered beyond it. A data set that has
// no more is repeated where that may be.
func (x *Drawn) goOn(source datasets.Source, all *Prefetchers, repeat, searching bool) {
	var draw func() (datasets.Source, error)
	if source, ok := source.(datasets.Extensible); ok {
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
			return all.Begin(more, moreBytes), nil
		}
	case repeat:
		x.Source = Repeat(x.fetched) // a higher rate may need more than there are
		if searching {
			x.Notes = append(x.Notes, fmt.Sprintf("the search repeats the data set's %d prompts; the server's prefix cache may know them then", x.N))
		}
	}
}

// DrawError is wrong usage, unless the server that was to help was busy or out of reach: then what was asked for may be right.
func DrawError(err error) error {
	if endpoint.Unready(err) {
		return err
	}
	return usage.Wrap(err)
}

// OffLength says by how many tokens prompts came out longer or shorter than wanted, "" if they did not.
func OffLength(source datasets.Source) string {
	random, ok := source.(interface{ Miss() int })
	if !ok || random.Miss() == 0 {
		return ""
	}
	return fmt.Sprintf("the tokenizer gives back other tokens than its text was made of: all prompts together are %+d tokens off what was asked for", random.Miss())
}

// Text counts tokens and renders chats.
func (d *Drawing) Text() datasets.Text { return d.tokenizing.Text }

// Streams are the generators that the data set shares with the arrivals.
func (d *Drawing) Streams() *numpy.Streams { return d.Draws }

// Hub has the data sets of the hub.
func (d *Drawing) Hub() *hub.Hub { return d.hub }

// Note tells the user something.
func (d *Drawing) Note(text string) { d.tokenizing.note(text) }

// Local is the model's tokenizer on this machine, nil for none.
func (d *Drawing) Local() tokenizer.Tokenizer {
	if d.tokenizing.Local == nil {
		return nil
	}
	return d.tokenizing.Local
}

// TokenIDs are what prompts of token ids are made of, with a vocabulary that may not be the model's.
func (d *Drawing) TokenIDs() datasets.Vocabulary {
	d.tokenizing.Counted, d.tokenizing.Name, d.tokenizing.vocabulary = metrics.TokensFromIDs, "", datasets.Vocabulary{Size: d.common.VocabSize}
	return d.tokenizing.vocabulary
}

// Maker is what synthetic prompts are made with: the tokenizer on this machine; else the server's, of which the vocabulary is
// not known; or else nil, for prompts of token ids. Where nothing can make text for a backend that takes nothing else, it is an
// error.
func (d *Drawing) Maker() (tokenizer.Tokenizer, error) {
	m, ids := d.tokenizing, d.common.Forms.Overlap(datasets.AsTokenIDs)
	switch {
	case m.Local != nil && d.common.VocabSize == 0:
		return m.Local, nil
	case m.Local != nil && !ids:
		m.note("--vocab-size has no effect: chat takes text, and the tokenizer that makes it has a vocabulary of its own")
		return m.Local, nil
	case d.common.VocabSize > 0 && ids, m.server == nil && ids:
		return nil, nil
	case m.server == nil:
		return nil, d.NoMaker()
	case d.common.Endless && !ids:
		return nil, fmt.Errorf("dataset %s: chats without end need the model's tokenizer on this machine, since the server would have to make their text while it is measured: "+
			"give it with --tokenizer DIRECTORY, or say how many there may be with --num-prompts", d.Options.Name)
	case d.common.Endless:
		return nil, nil
	}
	made, err := d.serverMaker()
	switch {
	case endpoint.NotOffered(err) && !ids:
		return nil, d.NoMaker()
	case endpoint.NotOffered(err):
		m.note("prompts are token ids, because " + export.Clean(err.Error()))
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("dataset %s: %w", d.Options.Name, err)
	}
	return made, nil
}

// NoMaker is the error where a text is to have an exact length and there is no tokenizer to make it: what is wanted, what was
// tried, and what to do, a line each.
func (d *Drawing) NoMaker() error {
	way := "name the model's with --tokenizer DIRECTORY"
	if d.Options.Needs().Forms.Overlap(datasets.AsTokenIDs) {
		way += ", or use --backend openai, which takes token ids"
	}
	return fmt.Errorf("dataset %s: its texts have exact lengths, and no tokenizer was found to make them\ntried: %s\n%s", d.Options.Name, export.Clean(d.tokenizing.absent), way)
}

// RoughMaker is the server as a tokenizer, else common words, about a token each.
func (d *Drawing) RoughMaker() (datasets.Speller, error) {
	if d.tokenizing.server != nil {
		return d.serverMaker()
	}
	d.tokenizing.estimate()
	return tokenizer.Words{}, nil
}

// serverMaker is the server as a tokenizer that makes text of ids.
func (d *Drawing) serverMaker() (tokenizer.Tokenizer, error) {
	return tokenizer.NewServerTokenizer(d.ctx, d.tokenizing.server, d.common.VocabSize, nil)
}
