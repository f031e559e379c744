package term

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// frame is a picture in cells, as a model's View describes it: lines of text with escape sequences for colours and
// bold, and no others.
type frame struct {
	w, h  int
	cells []place // line by line
	wide  []bool  // by lines: terminals may not agree about the width of some glyphs
}

// place is a cell. A text of "" is the right half of the glyph before.
type place struct {
	text string
	look look
}

// look is the style of a cell, with the numbers of its colours; "" for the terminal's own.
type look struct {
	fg, bg string
	bold   bool
}

var blank = place{text: " "}

// read makes the frame that of a view, cut to a size; 0 for no limit.
func (f *frame) read(view string, w, h int) {
	lines := strings.Split(view, "\n")
	if h > 0 && len(lines) > h {
		lines = lines[:h]
	}
	if w <= 0 {
		for _, l := range lines {
			w = max(w, ansi.StringWidth(l))
		}
	}
	f.w, f.h, f.cells, f.wide = w, len(lines), f.cells[:0], f.wide[:0]
	for y, l := range lines {
		f.wide = append(f.wide, false)
		f.readLine(l, y)
		for len(f.cells) < (y+1)*w {
			f.cells = append(f.cells, blank)
		}
		f.cells = f.cells[:(y+1)*w]
	}
}

// readLine appends the cells of a line, which may be too many.
func (f *frame) readLine(l string, y int) {
	var now look
	start := y * f.w
	for len(l) > 0 && len(f.cells)-start < f.w {
		if params, rest, ok := selectGraphic(l); ok {
			now, l = now.with(params), rest
			continue
		}
		text, width := glyph(l)
		l = l[len(text):]
		of := now
		if text == " " { // the colour of a blank cannot be seen
			of = look{bg: now.bg}
		}
		if width != 1 || len(text) > 3 {
			f.wide[y] = true
		}
		switch last := len(f.cells) - 1; {
		case width == 2 && len(f.cells)-start == f.w-1:
			f.cells = append(f.cells, blank)
			return
		case width > 0:
			f.cells = append(f.cells, place{text, of})
		case last >= start:
			f.cells[last].text += text
		}
		if width == 2 {
			f.cells = append(f.cells, place{"", of})
		}
	}
}

// glyph is the first glyph of a text and its width.
func glyph(l string) (text string, width int) {
	switch {
	case l[0] < 0x80:
		return l[:1], 1
	case len(l) >= 3 && l[0] == 0xe2 && l[1] >= 0x94 && l[1] < 0xa4: // lines, blocks and dots, as in charts
		return l[:3], 1
	}
	return ansi.FirstGraphemeCluster(l, ansi.GraphemeWidth)
}

// selectGraphic cuts an escape sequence for a style from the beginning of a text.
func selectGraphic(l string) (params, rest string, ok bool) {
	if !strings.HasPrefix(l, "\x1b[") {
		return "", l, false
	}
	return strings.Cut(l[2:], "m")
}

// with is the look after an escape sequence.
func (k look) with(params string) look {
	for rest := params; ; {
		var one string
		one, rest, _ = strings.Cut(rest, ";")
		switch {
		case one == "" || one == "0":
			k = look{}
		case one == "1":
			k.bold = true
		case one == "38" || one == "48":
			n := colourLength(rest)
			if one += ";" + rest[:n]; one[0] == '3' {
				k.fg = one
			} else {
				k.bg = one
			}
			rest = strings.TrimPrefix(rest[n:], ";")
		case one[0] == '3' || one[0] == '9':
			k.fg = one
		case one[0] == '4' || one[0] == '1':
			k.bg = one
		}
		if rest == "" {
			return k
		}
	}
}

// colourLength is the length of the numbers behind 38 or 48: 5;n or 2;r;g;b.
func colourLength(rest string) int {
	parts := 2
	if strings.HasPrefix(rest, "2") {
		parts = 4
	}
	for i := range rest {
		if rest[i] == ';' {
			if parts--; parts == 0 {
				return i
			}
		}
	}
	return len(rest)
}

