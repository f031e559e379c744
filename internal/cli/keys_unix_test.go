//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/files"
	"benchtop/internal/session"
)

// Keys that reach the run, on the real program: what they are for can be seen. What a key does on the screen alone is
// tested in tui.
func TestKeys(t *testing.T) {
	t.Parallel()
	x := open(t, 120, 40, `"$BENCHTOP" demo --duration 10m --record run.cast`)
	x.wait("RUN")
	someDone(t, x.dir)
	recorded := func() string {
		shown := assert.Must(os.ReadFile(filepath.Join(x.dir, "run.cast")))(t)
		return string(shown)
	}
	for _, c := range []struct {
		keys []string
		want string
		gone string // what must not be there any more; may be empty
	}{
		// Single requests.
		{[]string{"5"}, " demo-1", ""},
		{[]string{"Enter"}, "chunks · ITL", ""},
		{[]string{"Escape"}, "Enter open", "chunks · ITL"}, // a key right behind Esc would be Alt and that key
		// Live control of the load.
		{[]string{"1", "c"}, "CONTROL", ""},
		{[]string{"i"}, "Load in req/s", ""},
		{[]string{"7", "Enter"}, "7 req/s", ""},
		{[]string{"+"}, "8 req/s", ""},
		{[]string{"P"}, "PAUSED", ""},
		{[]string{"P"}, "CONTROL", "PAUSED"},
		{[]string{"R"}, "Ramp in req/s", ""},
		{[]string{"9", "Space", "i", "n", "Space", "2", "s", "Enter"}, "y start", ""},
		{[]string{"y"}, "9 req/s", ""},
		{[]string{"o"}, "Objectives", ""},
		{[]string{"C-u", "t", "t", "f", "t", ":", "1", "2", "3", "Enter"}, "123ms", ""},
		{[]string{"s"}, "saving an interim result", ""},
		{[]string{"6"}, "interim result saved to", ""},
		{[]string{"q"}, "DONE", ""},
		{[]string{"7"}, "Serving Benchmark Result", ""},
		// A run that is over can still be looked at.
		{[]string{"5"}, "newest first", ""}, // the title of the list once its rows came; the report names the demo too
		{[]string{"Enter"}, "chunks · ITL", ""},
	} {
		before := len(recorded())
		x.press(c.keys...)
		if !eventually(func() bool {
			s := x.screen()
			if c.gone != "" {
				return strings.Contains(s, c.want) && !strings.Contains(s, c.gone)
			}
			// A notice goes after seconds, which is before a busy machine looks; the recording has it still.
			return strings.Contains(s, c.want) || strings.Contains(recorded()[before:], c.want)
		}) {
			t.Fatalf("after %q: want %q and not %q on\n%s", c.keys, c.want, c.gone, x.screen())
		}
	}
	x.press("q")
	assert.Equal(t, x.ended(), session.ExitFine, "exit code")
	assert.Has(t, x.history(), "Load: changed ")
	if early, _ := filepath.Glob(filepath.Join(x.dir, "benchtop-results", "*"+files.SoFar+".json")); len(early) != 1 {
		t.Errorf("results so far: %v", early)
	}
}

// A second terminal joins the run, and has the control once the first one is lost.
func TestAttach(t *testing.T) {
	t.Parallel()
	dir := assert.Must(os.MkdirTemp("", "bt"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	x := open(t, 100, 30, `XDG_RUNTIME_DIR=`+dir+` TMPDIR=`+dir+` "$BENCHTOP" demo --duration 10m --on-hangup continue`)
	x.wait("RUN")
	pid := x.pid()
	look := `XDG_RUNTIME_DIR=` + dir + ` TMPDIR=` + dir + ` "$BENCHTOP" attach`
	y := open(t, 120, 40, look)
	y.wait("read only")
	y.press("c")
	y.wait("read only")
	y.press("q")
	assert.Equal(t, y.ended(), session.ExitFine, "leaving an attached screen: exit code")
	x.wait("RUN")

	x.tmux("kill-server")
	z := open(t, 120, 40, look+" "+strconv.Itoa(pid))
	z.wait("attached  ● RUN") // no longer read only: the run knows that its terminal is lost
	z.press("c")
	z.wait("CONTROL")
	z.press("i", "5", "Enter")
	z.wait("5 req/s")
	z.press("q", "q")
	z.wait("7 report")
	z.press("q")
	assert.Equal(t, z.ended(), session.ExitFine, "exit code")
	gone(t, pid)
}
