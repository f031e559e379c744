package term

import "time"

// Limiter keeps the bytes that go to the terminal within a limit, by drawing charts less often. Where the last five
// seconds were above the limit, charts are drawn half as often, and half as often again; where they were below half of
// it, twice as often again, up to the usual rate. Frames that answer single keys are left out of the sum: no chart
// causes them.
type Limiter struct {
	// Bandwidth is the limit in bytes a second; 0 is one that suits the size of the screen.
	Bandwidth int

	limit  float64 // bytes a second
	every  time.Duration
	last   int64   // bytes at the last tick
	sent   []int64 // bytes of each tick since the rate last changed, at most five seconds of them
	factor int     // 1, 2, 4 or 8: how many times less often charts are drawn
	keys   int     // pressed since the last tick
	late   bool    // some were before it, and the frame that answers them may be of this tick
}

const (
	limitedOver = 5 * time.Second
	factorsMost = 8
	heldKeys    = 8 // keys a second that only a key held down makes
)

// NewLimiter returns a limiter of a screen that ticks so often. The limit holds from the first Resize on.
func NewLimiter(bandwidth int, every time.Duration) Limiter {
	return Limiter{Bandwidth: bandwidth, every: max(every, time.Millisecond), factor: 1}
}

// Resize sets the limit for a size of the screen.
func (l *Limiter) Resize(w, h int) {
	if l.limit = float64(l.Bandwidth); l.Bandwidth <= 0 {
		l.limit = float64(bandwidth(w, h))
	}
}

// Factor is how many times less often than usual charts are to be drawn: 1, 2, 4 or 8.
func (l *Limiter) Factor() int { return l.factor }

// Key counts a key that was pressed.
func (l *Limiter) Key() { l.keys++ }

// Skip leaves out everything that was sent until now.
func (l *Limiter) Skip(total int64) { l.last = total }

// Tick takes the number of bytes sent so far and reports whether the factor changed.
func (l *Limiter) Tick(total int64) bool {
	sent := total - l.last
	l.last = total
	if l.answers() {
		return false
	}
	l.sent = append(l.sent, sent)
	n := max(1, int(limitedOver/l.every))
	if len(l.sent) < n {
		return false
	}
	l.sent = l.sent[len(l.sent)-n:]
	sum := 0.0
	for _, b := range l.sent {
		sum += float64(b)
	}
	rate := sum / (time.Duration(n) * l.every).Seconds()
	before := l.factor
	switch {
	case rate > l.limit && l.factor < factorsMost:
		l.factor *= 2
	case rate < l.limit/2 && l.factor > 1:
		l.factor /= 2
	}
	if l.factor == before {
		return false
	}
	l.sent = l.sent[:0] // bytes from here on are of the new rate
	return true
}

// answers reports whether the bytes since the last tick answer single keys.
func (l *Limiter) answers() bool {
	single := l.keys > 0 && float64(l.keys) <= max(1, heldKeys*l.every.Seconds())
	out := single || l.keys == 0 && l.late
	l.keys, l.late = 0, single
	return out
}

// Sign says how often charts are drawn, "" if as usual.
func (l *Limiter) Sign(ascii bool) string {
	signs := map[int]string{2: "½ charts", 4: "¼ charts", 8: "⅛ charts"}
	if ascii {
		signs = map[int]string{2: "1/2 charts", 4: "1/4 charts", 8: "1/8 charts"}
	}
	return signs[l.factor]
}

// bandwidth is how many bytes a second a screen of a size may take: 20 KB at 120×40 and below, 50 KB at 200×50, between
// and beyond by area.
func bandwidth(w, h int) int {
	const small, smallRate, large, largeRate = 120 * 40, 20_000, 200 * 50, 50_000
	return smallRate + max(0, w*h-small)*(largeRate-smallRate)/(large-small)
}
