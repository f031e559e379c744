package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/mattn/go-isatty"

	"benchtop/export"
	"benchtop/internal/spec"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/tui"
	"benchtop/tui/term"
)

// DashboardOptions are those of the dashboard.
func DashboardOptions(o *spec.Screen, snapshots <-chan metrics.Snapshot, control tui.Control) tui.Options {
	return tui.Options{
		Snapshots: snapshots, Control: control, Exit: o.Exit, Color: o.Color, Theme: o.Theme, Mouse: o.Mouse,
		Quiet:     o.Quiet,
		Bandwidth: 1000 * o.Bandwidth, Report: reportPage,
		ASCII: o.Ascii || term.Plain(os.Getenv),
	}
}

// OnTerminal runs show on the terminal until it returns or a signal ends it. left is that signal, SIGHUP for the loss
// of the terminal, which is no error; nil for none.
func OnTerminal(show func(context.Context) error) (left os.Signal, err error) {
	signals := WatchSignals()
	defer signal.Stop(signals)
	ctx, stop := UntilSignal(signals, false)
	err = show(ctx)
	switch sig, _ := stop(); {
	case sig != nil:
		return sig, nil
	case errors.Is(err, tui.ErrTerminal):
		return syscall.SIGHUP, nil
	}
	return nil, err
}

// reportPage is the report as a page of the dashboard. The answer, which comes last on the normal screen, comes first,
// since a page is read from its top.
func reportPage(r *metrics.Report, width int) string {
	var page strings.Builder
	fmt.Fprintf(&page, "%s\n\n", export.Answer(*r))
	if err := PrintReport(&page, *r, nil, width >= 80); err != nil {
		return err.Error()
	}
	return page.String()
}

// Draws reports whether there is a terminal to draw on.
func (e *Environment) Draws(o *spec.Screen) bool {
	term := os.Getenv("TERM")
	plain := o.Plain || term == "dumb" || term == "" && runtime.GOOS != "windows"
	return !plain && e.JSON == nil && IsTerminal(e.Stdout) && IsTerminal(e.Stdin)
}

func IsTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// castFile is the file of --record. A run goes on without it: the first failure is reported once during the run and
// once at its end.
type castFile struct {
	to io.WriteCloser

	mu     sync.Mutex         // guards everything below
	tell   func(words string) // receives the first write failure, without the lock; nil before the run and afterwards
	err    error              // the first
	closed bool               // the screen may still write afterwards
}

// Write returns every error, for the dashboard to stop recording.
func (c *castFile) Write(b []byte) (int, error) {
	defer c.tellFirst()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, os.ErrClosed
	}
	n, err := c.to.Write(b)
	c.err = cmp.Or(c.err, err)
	return n, err
}

// tells reports the first write failure to tell, including an earlier one. A nil castFile has none.
func (c *castFile) tells(tell func(words string)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.tell = tell
	c.mu.Unlock()
	c.tellFirst()
}

// tellFirst reports the first failure once.
func (c *castFile) tellFirst() {
	c.mu.Lock()
	tell, err := c.tell, c.err
	if err != nil {
		c.tell = nil
	}
	c.mu.Unlock()
	if tell != nil && err != nil {
		tell(castTrouble(err))
	}
}

// Close closes the file; trouble reports its error.
func (c *castFile) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.tell = true, nil
	c.err = cmp.Or(c.err, c.to.Close())
}

// trouble is the first failure, for the end of the run; empty for none. A nil castFile has none.
func (c *castFile) trouble() []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return []string{castTrouble(c.err)}
}

func castTrouble(err error) string {
	name := ""
	if at, ok := errors.AsType[*os.PathError](err); ok {
		name, err = " "+text.Clean(at.Path), at.Err
	}
	return "--record" + name + ": " + text.Clean(err.Error()) + "; the recording is truncated"
}
