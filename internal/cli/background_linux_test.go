package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// screenOf collects what a program writes to a pseudo-terminal. tmux is of no use where SIGTTOU matters: what runs in
// it ignores it.
type screenOf struct {
	mu  sync.Mutex // guards all
	all []byte
}

// read reads what is written, and tells the colour of the background when it is asked for, as most terminals do.
func (s *screenOf) read(master *os.File) {
	b := make([]byte, 1<<12)
	for {
		n, err := master.Read(b)
		if bytes.Contains(b[:n], []byte("\x1b]11;?")) {
			_, _ = master.WriteString("\x1b]11;rgb:0000/0000/0000\x1b\\")
		}
		s.mu.Lock()
		s.all = append(s.all, b[:n]...)
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait waits for text that was written at once, or that stands on the screen: a dashboard writes the cells that change,
// so that text may come in pieces.
func (s *screenOf) wait(t *testing.T, text string) {
	t.Helper()
	if !eventually(func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return bytes.Contains(s.all, []byte(text)) || strings.Contains(shownBy(s.all), text)
	}) {
		t.Fatalf("%q did not come; the screen is\n%s", text, shownBy(s.all))
	}
}

// shownBy is the screen of 120 by 40 that output leaves, as far as a dashboard moves the cursor.
func shownBy(output []byte) string {
	cells := slices.Repeat([]string{" "}, 40*121) // a line ends in a cell of its own
	parser := ansi.NewParser()
	row, column, state := 0, 0, byte(0)
	for len(output) > 0 {
		seq, width, n, next := ansi.DecodeSequence(output, state, parser)
		switch {
		case width > 0 && row < 40 && column < 120:
			cells[row*121+column] = string(seq)
			column += width
		case string(seq) == "\r":
			column = 0
		case string(seq) == "\n":
			row++
		case ansi.HasCsiPrefix(seq):
			first, _ := parser.Param(0, 1)
			second, _ := parser.Param(1, 1)
			from, end := row*121+column, row*121+120
			switch parser.Command() {
			case 'H':
				row, column = max(first, 1)-1, max(second, 1)-1
			case 'C':
				column += max(first, 1)
			case 'J':
				end = len(cells)
				fallthrough
			case 'K':
				for ; from < min(end, len(cells)); from++ {
					cells[from] = " "
				}
			}
		}
		output, state = output[n:], next
	}
	for i := range 40 {
		cells[i*121+120] = "\n"
	}
	return strings.Join(cells, "")
}

// The screen is read though only cells that differ are written.
func TestShownBy(t *testing.T) {
	shown := shownBy([]byte("\x1b[2;1H9 u\x1b[1m\x1b[2;4Hsers gone\x1b[2;8H\x1b[K\x1b[2;1H8\x1b[0m" +
		"\r\né\x1b[3Cn\r\nx gone\x1b[4;2H\x1b[J"))
	assert.Has(t, shown, "8 users   ", "\né   n  ", "\nx  ")
}

// pseudoTerminal opens a pseudo-terminal of 120 by 40.
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	assert.Fine(t, err)
	master = os.NewFile(uintptr(fd), "ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	assert.Fine(t, err)
	assert.Fine(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	assert.Fine(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// A dashboard that the shell has put into the background is not stopped by its way out: it saves, restores the terminal
// and ends.
func TestSIGTERMInTheBackground(t *testing.T) {
	t.Parallel()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTTOU) // so that no program started here ignores it
	master, slave := pseudoTerminal(t)
	defer master.Close()
	shell := exec.Command("sh", "-c", `set -m; "$BENCHTOP" demo --duration 10m; bg; wait %1; echo "ended with $?."`)
	shell.Dir = t.TempDir()
	shell.Stdin, shell.Stdout, shell.Stderr = slave, slave, slave
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	shell.Env = append(os.Environ(), "BENCHTOP="+program(t), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "CI=")
	assert.Fine(t, shell.Start())
	slave.Close()
	var seen screenOf
	go seen.read(master)
	seen.wait(t, "RUN")
	pid := childOf(t, strconv.Itoa(shell.Process.Pid), "benchtop")
	defer func() {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		_ = shell.Process.Kill()
		_ = shell.Wait()
	}()
	someDone(t, shell.Dir)
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	if !eventually(func() bool { // the shell has taken the terminal, and let it go on
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		return err == nil && !strings.HasPrefix(string(state), "T") && !strings.Contains(string(state), "+")
	}) {
		t.Fatal("the program is not in the background")
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
	seen.wait(t, fmt.Sprintf("ended with %d.", session.ExitTerminated))
	if s, _ := readSaved(t, shell.Dir); s.Benchtop.Interrupted == nil || s.Benchtop.Interrupted.Reason != "SIGTERM" ||
		s.Completed == 0 {
		t.Errorf("completed %d, interrupted %+v", s.Completed, s.Benchtop.Interrupted)
	}
}
