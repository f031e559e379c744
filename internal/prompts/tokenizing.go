package prompts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/hf/endpoint"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/server"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// TokenizerOptions choose the tokenizer.
type TokenizerOptions struct {
	Name string
	Skip bool
}

func (o *TokenizerOptions) define(f *pflag.FlagSet) {
	f.StringVar(&o.Name, "tokenizer", "", "tokenizer.json, its directory, a model's name on the hub, or estimate "+
		"(default: the model's; without it the server counts)")
	f.BoolVar(&o.Skip, "skip-tokenizer-init", false, "do not count tokens; the report omits figures that need them")
}

// Estimate is the name of the tokenizer that estimates counts from the length of a text.
const Estimate = "estimate"

// Tokenizing counts tokens, makes text of them and renders chats for a run.
type Tokenizing struct {
	datasets.Text
	Local    *tokenizer.Local
	found    tokenizer.Found // the files it was read from
	server   *tokenizer.Server
	mute     string                 // why the server does not tokenize
	silent   bool                   // it was asked, and did not answer
	renderer *chattemplate.Fallback // of chats, nil for none
	Counted  metrics.TokenSource    // of prompts
	Name     string                 // of the tokenizer, "" for none
	// vocabulary is what prompts of token ids are made of; the zero value where there are none, or the tokenizer's own
	// is.
	vocabulary datasets.Vocabulary
	absent     string // the failed attempts to find a tokenizer
	Notes      []string
}

// note adds a note for the user, unless it is "".
func (m *Tokenizing) note(text string) {
	if text != "" {
		m.Notes = append(m.Notes, text)
	}
}

// counter names the tokenizer that counts, "" for none. In brackets are the origin of a tokenizer and the reason for
// choosing it, unless the user named it and it was found there.
func (m *Tokenizing) counter() string {
	switch {
	case m.Counted == metrics.TokensFromServer:
		return "the server's tokenizer"
	case m.Counted != metrics.TokensFromTokenizer:
		return ""
	case m.found.Place != "":
		return fmt.Sprintf("tokenizer %s (%s; %s)", m.Name, m.found.Place, m.found.By)
	case m.found.By != "--tokenizer":
		return fmt.Sprintf("tokenizer %s (%s)", m.Name, m.found.By)
	}
	return "tokenizer " + m.Name
}

// String says how tokens are counted.
func (m *Tokenizing) String() string {
	switch m.Counted {
	case metrics.TokensFromTokenizer, metrics.TokensFromServer:
		return "tokens counted by " + m.counter()
	case metrics.TokensFromIDs:
		return "tokens not counted (prompts are token ids)"
	case metrics.TokensFromEstimate:
		return "lengths estimated"
	}
	return "tokens not counted"
}

// Remarks say how tokens are counted and who rendered.
func (m *Tokenizing) Remarks() []string {
	all := []string{m.String()}
	if words := m.Rendered(); words != "" {
		all = append(all, words)
	}
	return all
}

// findTokenizing looks for a tokenizer: files on this machine, on the hub, then the server. Without one, data sets that
// need token counts use estimates.
func (d *Drawing) findTokenizing(ctx context.Context) error {
	d.hub, d.common = hub.New(hub.Options{Progress: d.To.Tell}), d.Options.Common
	needs := d.Options.Needs()
	if d.Options.Tokens.Skip {
		d.tokenizing = &Tokenizing{absent: "--skip-tokenizer-init is given"}
		if needs.MustCount {
			d.tokenizing.Counter, d.tokenizing.Counted = tokenizer.Estimate{}, metrics.TokensFromEstimate
		}
		return nil
	}
	m, err := d.Options.Tokens.Find(ctx, d.hub, d.Model)
	if err != nil {
		return err
	}
	d.tokenizing = m
	if d.AskServer {
		d.Client = impatient(d.Client)
		d.ask(ctx)
	}
	if m.Counter == nil && needs.Counts {
		m.estimate()
	}
	if err := d.findTemplate(needs); err != nil {
		return err
	}
	return ctx.Err()
}

