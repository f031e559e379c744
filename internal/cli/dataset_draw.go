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

// drawing is all that the draw of a data set depends on.
type drawing struct {
	*promptOptions
	// ctx is that of a server that makes the text of prompts. It ends later than the preparation, for some may be drawn while
	// the run goes on, and earlier than anybody waits for the drawing.
	ctx     context.Context
	means   *means
	streams *numpy.Streams
	backend string
	prefix  string // of request ids
	endless bool   // there is no number of prompts
	hub     *hub.Hub
	// more gives other prompts of the same kind without end; nil where there are none. draw sets it.
	more func() (datasets.Source, error)
}

// draw makes the source of the prompts. It leaves the generators as vLLM's client would. After an error of ctx nothing of d may
// be used any more: it may still be drawing.
func (d *drawing) draw(ctx context.Context) (datasets.Source, error) {
	kind := datasetNamed(d.dataset)
	source, err := orStopped(ctx, func() (datasets.Source, error) { return kind.draw(ctx, d) })
	switch {
	case ctx.Err() != nil:
	case err == nil && d.means.renderer != nil && d.means.renderer.Source() == chattemplate.FromNone:
		d.means.note("prompts are sent as the data set has them, because no chat template was found")
	case err == nil:
	case errors.Is(err, datasets.ErrNoTemplate):
		err = usageError{fmt.Errorf("dataset %s: its prompts go through the model's chat template, and %s has none; %s", d.dataset, d.means.tally(), kind.templateWay())}
	case errors.Is(err, chattemplate.ErrAbsent), errors.As(err, new(*chattemplate.TemplateError)):
		err = usageError{fmt.Errorf("%w; %s", err, kind.templateWay())}
	default:
		err = drawError(err)
	}
	return source, err
}

// drawError is wrong usage, unless the server that was to help was busy or out of reach: then what was asked for may be right.
func drawError(err error) error {
	if endpoint.Unready(err) {
		return err
	}
	return usageError{err}
}

// offLength says by how many tokens prompts came out longer or shorter than wanted, "" if they did not.
func offLength(source datasets.Source) string {
	random, ok := source.(interface{ Miss() int })
	if !ok || random.Miss() == 0 {
		return ""
	}
	return fmt.Sprintf("the tokenizer gives back other tokens than its text was made of: all prompts together are %+d tokens off what was asked for", random.Miss())
}

// ids are what prompts of token ids are made of, with a vocabulary that may not be the model's.
func (d *drawing) ids() datasets.Vocabulary {
	d.means.counted, d.means.name, d.means.vocabulary = metrics.TokensFromIDs, "", d.vocabularyOf()
	return d.means.vocabulary
}

// vocabularyOf is what was given as the vocabulary, the zero value for nothing.
func (o *promptOptions) vocabularyOf() datasets.Vocabulary {
	return datasets.Vocabulary{Size: o.vocabulary}
}

// maker is what synthetic prompts are made with: the tokenizer on this machine; else the server's, of which the vocabulary is
// not known; or else nil, for prompts of token ids. Where nothing can make text for a backend that takes nothing else, it is an
// error.
func (d *drawing) maker() (tokenizer.Tokenizer, error) {
	m := d.means
	switch {
	case m.local != nil && d.vocabulary == 0:
		return m.local, nil
	case m.local != nil && isChat(d.backend):
		m.notes = append(m.notes, "--vocab-size has no effect: chat takes text, and the tokenizer that makes it has a vocabulary of its own")
		return m.local, nil
	case d.vocabulary > 0 && !isChat(d.backend), m.server == nil && !isChat(d.backend):
		return nil, nil
	case m.server == nil:
		return nil, d.noMaker()
	case d.endless && isChat(d.backend):
		return nil, fmt.Errorf("dataset %s: chats without end need the model's tokenizer on this machine, since the server would have to make their text while it is measured: "+
			"give it with --tokenizer DIRECTORY, or say how many there may be with --num-prompts", d.dataset)
	case d.endless:
		return nil, nil
	}
	made, err := m.serverMaker(d.ctx, d.vocabulary)
	switch {
	case endpoint.NotOffered(err) && isChat(d.backend):
		return nil, d.noMaker()
	case endpoint.NotOffered(err):
		m.note("prompts are token ids, because " + export.Clean(err.Error()))
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("dataset %s: %w", d.dataset, err)
	}
	return made, nil
}

// drawRandom draws text with a tokenizer, else token ids.
func drawRandom(_ context.Context, d *drawing) (datasets.Source, error) {
	tok, err := d.maker()
	if err != nil {
		return nil, err
	}
	o := d.randomOptions()
	o.IDPrefix, o.Vocabulary = d.prefix, d.vocabularyOf()
	if tok == nil {
		o.Vocabulary = d.ids()
	}
	if tok == nil || d.means.local != nil { // a server is not to be asked while it is measured
		d.more = func() (datasets.Source, error) { return moreRandom(o, tok) }
	}
	if d.endless {
		return datasets.NewBlocks(o, tok)
	}
	return datasets.NewRandom(o, tok)
}

