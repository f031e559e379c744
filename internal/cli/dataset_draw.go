package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"benchtop/datasets"
	"benchtop/datasets/chattemplate"
	"benchtop/datasets/endpoint"
	"benchtop/datasets/hub"
	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
	"benchtop/export"
	"benchtop/internal/files"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// idPrefix is what request ids begin with: as asked for, or else something new. The ids tell runs apart in the server's
// log, so they must not come from the seed.
func idPrefix(asked string) string {
	if asked != "" {
		return asked
	}
	return fmt.Sprintf("bench-%08x-", rand.Uint32())
}

// drawing draws from a data set, and is its tools.
type drawing struct {
	prompts *promptOptions
	common  datasets.Common // with what is known by now
	// ctx is that of a server that makes the text of prompts. It ends later than the preparation, for some may be drawn while
	// the run goes on, and earlier than anybody waits for the drawing.
	ctx     context.Context
	means   *means
	streams *numpy.Streams
	hub     *hub.Hub
}

// drawing is made of what counts and makes text, for requests with ids of that prefix.
func (o *promptOptions) drawing(ctx context.Context, m *means, streams *numpy.Streams, h *hub.Hub, to protocol.Protocol, prefix string) *drawing {
	d := &drawing{prompts: o, common: o.Common, ctx: ctx, means: m, streams: streams, hub: h}
	d.common.Forms, d.common.NoAnswers, d.common.IDPrefix = to.Traits().Forms, to.Traits().LengthField == "", idPrefix(prefix)
	return d
}

// draw makes the source of the prompts. It leaves the generators as vLLM's client would. After an error of ctx nothing of d may
// be used any more: it may still be drawing.
func (d *drawing) draw(ctx context.Context) (datasets.Source, error) {
	source, err := files.OrStopped(ctx, func() (datasets.Source, error) { return d.prompts.kind().Open(ctx, d.common, d) })
	if ctx.Err() != nil {
		return source, err
	}
	switch {
	case errors.Is(err, datasets.ErrNoTemplate):
		return source, usage.Errorf("dataset %s: its prompts go through the model's chat template, and %s has none; %s", d.prompts.name, d.means.tally(), d.prompts.templateWay())
	case errors.Is(err, chattemplate.ErrAbsent), errors.As(err, new(*chattemplate.TemplateError)):
		return source, usage.Errorf("%w; %s", err, d.prompts.templateWay())
	case err != nil:
		return source, drawError(err)
	}
	if d.means.renderer != nil && d.means.renderer.Source() == chattemplate.FromNone {
		d.means.note("prompts are sent as the data set has them, because no chat template was found")
	}
	if d.prompts.needs().Forms == datasets.AsTokenIDs {
		d.means.counted = metrics.TokensFromIDs // which are exact
	}
	return source, nil
}

// drawError is wrong usage, unless the server that was to help was busy or out of reach: then what was asked for may be right.
func drawError(err error) error {
	if endpoint.Unready(err) {
		return err
	}
	return usage.Wrap(err)
}

// offLength says by how many tokens prompts came out longer or shorter than wanted, "" if they did not.
func offLength(source datasets.Source) string {
	random, ok := source.(interface{ Miss() int })
	if !ok || random.Miss() == 0 {
		return ""
	}
	return fmt.Sprintf("the tokenizer gives back other tokens than its text was made of: all prompts together are %+d tokens off what was asked for", random.Miss())
}

// Text counts tokens and renders chats.
func (d *drawing) Text() datasets.Text { return d.means.Text }

// Streams are the generators that the data set shares with the arrivals.
func (d *drawing) Streams() *numpy.Streams { return d.streams }

// Hub has the data sets of the hub.
func (d *drawing) Hub() *hub.Hub { return d.hub }

// Note tells the user something.
func (d *drawing) Note(text string) { d.means.note(text) }

// Local is the model's tokenizer on this machine, nil for none.
func (d *drawing) Local() tokenizer.Tokenizer {
	if d.means.local == nil {
		return nil
	}
	return d.means.local
}

// TokenIDs are what prompts of token ids are made of, with a vocabulary that may not be the model's.
func (d *drawing) TokenIDs() datasets.Vocabulary {
	d.means.counted, d.means.name, d.means.vocabulary = metrics.TokensFromIDs, "", datasets.Vocabulary{Size: d.common.VocabSize}
	return d.means.vocabulary
}

// Maker is what synthetic prompts are made with: the tokenizer on this machine; else the server's, of which the vocabulary is
// not known; or else nil, for prompts of token ids. Where nothing can make text for a backend that takes nothing else, it is an
// error.
func (d *drawing) Maker() (tokenizer.Tokenizer, error) {
	m, ids := d.means, d.common.Forms.Overlap(datasets.AsTokenIDs)
	switch {
	case m.local != nil && d.common.VocabSize == 0:
		return m.local, nil
	case m.local != nil && !ids:
		m.note("--vocab-size has no effect: chat takes text, and the tokenizer that makes it has a vocabulary of its own")
		return m.local, nil
	case d.common.VocabSize > 0 && ids, m.server == nil && ids:
		return nil, nil
	case m.server == nil:
		return nil, d.NoMaker()
	case d.common.Endless && !ids:
		return nil, fmt.Errorf("dataset %s: chats without end need the model's tokenizer on this machine, since the server would have to make their text while it is measured: "+
			"give it with --tokenizer DIRECTORY, or say how many there may be with --num-prompts", d.prompts.name)
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
		return nil, fmt.Errorf("dataset %s: %w", d.prompts.name, err)
	}
	return made, nil
}

// NoMaker is the error where a text is to have an exact length and there is no tokenizer to make it: what is wanted, what was
// tried, and what to do, a line each.
func (d *drawing) NoMaker() error {
	way := "name the model's with --tokenizer DIRECTORY"
	if d.prompts.needs().Forms.Overlap(datasets.AsTokenIDs) {
		way += ", or use --backend openai, which takes token ids"
	}
	return fmt.Errorf("dataset %s: its texts have exact lengths, and no tokenizer was found to make them\ntried: %s\n%s", d.prompts.name, export.Clean(d.means.absent), way)
}

// RoughMaker is the server as a tokenizer, else common words, about a token each.
func (d *drawing) RoughMaker() (datasets.Speller, error) {
	if d.means.server != nil {
		return d.serverMaker()
	}
	d.means.estimate()
	return tokenizer.Words{}, nil
}

// serverMaker is the server as a tokenizer that makes text of ids.
func (d *drawing) serverMaker() (tokenizer.Tokenizer, error) {
	return tokenizer.NewServerTokenizer(d.ctx, d.means.server, d.common.VocabSize, nil)
}
