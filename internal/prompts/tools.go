package prompts

import (
	"context"
	"fmt"
	"sync/atomic"

	"benchtop/datasets"
	"benchtop/internal/hf/endpoint"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Text counts tokens and renders chats.
func (d *Drawing) Text() datasets.Text { return d.tokenizing.Text }

// Streams are the generators that the data set shares with the arrivals.
func (d *Drawing) Streams() *numpy.Streams { return d.Draws }

// Hub has the data sets of the hub.
func (d *Drawing) Hub() *hub.Hub { return d.hub }

// Lasting ends when no more prompts are drawn.
func (d *Drawing) Lasting() context.Context { return d.ctx }

// Note adds a note for the user.
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
	d.tokenizing.Counted, d.tokenizing.Name, d.tokenizing.vocabulary = metrics.TokensFromIDs, "",
		datasets.Vocabulary{Size: d.common.VocabSize}
	return d.tokenizing.vocabulary
}

// Maker makes synthetic prompts: it is the tokenizer on this machine, else the server's, whose vocabulary is unknown,
// else nil for prompts of token ids, else common words.
func (d *Drawing) Maker() (tokenizer.Tokenizer, error) {
	m, ids := d.tokenizing, d.common.Forms.Overlap(datasets.AsTokenIDs)
	if d.common.VocabSize > 0 && !ids && (m.Local != nil || m.server == nil) {
		m.note("--vocab-size has no effect: chat takes text, which is not made of such a vocabulary")
	}
	switch {
	case m.Local != nil && (d.common.VocabSize == 0 || !ids):
		return m.Local, nil
	case (d.common.VocabSize > 0 || d.common.PromptTokenIDs || m.server == nil) && ids:
		return nil, nil
	case m.server == nil:
		return d.commonWords(), nil
	case d.common.Endless && !ids:
		return nil, fmt.Errorf("dataset %s: an open-ended run over chat needs the model's tokenizer on this machine, "+
			"since the server would have to make the text while it is measured: "+
			"give it with --tokenizer DIRECTORY, or limit the requests with --num-prompts", d.Options.Name)
	case d.common.Endless:
		return nil, nil
	}
	made, err := d.serverMaker()
	switch {
	case endpoint.NotOffered(err) && !ids:
		return d.commonWords(), nil
	case endpoint.NotOffered(err):
		m.note("prompts are token ids, because " + text.Clean(err.Error()))
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("dataset %s: %w", d.Options.Name, err)
	}
	return made, nil
}

// takesTextOnly reports whether the server is taken for a gateway, which may refuse token ids: engines name themselves
// as the owner of their models, and tokenize.
func (d *Drawing) takesTextOnly() bool {
	c, m := &d.common, d.tokenizing
	return (d.Model.Owner == "openai" || d.Options.Calibrate && m.Local == nil) && m.server == nil &&
		c.VocabSize == 0 && !c.PromptTokenIDs && !c.NoAnswers
}

// commonWords makes prompts of common words. Those of one text each are cut to their length by the usage of earlier
// answers; pictures and earlier turns are counted with the others, which stay a word a token.
func (d *Drawing) commonWords() tokenizer.Tokenizer {
	m := d.tokenizing
	if m.Counted != metrics.TokensFromEstimate {
		m.estimate()
	}
	if d.words == nil && d.Options.Needs().Forms.Overlap(datasets.AsText) && !d.common.MultiTurn.On {
		d.words = &lengthModel{}
		text := "prompts are common words, whose tokens are learned from the server's usage"
		if !d.Options.Calibrate {
			text += ": the first prompts differ in length; --calibrate-lengths sends a request for that beforehand"
		}
		m.note(text)
	}
	return tokenizer.Words{Even: true}
}

// NoMaker is the error for texts of exact lengths without a tokenizer: the problem, the attempts and the advice, a line
// each.
func (d *Drawing) NoMaker() error {
	return fmt.Errorf("dataset %s: prompts of exact lengths need a tokenizer, and none was found\ntried: %s\ngive the "+
		"model's with --tokenizer DIRECTORY", d.Options.Name, text.Clean(d.tokenizing.absent))
}

// RoughMaker is the server as a tokenizer, else common words, about a token each.
func (d *Drawing) RoughMaker() (tokenizer.Tokenizer, error) {
	if d.tokenizing.server != nil {
		return d.serverMaker()
	}
	d.tokenizing.estimate()
	return tokenizer.Words{}, nil
}

// serverMaker is the server as a tokenizer that makes text of ids.
func (d *Drawing) serverMaker() (tokenizer.Tokenizer, error) {
	t, err := tokenizer.NewServerTokenizer(d.ctx, d.tokenizing.server, d.common.VocabSize, nil)
	if err != nil {
		return nil, err
	}
	d.byServer = &serverMaker{ServerTokenizer: t}
	return d.byServer, nil
}

// serverMaker is a server that makes prompts, a few at a time beside the load.
type serverMaker struct {
	*tokenizer.ServerTokenizer
	beside atomic.Bool
}

func (s *serverMaker) Concurrency() int {
	if s.beside.Load() {
		return 4 // enough for serverOutpaces
	}
	return s.ServerTokenizer.Concurrency()
}
