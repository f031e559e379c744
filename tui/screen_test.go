package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	liveview "benchtop/metrics/live"
	"benchtop/tui/chart"
	"benchtop/tui/panels"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

var sizes = [][2]int{{20, 5}, {40, 10}, {80, 24}, {120, 40}, {200, 50}}

// state is a screen worth reading: a run, keys that are typed, and what no key does.
type state struct {
	name string
	of   func() metrics.Snapshot
	keys []string
	then func(m *model)
}

func (st *state) open(w, h int) *model {
	m := open(st.of(), w, h, termenv.Ascii)
	press(m, st.keys...)
	if st.then != nil {
		st.then(m)
		m.show()
	}
	return m
}

// changed, judged and sampled make snapshots of others.
func changed(of func() metrics.Snapshot, change func(s *metrics.Snapshot)) func() metrics.Snapshot {
	return func() metrics.Snapshot {
		s := of()
		change(&s)
		return s
	}
}

func judged(of func() metrics.Snapshot) func() metrics.Snapshot {
	return func() metrics.Snapshot { return tuitest.Judge(of()) }
}

func sampled(of func() metrics.Snapshot, whole, recent []string) func() metrics.Snapshot {
	return func() metrics.Snapshot { return tuitest.Sampled(of(), whole, recent) }
}

var states = []state{
	{name: "empty", of: func() metrics.Snapshot {
		return liveview.NewView(time.Now(), tuitest.RampPlan()).SnapshotAt(100 * time.Millisecond)
	}},
	{name: "young", of: tuitest.Young},
	{name: "mid", of: tuitest.Mid},
	{name: "frozen", of: tuitest.Mid, keys: []string{" "}, then: func(m *model) {
		m.Update(snapshotMsg{changed(tuitest.Mid, func(s *metrics.Snapshot) { s.At += 12 * time.Second })()})
		m.Update(tickMsg{})
	}},
	{name: "help", of: tuitest.Mid, keys: []string{"?"}},
	{name: "focus", of: tuitest.Mid, keys: []string{"l", "l", "]"}},
	{name: "zoom", of: tuitest.Mid, keys: []string{"l", "j", "z", "w"}},
	{name: "draining", of: changed(sampled(tuitest.Bad, nil, tuitest.Late), func(s *metrics.Snapshot) {
		s.State, s.DrainBy = metrics.Draining, s.At+18*time.Second
	}), keys: []string{"q"}},
	{name: "aborting", of: tuitest.Bad, keys: []string{"q", "q"}},
	{name: "done", of: tuitest.Done},
	{name: "errors", of: changed(sampled(tuitest.Bad, tuitest.Late, tuitest.Late), func(s *metrics.Snapshot) {
		s.SaveError = "no space left on device"
	})},
	{name: "slo", of: judged(tuitest.Bad)},
	{name: "slo_warmup", of: judged(tuitest.Young)},
	{name: "slo_done", of: judged(tuitest.Done)},
	{name: "dead", of: dead},
	{name: "search", of: changed(judged(tuitest.Mid), func(s *metrics.Snapshot) {
		s.Search = &metrics.Search{Phase: metrics.SearchNarrowing, Passed: 40, Failed: 52, Load: 45.6,
			Left:   3 * time.Minute,
			Tested: []metrics.TestedLoad{{Load: 31, Passed: true}, {Load: 40, Passed: true}, {Load: 52}}}
	})},
	{name: "slo_zoom", of: judged(tuitest.Bad), then: func(m *model) { m.focus, m.zoomed = "slo", true }},
	{name: "slo_ascii", of: judged(tuitest.Bad), then: func(m *model) { m.ASCII = true }},
	{name: "strained", of: sampled(tuitest.Mid, nil, tuitest.Late)},
	{name: "limited", of: sampled(tuitest.Mid, tuitest.Late, nil)},
	{name: "limited_slo", of: sampled(judged(tuitest.Bad), tuitest.Together, tuitest.Late)},
	{name: "limited_done", of: sampled(tuitest.Done, tuitest.Together, nil)},
	{name: "log", of: tuitest.Bad, keys: []string{"6", "k", "k"}},
	{name: "control", of: changed(steeredAt34, func(s *metrics.Snapshot) {
		s.Steering.Changes, s.Steering.Paused = 3, true
	}), keys: []string{"c"}},
	{name: "ramp_prompt", of: steeredAt34, keys: []string{"c", "R", "4", "0", " ", "i", "n", "enter"}},
	{name: "replay", of: changed(tuitest.Mid, func(s *metrics.Snapshot) {
		s.Replay = &metrics.Replay{Playing: true, Speed: 2, Length: 100 * time.Second}
	}), then: func(m *model) { m.Player = &player{} }},
	{name: "report", of: tuitest.Mid, then: func(m *model) {
		m.Report = reportOf60
		m.Update(snapshotMsg{tuitest.Done()})
	}},
}

