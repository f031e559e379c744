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

// viewer is a program on a terminal of its own, and somebody who reads all it shows. After an error it does nothing more.
type viewer struct {
	command  *exec.Cmd
	master   *os.File // the user's side of the terminal
	resizing func(size) error
	began    time.Time
	total    atomic.Int64  // bytes shown so far
	read     chan struct{} // closed when nothing more can come
	err      error         // the first

	mu    sync.Mutex // guards everything below
	shown []byte     // since somebody began to listen
	words []byte     // waited for, nil for none
	seen  chan time.Time
}

// size of a terminal in columns and rows.
type size struct{ w, h int }

func (s size) String() string { return fmt.Sprintf("%d×%d", s.w, s.h) }

// view starts a program on a terminal that shows 16 million colours and never answers a question.
func view(c *exec.Cmd, s size) (*viewer, error) {
	master, slave, resize, err := openTerminal(s)
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	ownTerminal(c)
	c.Env = append(plainEnvironment(c.Environ()), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8")
	v := &viewer{command: c, master: master, resizing: resize, began: time.Now(), read: make(chan struct{})}
	if err := c.Start(); err != nil {
		master.Close()
		return nil, err
	}
	go v.listen()
	return v, nil
}

// plainEnvironment is env without what would change how a dashboard looks or where it keeps things.
func plainEnvironment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains([]string{"CI", "TERM", "TMUX", "NO_COLOR", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE"}, name)
	})
}

// listen reads until the terminal is gone.
func (v *viewer) listen() {
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

// hear begins to listen anew and returns what was shown since the last time.
func (v *viewer) hear() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.shown
	v.shown = nil
	return before
}

// expect says which words to look out for in what comes from now on.
func (v *viewer) expect(words string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown, v.words, v.seen = nil, []byte(words), make(chan time.Time, 1)
}

// press types keys and returns when that began.
func (v *viewer) press(keys string) time.Time {
	at := time.Now()
	if v.err == nil {
		_, v.err = v.master.WriteString(keys)
	}
	return at
}

// turn types keys, waits until words are shown and returns when both was.
func (v *viewer) turn(ctx context.Context, keys, words string) (pressed, shown time.Time) {
	v.expect(words)
	pressed = v.press(keys)
	return pressed, v.sight(ctx)
}

// pause waits.
func (v *viewer) pause(ctx context.Context, d time.Duration) {
	if v.err == nil {
		v.err = pause(ctx, d)
	}
}

// resize changes the size of the terminal.
func (v *viewer) resize(s size) {
	if v.err == nil {
		v.err = v.resizing(s)
	}
}

// sightMost is how long a viewer waits for words.
const sightMost = time.Minute

// sight waits until the expected words are shown and returns when that was.
func (v *viewer) sight(ctx context.Context) time.Time {
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
	case <-time.After(sightMost):
		why = fmt.Sprintf("not shown within %s", sightMost)
	case <-v.read:
		select {
		case at := <-seen:
			return at
		default:
		}
	}
	v.err = fmt.Errorf("%q: %s; the last there is: %.300q", words, why, lastOf(v.hear()))
	return time.Time{}
}

// wait waits for the program to end by itself and for all it showed.
func (v *viewer) wait() error {
	err := v.command.Wait()
	select {
	case <-v.read:
	case <-time.After(time.Second): // somebody else still has the terminal
	}
	v.master.Close()
	<-v.read
	return err
}

// end ends the program.
func (v *viewer) end() {
	_ = v.command.Process.Kill()
	_ = v.wait()
}
