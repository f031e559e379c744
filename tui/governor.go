package tui

import "time"

// governor keeps what goes to the terminal within a limit. Where the last five seconds were above it, the charts are drawn
// half as often, and half as often again; where they were below half of it, twice as often again, up to the usual rate. What a
// key draws anew is no chart's fault: the ticks in which it goes out are left out, unless the key is held down.
type governor struct {
	limit  float64 // bytes a second
	every  time.Duration
	last   int64   // bytes at the last tick
	sent   []int64 // bytes of each tick since the rate last changed, at most five seconds of them
	factor int     // 1, 2, 4 or 8: how many times less often charts are drawn
	keys   int     // pressed since the last tick
	late   bool    // some were before it, and the frame that answers them may be of this tick
}

const (
	governed    = 5 * time.Second
	factorsMost = 8
	heldKeys    = 8 // a second: nobody presses a key so often who does not hold it down
)

func newGovernor(limit int, every time.Duration) governor {
	return governor{limit: float64(limit), every: max(every, time.Millisecond), factor: 1}
}

// tick takes the number of bytes sent so far and says whether the rate changed.
func (g *governor) tick(total int64) bool {
	sent := total - g.last
	g.last = total
	if g.answers() {
		return false
	}
	g.sent = append(g.sent, sent)
	n := max(1, int(governed/g.every))
	if len(g.sent) < n {
		return false
	}
	g.sent = g.sent[len(g.sent)-n:]
	sum := 0.0
	for _, b := range g.sent {
		sum += float64(b)
	}
	rate := sum / (time.Duration(n) * g.every).Seconds()
	before := g.factor
	switch {
	case rate > g.limit && g.factor < factorsMost:
		g.factor *= 2
	case rate < g.limit/2 && g.factor > 1:
		g.factor /= 2
	}
	if g.factor == before {
		return false
	}
	g.sent = g.sent[:0] // what comes now is of the new rate
	return true
}

// answers says whether what was sent since the last tick answers single keys.
func (g *governor) answers() bool {
	single := g.keys > 0 && float64(g.keys) <= max(1, heldKeys*g.every.Seconds())
	out := single || g.keys == 0 && g.late
	g.keys, g.late = 0, single
	return out
}

// sign says how often charts are drawn, "" if as usual.
func (g *governor) sign(ascii bool) string {
	signs := map[int]string{2: "½ charts", 4: "¼ charts", 8: "⅛ charts"}
	if ascii {
		signs = map[int]string{2: "1/2 charts", 4: "1/4 charts", 8: "1/8 charts"}
	}
	return signs[g.factor]
}

// bandwidth is how many bytes a second a screen of a size may take, where the user did not say: 20 KB at 120×40 and below,
// 50 KB at 200×50, between and beyond by area.
func bandwidth(w, h int) int {
	const small, smallRate, large, largeRate = 120 * 40, 20_000, 200 * 50, 50_000
	return smallRate + max(0, w*h-small)*(largeRate-smallRate)/(large-small)
}
