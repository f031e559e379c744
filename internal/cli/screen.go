package cli

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
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
	"benchtop/tui"
	"benchtop/tui/screen"
	"benchtop/tui/term"
)

// screenOptions say how a run is shown.
type screenOptions struct {
	plain    bool
	exit     bool
	ascii    bool
	mouse    bool
	quiet    bool
	color    string
	theme    string
	onHangup string
	record   string
	progress time.Duration
	// bandwidth in KB/s, 0 for what the size of the screen suggests.
	bandwidth int
}

// The values of --on-hangup.
const (
	hangupSave     = "save"
	hangupContinue = "continue"
)

func (o *screenOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.plain, "no-tui", false, "no dashboard: progress lines on standard error, the report on standard output")
	f.BoolVar(&o.exit, "exit", false, "leave the dashboard when the run ends")
	o.defineLooks(f)
	f.BoolVar(&o.quiet, "quiet", false, "no bell and no desktop notification when the run ends")
	f.StringVar(&o.record, "record", "", "record the dashboard to this file, as an asciicast")
	f.StringVar(&o.onHangup, "on-hangup", hangupSave, "if the terminal is lost: save ends the run and saves it; continue finishes the run, which 'benchtop attach' can join")
	f.DurationVar(&o.progress, "progress", 5*time.Second, "time between progress lines")
}

// defineLooks defines what every dashboard has.
func (o *screenOptions) defineLooks(f *pflag.FlagSet) {
	f.BoolVar(&o.ascii, "ascii", false, "draw without braille and block characters (default: if the locale is not UTF-8)")
	f.StringVar(&o.color, "color", "auto", "colours: auto, none, 16, 256 or true")
	f.StringVar(&o.theme, "theme", screen.Themes()[0], "theme: "+strings.Join(screen.Themes(), ", "))
	f.BoolVar(&o.mouse, "mouse", false, "select pages and panels with the mouse; the terminal's own selection then needs Shift")
	f.IntVar(&o.bandwidth, "bandwidth", 0, "limit in KB/s to the terminal above which charts are drawn less often (default: 20 at 120x40, 50 at 200x50)")
}

func (o *screenOptions) check() error {
	p := usage.Problems{o.checkLooks()}
	p.BadIf(o.progress <= 0, "--progress: must be more than 0")
	p.OneOf("on-hangup", o.onHangup, hangupSave, hangupContinue)
	return errors.Join(p...)
}

func (o *screenOptions) checkLooks() error {
	var p usage.Problems
	p.Flag("color", screen.CheckColor(o.color))
	p.Flag("theme", screen.CheckTheme(o.theme))
	p.BadIf(o.bandwidth < 0, "--bandwidth %d: must be positive, or 0 for the default of the screen's size", o.bandwidth)
	return errors.Join(p...)
}

// dashboardOptions are those of the dashboard.
func dashboardOptions(o *screenOptions, snapshots <-chan metrics.Snapshot, control tui.Control) tui.Options {
	return tui.Options{
		Snapshots: snapshots, Control: control, Exit: o.exit, Color: o.color, Theme: o.theme, Mouse: o.mouse, Quiet: o.quiet,
		Bandwidth: 1000 * o.bandwidth, Report: reportPage,
		ASCII: o.ascii || term.Plain(os.Getenv),
	}
}

// onTerminal runs show on the terminal until it returns or a signal ends it. left is that signal, SIGHUP for the loss of the
// terminal, which is no error; nil for none.
func onTerminal(show func(context.Context) error) (left os.Signal, err error) {
	signals := watchSignals()
	defer signal.Stop(signals)
	ctx, stop := untilSignal(signals, false)
	err = show(ctx)
	switch sig, _ := stop(); {
	case sig != nil:
		return sig, nil
	case errors.Is(err, tui.ErrTerminal):
		return syscall.SIGHUP, nil
	}
	return nil, err
}

// reportPage is the report as a page of the dashboard. The answer, which comes last on the normal screen, comes first, since a page
// is read from its top.
func reportPage(r *metrics.Report, width int) string {
	var page strings.Builder
	fmt.Fprintf(&page, "%s\n\n", export.Answer(*r))
	if err := printReport(&page, *r, nil, width >= 80); err != nil {
		return err.Error()
	}
	return page.String()
}

// draws reports whether there is a terminal to draw on.
func (e *environment) draws(o *screenOptions) bool {
	term := os.Getenv("TERM")
	plain := o.plain || term == "dumb" || term == "" && runtime.GOOS != "windows"
	return !plain && isTerminal(e.stdout) && isTerminal(e.stdin)
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// castFile is the file of --record. A run goes on without it: the first failure is reported once during the run and once at its end.
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
