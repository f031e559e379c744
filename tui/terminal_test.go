package tui

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/term"
	"benchtop/tui/tuitest"
)

// asides collects the text that a model sends to the terminal between frames.
func asides(m *model) *string {
	var all string
	m.aside = func(words string) tea.Cmd { all += words; return nil }
	return &all
}

// A screen that takes too many bytes is drawn half as often, with a note.
func TestGovernedCharts(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.Ascii)
	total := int64(0)
	m.sent = func() int64 { total += 100_000; return total }
	drawn := 0
	for range 24 {
		m.Update(snapshotMsg{tuitest.Bad()})
		before := m.shown
		m.Update(tickMsg{})
		if m.shown != before {
			drawn++
		}
	}
	if drawn != 4+2+1 || m.limiter.Factor() != 4 { // each second of ten ticks, each fourth of ten, each eighth
		t.Errorf("panels drawn %d times, factor %d", drawn, m.limiter.Factor())
	}
	assert.Has(t, firstLines(m), "¼ charts")
	m.limiter.Bandwidth = 10_000_000
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for range 20 {
		m.Update(tickMsg{})
	}
	assert.Equal(t, m.limiter.Factor(), 1, "with a higher limit: factor")
}

// Turning pages does not make a screen expensive; a key that is held down does.
func TestKeysAreNotGoverned(t *testing.T) {
	m := open(tuitest.Mid(), 120, 40, termenv.TrueColor)
	shown, total := strings.Split(m.View(), "\n"), int64(0)
	m.sent = func() int64 { return total }
	// seconds lets time pass, with a key every so often, and counts the lines that Bubble Tea would write, a frame
	// after each.
	seconds := func(n int, every time.Duration) {
		key, page := time.Duration(0), 0
		for at := time.Duration(0); at < time.Duration(n)*time.Second; at += time.Second / term.FramesPerSecond {
			now := strings.Split(m.View(), "\n")
			total, shown = total+int64(rewritten(shown, now)), now
			if every > 0 && at >= key {
				page = 1 - page
				press(m, []string{"1", "2"}[page])
				key += every
			}
			if at%m.HeaderEvery == 0 {
				m.Update(tickMsg{})
			}
		}
	}
	seconds(10, 400*time.Millisecond)
	if m.limiter.Factor() != 1 {
		t.Errorf("%d bytes a second for 10 s of a key each 0.4 s: charts drawn at 1/%d", total/10, m.limiter.Factor())
	}
	before := total
	seconds(10, 50*time.Millisecond)
	if m.limiter.Factor() == 1 {
		t.Errorf("%d bytes a second for 10 s of a key held down: charts as often as ever", (total-before)/10)
	}
	seconds(25, 0)
	assert.Equal(t, m.limiter.Factor(), 1, "left alone again: charts drawn at 1/")
}

func TestCopy(t *testing.T) {
	m := open(tuitest.Full(), 120, 40, termenv.Ascii)
	words := asides(m)
	press(m, "y")
	text := copied(t, *words)
	assert.Has(t, text, "benchtop 127.0.0.1:8000 · Qwen/Qwen3-32B", "requests done", "TTFT p50",
		"output tokens/s", "saturates")
	if got := lastLine(m); !strings.HasPrefix(got, "copied ") {
		t.Errorf("bottom line %q", got)
	}
	m = withReport(tuitest.Mid(), 120, 40)
	m.Report = func(*metrics.Report, int) string { return strings.Repeat("漢\x1b]0;x\a report\n", 20_000) }
	words = asides(m)
	m.Quiet = true
	m.Update(snapshotMsg{tuitest.Done()})
	press(m, "y")
	if text := copied(t, *words); len(*words) > 70_000 || !strings.HasPrefix(text, "漢 report\n漢 report") ||
		!utf8.ValidString(text) {
		t.Errorf("%d bytes, beginning with %.40q", len(*words), text)
	}
}

func copied(t *testing.T, sequence string) string {
	t.Helper()
	data, ok := strings.CutPrefix(sequence, "\x1b]52;c;")
	data, ended := strings.CutSuffix(data, "\a")
	text, err := base64.StdEncoding.DecodeString(data)
	if !ok || !ended || err != nil {
		t.Fatalf("no OSC 52: %.80q, %v", sequence, err)
	}
	return string(text)
}

func TestBell(t *testing.T) {
	for _, c := range []struct {
		quiet bool
		want  string
	}{{false, "\a\x1b]9;benchtop: done\a"}, {true, ""}} {
		m := open(tuitest.Mid(), 80, 24, termenv.Ascii)
		m.Quiet = c.quiet
		words := asides(m)
		m.Update(snapshotMsg{tuitest.Done()})
		m.Update(snapshotMsg{tuitest.Done()})
		m.Update(endMsg{})
		if cut, _, _ := strings.Cut(*words, ", saturates"); strings.TrimSuffix(cut, "\a") != strings.TrimSuffix(c.want,
			"\a") ||
			strings.HasSuffix(*words, "\a") == c.quiet {
			t.Errorf("quiet %v: said %q, want %q", c.quiet, *words, c.want)
		}
	}
}