// painter writes the difference between two frames.
type painter struct {
	out  []byte
	x, y int // of the cursor; -1 for unknown
	now  look
}

// rewritten is how many unchanged cells are written again rather than skipped, where that takes no more bytes.
const rewritten = 3

// paint returns what turns a screen that shows one frame into another; old is nil where the screen shows anything.
func paint(out []byte, old, f *frame) []byte {
	p := painter{out: out, x: -1, y: -1}
	if old != nil && (old.w != f.w || old.h != f.h) {
		old = nil
	}
	if old == nil {
		p.out = append(p.out, "\x1b[m"...)
	}
	for y := range f.h {
		var before []place
		if old != nil {
			before = old.cells[y*f.w : (y+1)*f.w]
		}
		p.line(y, before, f.cells[y*f.w:(y+1)*f.w], f.wide[y] || old != nil && old.wide[y])
	}
	p.style(look{})
	if old == nil { // the screen may be larger
		p.out = append(p.out, "\x1b[J"...)
	}
	return p.out
}

// line writes what changed in a line; all of it where there are wide glyphs, so that it heals where the terminal has
// another idea of them.
func (p *painter) line(y int, before, now []place, wide bool) {
	if wide && !slices.Equal(before, now) {
		before = nil
	}
	end := len(now) // of what is not blank
	for end > 0 && now[end-1] == blank {
		end--
	}
	for x := 0; x < len(now); {
		if before != nil && before[x] == now[x] {
			x++
			continue
		}
		p.move(x, y)
		if x >= end {
			p.style(look{})
			p.out = append(p.out, "\x1b[K"...)
			return
		}
		for to := changed(x, before, now[:end]); x < to; x++ {
			p.cell(now[x])
		}
	}
}

// changed is the end of a stretch of changed cells that begins at x, with the gaps in it that are rather written again
// than skipped.
func changed(x int, before, now []place) int {
	if before == nil {
		return len(now)
	}
	end := x + 1
	for k := end; k < len(now) && k <= end+rewritten; k++ {
		switch {
		case before[k] != now[k]:
			end = k + 1
		case now[k].look != now[end-1].look:
			return end
		}
	}
	return end
}

// move puts the cursor on a cell.
func (p *painter) move(x, y int) {
	switch {
	case p.x == x && p.y == y:
		return
	case p.y == y && p.x >= 0 && p.x < x:
		p.out = append(p.out, "\x1b["...)
		if x-p.x > 1 {
			p.out = strconv.AppendInt(p.out, int64(x-p.x), 10)
		}
		p.out = append(p.out, 'C')
	default:
		p.out = append(p.out, "\x1b["...)
		p.out = strconv.AppendInt(p.out, int64(y+1), 10)
		p.out = append(p.out, ';')
		p.out = strconv.AppendInt(p.out, int64(x+1), 10)
		p.out = append(p.out, 'H')
	}
	p.x, p.y = x, y
}

// cell writes a cell at the cursor.
func (p *painter) cell(c place) {
	if c.text != " " || c.look.bg != p.now.bg {
		p.style(c.look)
	}
	p.out = append(p.out, c.text...)
	p.x++
}

// style changes the look of what is written.
func (p *painter) style(k look) {
	if k == p.now {
		return
	}
	if k == (look{}) {
		p.out = append(p.out, "\x1b[m"...)
		p.now = k
		return
	}
	now := p.now
	p.out = append(p.out, "\x1b["...)
	part := func(s string) {
		p.out = append(append(p.out, s...), ';')
	}
	if now.bold && !k.bold || now.fg != "" && k.fg == "" || now.bg != "" && k.bg == "" {
		part("0")
		now = look{}
	}
	if k.bold != now.bold {
		part("1")
	}
	if k.fg != now.fg {
		part(k.fg)
	}
	if k.bg != now.bg {
		part(k.bg)
	}
	p.out[len(p.out)-1] = 'm'
	p.now = k
}
