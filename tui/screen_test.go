package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/internal/ci"
	"benchtop/metrics"
	liveview "benchtop/metrics/live"
	"benchtop/tui/chart"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

var sizes = [][2]int{{20, 5}, {40, 10}, {80, 24}, {120, 40}, {200, 50}}

// state is a screen worth reading.
type state struct {
	name string
	open func(w, h int) *model
}

var states = []state{
	{"empty", func(w, h int) *model {
		return open(liveview.NewView(time.Now(), tuitest.RampPlan()).Snapshot(), w, h, termenv.Ascii)
	}},
	{"young", func(w, h int) *model { return open(tuitest.Young(), w, h, termenv.Ascii) }},
	{"mid", func(w, h int) *model { return open(tuitest.Mid(), w, h, termenv.Ascii) }},
	{"frozen", func(w, h int) *model {
		m := open(tuitest.Mid(), w, h, termenv.Ascii)
		press(m, " ")
		later := tuitest.Mid()
		later.At += 12 * time.Second
		m.Update(snapshotMsg{later})
		m.Update(tickMsg{})
		return m
	}},
	{"help", func(w, h int) *model {
		m := open(tuitest.Mid(), w, h, termenv.Ascii)
		press(m, "?")
		return m
	}},
	{"focus", func(w, h int) *model {
		m := open(tuitest.Mid(), w, h, termenv.Ascii)
		press(m, "l", "l", "]")
		return m
	}},
	{"zoom", func(w, h int) *model {
		m := open(tuitest.Mid(), w, h, termenv.Ascii)
		press(m, "l", "j", "z", "w")
		return m
	}},
	{"draining", func(w, h int) *model {
		s := tuitest.Sampled(tuitest.Bad(), nil, tuitest.Late)
		s.State, s.DrainBy = metrics.Draining, s.At+18*time.Second
		m := open(s, w, h, termenv.Ascii)
		press(m, "q")
		return m
	}},
	{"aborting", func(w, h int) *model {
		m := open(tuitest.Bad(), w, h, termenv.Ascii)
		press(m, "q", "q")
		return m
	}},
	{"done", func(w, h int) *model { return open(tuitest.Done(), w, h, termenv.Ascii) }},
	{"errors", func(w, h int) *model {
		s := tuitest.Sampled(tuitest.Bad(), tuitest.Late, tuitest.Late)
		s.SaveError = "no space left on device"
		return open(s, w, h, termenv.Ascii)
	}},
	{"slo", func(w, h int) *model { return open(tuitest.Judge(tuitest.Bad()), w, h, termenv.Ascii) }},
	{"slo_warmup", func(w, h int) *model { return open(tuitest.Judge(tuitest.Young()), w, h, termenv.Ascii) }},
	{"slo_done", func(w, h int) *model { return open(tuitest.Judge(tuitest.Done()), w, h, termenv.Ascii) }},
	{"dead", func(w, h int) *model { return open(dead(), w, h, termenv.Ascii) }},
	{"search", func(w, h int) *model {
		s := tuitest.Judge(tuitest.Mid())
		s.Search = &metrics.Search{Phase: metrics.SearchNarrowing, Passed: 40, Failed: 52, Load: 45.6, Left: 3 * time.Minute,
			Tested: []metrics.TestedLoad{{Load: 31, Passed: true}, {Load: 40, Passed: true}, {Load: 52}}}
		return open(s, w, h, termenv.Ascii)
	}},
	{"slo_zoom", func(w, h int) *model {
		m := open(tuitest.Judge(tuitest.Bad()), w, h, termenv.Ascii)
		m.focus, m.zoomed = "slo", true
		m.show()
		return m
	}},
	{"slo_ascii", func(w, h int) *model {
		m := open(tuitest.Judge(tuitest.Bad()), w, h, termenv.Ascii)
		m.ASCII = true
		return m
	}},
	{"strained", func(w, h int) *model {
		return open(tuitest.Sampled(tuitest.Mid(), nil, tuitest.Late), w, h, termenv.Ascii)
	}},
	{"limited", func(w, h int) *model {
		return open(tuitest.Sampled(tuitest.Mid(), tuitest.Late, nil), w, h, termenv.Ascii)
	}},
	{"limited_slo", func(w, h int) *model {
		return open(tuitest.Sampled(tuitest.Judge(tuitest.Bad()), tuitest.Together, tuitest.Late), w, h, termenv.Ascii)
	}},
	{"limited_done", func(w, h int) *model {
		return open(tuitest.Sampled(tuitest.Done(), tuitest.Together, nil), w, h, termenv.Ascii)
	}},
	{"log", func(w, h int) *model {
		m := open(tuitest.Bad(), w, h, termenv.Ascii)
		press(m, "6", "k", "k")
		return m
	}},
	{"control", func(w, h int) *model {
		s := steered(34)
		s.Steering.Changes, s.Steering.Paused = 3, true
		m := open(s, w, h, termenv.Ascii)
		press(m, "c")
		return m
	}},
	{"ramp_prompt", func(w, h int) *model {
		m := open(steered(34), w, h, termenv.Ascii)
		press(m, "c", "R", "4", "0", " ", "i", "n", "enter")
		return m
	}},
	{"replay", func(w, h int) *model {
		s := tuitest.Mid()
		s.Replay = &metrics.Replay{Playing: true, Speed: 2, Length: 100 * time.Second}
		m := open(s, w, h, termenv.Ascii)
		m.Player = &player{}
		m.show()
		return m
	}},
	{"report", func(w, h int) *model {
		m := withReport(tuitest.Mid(), w, h)
		m.Update(snapshotMsg{tuitest.Done()})
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
					s := tuitest.Exactly(*m.latest, 100*time.Millisecond)
					m.Update(snapshotMsg{s})
					m.show()
				}
				got := m.View()
				tuitest.Exact(t, got, size[0], size[1], st.name)
				tuitest.Golden(t, "screens/"+name, got+"\n")
			})
		}
	}
}

