package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// styleOf is the style of the first cell of some words on the screen.
func styleOf(m *model, words string) (screen.Style, bool) {
	mono := &screen.Palette{Mono: true}
	for y, row := range strings.Split(m.screen.Render(mono), "\n") {
		if i := strings.Index(row, words); i >= 0 {
			return m.screen.All().At(screen.Width(row[:i]), y).Style, true
		}
	}
	return screen.Style{}, false
}

// TestClientColours: calm, yellow, red, on every size with its own words.
func TestClientColours(t *testing.T) {
	for _, size := range sizes {
		w, h := size[0], size[1]
		small := w < 40 || h < 10
		for _, c := range []struct {
			name          string
			whole, recent []string
			words         string
			want          screen.Style
			shown         bool
		}{
			{"ok", nil, nil, "client ok", screen.Label, w >= 80},
			{"strained", nil, tuitest.Late, "client under pressure", screen.Caution, !small},
			{"limited", tuitest.Late, nil, "client OVERLOADED", screen.Warning, !small},
			{"limited and tiny", tuitest.Late, nil, "! client", screen.Warning, small},
		} {
			m := open(tuitest.Sampled(tuitest.Mid(), c.whole, c.recent), w, h, termenv.TrueColor)
			m.View()
			got, shown := styleOf(m, c.words)
			if shown != c.shown {
				t.Errorf("%s at %dx%d: %q shown %v, want %v:\n%s", c.name, w, h, c.words, shown, c.shown,
					m.screen.Render(&screen.Palette{Mono: true}))
				continue
			}
			if _, value, _ := strings.Cut(c.words, " "); shown && w == 40 {
				got, _ = styleOf(m, value) // a figure's name is a label
			}
			if shown && got != c.want {
				t.Errorf("%s at %dx%d: style %+v, want %+v", c.name, w, h, got, c.want)
			}
		}
	}
}

// headOf is the header's two lines alone.
func headOf(m *model, w int) []string {
	sf := screen.NewSurface(w, 2)
	m.header().Draw(sf.All())
	return strings.Split(sf.Render(m.palette), "\n")
}

// TestClientMakesRoom: more important parts stay in every state of the client, and bad news is always there.
func TestClientMakesRoom(t *testing.T) {
	judged := tuitest.Judge(tuitest.Bad())
	for _, why := range [][]string{tuitest.Late, tuitest.Together, {strings.Repeat("x", 300)}, {""}} {
		for _, failed := range []bool{false, true} {
			for _, limited := range []bool{false, true} {
				s := tuitest.Sampled(judged, why, nil)
				if !limited {
					s = tuitest.Sampled(judged, nil, why)
				}
				if failed {
					s.SaveError = "no space left on device"
				}
				m := open(s, 80, 24, termenv.Ascii)
				for w := 80; w <= 240; w++ {
					head := headOf(m, w)
					first, second := head[0], head[1]
					want := []string{":8000", "stage 5/5",
						map[bool]string{false: "client under pressure", true: "client"}[limited]}
					if failed {
						want = append(want, "! NOT SAVING: no space left on")
					}
					for _, part := range want {
						if !strings.Contains(second, part) {
							t.Fatalf("%d columns: no %q in %q", w, part, second)
						}
					}
					if limited && !strings.Contains(second, "client OVERLOADED") &&
						!strings.Contains(second, "! client") {
						t.Fatalf("%d columns: no bad news in %q", w, second)
					}
					for _, part := range []string{"[1 Overview]", "6 Log", "RUN 01:02/02:00 -00:58"} {
						if !strings.Contains(first, part) {
							t.Fatalf("%d columns: no %q in %q", w, part, first)
						}
					}
				}
			}
		}
	}
}

// TestClientComesQuietly: nothing moves when the first sample comes.
func TestClientComesQuietly(t *testing.T) {
	after := tuitest.Mid()
	before := after
	before.Client = nil
	one, two := open(before, 80, 24, termenv.Ascii), open(after, 80, 24, termenv.Ascii)
	for w := 80; w <= 240; w++ {
		a := headOf(one, w)[1]
		b := headOf(two, w)[1]
		if strings.Contains(a, "client") {
			t.Fatalf("%d columns: a verdict without a sample: %q", w, a)
		}
		if c := strings.Replace(b, "client ok", strings.Repeat(" ", 9), 1); a != c {
			t.Fatalf("%d columns, before and after:\n%s\n%s", w, a, b)
		}
	}
}
