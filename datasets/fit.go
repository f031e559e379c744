package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"

	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/parallel"
)

// fitRetries is how often a fitting corrects its prompt before it takes the result as it is.
const fitRetries = 10

// tokenFit turns ids into a text that a server will count as target tokens. Decoding and encoding need not give the ids
// back, so it does both, cuts or extends the result, and tries again:
//
//	ids ── decode ──▶ text ── encode ──▶ ids ── as many as wanted? ──▶ done
//	 ▲                                    │ no
//	 └──── cut, or append random ids ◀────┘
//
// Cutting needs no other prompt; ids to append come from a generator that prompts share, so a short prompt waits for
// its turn.
type tokenFit struct {
	ids     []int
	target  int // tokens wanted
	retries int // that are left

	text string
	miss int // tokens above the target, or below it; other than 0 only if the retries ran out
	done bool
	err  error // of the tokenizer; it is done then too
}

// advance goes on until the prompt is done or short of ids. Without a tokenizer ids are sent as they are.
func (f *tokenFit) advance(tok tokenizer.Tokenizer) {
	if tok == nil {
		f.done = true
	}
	for !f.done && f.round(tok) {
	}
}

// round decodes and encodes once, and reports whether there is something left to try without further ids.
func (f *tokenFit) round(tok tokenizer.Tokenizer) bool {
	if f.text, f.err = tok.Decode(f.ids); f.err == nil {
		f.ids, f.err = tok.Encode(f.text)
	}
	if f.err != nil || f.retries <= 0 || len(f.ids) == f.target {
		f.done, f.miss = true, len(f.ids)-f.target
		return false
	}
	f.retries--
	keep := min(len(f.ids), f.target)
	f.ids = f.ids[:keep:keep]
	return keep == f.target
}

// settle brings a prompt that has advanced to its end. draw gives the ids to append, special ones among them, as vLLM
// has it. It draws nothing for a prompt that is done.
func (f *tokenFit) settle(tok tokenizer.Tokenizer, draw func() int) {
	for !f.done {
		for len(f.ids) < f.target {
			f.ids = append(f.ids, draw())
		}
		f.advance(tok)
	}
}

// missed ends a description: by how many tokens all prompts together miss their lengths; "" for 0.
func missed(tokens int) string {
	switch {
	case tokens > 0:
		return fmt.Sprintf(", %d tokens more than asked for in all", tokens)
	case tokens < 0:
		return fmt.Sprintf(", %d tokens fewer than asked for in all", -tokens)
	}
	return ""
}

// fitQueue fits prompts to their lengths, many at once, and hands them on one by one. The result is that of fitting one
// after another, to the draw:
//
//	begin ──▶ a window of prompts ── each advances, in parallel ──▶ next: short prompts draw, in order
//
// Decoding and encoding take the time, and few prompts come out short, so little remains to be done in order. Nothing
// runs between calls.
type fitQueue struct {
	tok   tokenizer.Tokenizer                     // nil: ids are sent as they are
	begin func() (ids []int, target int, ok bool) // the next prompt as it is to be tried first; it must not draw
	draw  func() int                              // an id for a prompt that is short

	window []*tokenFit // advanced, not handed on yet
}

// next is the next prompt, done; nil at the end. Once the tokenizer has failed it returns that error for good.
func (a *fitQueue) next() (*tokenFit, error) {
	if len(a.window) == 0 {
		a.fill()
	}
	if len(a.window) == 0 {
		return nil, nil
	}
	f := a.window[0]
	f.settle(a.tok, a.draw)
	if f.err != nil {
		return nil, f.err
	}
	a.window[0] = nil // the caller owns a prompt that is handed on
	a.window = a.window[1:]
	return f, nil
}

// Bounds on a window: a few prompts for each call in flight even out their lengths, but more than two only while
// the first prompt does not take seconds, and ids of 8 bytes must fit memory.
const (
	windowPrompts = 8
	windowMost    = 128
	windowIDs     = 4 << 20
)

