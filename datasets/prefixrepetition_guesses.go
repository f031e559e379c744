package datasets

import (
	"fmt"

	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
)

// guesses draws the ids of texts and fits these to their lengths, many at once. Here each text draws its ids only after the
// one before it has drawn what it was short of, so the ids of a window are drawn on the guess that none of its texts will be
// short. Behind the first that is, the guess was wrong, and a new window begins:
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
		inParallel(workers, len(window), func(i int) bool {
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