func TestColours(t *testing.T) {
	for name, p := range map[string]termenv.Profile{"truecolor": termenv.TrueColor, "256": termenv.ANSI256, "16": termenv.ANSI} {
		m := open(tuitest.Sampled(tuitest.Bad(), tuitest.Late, nil), 80, 24, p)
		got := m.View()
		tuitest.Exact(t, got, 80, 24, name)
		tuitest.Golden(t, "colours/"+name+"_80x24.txt", strings.ReplaceAll(got, "\x1b", "␛")+"\n")
	}
}

// Foreign text on a terminal that speaks ASCII only.
func TestASCII(t *testing.T) {
	s := tuitest.Judge(tuitest.Bad())
	plan := *s.Plan
	plan.ModelID = "通义/e\u0301té🤖"
	s.Plan = &plan
	m := open(s, 80, 24, termenv.Ascii)
	m.ASCII = true
	got := m.View()
	whole(t, m, "ascii")
	if !strings.Contains(got, "127.0.0.1:8000 - ????/et??? - stages 16") {
		t.Errorf("foreign text:\n%s", got)
	}
	tuitest.Golden(t, "screens/ascii_80x24.txt", got+"\n")
}

func (m *model) mode(k int) string {
	m.palette = screen.NewPalette(screen.ColorProfile(tuitest.Modes[k].Color, func(string) string { return "" }))
	m.ASCII = tuitest.Modes[k].ASCII
	m.show()
	return tuitest.Modes[k].Name
}

// whole fails unless the screen is exactly of its size, with every panel drawn, and only of what its mode may show.
func whole(t *testing.T, m *model, what string) {
	t.Helper()
	got := m.View()
	tuitest.Exact(t, got, m.w, m.h, what)
	if strings.Contains(got, "chart error") || strings.Contains(got, "display error") {
		t.Fatalf("%s at %dx%d: panic behind\n%s", what, m.w, m.h, got)
	}
	for i := 0; i < len(got); i++ {
		switch b := got[i]; {
		case b >= 0x80 && m.ASCII, b < 0x20 && b != '\n' && b != '\x1b', b == 0x7f, b == '\x1b' && m.palette.Profile == termenv.Ascii:
			t.Fatalf("%s at %dx%d: byte %#x in\n%s", what, m.w, m.h, b, got)
		}
	}
}