// fill begins a window of prompts and lets them advance.
func (a *fitQueue) fill() {
	workers := callsAtOnce(a.tok)
	most := min(windowPrompts*workers, max(windowMost, 2*workers))
	for ids := 0; len(a.window) < most && ids < windowIDs; {
		first, target, ok := a.begin()
		if !ok {
			break
		}
		a.window = append(a.window, &tokenFit{ids: first, target: target, retries: fitRetries})
		ids += target
	}
	parallel.Do(workers, len(a.window), func(i int) bool {
		a.window[i].advance(a.tok)
		return a.window[i].err == nil
	})
}

// maxCalls is how many calls may be in flight: enough to hide a server's response time, little enough to leave it
// alone.
const maxCalls = 64

// callsAtOnce is how many calls of tok make sense at a time: as many as there are processors, unless it says otherwise,
// as one does that waits for a server.
func callsAtOnce(tok tokenizer.Tokenizer) int {
	if tok == nil {
		return 1
	}
	if n := tok.Concurrency(); n > 0 {
		return min(n, maxCalls)
	}
	return runtime.GOMAXPROCS(0)
}

// atOnce is how many prompts are worked on at the same time, where the work may be to wait for a server.
const atOnce = 16

// guesses draws the ids of texts and fits these to their lengths, many at once. A text draws its ids only after
// the one before has drawn its missing ids, so the ids of a window are drawn on the guess that none of its texts will
// be short. After the first short text the guess was wrong, and a new window begins:
//
//	draw a b c d e ──▶ fit all, in parallel ──▶ a, b done; c short: draws ──▶ draw d e f g h ──▶ …
type guesses struct {
	tok   tokenizer.Tokenizer // nil: ids stay as they are
	vocab Vocabulary
	gen   *numpy.Legacy
}

// guess is a text with the generator as it stands behind the draw of its ids.
type guess struct {
	tokenFit
	after numpy.Legacy
}

// fitAll returns the ids of texts of these lengths. They are, like the generator, those of fitting one after another.
func (g *guesses) fitAll(lengths []int) ([][]int, error) {
	all := make([][]int, 0, len(lengths))
	workers := callsAtOnce(g.tok)
	for size := workers; len(all) < len(lengths); {
		window := g.window(lengths[len(all):], size)
		parallel.Do(workers, len(window), func(i int) bool {
			window[i].advance(g.tok)
			return window[i].err == nil
		})
		right, err := g.take(window, &all)
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", len(all), err)
		}
		// A tokenizer that loses much makes most guesses wrong; then few are made.
		if size = right; right == len(window) {
			size = min(2*right, windowPrompts*workers)
		}
	}
	return all, nil
}

// window draws the ids of the next texts, at most size of them, and leaves the generator alone.
func (g *guesses) window(lengths []int, size int) []*guess {
	var window []*guess
	gen := *g.gen
	for ids := 0; len(window) < min(size, len(lengths)) && ids < windowIDs; {
		f := tokenFit{ids: make([]int, lengths[len(window)]), target: lengths[len(window)], retries: fitRetries}
		for i := range f.ids {
			f.ids[i] = g.id(&gen)
		}
		ids += f.target
		window = append(window, &guess{f, gen})
	}
	return window
}

// take appends the texts up to the first one that was short, that one included, and says how many these are.
func (g *guesses) take(window []*guess, all *[][]int) (n int, err error) {
	for _, guess := range window {
		short := !guess.done
		*g.gen = guess.after
		guess.settle(g.tok, func() int { return g.id(g.gen) })
		if guess.err != nil {
			return n, guess.err
		}
		*all = append(*all, guess.ids)
		if n++; short {
			break
		}
	}
	return n, nil
}

func (g *guesses) id(gen *numpy.Legacy) int {
	return g.vocab.First + int(gen.Randint(0, int64(g.vocab.Size)))
}

// alignInFlight is how many prompts Align has with the server at once, as many as vLLM's client.
const alignInFlight = 64

// Aligner is a server that turns text into ids, without special tokens, and back. *tokenizer.Server is one.
type Aligner interface {
	EncodeContext(ctx context.Context, text string) ([]int, error)
	DecodeContext(ctx context.Context, ids []int) (string, error)
}

