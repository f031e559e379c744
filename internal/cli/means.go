package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/datasets/chattemplate"
	"benchtop/datasets/endpoint"
	"benchtop/datasets/hub"
	"benchtop/datasets/tokenizer"
	"benchtop/export"
	"benchtop/internal/cli/server"
	"benchtop/internal/usage"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// tokenizerOptions say what counts tokens.
type tokenizerOptions struct {
	name string
	skip bool
}

func (o *tokenizerOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.name, "tokenizer", "", "tokenizer.json, the directory with it, a model's name on the hub, or estimate (default: the model's, or else the server counts)")
	f.BoolVar(&o.skip, "skip-tokenizer-init", false, "count no tokens: the report leaves out what needs them")
}

func (o *tokenizerOptions) check() (p usage.Problems) {
	if o.skip && o.name != "" {
		p.Bad("--tokenizer and --skip-tokenizer-init: choose one")
	}
	return p
}

// estimate, for a tokenizer, goes by the length of the text.
const estimate = "estimate"

// means are what counts tokens, makes text of them and renders chats in a run.
type means struct {
	datasets.Text
	local    *tokenizer.Local
	found    tokenizer.Found // the files it was read from
	server   *tokenizer.Server
	mute     string              // why the server does not tokenize
	silent   bool                // it was asked, and did not answer
	renderer *chattemplate.First // of chats, nil for none
	counted  metrics.TokenSource // of prompts
	name     string              // of the tokenizer, "" for none
	// vocabulary is what prompts of token ids are made of; the zero value where there are none, or the tokenizer's own is.
	vocabulary datasets.Vocabulary
	absent     string // what was tried for a tokenizer in vain
	notes      []string
}

// note adds what is to be told, unless it is "".
func (m *means) note(text string) {
	if text != "" {
		m.notes = append(m.notes, text)
	}
}

// tally names what counts tokens, "" for nothing that does.
func (m *means) tally() string {
	switch m.counted {
	case metrics.TokensFromTokenizer:
		return "tokenizer " + m.name + m.origin()
	case metrics.TokensFromServer:
		return "the server's tokenizer"
	}
	return ""
}

// origin says in brackets whose word it was that this is the model's tokenizer, and where it came from; "" where it was named
// with --tokenizer and found where it was said to be.
func (m *means) origin() string {
	switch {
	case m.found.Place != "":
		return fmt.Sprintf(" (%s; %s)", m.found.Place, m.found.By)
	case m.found.By != "--tokenizer":
		return fmt.Sprintf(" (%s)", m.found.By)
	}
	return ""
}

// inWords says how tokens are counted.
func (m *means) inWords() string {
	switch m.counted {
	case metrics.TokensFromTokenizer, metrics.TokensFromServer:
		return "tokens counted by " + m.tally()
	case metrics.TokensFromIDs:
		return "tokens not counted (prompts are token ids)"
	case metrics.TokensFromEstimate:
		return "lengths estimated"
	}
	return "tokens not counted"
}

// remarks say how tokens are counted and who rendered.
func (m *means) remarks() []string {
	all := []string{m.inWords()}
	if words := m.rendered(); words != "" {
		all = append(all, words)
	}
	return all
}

// seeker knows where a tokenizer may be found.
type seeker struct {
	target *target.Target
	client *http.Client // to reach it
	hub    *hub.Hub
	model  server.Model
	server bool             // it may be asked to count
	ready  *server.Patience // patience with it, nil for none
}

