package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// terminal is a pseudo-terminal with a program on it. After an error its methods do nothing.
type terminal struct {
	command  *exec.Cmd
	master   *os.File // the user's side of the terminal
	resizing func(size) error
	began    time.Time
	total    atomic.Int64  // bytes shown so far
	read     chan struct{} // closed at the end of the output
	err      error         // the first

	mu    sync.Mutex // guards the fields below
	shown []byte     // since the last takeOutput or expect
	words []byte     // expected, nil for none
	seen  chan time.Time
}

// size of a terminal in columns and rows.
type size struct{ w, h int }

func (s size) String() string { return fmt.Sprintf("%d×%d", s.w, s.h) }

// startOnTerminal starts a program on a terminal that shows 16 million colours and answers no queries.
func startOnTerminal(c *exec.Cmd, s size) (*terminal, error) {
	master, slave, resize, err := openTerminal(s)
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	ownTerminal(c)
	c.Env = append(plainEnvironment(c.Environ()), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8")
	v := &terminal{command: c, master: master, resizing: resize, began: time.Now(), read: make(chan struct{})}
	if err := c.Start(); err != nil {
		master.Close()
		return nil, err
	}
	go v.listen()
	return v, nil
}

// plainEnvironment is env without the variables that change the appearance of a dashboard.
func plainEnvironment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains([]string{"CI", "TERM", "TMUX", "NO_COLOR", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE"},
			name)
	})
}

// listen reads until the terminal is closed.
func (v *terminal) listen() {
	defer close(v.read)
	b := make([]byte, 64<<10)
	for {
		n, err := v.master.Read(b)
		at := time.Now()
		v.total.Add(int64(n))
		v.mu.Lock()
		v.shown = append(v.shown, b[:n]...)
		if v.words != nil && bytes.Contains(v.shown, v.words) {
			v.words = nil
			v.seen <- at
		}
		v.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// takeOutput returns the output since the last time, and forgets it.
func (v *terminal) takeOutput() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.shown
	v.shown = nil
	return before
}

// expect sets the words to await in the output from now on.
func (v *terminal) expect(words string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown, v.words, v.seen = nil, []byte(words), make(chan time.Time, 1)
}

// press types keys and returns the time before that.
func (v *terminal) press(keys string) time.Time {
	at := time.Now()
	if v.err == nil {
		_, v.err = v.master.WriteString(keys)
	}
	return at
}

// pressAndAwait types keys, waits for words in the output and returns the times of both.
func (v *terminal) pressAndAwait(ctx context.Context, keys, words string) (pressed, shown time.Time) {
	v.expect(words)
	pressed = v.press(keys)
	return pressed, v.await(ctx)
}

// pause waits for a time.
func (v *terminal) pause(ctx context.Context, d time.Duration) {
	if v.err == nil {
		v.err = pause(ctx, d)
	}
}

// resize changes the size of the terminal.
func (v *terminal) resize(s size) {
	if v.err == nil {
		v.err = v.resizing(s)
	}
}

// awaitMost is the longest time to wait for words.
const awaitMost = time.Minute

// await waits for the expected words in the output and returns their time.
func (v *terminal) await(ctx context.Context) time.Time {
	if v.err != nil {
		return time.Time{}
	}
	v.mu.Lock()
	words, seen := v.words, v.seen
	v.mu.Unlock()
	why := "the program ended before it was shown"
	select {
	case at := <-seen:
		return at
	case <-ctx.Done():
		v.err = ctx.Err()
		return time.Time{}
	case <-time.After(awaitMost):
		why = fmt.Sprintf("not shown within %s", awaitMost)
	case <-v.read:
		select {
		case at := <-seen:
			return at
		default:
		}
	}
	v.err = fmt.Errorf("%q: %s; the last there is: %.300q", words, why, lastOf(v.takeOutput()))
	return time.Time{}
}

// wait waits for the program to end by itself and for the end of its output.
func (v *terminal) wait() error {
	err := v.command.Wait()
	select {
	case <-v.read:
	case <-time.After(time.Second): // another process still has the terminal
	}
	v.master.Close()
	<-v.read
	return err
}

// end ends the program.
func (v *terminal) end() {
	_ = v.command.Process.Kill()
	_ = v.wait()
}
