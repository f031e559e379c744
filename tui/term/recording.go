package term

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// recording writes everything that goes to the terminal as an asciicast, version 2, which asciinema and others play: a
// line with the size, then one for each piece.
//
//	{"version":2,"width":120,"height":40,"timestamp":1795264380}
//	[0,"o","\u001b[H\u001b[2J"]
//	[7.220015,"r","80x24"]
//
// A recording ends when its writer fails; the screen does not. A nil recording does nothing.
type recording struct {
	to      io.Writer
	since   func() time.Duration // since the beginning
	w, h    int
	split   []byte // the beginning of a letter without its end
	stopped bool
}

func newRecording(to io.Writer, w, h int, began time.Time, since func() time.Duration) *recording {
	r := &recording{to: to, since: since, w: w, h: h}
	r.line(struct {
		Version   int   `json:"version"`
		Width     int   `json:"width"`
		Height    int   `json:"height"`
		Timestamp int64 `json:"timestamp"`
	}{2, w, h, began.Unix()})
	if !r.stopped {
		// Bubble Tea switches to an empty alternate screen; a player has to clear its screen.
		r.line([]any{0, "o", "\x1b[H\x1b[2J"})
	}
	return r
}

// output records a piece. A letter cut in two goes with the second half.
func (r *recording) output(b []byte) {
	if r == nil || r.stopped {
		return
	}
	b = append(r.split, b...)
	n := len(b) - cutLetter(b)
	r.split = bytes.Clone(b[n:])
	if n > 0 {
		r.event("o", string(b[:n]))
	}
}

// cutLetter is how many bytes at the end of b begin a letter without ending it.
func cutLetter(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (r *recording) resize(w, h int) {
	if r == nil || r.stopped || w == r.w && h == r.h || w <= 0 || h <= 0 {
		return
	}
	r.w, r.h = w, h
	r.event("r", strconv.Itoa(w)+"x"+strconv.Itoa(h))
}

func (r *recording) event(kind, data string) {
	at := strconv.FormatFloat(r.since().Seconds(), 'f', 6, 64)
	r.line([]any{json.RawMessage(at), kind, data})
}

func (r *recording) line(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = r.to.Write(b.Bytes())
	}
	r.stopped = err != nil
}
