package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"

	"benchtop/metrics"
	"benchtop/tui"
)

// screenOptions say how a run shows itself.
type screenOptions struct {
	plain    bool
	exit     bool
	ascii    bool
	color    string
	onHangup string
	progress time.Duration
}

// What to do when the terminal is lost.
const (
	hangupSave     = "save"
	hangupContinue = "continue"
)

func (o *screenOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.plain, "no-tui", false, "no dashboard: progress lines on standard error, the report on standard output")
	f.BoolVar(&o.exit, "exit", false, "leave the dashboard when the run is over")
	f.BoolVar(&o.ascii, "ascii", false, "draw without braille and block characters (default: where the locale has no UTF-8)")
	f.StringVar(&o.color, "color", "auto", "colours: auto, none, 16, 256 or true")
	f.StringVar(&o.onHangup, "on-hangup", hangupSave, "when the terminal is lost: save ends the run, continue lets it go on to its end")
	f.DurationVar(&o.progress, "progress", 5*time.Second, "time between progress lines")
}

func (o *screenOptions) check() error {
	var problems []error
	if o.progress <= 0 {
		problems = append(problems, errors.New("--progress: must be more than 0"))
	}
	if err := tui.CheckColor(o.color); err != nil {
		problems = append(problems, fmt.Errorf("--color: %w", err))
	}
	if o.onHangup != hangupSave && o.onHangup != hangupContinue {
		problems = append(problems, fmt.Errorf("--on-hangup %s: use save or continue", quoted(o.onHangup)))
	}
	return errors.Join(problems...)
}

// options are what the dashboard is told.
func (o *screenOptions) options(snapshots <-chan metrics.Snapshot, control tui.Control) tui.Options {
	return tui.Options{
		Snapshots: snapshots, Control: control, Exit: o.exit, Color: o.color,
		ASCII: o.ascii || tui.PlainTerminal(os.Getenv),
	}
}

// dashboard says whether there is a terminal to draw on.
func (o *screenOptions) dashboard(env *environment) bool {
	term := os.Getenv("TERM")
	plain := o.plain || term == "dumb" || term == "" && runtime.GOOS != "windows"
	return !plain && isTerminal(env.stdout) && isTerminal(env.stdin)
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