// Alignment counts prompts that were compared with a server's tokenizer, by result.
type Alignment struct {
	Prompts int // text prompts that were compared: 0 or 1 when the first one settled it
	Cut     int // had more tokens than wanted, and lost the rest
	Short   int // had fewer; they stay as they are
	Failed  int // could not be compared or cut; they stay as they are
	// Failure is why the first of those failed; nil if none did.
	Failure error
}

// Align cuts text prompts to the tokens that the server counts, where it counts more than the data set asked for.
// vLLM's client does so for prompts made of tokens (random and prefix_repetition) when its tokenizer is not quite the
// server's. The first prompt decides: if the server counts it as asked for, or cannot count, all stay as they are.
//
// It replaces the turns it changes in conversations, never turns that others share, and leaves InputTokens alone.
// Warnings for the user go to warn, a line each, from the calling goroutine. The only error is ctx's; prompts that were
// cut until then stay cut.
func Align(ctx context.Context, conversations []Conversation, server Aligner, warn func(string)) (Alignment, error) {
	if len(conversations) == 0 || !alignable(conversations[0]) {
		return Alignment{}, nil
	}
	first := conversations[0].Turns[0]
	ids, err := server.EncodeContext(ctx, first.Text)
	switch {
	case ctx.Err() != nil:
		return Alignment{}, ctx.Err()
	case err != nil:
		warn(fmt.Sprintf("prompts are not aligned with the server's tokenizer, which cannot be asked: %v", err))
		return Alignment{Failed: 1, Failure: err}, nil
	case len(ids) == first.InputTokens:
		return Alignment{Prompts: 1}, nil
	}
	a := alignAll(ctx, conversations, server)
	if err := ctx.Err(); err != nil {
		return a, err
	}
	warn(fmt.Sprintf("the server's tokenizer is another (%d tokens for the first prompt instead of %d): aligned %d "+
		"prompts, %d cut, %d shorter than wanted and left",
		len(ids), first.InputTokens, a.Prompts, a.Cut, a.Short))
	if a.Failed > 0 {
		warn(fmt.Sprintf("%d of %d prompts could not be aligned with the server's tokenizer and stay as they are: %v",
			a.Failed, a.Prompts, a.Failure))
	}
	return a, nil
}

// alignable reports whether c is one text prompt. Ids need no tokenizer, and lists of messages are counted otherwise.
func alignable(c Conversation) bool {
	if len(c.Turns) != 1 {
		return false
	}
	turn := c.Turns[0]
	return turn.TokenIDs == nil && turn.Batch == nil && turn.Messages == nil
}

func alignAll(ctx context.Context, conversations []Conversation, server Aligner) Alignment {
	results := make([]Alignment, len(conversations))
	parallel.Do(alignInFlight, len(conversations), func(i int) bool {
		if ctx.Err() == nil && alignable(conversations[i]) {
			results[i] = alignOne(ctx, &conversations[i], server)
		}
		// A server that lets one question time out would do so with the rest.
		late, ok := errors.AsType[net.Error](results[i].Failure)
		return ctx.Err() == nil && !(ok && late.Timeout())
	})
	var all Alignment
	for _, a := range results {
		all.Prompts += a.Prompts
		all.Cut += a.Cut
		all.Short += a.Short
		all.Failed += a.Failed
		all.Failure = cmp.Or(all.Failure, a.Failure)
	}
	return all
}

// alignOne cuts the prompt of c if it is too long, and counts that one prompt.
func alignOne(ctx context.Context, c *Conversation, server Aligner) Alignment {
	turn := c.Turns[0]
	ids, err := server.EncodeContext(ctx, turn.Text)
	switch {
	case err != nil:
		return Alignment{Prompts: 1, Failed: 1, Failure: err}
	case len(ids) == turn.InputTokens:
		return Alignment{Prompts: 1}
	case len(ids) < turn.InputTokens:
		return Alignment{Prompts: 1, Short: 1}
	}
	text, err := server.DecodeContext(ctx, ids[:max(0, turn.InputTokens)])
	if err != nil {
		return Alignment{Prompts: 1, Failed: 1, Failure: err}
	}
	c.Turns = slices.Clone(c.Turns) // others may share them
	c.Turns[0].Text = text
	return Alignment{Prompts: 1, Cut: 1}
}
