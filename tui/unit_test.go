package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// TestDrawingTicks: the header follows every tick, the panels every second one, and nothing is drawn in between.
func TestDrawingTicks(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	first := m.View()
	next := tuitest.Bad()
	next.At += 5 * time.Second
	m.Update(snapshotMsg{next})
	if m.stale || m.View() != first {
		t.Error("a snapshot alone changed the screen")
	}
	m.Update(tickMsg{})
	assert.Equal(t, m.View(), first, "after a tick")
	m.Update(tickMsg{})
	assert.Has(t, m.View(), "errors 26")
}

func TestFreeze(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	press(m, " ")
	next := tuitest.Bad()
	next.At += 12 * time.Second
	m.Update(snapshotMsg{next})
	m.Update(tickMsg{})
	got := m.View()
	if !strings.Contains(got, "FROZEN 12s behind") || strings.Contains(got, "errors 26") {
		t.Errorf("frozen:\n%s", got)
	}
	press(m, " ")
	if got := m.View(); strings.Contains(got, "FROZEN") || !strings.Contains(got, "errors 26") {
		t.Errorf("thawed:\n%s", got)
	}
}

// TestOnlyOwnPressesAbort: a run that drains by itself is not cut by the first q.
func TestOnlyOwnPressesAbort(t *testing.T) {
	s := tuitest.Mid()
	s.State = metrics.Draining
	m := open(s, 80, 24, termenv.Ascii)
	c := m.Control.(*control)
	press(m, "q")
	if c.drains != 1 || c.aborts != 0 {
		t.Errorf("after q: %d drains, %d aborts", c.drains, c.aborts)
	}
	press(m, "ctrl+c")
	assert.Equal(t, c.aborts, 1, "after q and ctrl+c aborts")
	if cmd := press(m, "q"); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("the third time did not leave")
	}
}

func TestScrolledLogStandsStill(t *testing.T) {
	s := tuitest.Mid()
	for i := range 100 {
		s.Log = append(s.Log, metrics.LogEntry{At: time.Duration(i) * time.Second, Text: fmt.Sprintf("event %d", i)})
	}
	m := open(s, 80, 24, termenv.Ascii)
	press(m, "6")
	assert.Has(t, m.View(), "event 99")
	press(m, "pgup")
	before := m.View()
	later := s
	later.Log = append(later.Log[:len(later.Log):len(later.Log)],
		metrics.LogEntry{At: 200 * time.Second, Text: "event 100"})
	m.Update(snapshotMsg{later})
	m.show()
	if strings.Contains(before, "event 99") || m.View() != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, m.View())
	}
	press(m, "G")
	assert.Has(t, m.View(), "event 100")
	press(m, "g")
	assert.Has(t, m.View(), "GET /v1/models")
}

// The help has the keys that do something here and now, under their titles, and no others.
func TestHelp(t *testing.T) {
	const pages, screen = "Pages 1-6 Tab, ", ", Screen t ctrl+l ctrl+z ?"
	const panels = "Panels h j k l z, Time [ ] space , ., Histograms w g"
	for _, c := range []struct {
		name   string
		of     metrics.Snapshot
		change func(*model)
		keys   string
		want   string
	}{
		{"live", steered(34), nil, "",
			pages + "Panels h j k l z, Time [ ] space , ., Load c, Histograms w g, Run o s q" + screen},
		{"a load that stays", tuitest.Mid(), nil, "", pages + panels + ", Run o s q" + screen},
		{"live control", steered(34), nil, "c",
			pages + "Panels h j k l z, Time [ ] space , ., Load c + - { } i P R H, Histograms w g, Run o s q" + screen},
		{"a panel", tuitest.Mid(), nil, "l z",
			"Pages 1-6 Tab Esc, Panels h j k l, Time [ ] space , ., Histograms w g, Run o s q" + screen},
		{"the latency page", tuitest.Mid(), nil, "2",
			pages + "Panels h j k l m z, Time [ ] space , ., Histograms w g, Run o s q" + screen},
		{"requests", tuitest.Full(), nil, "5", pages + "Rows j k Enter S e /, Time space, Load c, Run o s q" + screen},
		{"a request", tuitest.Full(), nil, "5 j enter",
			"Pages 1-6 Tab Esc, Rows j k S e /, Time space, Load c, Run o s q" + screen},
		{"log", tuitest.Mid(), nil, "6", pages + "Rows j k PgUp PgDn g G /, Time space, Run o s q" + screen},
		{"read only", steered(34), func(m *model) { m.ReadOnly = true }, "",
			pages + panels + ", Screen t ctrl+l ctrl+z ?, Run q"},
		{"attached", tuitest.Mid(), func(m *model) { m.Attached = true }, "",
			pages + panels + ", Run o s D q" + screen},
		{"replay", tuitest.Mid(), func(m *model) { m.Player = &player{} }, "",
			pages + "Panels h j k l z, Time [ ] space < > , . Home End, Histograms w g, Screen t ctrl+l ctrl+z ?, " +
				"Run q"},
		{"done", tuitest.Done(), nil, "", pages + panels + ", Run y q" + screen},
	} {
		m := open(c.of, 120, 40, termenv.Ascii)
		if c.change != nil {
			c.change(m)
		}
		press(m, strings.Fields(c.keys)...)
		var got []string
		for _, s := range keymap.help(m) {
			title := s.title
			for _, r := range s.rows {
				title += " " + r.sign.Text
			}
			got = append(got, title)
		}
		assert.Equal(t, strings.Join(got, ", "), c.want, "%s", c.name)
		press(m, "?")
		view := m.View()
		for _, s := range keymap.help(m) {
			for _, r := range s.rows {
				if !strings.Contains(view, r.sign.Text+"  "+r.words) {
					t.Errorf("%s: %q is not on the screen:\n%s", c.name, r.words, view)
				}
			}
		}
	}
}

