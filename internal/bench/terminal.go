package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// viewer is a program on a terminal of its own, and somebody who reads all it shows.
type viewer struct {
	command *exec.Cmd
	master  *os.File // the user's side of the terminal
	began   time.Time
	total   atomic.Int64  // bytes shown so far
	read    chan struct{} // closed when nothing more can come

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
	master, slave, err := openTerminal(s)
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	ownTerminal(c)
	c.Env = append(plainEnvironment(c.Environ()), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8")
	v := &viewer{command: c, master: master, began: time.Now(), read: make(chan struct{})}
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

// sightMost is how long a viewer waits for words.
const sightMost = time.Minute

// sight waits until the expected words are shown and returns when that was.
func (v *viewer) sight(ctx context.Context) (time.Time, error) {
	giveUp := time.NewTimer(sightMost)
	defer giveUp.Stop()
	v.mu.Lock()
	words, seen := v.words, v.seen
	v.mu.Unlock()
	var why error
	select {
	case at := <-seen:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case <-giveUp.C:
		why = fmt.Errorf("not shown within %s", sightMost)
	case <-v.read:
		select {
		case at := <-seen:
			return at, nil
		default:
			why = errors.New("the program ended before it was shown")
		}
	}
	shown := v.hear()
	return time.Time{}, fmt.Errorf("%q: %w; the last there is: %.300q", words, why, shown[max(0, len(shown)-300):])
}

// press types keys and returns when that began.
func (v *viewer) press(keys string) (time.Time, error) {
	at := time.Now()
	_, err := v.master.WriteString(keys)
	return at, err
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
