package term

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// emulator is a screen that understands what a painter writes, and fails for anything else.
type emulator struct {
	t    *testing.T
	w, h int
	x, y int
	now  look
	all  []place
}

func newEmulator(t *testing.T, w, h int) *emulator {
	return &emulator{t: t, w: w, h: h, all: slices.Repeat([]place{{text: "?", look: look{fg: "31"}}}, w*h)}
}

func (e *emulator) write(b string) {
	for len(b) > 0 {
		if !strings.HasPrefix(b, "\x1b[") {
			text, width := glyph(b)
			b = b[len(text):]
			if width == 0 {
				e.all[e.y*e.w+e.x-1].text += text
				continue
			}
			if e.x+width > e.w || e.y >= e.h {
				e.t.Fatalf("%q at %d, %d of %d by %d", text, e.x, e.y, e.w, e.h)
			}
			of := e.now
			if text == " " {
				of = look{bg: of.bg}
			}
			e.all[e.y*e.w+e.x] = place{text, of}
			if width == 2 {
				e.all[e.y*e.w+e.x+1] = place{"", of}
			}
			e.x += width
			continue
		}
		end := strings.IndexAny(b, "HCKJm")
		params := b[2:end]
		switch b[end] {
		case 'H':
			if _, err := fmt.Sscanf(params, "%d;%d", &e.y, &e.x); err != nil {
				e.t.Fatalf("%q: %v", b[:end+1], err)
			}
			e.x, e.y = e.x-1, e.y-1
		case 'C':
			n, err := strconv.Atoi(params)
			if err != nil {
				n = 1
			}
			e.x += n
		case 'K', 'J':
			assert.Need(e.t, e.now.bg, "", "erased in a colour")
			for at := e.y*e.w + e.x; at < len(e.all) && (b[end] == 'J' || at < (e.y+1)*e.w); at++ {
				e.all[at] = blank
			}
		case 'm':
			e.now = e.now.with(params)
		}
		b = b[end+1:]
	}
}

// randomView is a view of lines that may be shorter than the screen, with some of the lines of another.
func randomView(r *rand.Rand, w, h int, other string) string {
	glyphs := []string{"a", "b", " ", " ", " ", "─", "⠤", "█", "漢", "e\u0301", "👩\u200d💻"}
	styles := []string{"", "", "", "\x1b[m", "\x1b[1m", "\x1b[38;5;75m", "\x1b[0;38;2;1;22;255m", "\x1b[33;48;5;17m",
		"\x1b[1;94m", "\x1b[48;2;1;2;3m"}
	lines := strings.Split(other, "\n")
	for y := range h {
		if y < len(lines) && r.IntN(2) == 0 {
			continue
		}
		var b strings.Builder
		for left := r.IntN(w + 1); left > 1; {
			g := glyphs[r.IntN(len(glyphs)-r.IntN(2)*3)]
			_, width := glyph(g)
			b.WriteString(styles[r.IntN(len(styles))] + g)
			left -= width
		}
		b.WriteString("\x1b[m")
		lines = append(lines[:min(y, len(lines))], append([]string{b.String()}, lines[min(y+1, len(lines)):]...)...)
	}
	return strings.Join(lines[:h], "\n")
}

// A screen that is painted from any frame to the next shows the next.
func TestPaint(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		w, h := 1+r.IntN(20), 1+r.IntN(4)
		screen := newEmulator(t, w, h)
		var shown *frame
		view := ""
		for range 4 {
			view = randomView(r, w, h, view)
			next := new(frame)
			next.read(view, w, h)
			out := string(paint(nil, shown, next))
			screen.write(out)
			assert.Need(t, screen.now, look{}, "%q ends in a style", out)
			if !slices.Equal(screen.all, next.cells) {
				t.Fatalf("%d by %d: %q\nwith %q shows\n%v, want\n%v", w, h, view, out, screen.all, next.cells)
			}
			if again := paint(nil, next, next); len(again) > 0 {
				t.Fatalf("the same again takes %q", again)
			}
			shown = next
		}
	}
}

// Only what changed is sent, in few bytes.
func TestPaintIsShort(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"abcdefgh", "abcdefgX", "\x1b[1;8HX"},
		{"abcdefgh", "aXcdXfgh", "\x1b[1;2HXcdX"},
		{"abcdefghijkl", "aXcdefghijXl", "\x1b[1;2HX\x1b[8CX"},
		{"abcdefgh", "abc     ", "\x1b[1;4H\x1b[K"},
		{"abc", "\x1b[31mabc\x1b[m", "\x1b[1;1H\x1b[31mabc\x1b[m"},
		{"a\nb\nc", "a\nB\nc", "\x1b[2;1HB"},
		{"漢 a", "漢 b", "\x1b[1;1H漢 b\x1b[K"}, // the terminal may not agree about the width
	} {
		var from, to frame
		from.read(c.from, 12, 0)
		to.read(c.to, 12, 0)
		assert.Equal(t, string(paint(nil, &from, &to)), c.want, "%q to %q", c.from, c.to)
	}
}

func TestFrameIsCutToTheScreen(t *testing.T) {
	var f frame
	f.read("abcdef\n漢漢漢\nx\ny", 5, 3)
	screen := newEmulator(t, 5, 3)
	screen.write(string(paint(nil, nil, &f)))
	var got strings.Builder
	for i, c := range screen.all {
		if got.WriteString(c.text); i%5 == 4 {
			got.WriteByte('\n')
		}
	}
	assert.Equal(t, got.String(), "abcde\n漢漢 \nx    \n", "screen")
}

// FuzzFrame: no view panics, and none is painted beyond the screen.
func FuzzFrame(f *testing.F) {
	f.Add("a\x1b[38;5;1mb\x1b[48;2;1;2m\n漢\u0301\x1b[", uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, view string, w, h uint8) {
		var one, two frame
		one.read(view, int(w), int(h))
		two.read(view+"x", int(w), int(h))
		paint(paint(nil, nil, &one), &one, &two)
	})
}
