package term

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"benchtop/internal/assert"
)

func TestLimiter(t *testing.T) {
	g := NewLimiter(20_000, 500*time.Millisecond)
	g.Resize(80, 24)
	total := int64(0)
	seconds := func(n, rate int) (changes int) {
		for range 2 * n {
			total += int64(rate / 2)
			if g.Tick(total) {
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
		if changes := seconds(c.seconds, c.rate); changes != c.changes || g.Factor() != c.factor {
			t.Errorf("%d: %d s of %d: %d changes, factor %d; want %d, %d", i, c.seconds, c.rate, changes, g.Factor(),
				c.changes, c.factor)
		}
	}
	if g.Sign(false) != "⅛ charts" || g.Sign(true) != "1/8 charts" {
		t.Errorf("signs %q, %q", g.Sign(false), g.Sign(true))
	}
}

func TestBandwidth(t *testing.T) {
	for _, c := range [][3]int{{80, 24, 20_000}, {120, 40, 20_000}, {200, 50, 50_000}, {0, 0, 20_000},
		{148, 50, 35_000}} {
		assert.Equal(t, bandwidth(c[0], c[1]), c[2], "%dx%d: bytes/s", c[0], c[1])
	}
}

func TestRecording(t *testing.T) {
	var b bytes.Buffer
	at := time.Duration(0)
	c := newRecording(&b, 80, 24, time.Unix(1_795_264_380, 0),
		func() time.Duration { at += 1500 * time.Millisecond; return at })
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
	assert.Equal(t, strings.ReplaceAll(b.String(), `\ufffd`, "\ufffd"), want, "ReplaceAll")
}

type failingWriter struct{ n int }

func (f *failingWriter) Write(b []byte) (int, error) {
	f.n++
	return 0, errors.New("no space left on device")
}

func TestRecordingThatFails(t *testing.T) {
	f := &failingWriter{}
	var shown bytes.Buffer
	w := &Writer{to: &shown, record: newRecording(f, 80, 24, time.Now(), func() time.Duration { return 0 })}
	for range 3 {
		assert.Must(w.Write([]byte("frame")))(t)
	}
	w.Resized(1, 1)
	if f.n != 1 || shown.String() != "frameframeframe" {
		t.Errorf("%d tries to record, screen %q", f.n, shown.String())
	}
}

// FuzzRecording: for any splits, the recording is lines of JSON that together are the bytes sent.
func FuzzRecording(f *testing.F) {
	f.Add([]byte("a─b漢🤖c\x1b[m"), uint8(1))
	f.Add([]byte("\xe2\x94"), uint8(3))
	f.Fuzz(func(t *testing.T, sent []byte, step uint8) {
		var b bytes.Buffer
		c := newRecording(&b, 80, 24, time.Now(), func() time.Duration { return 0 })
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

// An aside comes between frames, counts as sent, and is in no recording.
func TestAside(t *testing.T) {
	var shown, record bytes.Buffer
	w := &Writer{to: &shown, record: newRecording(&record, 80, 24, time.Now(), func() time.Duration { return 0 })}
	_, _ = w.Write([]byte("frame"))
	w.Aside("\a")
	if shown.String() != "frame\a" || w.Sent() != 6 || strings.Contains(record.String(), "u0007") {
		t.Errorf("screen %q, %d bytes, record %s", shown.String(), w.Sent(), record.String())
	}
}

// The terminal gets a title with a frame, once for each title, and its own back when the screen is left.
func TestTitle(t *testing.T) {
	var out bytes.Buffer
	d := newDrawing(NewWriter(&out))
	defer d.stop()
	d.titled = true
	frame := func(title, view string) string {
		out.Reset()
		d.w.Title(title)
		d.mu.Lock()
		d.ready, d.view, d.width, d.high = true, view, 10, 1
		d.mu.Unlock()
		d.sending.Lock()
		defer d.sending.Unlock()
		d.send()
		return out.String()
	}
	if got := frame("a", "1"); !strings.HasSuffix(got, "\x1b[22;0t\x1b]2;a\a") {
		t.Errorf("at first %q", got)
	}
	assert.Lacks(t, frame("a", "2"), "\x1b]2;")
	if got := frame("b", "3"); !strings.HasSuffix(got, "\x1b]2;b\a") || strings.Contains(got, "\x1b[22;0t") {
		t.Errorf("another title: %q", got)
	}
	out.Reset()
	assert.Equal(t, assert.Must(d.Write([]byte(leaveScreen)))(t), len(leaveScreen), "bytes written")
	if got := out.String(); !strings.HasPrefix(got, "\x1b[23;0t") {
		t.Errorf("at the end %q", got)
	}
	for term, want := range map[string]bool{"xterm-256color": true, "screen": true, "linux": false, "dumb": false,
		"": false} {
		assert.Equal(t, titled(func(string) string { return term }), want, "TERM=%s", term)
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		vars map[string]string
		want bool
	}{
		{map[string]string{}, false},
		{map[string]string{"LANG": "en_US.UTF-8"}, false},
		{map[string]string{"LANG": "C.utf8"}, false},
		{map[string]string{"LANG": "de_DE.UTF-8@euro"}, false},
		{map[string]string{"LC_CTYPE": "UTF-8"}, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "POSIX"}, true},
		{map[string]string{"LANG": "de_DE"}, true},
		{map[string]string{"LANG": "de_DE@euro"}, true},
		{map[string]string{"LANG": "en_US.ISO-8859-1"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LC_ALL": "", "LC_CTYPE": "C.UTF-8", "LANG": "C"}, false},
		{map[string]string{"LC_CTYPE": "C", "LANG": "en_US.UTF-8"}, true},
		{map[string]string{"TERM": "linux", "LANG": "en_US.UTF-8"}, true},
	} {
		assert.Equal(t, Plain(func(name string) string { return c.vars[name] }), c.want, "%v", c.vars)
	}
}
