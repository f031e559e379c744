package tui

import (
	"testing"

	"github.com/muesli/termenv"
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
		// What the user told the program beats everything.
		{"none", map[string]string{"TERM": "xterm-kitty", "CLICOLOR_FORCE": "1"}, none},
		{"16", map[string]string{"TERM": "xterm-kitty"}, few},
		{"256", map[string]string{"NO_COLOR": "1"}, many},
		{"true", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, all},
		{"auto", map[string]string{"TERM": "xterm-256color"}, many},
	} {
		if got := profile(c.choice, env(c.vars)); got != c.want {
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
	if err := CheckColor("8"); err == nil || err.Error() != `"8" is no number of colours; use auto, none, 16, 256 or true` {
		t.Errorf("8: %v", err)
	}
}

func TestPlainTerminal(t *testing.T) {
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
		if got := PlainTerminal(env(c.vars)); got != c.want {
			t.Errorf("%v: %v, want %v", c.vars, got, c.want)
		}
	}
}

// Bold text in colour is drawn in a bright colour by many terminals of 16, and bright yellow cannot be read on white.
func TestFewColoursAreNotBold(t *testing.T) {
	sf := newSurface(6, 1)
	sf.all().print(0, 0, "ab", style{fg: orange, attr: bold})
	sf.all().print(2, 0, "cd", strong)
	sf.all().print(4, 0, "ef", label)
	if got, want := sf.render(newPalette(termenv.ANSI)), "\x1b[33mab\x1b[0;1mcd\x1b[mef"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