// dead is a run whose server does not answer any more.
func dead() metrics.Snapshot {
	s := tuitest.Judge(tuitest.Bad())
	s.Outage = &metrics.Outage{Since: s.At - 8*time.Second, Why: "connection refused"}
	return s
}

// Figures of a server that does not answer have no colour and no weight; the log, which goes on, keeps its own, and so does the page of requests.
func TestFiguresOfADeadServerAreGrey(t *testing.T) {
	m := open(dead(), 120, 40, termenv.TrueColor)
	grey := func() (grey, other int) {
		m.View()
		for y := 4; y < 38; y++ {
			for x := range 120 {
				switch p := m.screen.All().At(x, y); {
				case p.Glyph == ' ' || p.Style == screen.Line:
				case p.Style.Fg == screen.Dimmed && !p.Style.Bold || p.Style.Bg == screen.Dimmed:
					grey++
				default:
					other++
				}
			}
		}
		return grey, other
	}
	if n, other := grey(); n == 0 || other > 0 {
		t.Errorf("%d cells are grey, %d are not", n, other)
	}
	if st, shown := styleOf(m, "server not answering for 8s: connection refused"); !shown || st.Bg != screen.Bad {
		t.Errorf("the banner is shown %v in %+v", shown, st)
	}
	if st, _ := styleOf(m, "ERROR"); st.Fg != screen.Bad {
		t.Errorf("the log is in %+v", st)
	}
	m.latest.Outage = nil
	m.show()
	if n, other := grey(); other <= n {
		t.Errorf("when it answers again: %d cells are grey, %d are not", n, other)
	}
}

// TestEverySize draws every state on every page in every mode over a grid of sizes that has the edges of all layouts.
func TestEverySize(t *testing.T) {
	ci.SkipUnderRace(t)
	all := append(states[:len(states):len(states)], state{"monstrous", func(w, h int) *model {
		return open(tuitest.Monstrous(), w, h, termenv.Ascii)
	}})
	turn := 0
	for _, st := range all {
		m := st.open(80, 24)
		for _, w := range []int{0, 1, 2, 5, 20, 39, 40, 59, 79, 80, 81, 109, 110, 120, 179, 180, 200, 250} {
			for _, h := range []int{0, 1, 2, 5, 9, 10, 14, 23, 24, 33, 34, 40, 45, 80} {
				turn++ // the next size and the next state take another of the twelve ways
				name := st.name + " in " + m.mode(turn%len(tuitest.Modes))
				m.turn(turn / len(tuitest.Modes) % len(panels.Pages))
				m.zoomed = st.name == "zoom" && m.page == 0
				m.focus = "ttft"
				m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				whole(t, m, name)
			}
		}
		m.Update(tea.WindowSizeMsg{Width: -1, Height: -1})
		tuitest.Exact(t, m.View(), 0, 0, st.name)
	}
}

