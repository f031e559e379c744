package screen

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
)

func FuzzForeignText(f *testing.F) {
	f.Add("Qwen/Qwen3-32B", 10)
	f.Add("\x1b]0;never ends a\u009b31mb\u009d0;t\u009cc \u202eevil\u202c \u2028sep\ufeff e\u0301\u0301\u200d\u0301",
		40)
	f.Add("\x1b[2J漢字🤖\u202e\xff", 3)
	f.Add("👩🏽‍🚀🇩🇪e\u0301\u1100\u1161", 2)
	f.Fuzz(func(t *testing.T, s string, w int) {
		clean := Sanitize(s)
		hidden := func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }
		if !utf8.ValidString(clean) || Sanitize(clean) != clean || strings.ContainsFunc(clean, hidden) ||
			clean != strings.Join(strings.Fields(clean), " ") {
			t.Fatalf("sanitize(%q) = %q is not clean", s, clean)
		}
		w = max(1, w&127)
		if got := Width(Shorten(clean, w)); got > w {
			t.Fatalf("shorten(%q, %d) is %d wide", clean, w, got)
		}
		if got := Width(ShortenMiddle(clean, w)); got > w {
			t.Fatalf("shortenMiddle(%q, %d) is %d wide", clean, w, got)
		}
		for _, l := range Wrap(clean, w, 8) {
			if w > 1 && Width(l) > w {
				t.Fatalf("wrap(%q, %d) has a line %d wide", clean, w, Width(l))
			}
		}
		sf := NewSurface(w, 2)
		sf.All().Print(0, 0, clean, Text)
		sf.All().Print(w/2, 1, clean, Strong)
		sf.All().Set(w/2, 0, '│', Line)
		for _, ascii := range []bool{false, true} {
			sf.Terminal.ASCII = ascii
			for i, l := range strings.Split(sf.Render(NewPalette(termenv.TrueColor)), "\n") {
				foreign := strings.ContainsFunc(l, func(r rune) bool { return r > 0x7e })
				if got := ansi.StringWidth(l); got != w || ascii && foreign {
					t.Fatalf("%q: line %d is %d columns wide, not %d, or not ASCII: %q", clean, i+1, got, w, l)
				}
			}
		}
	})
}

func TestStyles(t *testing.T) {
	sf := NewSurface(8, 1)
	c := sf.All()
	c.Print(0, 0, "ab", Style{Fg: Output})
	c.Print(2, 0, "cd", Style{Fg: Running, Bold: true})
	c.Print(5, 0, "e", Style{Fg: Running})
	got := sf.Render(NewPalette(termenv.ANSI256))
	if want := "\x1b[38;5;75mab\x1b[1;38;5;43mcd \x1b[0;38;5;43me  \x1b[m"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	assert.Equal(t, sf.Render(NewPalette(termenv.Ascii)), "abcd e  ", "without colour")
}

func TestWideGlyphsAreNeverHalved(t *testing.T) {
	for _, c := range []struct {
		x    int
		want string
	}{{0, "x 字 "}, {1, " x字 "}, {2, "漢x  "}, {3, "漢 x "}} {
		sf := NewSurface(5, 1)
		sf.All().Print(0, 0, "漢字", Text)
		sf.All().Set(c.x, 0, 'x', Text)
		assert.Equal(t, sf.Render(&Palette{Mono: true}), c.want, "x at %d", c.x)
	}
	sf := NewSurface(4, 1)
	sf.All().Print(0, 0, "a漢字漢", Text)
	assert.Equal(t, sf.Render(&Palette{Mono: true}), "a漢…", "cut to 4")
}

func TestBorderAndSafely(t *testing.T) {
	s := NewSurface(16, 3)
	s.All().Border(true, false, false)
	s.All().Sub(1, 1, 15, 1).Safely(func(c Canvas) { panic("no") })
	if got, want := s.Render(NewPalette(termenv.Ascii)), "╭──────────────╮\n│ display error \n╰──────────────╯"; got !=
		want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What was drawn loses its colours, but for borders. An area stays one.
func TestGrey(t *testing.T) {
	sf := NewSurface(9, 1)
	c := sf.All()
	c.Right(9, 0, "│", Line)
	c.Spans(0, 0,
		[]Span{Success.Span("ok"), {" 2 ", Style{Fg: Output, Bg: Input}}, {"⠒", Style{Fg: P50, Bg: Shade(Output)}},
			{"▂", Style{Fg: Shade(Output)}}})
	c.Grey()
	want := "\x1b[38;5;245mok\x1b[38;5;75;48;5;245m 2 \x1b[38;5;245;48;5;238m⠒\x1b[0;38;5;238m▂ \x1b[38;5;242m│\x1b[m"
	assert.Equal(t, sf.Render(NewPalette(termenv.ANSI256)), want, "Render")
}
