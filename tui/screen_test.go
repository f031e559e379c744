package tui

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/metrics"
)

var sizes = [][2]int{{20, 5}, {40, 10}, {80, 24}, {120, 40}, {200, 50}}

// states are the screens worth reading.
var states = []struct {
	name string
	open func(w, h int) *model
}{
	{"empty", func(w, h int) *model {
		return open(metrics.NewRecorder(time.Now(), rampPlan()).Snapshot(), w, h, termenv.Ascii)
	}},
	{"young", func(w, h int) *model { return open(young(), w, h, termenv.Ascii) }},
	{"mid", func(w, h int) *model { return open(mid(), w, h, termenv.Ascii) }},
	{"frozen", func(w, h int) *model {
		m := open(mid(), w, h, termenv.Ascii)
		press(m, " ")
		later := mid()
		later.At += 12 * time.Second
		m.Update(snapshotMsg{later})
		m.Update(tickMsg{})
		return m
	}},
	{"help", func(w, h int) *model {
		m := open(mid(), w, h, termenv.Ascii)
		press(m, "?")
		return m
	}},
	{"focus", func(w, h int) *model {
		m := open(mid(), w, h, termenv.Ascii)
		press(m, "l", "l", "]")
		return m
	}},
	{"zoom", func(w, h int) *model {
		m := open(mid(), w, h, termenv.Ascii)
		press(m, "l", "j", "z", "w")
		return m
	}},
	{"draining", func(w, h int) *model {
		s := bad()
		s.State, s.DrainBy = metrics.Draining, s.At+18*time.Second
		m := open(s, w, h, termenv.Ascii)
		press(m, "q")
		return m
	}},
	{"aborting", func(w, h int) *model {
		m := open(bad(), w, h, termenv.Ascii)
		press(m, "q", "q")
		return m
	}},
	{"done", func(w, h int) *model { return open(done(), w, h, termenv.Ascii) }},
	{"errors", func(w, h int) *model {
		s := bad()
		s.SaveError = "no space left on device"
		return open(s, w, h, termenv.Ascii)
	}},
	{"log", func(w, h int) *model {
		m := open(bad(), w, h, termenv.Ascii)
		press(m, "2", "k", "k")
		return m
	}},
}

func TestScreens(t *testing.T) {
	for _, st := range states {
		for _, size := range sizes {
			name := fmt.Sprintf("%s_%dx%d.txt", st.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := st.open(size[0], size[1])
				if st.name == "empty" {
					s := exactly(*m.latest, 100*time.Millisecond)
					m.Update(snapshotMsg{s})
					m.show()
				}
				got := m.View()
				exact(t, got, size[0], size[1], st.name)
				golden(t, "screens/"+name, got+"\n")
			})
		}
	}
}

func TestColours(t *testing.T) {
	for name, p := range map[string]termenv.Profile{"truecolor": termenv.TrueColor, "256": termenv.ANSI256, "16": termenv.ANSI} {
		m := open(bad(), 80, 24, p)
		got := m.View()
		exact(t, got, 80, 24, name)
		golden(t, "colours/"+name+"_80x24.txt", strings.ReplaceAll(got, "\x1b", "␛")+"\n")
	}
}

func TestASCII(t *testing.T) {
	m := open(bad(), 80, 24, termenv.Ascii)
	m.ascii = true
	got := m.View()
	exact(t, got, 80, 24, "ascii")
	for _, r := range got {
		if r > 0x7e {
			t.Fatalf("%q is not ASCII in:\n%s", r, got)
		}
	}
	golden(t, "screens/ascii_80x24.txt", got+"\n")
}

// TestEverySize draws every state at many sizes, growing and shrinking one model as a window does under the mouse.
func TestEverySize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, st := range states {
		m := st.open(80, 24)
		for range 40 {
			w, h := 1+rnd.IntN(250), 1+rnd.IntN(80)
			m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			exact(t, m.View(), w, h, st.name)
		}
		for _, size := range [][2]int{{0, 0}, {1, 1}, {0, 5}, {5, 0}, {1, 80}, {250, 1}, {2, 2}, {39, 10}, {40, 9}, {40, 10}, {-1, -1}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			exact(t, m.View(), max(0, size[0]), max(0, size[1]), st.name)
		}
	}
}

