package datasets

import (
	"fmt"
	"runtime"

	"benchtop/datasets/numpy"
	"benchtop/datasets/parallel"
	"benchtop/datasets/tokenizer"
)

// fitRetries is how often a fitting corrects its prompt before it takes the result as it is.
const fitRetries = 10

// fitting turns ids into a text that a server will count as target tokens. Decoding and encoding need not give the ids
// back, so it does both, cuts or extends the result, and tries again:
//
//	ids ── decode ──▶ text ── encode ──▶ ids ── as many as wanted? ──▶ done
//	 ▲                                    │ no
//	 └──── cut, or append random ids ◀────┘
//
// Cutting needs no other prompt; ids to append come from a generator that prompts share, so a short prompt waits for its turn.
type fitting struct {
	ids     []int
	target  int // tokens wanted
	retries int // that are left

	text string
	miss int // tokens above the target, or below it; other than 0 only if the retries ran out
	done bool
	err  error // of the tokenizer; it is done then too
}

// advance goes on until the prompt is done or short of ids. Without a tokenizer ids are sent as they are.
func (f *fitting) advance(tok tokenizer.Tokenizer) {
	if tok == nil {
		f.done = true
	}
	for !f.done && f.round(tok) {
	}
}

// round decodes and encodes once, and reports whether there is something left to try without further ids.
func (f *fitting) round(tok tokenizer.Tokenizer) bool {
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

// settle brings a prompt that has advanced to its end. draw gives the ids to append, special ones among them, as vLLM has
// it. It draws nothing for a prompt that is done.
func (f *fitting) settle(tok tokenizer.Tokenizer, draw func() int) {
	for !f.done {
		for len(f.ids) < f.target {
			f.ids = append(f.ids, draw())
		}
		f.advance(tok)
	}
}

// fit advances and settles a prompt at once.
func fit(tok tokenizer.Tokenizer, ids []int, target int, draw func() int) *fitting {
	f := &fitting{ids: ids, target: target, retries: fitRetries}
	f.advance(tok)
	f.settle(tok, draw)
	return f
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

// ahead fits prompts to their lengths, many at once, and hands them on one by one. The result is that of fitting one
// after another, to the draw:
//
//	begin ──▶ a window of prompts ── each advances, in parallel ──▶ next: short prompts draw, in order
//
// Decoding and encoding take the time, and few prompts come out short, so little remains to be done in order. Nothing runs
// between calls.
type ahead struct {
	tok   tokenizer.Tokenizer                     // nil: ids are sent as they are
	begin func() (ids []int, target int, ok bool) // the next prompt as it is to be tried first; it must not draw
	draw  func() int                              // an id for a prompt that is short

	window []*fitting // advanced, not handed on yet
}

// next is the next prompt, done; nil at the end. Once the tokenizer has failed it returns that error for good.
func (a *ahead) next() (*fitting, error) {
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
func (a *ahead) fill() {
	workers := callsAtOnce(a.tok)
	most := min(windowPrompts*workers, max(windowMost, 2*workers))
	for ids := 0; len(a.window) < most && ids < windowIDs; {
		first, target, ok := a.begin()
		if !ok {
			break
		}
		a.window = append(a.window, &fitting{ids: first, target: target, retries: fitRetries})
		ids += target
	}
	parallel.Do(workers, len(a.window), func(i int) bool {
		a.window[i].advance(a.tok)
		return a.window[i].err == nil
	})
}

// maxCalls is how many calls may be in flight: enough to hide a server's response time, little enough to leave it alone.
const maxCalls = 64

// callsAtOnce is how many calls of tok make sense at a time: as many as there are processors, unless it says otherwise, as
// one does that waits for a server.
func callsAtOnce(tok tokenizer.Tokenizer) int {
	if tok == nil {
		return 1
	}
	if tok, ok := tok.(interface{ Concurrency() int }); ok {
		return min(max(1, tok.Concurrency()), maxCalls)
	}
	return runtime.GOMAXPROCS(0)
}

// atOnce is how many prompts are worked on at the same time, where the work may be to wait for a server.
const atOnce = 16

// guesses draws the ids of texts and fits these to their lengths, many at once. A text draws its ids only after
// the one before has drawn its missing ids, so the ids of a window are drawn on the guess that none of its texts will be
// short. After the first short text the guess was wrong, and a new window begins:
//
//	draw a b c d e ──▶ fit all, in parallel ──▶ a, b done; c short: draws ──▶ draw d e f g h ──▶ …
type guesses struct {
	tok   tokenizer.Tokenizer // nil: ids stay as they are
	vocab Vocabulary
	gen   *numpy.Legacy
}

// guess is a text with the generator as it stands behind the draw of its ids.
type guess struct {
	fitting
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
		f := fitting{ids: make([]int, lengths[len(window)]), target: lengths[len(window)], retries: fitRetries}
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
