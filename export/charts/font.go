package charts

import (
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// typeface is a font and its glyphs at one size, in 64ths of an em of 64 units. It has Latin, Greek and Cyrillic
// letters; others are boxes in a PNG, while an SVG shows them by the fonts of its reader.
type typeface struct {
	mu     sync.Mutex // guards buffer
	buffer sfnt.Buffer
	font   *sfnt.Font
}

// em is the size at which glyphs are read.
const em = 1024

func newTypeface(ttf []byte) *typeface {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic("the embedded font is broken: " + err.Error())
	}
	return &typeface{font: f}
}

var (
	regular = sync.OnceValue(func() *typeface { return newTypeface(goregular.TTF) })
	bold    = sync.OnceValue(func() *typeface { return newTypeface(gobold.TTF) })
)

func (s *shape) face() *typeface {
	if s.bold {
		return bold()
	}
	return regular()
}

// each calls visit for the glyphs of a text, with the place of each in em units, and returns the width of all. The
// segments are valid during the call.
func (t *typeface) each(text string, visit func(x float64, glyph sfnt.Segments)) (width float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range text {
		index, err := t.font.GlyphIndex(&t.buffer, r)
		if err != nil {
			continue
		}
		advance, err := t.font.GlyphAdvance(&t.buffer, index, fixed.I(em), font.HintingNone)
		if err != nil {
			continue
		}
		if visit != nil {
			if glyph, err := t.font.LoadGlyph(&t.buffer, index, fixed.I(em), nil); err == nil {
				visit(width, glyph)
			}
		}
		width += float64(advance) / 64
	}
	return width
}

// textWidth is the width of a text in points.
func textWidth(text string, size float64) float64 { return regular().each(text, nil) / em * size }

// fit cuts a text to a width in points.
func fit(text string, size, width float64) string {
	if textWidth(text, size) <= width {
		return text
	}
	room := width - textWidth("…", size)
	for i, r := range text {
		if room -= textWidth(string(r), size); room < 0 {
			return text[:i] + "…"
		}
	}
	return text
}