func drawRerank(_ context.Context, d *drawing) (datasets.Source, error) {
	o := d.rerankOptions()
	o.IDPrefix = d.prefix
	if d.means.local == nil {
		return nil, d.noMaker()
	}
	return datasets.NewRerank(o, d.means.local)
}

// noMaker is the error where a text is to have an exact length and there is no tokenizer to make it: what is wanted, what was
// tried, and what to do, a line each.
func (d *drawing) noMaker() error {
	way := "name the model's with --tokenizer DIRECTORY"
	if len(datasetNamed(d.dataset).backends) == 0 {
		way += ", or use --backend openai, which takes token ids"
	}
	return fmt.Errorf("dataset %s: its texts have exact lengths, and no tokenizer was found to make them\ntried: %s\n%s", d.dataset, export.Clean(d.means.absent), way)
}

func drawRandomMM(_ context.Context, d *drawing) (datasets.Source, error) {
	o, err := d.mmOptions()
	if err != nil {
		return nil, err
	}
	o.IDPrefix, o.Vocabulary = d.prefix, d.vocabularyOf()
	tok, err := d.maker()
	if err != nil {
		return nil, err
	}
	return datasets.NewRandomMM(o, tok)
}

func drawRepetition(_ context.Context, d *drawing) (datasets.Source, error) {
	o := d.repetitionOptions()
	o.Vocabulary = d.vocabularyOf()
	tok, err := d.maker()
	if err != nil {
		return nil, err
	}
	if tok == nil {
		o.Vocabulary = d.ids()
	}
	return datasets.NewPrefixRepetition(o, tok, d.streams)
}

func drawShareGPT(ctx context.Context, d *drawing) (datasets.Source, error) {
	o := d.sharegptOptions()
	o.IDPrefix = d.prefix
	text := d.means.Text
	if text.Counter == nil { // --skip-tokenizer-init
		text.Counter, d.means.counted = tokenizer.Estimate{}, metrics.TokensFromEstimate
	}
	return datasets.NewShareGPT(ctx, o, text, d.streams)
}

func drawSonnet(ctx context.Context, d *drawing) (datasets.Source, error) {
	o := d.sonnetOptions()
	o.IDPrefix, o.Rendered = d.prefix, !isChat(d.backend)
	d.means.notes = append(d.means.notes, "vLLM 0.33 has no sonnet: the prompts are those of vLLM 0.31")
	return datasets.NewSonnet(ctx, o, d.means.Text, d.streams)
}

func drawBurstGPT(_ context.Context, d *drawing) (datasets.Source, error) {
	o := d.burstOptions()
	o.IDPrefix = d.prefix
	m := d.means
	switch {
	case m.local != nil && (d.vocabulary == 0 || isChat(d.backend)):
		return datasets.NewBurstGPT(o, m.local)
	case !isChat(d.backend):
		o.Vocabulary = d.ids()
		return datasets.NewBurstGPT(o, nil)
	case m.server != nil:
		made, err := m.serverMaker(d.ctx, d.vocabulary)
		if err != nil {
			return nil, fmt.Errorf("dataset burstgpt: %w", err)
		}
		return datasets.NewBurstGPT(o, made)
	}
	m.estimate()
	return datasets.NewBurstGPT(o, tokenizer.Words{})
}

func drawCustom(ctx context.Context, d *drawing) (datasets.Source, error) {
	o := d.customOptions()
	o.IDPrefix = d.prefix
	if d.means.Counter == nil {
		d.means.notes = append(d.means.notes, "without a tokenizer custom asks for 1 token each, as with vLLM")
	}
	return datasets.NewCustom(ctx, o, d.means.Text, d.streams)
}

func drawCustomImage(ctx context.Context, d *drawing) (datasets.Source, error) {
	o := d.imageOptions()
	o.IDPrefix = d.prefix
	return datasets.NewCustomImage(ctx, o, d.means.Text, d.streams)
}

func drawSpecBench(ctx context.Context, d *drawing) (datasets.Source, error) {
	o := d.specOptions()
	o.IDPrefix = d.prefix
	return datasets.NewSpecBench(ctx, o, d.means.Text, d.streams)
}

func drawSpeedBench(ctx context.Context, d *drawing) (datasets.Source, error) {
	o := d.speedOptions()
	o.IDPrefix = d.prefix
	return datasets.NewSpeedBench(ctx, o, d.means.Text, d.streams)
}

func drawTrace(_ context.Context, d *drawing) (datasets.Source, error) {
	o := d.traceOptions()
	o.IDPrefix = d.prefix
	var tok tokenizer.Tokenizer
	if d.means.local == nil || d.vocabulary > 0 {
		o.Vocabulary = d.ids()
	} else {
		tok, d.means.counted = d.means.local, metrics.TokensFromIDs // which are exact
	}
	trace, err := datasets.NewTimedTrace(o, tok, d.streams)
	if err != nil {
		return nil, err
	}
	d.means.note(trace.Doubt())
	return trace, nil
}