// Every key has an action, and words where it is shown.
func TestEveryKeyActs(t *testing.T) {
	for _, b := range keymap {
		if b.do == nil && b.ask == nil || b.show != "" && b.what == "" ||
			b.what != "" && !strings.Contains(b.what, ": ") {
			t.Errorf("%v: no action or no words", b.keys)
		}
	}
}

// Ctrl-Z says why it does nothing.
func TestCtrlZ(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	press(m, "ctrl+z")
	if got := lastLine(m); !strings.HasPrefix(got, "Ctrl-Z does not suspend benchtop") {
		t.Errorf("%q", got)
	}
}

// The help has the colours of data with their meanings, where the terminal has colours.
func TestLegend(t *testing.T) {
	for profile, want := range map[termenv.Profile]bool{termenv.Ascii: false, termenv.TrueColor: true} {
		m := open(tuitest.Mid(), 120, 40, profile)
		press(m, "?")
		assert.Equal(t, strings.Contains(m.View(), "Colours"), want, "%v: legend: %s", profile, m.View())
	}
	for c := screen.Output; c <= screen.Usage; c++ {
		if screen.Legend[c] == "" {
			t.Errorf("colour %d has no meaning", c)
		}
	}
}

// Keys that arrive in one read count one by one; a paste counts as none.
func TestKeysInOneRead(t *testing.T) {
	for _, c := range []struct {
		msg           tea.KeyMsg
		drains, abort int
	}{
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q")}, 1, 0},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq")}, 1, 1},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2?q")}, 1, 0},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq"), Paste: true}, 0, 0},
		{tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Alt: true}, 0, 0},
	} {
		m := open(tuitest.Mid(), 100, 30, termenv.Ascii)
		m.Update(c.msg)
		if x := m.Control.(*control); x.drains != c.drains || x.aborts != c.abort {
			t.Errorf("%v: %d drains, %d aborts; want %d and %d", c.msg, x.drains, x.aborts, c.drains, c.abort)
		}
	}
}

// Gaps of nothing, from chunks that came in one read, still make a histogram.
func TestHistogramOfZeros(t *testing.T) {
	s := tuitest.Mid()
	s.Histograms[metrics.ITL] = metrics.Histogram{}
	s.Windows = []*metrics.Window{s.Windows[0].Clone()}
	for range 26 {
		s.Histograms[metrics.ITL].Add(0)
	}
	s.Windows[0].Histograms[metrics.ITL] = s.Histograms[metrics.ITL]
	m := open(s, 120, 40, termenv.Ascii)
	if shown := m.View(); strings.Contains(shown, "no second token yet") || !strings.Contains(shown, "█") {
		t.Errorf("no histogram:\n%s", shown)
	}
}

// A run of less than a second has charts once it is over.
func TestShortRunHasCharts(t *testing.T) {
	s := tuitest.Mid()
	s.Windows, s.At, s.State = s.Windows[:1], 300*time.Millisecond, metrics.Finished
	assert.Lacks(t, open(s, 120, 40, termenv.Ascii).View(), "no full second yet")
}