func TestScreens(t *testing.T) {
	for _, st := range states {
		for _, size := range sizes {
			name := fmt.Sprintf("%s_%dx%d.txt", st.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				got := st.open(size[0], size[1]).View()
				tuitest.Exact(t, got, size[0], size[1], st.name)
				tuitest.Golden(t, "screens/"+name, got+"\n")
			})
		}
	}
}

func TestColours(t *testing.T) {
	for name, p := range map[string]termenv.Profile{"truecolor": termenv.TrueColor, "256": termenv.ANSI256,
		"16": termenv.ANSI} {
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
	assert.Has(t, got, " - ????/et??? - stages 16, 32, 48, 64, 80 req/s")
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
	if strings.ContainsFunc(got, func(r rune) bool { return r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
		t.Fatalf("control character on\n%s", got)
	}
	for i := 0; i < len(got); i++ {
		switch b := got[i]; {
		case b >= 0x80 && m.ASCII, b < 0x20 && b != '\n' && b != '\x1b',
			b == '\x1b' && m.palette.Profile == termenv.Ascii:
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

// Figures of a server that does not answer have no colour and no weight; errors and the log, which go on, keep their
// own, and so does the page of requests.
func TestFiguresOfADeadServerAreGrey(t *testing.T) {
	m := open(dead(), 120, 40, termenv.TrueColor)
	m.View()
	if st, shown := styleOf(m, "errors "); !shown || st != screen.Strong {
		t.Errorf("errors are shown %v in %+v", shown, st)
	}
	s := dead()
	s.Failures = nil
	m = open(s, 120, 40, termenv.TrueColor)
	grey := func() (grey, other int) {
		m.View()
		for y := 4; y < 38; y++ {
			for x := range 120 {
				switch p := m.screen.All().At(x, y); {
				case p.Glyph == ' ' || p.Style == screen.Line:
				case p.Style.Fg == screen.Dimmed && !p.Style.Bold || p.Style.Bg == screen.Dimmed,
					p.Style == screen.Style{Fg: screen.Shade(screen.Dimmed)}: // the edge of an area
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
	all := append(states[:len(states):len(states)], state{name: "monstrous", of: tuitest.Monstrous})
	turn := 0
	for i, st := range all {
		m := st.open(80, 24)
		for col, w := range []int{0, 1, 2, 5, 20, 39, 40, 59, 79, 80, 81, 109, 110, 120, 179, 180, 200, 250} {
			for row, h := range []int{0, 1, 2, 5, 9, 10, 14, 23, 24, 33, 34, 40, 45, 80} {
				if (row+col)%3 != i%3 {
					continue
				}
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

// fuzzed are the snapshots that keys are typed at.
var fuzzed = []func() metrics.Snapshot{
	tuitest.Mid, tuitest.Done, tuitest.Bad, tuitest.Monstrous,
	judged(tuitest.Bad), judged(tuitest.Young), judged(tuitest.Done),
	func() metrics.Snapshot { return metrics.Snapshot{State: metrics.Running, DrainBy: metrics.Never} },
	tuitest.Full, steeredAt34, tuitest.MonstrousPages, tuitest.FullDone,
}

// FuzzKeys types anything at any size, in any mode, while snapshots, ticks and new sizes come in between. The screen is
// always whole, and the only ways out are the third key that stops, the first one once the run is over, and the end of
// the snapshots with Options.Exit.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("lljjz[]wg?q"), uint8(120), uint8(40), uint8(0), uint8(0))
	f.Add([]byte("2kkkkgGjj1\t"), uint8(40), uint8(10), uint8(1), uint8(1))
	f.Add([]byte("  zqqq"), uint8(3), uint8(3), uint8(2), uint8(2))
	f.Add([]byte("c+++-{}i40\x02PR8 in 60s\x02yo\x0fttft:100\x02s"), uint8(100), uint8(30), uint8(9), uint8(3))
	f.Add([]byte("5jjz\x03S/err\x02e6/grew\x02k\x03,,.3m2mmt7t"), uint8(120), uint8(40), uint8(8), uint8(4))
	f.Add([]byte("cq=i5q\x0aqq"), uint8(8), uint8(8), uint8(8), uint8(2))
	f.Add([]byte("\xfa\xf1\xf3z\xf7\xe0\xd4\xff\xf2w\xf8\xfb\xe02\xf4\xd0\xf9\xfcg\xe0\xf5\xfd"), uint8(250), uint8(60),
		uint8(5), uint8(4))
	f.Add([]byte("\xf0?\xf7q\xd8\xe1\x0a\x0aq\xda"), uint8(200), uint8(50), uint8(4), uint8(11))
	names := []string{
		"tab", "shift+tab", "enter", "esc", "up", "down", "left", "right", "pgup", "pgdown", "ctrl+c", "ctrl+l", "home",
		"end",
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

// BenchmarkNextFrame is the cost of a frame after the first: everything is merged anew, but the screen and the charts'
// canvas are there.
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