// Counting finds what counts the tokens of texts that are of no data set, an estimate where there is nothing else.
func (d *Drawing) Counting(ctx context.Context) (*Tokenizing, error) {
	err := d.findTokenizing(ctx)
	if err == nil && d.tokenizing.Counter == nil {
		d.tokenizing.estimate()
	}
	return d.tokenizing, err
}

// estimate uses estimated lengths, and notes why.
func (m *Tokenizing) estimate() {
	m.Counter, m.Counted = tokenizer.Estimate{}, metrics.TokensFromEstimate
	m.note("prompt lengths are estimated, because there is no tokenizer: " + m.absent + "; name it with --tokenizer " +
		"DIRECTORY")
}

// Find looks for the tokenizer's files: those that were named, or else the model's.
func (o *TokenizerOptions) Find(ctx context.Context, h *hub.Hub, of server.Model) (*Tokenizing, error) {
	m := &Tokenizing{}
	if o.Name == Estimate {
		m.Counter, m.Counted, m.absent = tokenizer.Estimate{}, metrics.TokensFromEstimate,
			"an estimate cannot generate text"
		return m, nil
	}
	found, err := tokenizer.Find(ctx,
		tokenizer.FindOptions{Tokenizer: o.Name, Root: of.Loaded, Model: of.Named, Hub: h})
	if err == nil {
		err = m.use(found)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
	case o.Name != "":
		return nil, usage.Wrap(err)
	case !errors.As(err, new(*tokenizer.NotFoundError)):
		m.Notes = append(m.Notes, "the model's tokenizer was found but cannot be used: "+text.Clean(err.Error()))
	}
	if none, ok := errors.AsType[*tokenizer.NotFoundError](err); ok {
		m.absent = strings.Join(none.Tried, "; ")
	} else if err != nil {
		m.absent = err.Error()
	}
	return m, nil
}

// use reads the tokenizer that was found.
func (m *Tokenizing) use(found tokenizer.Found) error {
	local, err := tokenizer.Read(found.Files)
	if err != nil {
		return fmt.Errorf("%s: %w", found.Path, err)
	}
	m.Local, m.found, m.Name, m.Counted = local, found, found.Name, metrics.TokensFromTokenizer
	m.Counter, m.Tokenizer = local, local
	m.TokenizerName, m.TokenizerClass = found.Name, local.Class()
	if doubt := local.Doubt(); doubt != "" {
		m.note("token counts may differ from those of transformers: " + text.Clean(doubt))
	}
	return nil
}

// answerTimeout limits how long the server takes to tokenize one prompt or render a chat: long texts take seconds, and
// it has 64 of them at a time.
const answerTimeout = time.Minute

// impatient is the client with that limit, so that a server that never answers does not block the preparation.
func impatient(client *http.Client) *http.Client {
	limited := *client
	limited.Timeout = answerTimeout
	return &limited
}

// ask finds out whether the server tokenizes, and uses it if there is no local tokenizer.
func (d *Drawing) ask(ctx context.Context) {
	m := d.tokenizing
	var s *tokenizer.Server
	err := d.Patience.Until(ctx, d.Server.Target.String(), func(ctx context.Context) (final bool, err error) {
		ctx, cancel := context.WithTimeout(ctx, server.AskTimeout)
		defer cancel()
		s, err = tokenizer.ProbeServer(ctx, d.Client, d.Server.Target.URL(""), d.Model.ID, d.Model.Root)
		return !endpoint.Unready(err), err
	})
	if err != nil {
		m.mute = text.Clean(d.Server.Target.Hide(err.Error()))
		switch {
		case endpoint.UnknownModel(err):
			m.mute = fmt.Sprintf("its /tokenize does not know model %q", d.Model.ID)
		case endpoint.Refused(err): // the server explains itself
		case endpoint.NotOffered(err):
			m.mute = "it has no /tokenize"
		default:
			m.silent = true
		}
		if m.Local == nil {
			m.absent += "; of the server: " + m.mute
		}
		return
	}
	m.server = s
	if m.Counter == nil {
		m.Counter, m.Counted, m.Name, m.TokenizerName = s, metrics.TokensFromServer, d.Model.Root, d.Model.Root
	}
}