// TestPanelsAtEverySize draws each panel alone, small sizes one by one.
func TestPanelsAtEverySize(t *testing.T) {
	s := done()
	for _, name := range []string{"tokens", "load", "ttft over time", "ttft", "itl", "latency", "errors", "log", "events"} {
		p, ok := panelNamed(name)
		if !ok {
			t.Fatalf("no panel %q", name)
		}
		for w := range 30 {
			for h := range 12 {
				got := p.View(&s, w, h)
				exact(t, got, w, h, name)
				if strings.Contains(got, "chart error") {
					t.Fatalf("%s at %dx%d:\n%s", name, w, h, got)
				}
			}
		}
	}
}

func TestPanelThatPanics(t *testing.T) {
	p := panel{"broken", func(*view, int, int) []span { return []span{{"broken", strong}} }, func(canvas, *view) { panic("no") }}
	if got := p.View(&metrics.Snapshot{}, 30, 5); !strings.Contains(got, "chart error") {
		t.Errorf("got:\n%s", got)
	}
}

// monstrous is a snapshot with everything a chart could choke on.
func monstrous() metrics.Snapshot {
	s := mid()
	s.Plan = &metrics.Plan{
		BaseURL: "http://\x1b[31mevil\x07\u202e/", ModelID: strings.Repeat("模型🤖", 40), Load: "\x00\xff\xfe", Dataset: "👨‍👩‍👧‍👦 e\u0301\u0301\u0301\u0301",
		Rate: metrics.Rate(math.NaN()), Duration: -5, Requests: math.MinInt,
	}
	s.At = 70 * time.Second
	s.Windows = append([]metrics.Window(nil), s.Windows...)
	for i := range s.Windows {
		w := &s.Windows[i]
		switch i % 4 {
		case 0:
			w.OutputTokens, w.InputTokens, w.Held = math.MaxInt, math.MinInt, math.MaxInt
		case 1:
			w.Running, w.Waiting, w.Done = math.MinInt, -1, math.MaxInt
		}
		var h metrics.Histogram
		h.Add(0)
		h.Add(math.MaxInt64)
		w.TTFT, w.ITL = h, h
		s.TTFT, s.ITL, s.TPOT, s.E2EL = h, h, h, h
	}
	s.Totals = metrics.Totals{Done: math.MaxInt, Failed: math.MinInt, Cancelled: -3}
	s.Failures = []metrics.FailureCount{
		{Kind: "\x1b]0;x\x07", Status: -1, Count: math.MaxInt, Last: -time.Hour, Examples: []string{"\x9b31m\u2028\u202e漢字漢字漢字", ""}},
		{Kind: metrics.FailedStatus, Count: math.MinInt},
	}
	s.Log = []metrics.Event{{At: math.MinInt64, Level: "?", Text: strings.Repeat("漢", 2000), Count: math.MaxInt}, {At: math.MaxInt64, Text: "\n\r\t\x1b[2J"}}
	s.SaveError = strings.Repeat("🚫", 300)
	s.Report = &metrics.Report{TTFT: metrics.Statistic{N: 1, Mean: math.NaN(), Median: math.Inf(1), Max: 1e300}, OutputThroughput: math.Inf(1), RequestThroughput: math.NaN()}
	return s
}