// TestResizeStorm changes the size as a window under the mouse does: many times between two drawings, with ticks, snapshots
// and keys between them.
func TestResizeStorm(t *testing.T) {
	ci.SkipUnderRace(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	for k := range tuitest.Modes {
		m := open(tuitest.Judge(tuitest.Bad()), 80, 24, termenv.Ascii)
		name := m.mode(k)
		for range 60 {
			for range rnd.IntN(12) {
				switch rnd.IntN(8) {
				case 0:
					m.Update(tickMsg{})
				case 1:
					m.Update(snapshotMsg{tuitest.Judge(tuitest.Mid())})
				case 2:
					press(m, string("12zw[]gkl "[rnd.IntN(10)]))
				default:
					m.Update(tea.WindowSizeMsg{Width: rnd.IntN(251), Height: rnd.IntN(81)})
				}
			}
			whole(t, m, name)
		}
	}
}

func TestMonstrousValues(t *testing.T) {
	ci.SkipUnderRace(t)
	rnd := rand.New(rand.NewPCG(5, 6))
	for i, keys := range [][]string{
		nil, {"w"}, {"g"}, {"w", "g"}, {"]", "]", "]", "]", "]"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {",", ",", ","}, {"l", "z"}, {"l", "l", "z"}, {"j", "j", "z"},
	} {
		for k := range tuitest.Modes {
			s := tuitest.Monstrous()
			if i%2 == 1 {
				s.Report = nil // the run is on
			}
			m := open(s, 120, 40, termenv.Ascii)
			name := m.mode(k)
			press(m, keys...)
			for range 6 {
				m.Update(tea.WindowSizeMsg{Width: 1 + rnd.IntN(250), Height: 1 + rnd.IntN(80)})
				whole(t, m, fmt.Sprint(name, keys))
				if strings.ContainsFunc(m.View(), func(r rune) bool { return r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
					t.Fatalf("control character on\n%s", m.View())
				}
			}
		}
	}
}

func TestForeignNamesAtTheEdge(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, name := range []string{"通义千问三", "🤖🤖🤖", "a漢b漢c漢", "👩🏽‍🚀 model", "e\u0301e\u0301e\u0301", "🇩🇪🇫🇷🇯🇵", "한국어모델", "عربي", "❤️❤️"} {
		s := tuitest.Mid()
		plan := *s.Plan
		plan.ModelID, plan.Load, plan.Dataset = strings.Repeat(name, 5), name, name
		s.Plan = &plan
		s.Failures = []metrics.FailureCount{{Kind: metrics.FailedInStream, Count: 3, Examples: []string{strings.Repeat(name, 20)}}}
		s.Log = []metrics.LogEntry{{Text: strings.Repeat(name, 40)}}
		m := open(s, 80, 24, termenv.Ascii)
		for w := 40; w < 180; w += 3 {
			m.Update(tea.WindowSizeMsg{Width: w, Height: 36})
			tuitest.Exact(t, m.View(), w, 36, name)
		}
		press(m, "6")
		for w := 40; w < 80; w++ {
			m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
			tuitest.Exact(t, m.View(), w, 24, name)
		}
	}
}

// fuzzed are the snapshots that keys are typed at.
var fuzzed = []func() metrics.Snapshot{
	tuitest.Mid, tuitest.Done, tuitest.Bad, tuitest.Monstrous,
	func() metrics.Snapshot { return tuitest.Judge(tuitest.Bad()) },
	func() metrics.Snapshot { return tuitest.Judge(tuitest.Young()) },
	func() metrics.Snapshot { return tuitest.Judge(tuitest.Done()) },
	func() metrics.Snapshot { return metrics.Snapshot{State: metrics.Running, DrainBy: metrics.Never} },
	func() metrics.Snapshot { return tuitest.Full() },
	func() metrics.Snapshot { return steered(34) },
	tuitest.MonstrousPages, tuitest.FullDone,
}

// FuzzKeys types anything at any size, in any mode, while snapshots, ticks and new sizes come in between. The screen is
// always whole, and the only ways out are the third key that stops, the first one once the run is over, and the end of the snapshots with
// Options.Exit.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("lljjz[]wg?q"), uint8(120), uint8(40), uint8(0), uint8(0))
	f.Add([]byte("2kkkkgGjj1\t"), uint8(40), uint8(10), uint8(1), uint8(1))
	f.Add([]byte("  zqqq"), uint8(3), uint8(3), uint8(2), uint8(2))
	f.Add([]byte("c+++-{}i40\x02PR8 in 60s\x02yo\x0fttft:100\x02s"), uint8(100), uint8(30), uint8(9), uint8(3))
	f.Add([]byte("5jjz\x03S/err\x02e6/grew\x02k\x03,,.3m2mmt7t"), uint8(120), uint8(40), uint8(8), uint8(4))
	f.Add([]byte("cq=i5q\x0aqq"), uint8(8), uint8(8), uint8(8), uint8(2))
	f.Add([]byte("\xf0?\xf7q\xd8\xe1\x0a\x0aq\xda"), uint8(200), uint8(50), uint8(4), uint8(11))
	names := []string{
		"tab", "shift+tab", "enter", "esc", "up", "down", "left", "right", "pgup", "pgdown", "ctrl+c", "ctrl+l", "home", "end",
		"backspace", "ctrl+u",
	}
	f.Fuzz(func(t *testing.T, keys []byte, w, h, which, how uint8) {
		h %= 64 // the layout of higher ones is no other
		m := open(fuzzed[int(which)%len(fuzzed)](), int(w), int(h), termenv.Ascii)
		m.mode(int(how) % len(tuitest.Modes))
		m.Exit = how&0x80 != 0
		asked := 0
		quits := func(cmd tea.Cmd) bool { return cmd != nil && cmd() == tea.QuitMsg{} }
		for i, b := range keys[:min(len(keys), 48)] {
			name := string(rune(b))
			switch {
			case b >= 0xf0:
				m.Update(tea.WindowSizeMsg{Width: int(b) * int(w) % 251, Height: i * int(h) % 81})
			case b >= 0xe0:
				m.Update(tickMsg{})
			case b == 0xdf:
				if _, cmd := m.Update(endMsg{}); quits(cmd) != m.Exit {
					t.Fatalf("the end of the snapshots: left %v, asked for %v", quits(cmd), m.Exit)
				}
			case b >= 0xd0:
				m.Update(snapshotMsg{fuzzed[int(b)%len(fuzzed)]()})
			default:
				if int(b) < len(names) {
					name = names[b]
				}
				over, typing := m.over(), m.prompt != nil && name != "ctrl+c"
				cmd := press(m, name)
				if !typing && (name == "q" || name == "ctrl+c") {
					if !over {
						asked++
					}
					if want := over || asked > 2; quits(cmd) != want {
						t.Fatalf("%s, asked %d times, over %v: left %v, want %v", name, asked, over, quits(cmd), want)
					}
				} else if quits(cmd) {
					t.Fatalf("%q left", name)
				}
			}
			if i%8 == 0 {
				whole(t, m, "fuzz")
			}
		}
		whole(t, m, "fuzz")
		if c := m.Control.(*control); c.drains != min(asked, 1) || c.aborts != min(max(asked-1, 0), 1) {
			t.Fatalf("asked %d times: %d drains, %d aborts", asked, c.drains, c.aborts)
		}
	})
}

// BenchmarkFullRedraw is the cost of the first screen of a size and page.
func BenchmarkFullRedraw(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		for i, p := range panels.Pages {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], p.Name), func(b *testing.B) {
				m := open(tuitest.Full(), size[0], size[1], termenv.TrueColor)
				m.turn(i)
				drawCold(b, m)
			})
		}
	}
}

// BenchmarkNextFrame is the cost of a frame after the first: everything is merged anew, but the screen and the charts' canvas are there.
func BenchmarkNextFrame(b *testing.B) {
	frame := func(name string, w, h, page int, zoomed bool) {
		b.Run(fmt.Sprintf("%dx%d/%s", w, h, name), func(b *testing.B) {
			m := open(tuitest.Full(), w, h, termenv.TrueColor)
			m.turn(page)
			m.focus, m.zoomed = m.layout().Panels[0].Name, zoomed
			m.View()
			b.ReportAllocs()
			for b.Loop() {
				m.selections = panels.Selections{}
				m.show()
				m.View()
			}
		})
	}
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		for i, p := range panels.Pages {
			frame(p.Name, size[0], size[1], i, false)
			frame(p.Name+" zoomed", size[0], size[1], i, true)
		}
	}
}

// drawCold draws whole screens from nothing: nothing merged, nothing kept.
func drawCold(b *testing.B, m *model) {
	b.ReportAllocs()
	for b.Loop() {
		m.selections, m.screen, m.raster = panels.Selections{}, nil, chart.Raster{}
		m.show()
		if len(m.View()) == 0 {
			b.Fatal("empty")
		}
	}
}
