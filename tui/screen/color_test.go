package screen

import (
	"testing"

	"github.com/muesli/termenv"

	"benchtop/internal/assert"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestProfile(t *testing.T) {
	const none, few, many, all = termenv.Ascii, termenv.ANSI, termenv.ANSI256, termenv.TrueColor
	for _, c := range []struct {
		choice string
		vars   map[string]string
		want   termenv.Profile
	}{
		{"", map[string]string{"TERM": "xterm-256color"}, many},
		{"", map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, all},
		{"", map[string]string{"TERM": "screen-256color", "COLORTERM": "truecolor"}, many},
		{"", map[string]string{"TERM": "xterm-kitty"}, all},
		{"", map[string]string{"TERM": "xterm"}, few},
		{"", map[string]string{"TERM": "linux"}, few},
		{"", map[string]string{"TERM": "screen"}, few},
		{"", map[string]string{"TERM": "tmux"}, few},
		{"", map[string]string{"TERM": "vt100"}, none},
		{"", map[string]string{"TERM": "dumb"}, none},
		{"", map[string]string{"TERM": "dumb", "COLORTERM": "truecolor"}, none},
		// In CI a terminal is still a terminal.
		{"", map[string]string{"TERM": "xterm-256color", "CI": "true"}, many},
		{"", map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1", "COLORTERM": "truecolor"}, none},
		{"", map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, none},
		{"", map[string]string{"TERM": "xterm-256color", "NO_COLOR": ""}, many},
		{"", map[string]string{"TERM": "xterm-256color", "CLICOLOR": "0"}, none},
		{"", map[string]string{"TERM": "xterm-256color", "CLICOLOR": "0", "CLICOLOR_FORCE": "1"}, many},
		{"", map[string]string{"TERM": "dumb", "CLICOLOR_FORCE": "1"}, few},
		{"", map[string]string{"TERM": "xterm-256color", "CLICOLOR": "1"}, many},
		// The flag comes before everything else.
		{"none", map[string]string{"TERM": "xterm-kitty", "CLICOLOR_FORCE": "1"}, none},
		{"16", map[string]string{"TERM": "xterm-kitty"}, few},
		{"256", map[string]string{"NO_COLOR": "1"}, many},
		{"true", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, all},
		{"auto", map[string]string{"TERM": "xterm-256color"}, many},
	} {
		if got := ColorProfile(c.choice, env(c.vars)); got != c.want {
			t.Errorf("%q with %v: %s, want %s", c.choice, c.vars, got.Name(), c.want.Name())
		}
	}
}

func TestCheckColor(t *testing.T) {
	for _, name := range []string{"", "auto", "none", "16", "256", "true"} {
		if err := CheckColor(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := CheckColor("8"); err == nil ||
		err.Error() != `"8" is not a number of colours; use auto, none, 16, 256 or true` {
		t.Errorf("8: %v", err)
	}
}

// Bold text in colour is drawn in a bright colour by many terminals of 16, and bright yellow cannot be read on white.
func TestFewColoursAreNotBold(t *testing.T) {
	sf := NewSurface(6, 1)
	sf.All().Print(0, 0, "ab", Style{Fg: Waiting, Bold: true})
	sf.All().Print(2, 0, "cd", Strong)
	sf.All().Print(4, 0, "ef", Label)
	assert.Equal(t, sf.Render(NewPalette(termenv.ANSI)), "\x1b[33mab\x1b[0;1mcd\x1b[mef", "Render")
}
