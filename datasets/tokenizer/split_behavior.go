package tokenizer

import "fmt"

// behavior is what becomes of the matches of a pattern.
type behavior int

const (
	isolated           behavior = iota // each match is a piece of its own
	removed                            // matches are dropped
	contiguous                         // matches without text between them are one piece
	mergedWithPrevious                 // a match ends the piece before it
	mergedWithNext                     // a match begins the piece after it
)

func readBehavior(name string) (behavior, error) {
	for b, known := range []string{"Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"} {
		if name == known {
			return behavior(b), nil
		}
	}
	return 0, fmt.Errorf("behavior %q is not known", name)
}

// finderSplitter cuts where a finder finds something.
type finderSplitter struct {
	find     finder
	behavior behavior
	invert   bool // the text between matches counts as the match, and the other way round
}

func (f *finderSplitter) split(pieces []piece) ([]piece, error) {
	c := &cutter{finderSplitter: f, out: make([]piece, 0, roomFor(pieces))}
	add := c.span
	if f.behavior == isolated { // all spans become pieces, so none need be kept
		add = c.piece
	}
	found := func(start, end int) {
		if start > c.at {
			add(c.at, start, f.invert)
		}
		add(start, end, !f.invert)
		c.at = end
	}
	for _, p := range pieces {
		c.parent, c.at, c.spans = p, 0, c.spans[:0]
		if err := f.find(p.text, found); err != nil {
			return nil, err
		}
		if c.at < len(p.text) {
			add(c.at, len(p.text), f.invert)
		}
		c.cut()
	}
	return c.out, nil
}

// roomFor guesses how many pieces words make of these.
func roomFor(pieces []piece) int {
	const bytesPerPiece = 6
	n := len(pieces)
	for _, p := range pieces {
		n += len(p.text) / bytesPerPiece
	}
	return n
}

// cutter is the state of one split.
type cutter struct {
	*finderSplitter
	out    []piece
	parent piece
	at     int        // end of the last match in the parent
	spans  []interval // of the parent, where the behaviour needs them together
}

// interval is a match or the text between two, in byte offsets of the parent.
type interval struct {
	start, end int
	match      bool
}

func (c *cutter) span(start, end int, match bool) {
	c.spans = append(c.spans, interval{start, end, match})
}

func (c *cutter) piece(start, end int, _ bool) {
	if end > start {
		c.out = append(c.out, piece{c.parent.text[start:end], c.parent.first && start == 0})
	}
}

// cut makes pieces of the spans.
func (c *cutter) cut() {
	switch c.behavior {
	case removed:
		for _, s := range c.spans {
			if !s.match {
				c.piece(s.start, s.end, false)
			}
		}
	case contiguous:
		c.joined(func(before, s interval) bool { return before.match == s.match })
	case mergedWithPrevious:
		// Of matches in a row only the first has text before it to join.
		c.joined(func(before, s interval) bool { return s.match && !before.match })
	case mergedWithNext:
		c.joined(func(before, s interval) bool { return before.match && !s.match })
	}
}

// joined makes one piece of neighbours that belong together.
func (c *cutter) joined(together func(before, s interval) bool) {
	for i := 0; i < len(c.spans); {
		start := c.spans[i].start
		for i++; i < len(c.spans) && together(c.spans[i-1], c.spans[i]); i++ {
		}
		c.piece(start, c.spans[i-1].end, false)
	}
}
