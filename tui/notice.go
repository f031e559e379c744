package tui

import (
	"time"

	"benchtop/tui/screen"
)

// notice is a few words on the bottom line that go by themselves.
type notice struct {
	text  string
	ticks int // of the header, until they go
}

// noticed is how long a notice stays.
const noticed = 4 * time.Second

// say shows words; they may come from outside.
func (m *model) say(words string) {
	if words = screen.Sanitize(words); words != "" {
		m.notice = notice{words, int((noticed + m.headerEvery - 1) / m.headerEvery)}
	}
}

// age counts a tick, and says whether the notice is gone with it.
func (n *notice) age() bool {
	if n.ticks == 0 {
		return false
	}
	if n.ticks--; n.ticks == 0 {
		n.text = ""
	}
	return n.ticks == 0
}
