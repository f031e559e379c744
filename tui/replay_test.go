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
	"benchtop/tui/tuitest"
)

// player records the commands of keys.
type player struct{ asked []string }

func (p *player) Play() { p.asked = append(p.asked, "play") }

func (p *player) Pause() { p.asked = append(p.asked, "pause") }

func (p *player) SetSpeed(v float64) { p.asked = append(p.asked, fmt.Sprint("speed ", v)) }

func (p *player) Seek(d time.Duration) { p.asked = append(p.asked, fmt.Sprint("seek ", d)) }

func replayOf(s metrics.Snapshot, playing bool, speed float64) (*model, *player) {
	p := &player{}
	s.Replay = &metrics.Replay{Playing: playing, Speed: speed, Length: 80 * time.Second}
	m := open(s, 120, 40, termenv.Ascii)
	m.Player = p
	m.Update(snapshotMsg{s})
	m.show()
	return m, p
}

func TestReplayKeys(t *testing.T) {
	for _, c := range []struct {
		playing bool
		speed   float64
		keys    []string
		want    string
	}{
		{true, 1, []string{" "}, "[pause]"},
		{false, 1, []string{" "}, "[play]"},
		{true, 2, []string{">"}, "[speed 4]"},
		{true, 2, []string{"<", "<", "<"}, "[speed 1 speed 0.5 speed 0.25]"},
		{true, 0.125, []string{"<"}, "[speed 0.125]"},
		{true, 1024, []string{">"}, "[speed 1024]"},
		{true, 4000, []string{">"}, "[speed 4000]"}, // where a very long run begins
		{true, 1, []string{","}, "[seek 52.4s]"},
		{true, 1, []string{",", ","}, "[seek 52.4s seek 42.4s]"},
		{true, 1, []string{".", ".", "."}, "[seek 1m12.4s seek 1m20s seek 1m20s]"},
		{true, 1, []string{"home"}, "[seek 0s]"},
		{true, 1, []string{"end"}, "[seek 1m20s]"},
		{true, 1, []string{"5", "home", "6", "end", ","}, "[seek 52.4s]"},
	} {
		m, p := replayOf(tuitest.Mid(), c.playing, c.speed)
		press(m, c.keys...)
		assert.Equal(t, fmt.Sprint(p.asked), c.want, "%v", c.keys)
	}
}

func TestReplayHeader(t *testing.T) {
	m, _ := replayOf(tuitest.Mid(), true, 2)
	assert.Has(t, firstLines(m), "▶ REPLAY 2x 01:02/01:20")
	m, _ = replayOf(tuitest.Mid(), false, 0.5)
	assert.Has(t, firstLines(m), "‖ REPLAY 0.5x")
}

func TestReplayLeavesAtOnce(t *testing.T) {
	m, _ := replayOf(tuitest.Mid(), true, 1)
	if cmd := press(m, "q"); cmd == nil || cmd() != (tea.QuitMsg{}) || m.Control.(*control).drains != 0 {
		t.Error("q did not just leave")
	}
	if strings.Contains(m.View(), "Stopping") {
		t.Error("a run of the past is being stopped")
	}
}

// At the end whole figures are shown and the report is there; played back both go.
func TestReplayGoesBackFromTheEnd(t *testing.T) {
	end := tuitest.Done()
	end.Replay = &metrics.Replay{Speed: 1, Length: end.At}
	m, p := replayOf(tuitest.Mid(), true, 1)
	m.Report = func(*metrics.Report, int) string { return "the report" }
	m.Update(snapshotMsg{end})
	press(m, "7")
	if !strings.Contains(m.View(), "the report") || !m.whole {
		t.Errorf("at the end:\n%s", m.View())
	}
	press(m, " ")
	assert.Equal(t, fmt.Sprint(p.asked), "[seek 0s play]", "space at the end")
	back := tuitest.Mid()
	back.Replay = &metrics.Replay{Playing: true, Speed: 1, Length: end.At}
	m.Update(snapshotMsg{back})
	if m.whole || m.pageNow().Name == "Report" || !strings.Contains(lastLine(m), "space pause") {
		t.Errorf("played back: whole %v, page %s\n%s", m.whole, m.pageNow().Name, lastLine(m))
	}
}