func TestMonstrousValues(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, keys := range [][]string{nil, {"w"}, {"g"}, {"w", "g"}, {"]", "]", "]", "]", "]"}, {"2"}, {"l", "z"}, {"l", "l", "z"}, {"j", "j", "z"}} {
		for _, p := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
			m := open(monstrous(), 120, 40, p)
			press(m, keys...)
			for range 12 {
				w, h := 1+rnd.IntN(250), 1+rnd.IntN(80)
				m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				got := m.View()
				exact(t, got, w, h, fmt.Sprint(keys))
				if p == termenv.Ascii {
					for _, r := range got {
						if r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u202e') {
							t.Fatalf("control character %q on screen", r)
						}
					}
				}
				if strings.Contains(got, "chart error") || strings.Contains(got, "display error") {
					t.Fatalf("panic behind:\n%s", got)
				}
			}
		}
	}
}

func TestForeignNamesAtTheEdge(t *testing.T) {
	for _, name := range []string{"通义千问三", "🤖🤖🤖", "a漢b漢c漢", "👩🏽‍🚀 model", "e\u0301e\u0301e\u0301", "🇩🇪🇫🇷🇯🇵", "한국어모델", "عربي", "❤️❤️"} {
		s := mid()
		plan := *s.Plan
		plan.ModelID, plan.Load, plan.Dataset = strings.Repeat(name, 5), name, name
		s.Plan = &plan
		s.Failures = []metrics.FailureCount{{Kind: metrics.FailedInStream, Count: 3, Examples: []string{strings.Repeat(name, 20)}}}
		s.Log = []metrics.Event{{Text: strings.Repeat(name, 40)}}
		m := open(s, 80, 24, termenv.Ascii)
		for w := 40; w < 180; w += 3 {
			m.Update(tea.WindowSizeMsg{Width: w, Height: 36})
			exact(t, m.View(), w, 36, name)
		}
		press(m, "2")
		for w := 40; w < 80; w++ {
			m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
			exact(t, m.View(), w, 24, name)
		}
	}
}

// FuzzKeys types anything at any size.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("lljjz[]wg?q"), uint8(120), uint8(40), uint8(0))
	f.Add([]byte("2kkkkgGjj1\t"), uint8(40), uint8(10), uint8(1))
	f.Add([]byte("  zqqq"), uint8(3), uint8(3), uint8(2))
	names := []string{"tab", "shift+tab", "enter", "esc", "up", "down", "left", "right", "pgup", "pgdown", "ctrl+c", "ctrl+l", "home", "end"}
	f.Fuzz(func(t *testing.T, keys []byte, w, h, which uint8) {
		s := []func() metrics.Snapshot{mid, done, bad, monstrous}[which%4]()
		m := open(s, int(w), int(h), termenv.TrueColor)
		for i, b := range keys[:min(len(keys), 64)] {
			switch {
			case int(b) < len(names):
				press(m, names[b])
			case b >= 0xf0:
				m.Update(tea.WindowSizeMsg{Width: int(b) * int(w) % 251, Height: i * int(h) % 81})
			case b >= 0xe0:
				m.Update(tickMsg{})
			default:
				press(m, string(rune(b)))
			}
			if i%8 == 0 {
				exact(t, m.View(), m.w, m.h, "fuzz")
			}
		}
		exact(t, m.View(), m.w, m.h, "fuzz")
	})
}

func benchmark(b *testing.B, w, h int) {
	m := open(bad(), w, h, termenv.TrueColor)
	b.ReportAllocs()
	for b.Loop() {
		m.picked, m.screen = nil, nil // cold: nothing merged, nothing kept
		m.show()
		if len(m.View()) == 0 {
			b.Fatal("empty")
		}
	}
}

func BenchmarkView80x24(b *testing.B)  { benchmark(b, 80, 24) }
func BenchmarkView120x40(b *testing.B) { benchmark(b, 120, 40) }
func BenchmarkView200x60(b *testing.B) { benchmark(b, 200, 60) }

// BenchmarkViewHeader is what two of three drawing ticks cost: the header alone.
func BenchmarkViewHeader(b *testing.B) {
	m := open(bad(), 120, 40, termenv.TrueColor)
	m.View()
	b.ReportAllocs()
	for b.Loop() {
		m.stale, m.only = true, true
		m.View()
	}
}