// findMeans looks for what counts tokens: files on this machine, those of the hub, the server. A data set that goes by token
// counts goes by estimates where there is none of them.
func (o *promptOptions) findMeans(ctx context.Context, s seeker) (*means, error) {
	needs := o.needs()
	if o.tokens.skip {
		m := &means{absent: "--skip-tokenizer-init is given"}
		if needs.MustCount {
			m.Counter, m.counted = tokenizer.Estimate{}, metrics.TokensFromEstimate
		}
		return m, nil
	}
	m, err := o.tokens.find(ctx, s.hub, s.model)
	if err != nil {
		return nil, err
	}
	if s.server {
		s.client = impatient(s.client)
		m.ask(ctx, s)
	}
	if m.Counter == nil && needs.Counts {
		m.estimate()
	}
	if err := m.findTemplate(needs, s); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// estimate has lengths estimated where nothing counts them.
func (m *means) estimate() {
	m.Counter, m.counted = tokenizer.Estimate{}, metrics.TokensFromEstimate
	m.note("prompt lengths are estimated, because there is no tokenizer: " + m.absent + "; name it with --tokenizer DIRECTORY")
}

// find looks for the tokenizer's files: those that were named, or else the model's.
func (o *tokenizerOptions) find(ctx context.Context, h *hub.Hub, of server.Model) (*means, error) {
	m := &means{}
	if o.name == estimate {
		m.Counter, m.counted, m.absent = tokenizer.Estimate{}, metrics.TokensFromEstimate, "an estimate makes no text"
		return m, nil
	}
	found, err := tokenizer.Find(ctx, tokenizer.FindOptions{Tokenizer: o.name, Root: of.Loaded, Model: of.Named, Hub: h})
	if err == nil {
		err = m.use(found)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
	case o.name != "":
		return nil, usage.Wrap(err)
	case !errors.As(err, new(*tokenizer.NotFoundError)):
		m.notes = append(m.notes, "the model's tokenizer was found but cannot be used: "+export.Clean(err.Error()))
	}
	if none, ok := errors.AsType[*tokenizer.NotFoundError](err); ok {
		m.absent = strings.Join(none.Tried, "; ")
	} else if err != nil {
		m.absent = err.Error()
	}
	return m, nil
}

// use reads the tokenizer that was found.
func (m *means) use(found tokenizer.Found) error {
	local, err := tokenizer.Read(found.Files)
	if err != nil {
		return fmt.Errorf("%s: %w", found.Path, err)
	}
	m.local, m.found, m.name, m.counted = local, found, found.Name, metrics.TokensFromTokenizer
	m.Counter, m.Tokenizer = local, local
	return nil
}

// answerTimeout is how long the server may take for the tokens of one prompt, or for a chat: long texts take seconds, and
// 64 of them are with it at a time.
const answerTimeout = time.Minute

// impatient is the client with that limit. Without it a server that takes requests and never answers would be waited for
// for ever.
func impatient(client *http.Client) *http.Client {
	limited := *client
	limited.Timeout = answerTimeout
	return &limited
}

// ask finds out whether the server tokenizes, and has it count if nothing here does.
func (m *means) ask(ctx context.Context, s seeker) {
	probe := func() (*tokenizer.Server, error) {
		ctx, cancel := context.WithTimeout(ctx, server.AskTimeout)
		defer cancel()
		return tokenizer.ProbeServer(ctx, s.client, s.target.String(), s.model.ID, s.model.Root)
	}
	server, err := probe()
	for s.ready != nil && endpoint.Unready(err) && s.ready.Again(ctx, s.target.String(), err) {
		server, err = probe()
	}
	if err != nil {
		m.mute = export.Clean(s.target.Hide(err.Error()))
		switch {
		case endpoint.UnknownModel(err):
			m.mute = fmt.Sprintf("its /tokenize does not know the model %q", s.model.ID)
		case endpoint.Refused(err): // in its own words
		case endpoint.NotOffered(err):
			m.mute = "it offers no /tokenize"
		default:
			m.silent = true
		}
		if m.local == nil {
			m.absent += "; of the server: " + m.mute
		}
		return
	}
	m.server = server
	if m.Counter == nil {
		m.Counter, m.counted, m.name = server, metrics.TokensFromServer, s.model.Root
	}
}

// countText counts the tokens of a generated text, nil if nothing here can.
func (m *means) countText() func(string) (int, error) {
	if m.local == nil {
		return nil
	}
	return func(text string) (int, error) {
		ids, err := m.local.Encode(text)
		return len(ids), err
	}
}

// countAnswer has the server count the tokens of a generated text, nil where it does not or where that is done here.
func (m *means) countAnswer() func(context.Context, string) (int, error) {
	if m.local != nil || m.server == nil {
		return nil
	}
	return func(ctx context.Context, text string) (int, error) {
		ids, err := m.server.EncodeContext(ctx, text)
		return len(ids), err
	}
}

// align cuts prompts of exact lengths to what the server counts, as vLLM's client does. It returns what is to be told of it.
func (m *means) align(ctx context.Context, env *environment, s *supply) (notes []string) {
	if m.local == nil {
		return nil
	}
	if m.server == nil {
		if first, _ := s.first(); len(first.Turns) == 1 && first.Turns[0].TokenIDs == nil {
			return []string{"the prompts were not compared with the server's tokenizer, and may have other lengths there: " + m.mute}
		}
		return nil
	}
	all := s.all()
	if all == nil {
		return []string{"the prompts were not compared with the server's tokenizer: there are too many to have them all beforehand"}
	}
	env.step(stepLengths)
	env.show("compared with the server's tokenizer")
	done, _ := datasets.Align(ctx, all, &countedAligner{Aligner: m.server, env: env, total: len(all)}, func(note string) { notes = append(notes, export.Clean(note)) }) // a lost context is noticed elsewhere
	if done.Cut > 0 {
		s.changed()
	}
	return notes
}

// countedAligner counts the prompts that a server is asked about.
type countedAligner struct {
	datasets.Aligner
	env   *environment
	asked atomic.Int64
	total int
}

// EncodeContext asks the server.
func (c *countedAligner) EncodeContext(ctx context.Context, text string) ([]int, error) {
	ids, err := c.Aligner.EncodeContext(ctx, text)
	c.env.count(int(c.asked.Add(1)), c.total, "")
	return ids, err
}
