package tui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"benchtop/metrics"
)

// asides collects what a model says to the terminal beside the frames.
func asides(m *model) *string {
	var all string
	m.aside = func(words string) tea.Cmd { all += words; return nil }
	return &all
}

func TestGovernor(t *testing.T) {
	g := newGovernor(20_000, 500*time.Millisecond)
	total := int64(0)
	seconds := func(n, rate int) (changes int) {
		for range 2 * n {
			total += int64(rate / 2)
			if g.tick(total) {
				changes++
			}
		}
		return changes
	}
	for i, c := range []struct{ seconds, rate, changes, factor int }{
		{4, 50_000, 0, 1},  // not five seconds yet
		{1, 50_000, 1, 2},  // above the limit
		{4, 25_000, 0, 2},  // the new rate is looked at for as long
		{1, 25_000, 1, 4},  // still above
		{20, 15_000, 0, 4}, // below, but not below half
		{8, 9_000, 1, 2},   // at some time in these
		{5, 9_000, 1, 1},
		{20, 9_000, 0, 1},
		{100, 90_000, 3, 8}, // never less often than that
	} {
		if changes := seconds(c.seconds, c.rate); changes != c.changes || g.factor != c.factor {
			t.Errorf("%d: %d s of %d: %d changes, factor %d; want %d, %d", i, c.seconds, c.rate, changes, g.factor, c.changes, c.factor)
		}
	}
	if g.sign(false) != "⅛ charts" || g.sign(true) != "1/8 charts" {
		t.Errorf("signs %q, %q", g.sign(false), g.sign(true))
	}
}

func TestBandwidth(t *testing.T) {
	for _, c := range [][3]int{{80, 24, 20_000}, {120, 40, 20_000}, {200, 50, 50_000}, {0, 0, 20_000}, {148, 50, 35_000}} {
		if got := bandwidth(c[0], c[1]); got != c[2] {
			t.Errorf("%dx%d: %d bytes/s, want %d", c[0], c[1], got, c[2])
		}
	}
}

// A screen that takes too much is drawn half as often, and says so.
func TestGovernedCharts(t *testing.T) {
	m := open(mid(), 120, 40, termenv.Ascii)
	total := int64(0)
	m.sent = func() int64 { total += 100_000; return total }
	drawn := 0
	for range 24 {
		m.Update(snapshotMsg{bad()})
		m.stale = false
		m.Update(tickMsg{})
		if m.stale && !m.only {
			drawn++
		}
	}
	if drawn != 4+2+1 || m.governor.factor != 4 { // each second of ten ticks, each fourth of ten, each eighth
		t.Errorf("panels drawn %d times, factor %d", drawn, m.governor.factor)
	}
	if got := firstLines(m); !strings.Contains(got, "¼ charts") {
		t.Errorf("not shown:\n%s", got)
	}
	m.bandwidth = 10_000_000
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for range 20 {
		m.Update(tickMsg{})
	}
	if m.governor.factor != 1 {
		t.Errorf("with a higher limit: factor %d", m.governor.factor)
	}
}

// Turning pages is not what makes a screen expensive; a key that is held down is.
func TestKeysAreNotGoverned(t *testing.T) {
	m := open(mid(), 120, 40, termenv.TrueColor)
	shown, total := strings.Split(m.View(), "\n"), int64(0)
	m.sent = func() int64 { return total }
	// seconds lets time pass, with a key every so often, and counts the lines that Bubble Tea would write, a frame after each.
	seconds := func(n int, every time.Duration) {
		key, page := time.Duration(0), 0
		for at := time.Duration(0); at < time.Duration(n)*time.Second; at += time.Second / framesPerSecond {
			now := strings.Split(m.View(), "\n")
			for i, line := range now {
				if line != shown[i] {
					total += int64(len(line))
				}
			}
			shown = now
			if every > 0 && at >= key {
				page = 1 - page
				press(m, []string{"1", "2"}[page])
				key += every
			}
			if at%m.headerEvery == 0 {
				m.Update(tickMsg{})
			}
		}
	}
	seconds(10, 400*time.Millisecond)
	if m.governor.factor != 1 {
		t.Errorf("%d bytes a second for 10 s of a key each 0.4 s: charts drawn at 1/%d", total/10, m.governor.factor)
	}
	before := total
	seconds(10, 50*time.Millisecond)
	if m.governor.factor == 1 {
		t.Errorf("%d bytes a second for 10 s of a key held down: charts as often as ever", (total-before)/10)
	}
	seconds(25, 0)
	if m.governor.factor != 1 {
		t.Errorf("left alone again: charts drawn at 1/%d", m.governor.factor)
	}
}

