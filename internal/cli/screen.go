package cli

import (
	"errors"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/pflag"
)

// screenOptions say how a run shows itself.
type screenOptions struct {
	plain    bool
	exit     bool
	ascii    bool
	progress time.Duration
}

func (o *screenOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.plain, "no-tui", false, "no dashboard: progress lines on standard error, the report on standard output")
	f.BoolVar(&o.exit, "exit", false, "leave the dashboard when the run is over")
	f.BoolVar(&o.ascii, "ascii", false, "draw the dashboard without braille and block characters")
	f.DurationVar(&o.progress, "progress", 5*time.Second, "time between progress lines")
}

func (o *screenOptions) check() error {
	if o.progress <= 0 {
		return errors.New("--progress: must be more than 0")
	}
	return nil
}

// dashboard says whether there is a terminal to draw on.
func (o *screenOptions) dashboard(env *environment) bool {
	return !o.plain && isTerminal(env.stdout) && isTerminal(env.stdin) && os.Getenv("TERM") != "dumb"
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