// CountText counts the tokens of a generated text with the local tokenizer, nil without one.
func (m *Tokenizing) CountText() func(string) (int, error) {
	if m.Local == nil {
		return nil
	}
	return func(text string) (int, error) {
		ids, err := m.Local.Encode(text)
		return len(ids), err
	}
}

// CountAnswer counts the tokens of a generated text with the server's tokenizer, nil if there is none or a local one is
// used.
func (m *Tokenizing) CountAnswer() func(context.Context, string) (int, error) {
	if m.Local != nil || m.server == nil {
		return nil
	}
	return func(ctx context.Context, text string) (int, error) {
		ids, err := m.server.EncodeContext(ctx, text)
		return len(ids), err
	}
}

// align cuts prompts of exact lengths to the server's counts, as vLLM's client does, and returns notes.
func (m *Tokenizing) align(ctx context.Context, to Reporter, s *Prefetcher) (notes []string) {
	for first := range s.queued {
		if m.Local == nil || len(first.Turns) == 1 && first.Turns[0].TokenIDs != nil {
			return nil
		}
		break
	}
	if m.server == nil {
		return []string{
			"the prompts were not checked against the server's tokenizer, so their lengths may differ there: " + m.mute}
	}
	if _, all := s.drawn(); !all {
		return []string{
			"the prompts were not checked against the server's tokenizer, so their lengths may differ there by a few " +
				"tokens: not all are drawn before the run; with --num-prompts alone a few thousand are"}
	}
	to.Step(StepLengths)
	to.Show("checked against the server's tokenizer")
	all := slices.Collect(s.queued)
	// a lost context is noticed elsewhere
	done, _ := datasets.Align(ctx, all, &countedAligner{Aligner: m.server, to: to, total: len(all)},
		func(note string) { notes = append(notes, text.Clean(note)) })
	if done.Cut > 0 {
		s.change(all)
	}
	return notes
}

// countedAligner counts the prompts that a server is asked about.
type countedAligner struct {
	datasets.Aligner
	to    Reporter
	asked atomic.Int64
	total int
}

// EncodeContext asks the server.
func (c *countedAligner) EncodeContext(ctx context.Context, text string) ([]int, error) {
	ids, err := c.Aligner.EncodeContext(ctx, text)
	c.to.Count(int(c.asked.Add(1)), c.total, "")
	return ids, err
}

// findTemplate looks for what renders chats, where the data set needs it: the server, or else the template that came
// with the tokenizer. Where no tokenizer is on this machine to say what the model's template is, chats are sent as they
// are.
func (d *Drawing) findTemplate(needs datasets.Needs) error {
	m := d.tokenizing
	if !needs.Template {
		return nil
	}
	var among []chattemplate.NamedRenderer
	if d.AskServer && !m.silent { // what did not answer once is not waited for again
		among = append(among, chattemplate.NewServer(d.Client, d.Server.Target.URL(""), d.Model.ID))
	}
	if m.Local != nil {
		files := chattemplate.Files{Jinja: m.found.Jinja, ToolJinja: m.found.ToolJinja, JSON: m.found.JSON,
			Config: m.found.Config, Tokens: m.Local.NamedTokens()}
		local, err := chattemplate.Load(m.Name, files)
		if err != nil {
			return usage.Errorf("%s: %w", m.found.Path, err)
		}
		if local != nil {
			among = append(among, local)
		}
	} else if needs.Forms != datasets.AsMessages { // which travel as they are, and are counted without
		among = append(among, chattemplate.Plain{})
	}
	if len(among) > 0 {
		m.renderer = chattemplate.NewFallback(among...)
		m.Template = m.renderer
	}
	return nil
}

// Rendered says who rendered the chats; "" where none had to be.
func (m *Tokenizing) Rendered() string {
	if m.renderer == nil {
		return ""
	}
	switch m.renderer.Source() {
	case chattemplate.FromServer:
		return "prompts rendered by the server's chat template"
	case chattemplate.FromTemplate:
		return "prompts rendered locally, by the chat template of " + m.Name
	}
	return ""
}