func TestCast(t *testing.T) {
	var b bytes.Buffer
	at := time.Duration(0)
	c := newCast(&b, 80, 24, time.Unix(1_795_264_380, 0), func() time.Duration { at += 1500 * time.Millisecond; return at })
	c.output([]byte("\x1b[31ma<b>\xe2\x94"))
	c.output([]byte("\x80x"))
	c.resize(80, 24)
	c.resize(120, 40)
	c.output([]byte("\xe2"))
	c.output([]byte("\xff "))
	want := `{"version":2,"width":80,"height":24,"timestamp":1795264380}
[0,"o","\u001b[H\u001b[2J"]
[1.500000,"o","\u001b[31ma<b>"]
[3.000000,"o","─x"]
[4.500000,"r","120x40"]
[6.000000,"o","` + "\ufffd\ufffd " + `"]
`
	if got := strings.ReplaceAll(b.String(), `\ufffd`, "\ufffd"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	f.n++
	return 0, errors.New("no space left on device")
}

func TestCastThatFails(t *testing.T) {
	f := &failing{}
	var shown bytes.Buffer
	w := &wire{to: &shown, cast: newCast(f, 80, 24, time.Now(), func() time.Duration { return 0 })}
	for range 3 {
		if _, err := w.Write([]byte("frame")); err != nil {
			t.Fatal(err)
		}
	}
	w.resized(1, 1)
	if f.n != 1 || shown.String() != "frameframeframe" {
		t.Errorf("%d tries to record, screen %q", f.n, shown.String())
	}
}

// FuzzCast: whatever the splits, the recording is lines of JSON that together are what was sent.
func FuzzCast(f *testing.F) {
	f.Add([]byte("a─b漢🤖c\x1b[m"), uint8(1))
	f.Add([]byte("\xe2\x94"), uint8(3))
	f.Fuzz(func(t *testing.T, sent []byte, step uint8) {
		var b bytes.Buffer
		c := newCast(&b, 80, 24, time.Now(), func() time.Duration { return 0 })
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), max(1, int(step)))
			c.output(rest[:n])
			rest = rest[n:]
		}
		var got strings.Builder
		for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n")[2:] {
			var event [3]any
			if err := json.Unmarshal([]byte(l), &event); err != nil {
				t.Fatalf("%v in %q", err, l)
			}
			got.WriteString(event[2].(string))
		}
		if utf8.Valid(sent) && got.String() != string(sent) {
			t.Fatalf("recorded %q of %q", got.String(), sent)
		}
	})
}

func TestCopy(t *testing.T) {
	m := open(full(), 120, 40, termenv.Ascii)
	words := asides(m)
	press(m, "y")
	text := copied(t, *words)
	for _, want := range []string{"benchtop 127.0.0.1:8000 · Qwen/Qwen3-32B", "requests done", "TTFT p50", "output tokens/s", "saturates"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if got := lastLine(m); !strings.HasPrefix(got, "copied ") {
		t.Errorf("bottom line %q", got)
	}
	m = withReport(mid(), 120, 40)
	m.report = func(*metrics.Report, int) string { return strings.Repeat("漢\x1b]0;x\a report\n", 20_000) }
	words = asides(m)
	m.quiet = true
	m.Update(snapshotMsg{done()})
	press(m, "y")
	if text := copied(t, *words); len(*words) > 70_000 || !strings.HasPrefix(text, "漢 report\n漢 report") || !utf8.ValidString(text) {
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
		m := open(mid(), 80, 24, termenv.Ascii)
		m.quiet = c.quiet
		words := asides(m)
		m.Update(snapshotMsg{done()})
		m.Update(snapshotMsg{done()})
		m.Update(endMsg{})
		if cut, _, _ := strings.Cut(*words, ", saturates"); strings.TrimSuffix(cut, "\a") != strings.TrimSuffix(c.want, "\a") ||
			strings.HasSuffix(*words, "\a") == c.quiet {
			t.Errorf("quiet %v: said %q, want %q", c.quiet, *words, c.want)
		}
	}
}

// What else is said to the terminal comes between frames, counts as sent, and is in no recording.
func TestAside(t *testing.T) {
	var shown, record bytes.Buffer
	w := &wire{to: &shown, cast: newCast(&record, 80, 24, time.Now(), func() time.Duration { return 0 })}
	_, _ = w.Write([]byte("frame"))
	w.aside("\a")
	if shown.String() != "frame\a" || w.sent.Load() != 6 || strings.Contains(record.String(), "u0007") {
		t.Errorf("screen %q, %d bytes, record %s", shown.String(), w.sent.Load(), record.String())
	}
}
