package simulator

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
)

// mostChoices bounds the answers of a request.
const mostChoices = 16384

// list is the answer to a request with several choices: n for each of its prompts, in their order.
type list struct {
	*arrival
	prompts int // tokens
	all     []*generation
	request completionRequest
}

// respondList generates n answers to each prompt and writes them, as one stream if the request asks for one.
func (s *Server) respondList(w http.ResponseWriter, r *http.Request, a *arrival, request completionRequest,
	n int) *apiError {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	l := &list{arrival: a, request: request}
	defer func() {
		for _, g := range l.all {
			s.engine.abort(g.seq) // those that are done are left alone
		}
	}()
	one := request.sampling
	one.N, one.UseBeamSearch = nil, false
	for _, ids := range *request.Prompt {
		for k := range n {
			p := one
			p.Seed += int64(k) << 32 // another answer
			g, err := s.generate(r, a, "cmpl-", ids, request.MaxTokens, p)
			if err != nil {
				return err
			}
			g.repeat = k > 0
			if g.choice = len(l.all); g.choice > 0 {
				g.id = l.all[0].id
			}
			l.all = append(l.all, g)
		}
		l.prompts += len(ids)
	}
	a.PromptTokens = l.prompts
	if len(*request.Prompt) > 1 {
		a.PromptBlocks = nil
	}
	if request.Stream {
		l.stream(ctx, cancel, w)
		return nil
	}
	var choices []any
	generated := 0
	for _, g := range l.all {
		tokens, err := g.whole(ctx)
		if err != nil {
			return err
		}
		generated += len(tokens)
		choices = append(choices, g.completionChoice(tokens, request, 0))
	}
	a.OutputTokens = generated
	whole := l.all[0].answer("text_completion", l.usage(), choices...)
	whole.SystemFingerprint = systemFingerprint
	whole.ServiceTier, whole.KVTransferParams = absent, absent
	writeJSON(w, http.StatusOK, whole)
	return nil
}

// stream writes the tokens of all answers as they come. An answer that the engine gives up ends the stream with an
// error.
func (l *list) stream(ctx context.Context, cancel context.CancelFunc, w http.ResponseWriter) {
	first := l.all[0]
	d := &chunks{object: "text_completion", chunk: "text_completion", options: l.request.streamOptions()}
	out, err := first.openEvents(ctx, w)
	if err != nil {
		return
	}
	err = l.write(ctx, cancel, d, out)
	var given engineError
	switch {
	case errors.As(err, &given):
		err = d.fail(first, out, broken(given))
	case err == nil && d.options.IncludeUsage && !first.suffers(FaultNoUsage):
		last := first.answer(d.chunk, l.usage())
		last.SystemFingerprint = systemFingerprint
		err = errors.Join(out.send("", last), d.done(first, out))
	case err == nil:
		err = d.done(first, out)
	}
	if err == nil {
		_ = out.flushAll() // the client may be gone
	}
}

// listStep is what a step of the engine gave to one answer of a list; err ends the answer early.
type listStep struct {
	of     *generation
	tokens []token
	err    error
}

// write writes the steps of all answers, and injects the fault of the request once so many tokens of all were sent. It
// returns when no answer is under way any more.
func (l *list) write(ctx context.Context, cancel context.CancelFunc, d *chunks, out *events) error {
	steps := l.steps(ctx)
	defer func() {
		cancel()
		for range steps {
		}
	}()
	offsets := make([]int, len(l.all)) // of the texts so far
	before, injected := l.all[0].beforeFault(), false
	for s := range steps {
		if s.err != nil {
			return s.err
		}
		if before >= 0 && !injected && l.OutputTokens >= before {
			injected = true
			if err := l.all[0].inject(ctx, out, d); err != nil {
				return err
			}
		}
		l.count(s)
		choice := s.of.completionChoice(s.tokens, l.request, offsets[s.of.choice])
		offsets[s.of.choice] += len(choice.Text)
		last := s.tokens[len(s.tokens)-1]
		if err := out.send("", s.of.answer(d.chunk, d.usage(s.of, last.index+1), choice)); err != nil {
			return err
		}
	}
	return nil
}

// steps passes on what the engine gives to all answers, and ends after the last.
func (l *list) steps(ctx context.Context) <-chan listStep {
	steps := make(chan listStep)
	var answers sync.WaitGroup
	for _, g := range l.all {
		answers.Go(func() {
			err := g.each(ctx, func(tokens []token) error {
				steps <- listStep{of: g, tokens: slices.Clone(tokens)}
				return nil
			})
			if err != nil {
				steps <- listStep{of: g, err: err}
			}
		})
	}
	go func() {
		answers.Wait()
		close(steps)
	}()
	return steps
}

// count adds a step to the record of the request.
func (l *list) count(s listStep) {
	if l.OutputTokens == 0 {
		l.FirstToken = s.of.now()
	}
	l.OutputTokens += len(s.tokens)
	if s.tokens[0].index == 0 && !s.of.repeat {
		l.read(s.of.seq.cached)
	}
	if s.of.choice == 0 {
		s.of.say(s.tokens)
	}
}

// usage counts each prompt once and all answers.
func (l *list) usage() usage {
	u := usage{PromptTokens: l.prompts, CompletionDetails: absent}
	cached, n := 0, len(l.all)/len(*l.request.Prompt)
	for i, g := range l.all {
		u.CompletionTokens += g.seq.limit
		if i%n == 0 {
			cached += g.seq.cached
		}
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	if l.all[0].profile.PrefixCache {
		u.PromptDetails = map[string]int{"cached_tokens": cached}
	}
	return u
}
