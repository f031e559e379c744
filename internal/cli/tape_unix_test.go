//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// tape is what demo.tape says, as far as it is written in the commands that are known here.
type tape struct {
	width, height int // pixels
	steps         []step
}

// step is one command: text to type, a key to press or time to let pass.
type step struct {
	line  int
	text  string
	key   string // tmux's name
	pause time.Duration
}

var tapeKeys = map[string]string{"Enter": "Enter", "Escape": "Escape", "Space": "Space"}

func readTape(t *testing.T, path string) (p tape) {
	t.Helper()
	data := assert.Must(os.ReadFile(path))(t)
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		command, rest, _ := strings.Cut(line, " ")
		s := step{line: i + 1, key: tapeKeys[command]}
		var err error
		switch {
		case s.key != "" && rest == "":
		case command == "Type":
			if s.text = strings.Trim(rest, `"`); s.text == "" || rest != `"`+s.text+`"` {
				err = errors.New("want one text in double quotes")
			}
		case command == "Sleep":
			s.pause, err = time.ParseDuration(rest)
		case command == "Set":
			err = p.set(rest)
		case command == "Output" && rest == "demo.gif", command == "Require" && rest == "benchtop":
		default:
			err = errors.New("unknown command")
		}
		if err != nil {
			t.Fatalf("%s:%d: %s: %v", path, i+1, line, err)
		}
		if command != "Set" && command != "Output" && command != "Require" {
			p.steps = append(p.steps, s)
		}
	}
	if len(p.steps) == 0 {
		t.Fatalf("%s does nothing", path)
	}
	return p
}

// set takes the settings that say how large the terminal is, and those that matter only to a picture.
func (p *tape) set(setting string) (err error) {
	name, value, _ := strings.Cut(setting, " ")
	switch name {
	case "Width":
		p.width, err = strconv.Atoi(value)
	case "Height":
		p.height, err = strconv.Atoi(value)
	case "FontSize", "Padding":
		// The size of a cell, and so the number of columns and rows, is that of these two.
		if setting != "FontSize 14" && setting != "Padding 0" {
			err = errors.New("want FontSize 14 and Padding 0")
		}
	case "Shell", "FontFamily", "Framerate":
	default:
		err = errors.New("unknown setting")
	}
	return err
}

// The tape of the README's moving picture does what it did when it was recorded: every key works, nothing on the screen
// goes wrong, and it ends with the report. A pause is as long as it takes until what the key was pressed for is there.
func TestTape(t *testing.T) {
	t.Parallel()
	p := readTape(t, "../../demo.tape")
	cols, rows := int(float64(p.width)/8.43), p.height/17
	if cols != 120 || rows != 40 {
		t.Errorf("%d x %d pixels are %d columns and %d rows, want 120 and 40", p.width, p.height, cols, rows)
	}

	bin := t.TempDir()
	assert.Fine(t, os.Symlink(program(t), filepath.Join(bin, "benchtop")))
	x := open(t, cols, rows, fmt.Sprintf(`PATH=%s:$PATH PS1='$ ' ENV= sh -i`, shellQuote(bin)))
	x.wait("$")

	// The word that shows that a key had its effect, in the order of the tape.
	expected := []struct{ key, shows string }{
		{"benchtop demo --duration 30s", "$ benchtop demo"}, {"Enter", "● RUN"},
		{"4", "[4 Server]"}, {"1", "╭─ ✓ DONE"}, {"q", "result saved to"},
	}
	for _, now := range p.steps {
		if now.pause > 0 {
			continue
		}
		if len(expected) == 0 || expected[0].key != now.text+now.key {
			t.Fatalf("demo.tape:%d: %q, while %v is what is left of what it is to do", now.line, now.text+now.key,
				expected)
		}
		if now.key != "" {
			x.press(now.key)
		}
		for _, r := range strings.Replace(now.text, "30s", "3s", 1) { // which is long enough for its keys
			x.tmux("send-keys", "-l", "--", string(r))
		}
		x.wait(expected[0].shows)
		expected = expected[1:]
		if screen := x.screen(); regexp.MustCompile(`chart error|display error|panic`).MatchString(screen) {
			t.Fatalf("demo.tape:%d: something went wrong on\n%s", now.line, screen)
		}
	}
	if len(expected) > 0 {
		t.Errorf("the tape did not press %v", expected)
	}

	// The shell is back, with the report above it.
	x.press("exit", "Enter")
	assert.Equal(t, x.ended(), session.ExitFine, "exit code")
	s, files := readSaved(t, x.dir)
	if s.Completed == 0 || len(files) == 0 {
		t.Fatalf("%d requests were completed, files: %v", s.Completed, files)
	}
	shown := x.history()
	assert.Has(t, shown,
		"============ Serving Benchmark Result ============",
		"result saved to "+strings.TrimPrefix(files[0], x.dir+"/"))
}
