package spec

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/tui/screen"
)

// Baseline name an older run to compare with.
type Baseline struct{ File string }

func (o *Baseline) Define(f *pflag.FlagSet) {
	f.StringVar(&o.File, "baseline", "", "compare with a saved run on the dashboard and in the report: its result "+
		"(.json) or journal, or a result of vllm bench")
}

// Screen say how a run is shown.
type Screen struct {
	Plain    bool
	Exit     bool
	Ascii    bool
	Mouse    bool
	Quiet    bool
	Color    string
	Theme    string
	OnHangup string
	Record   string
	Progress time.Duration
	// bandwidth in KB/s, 0 for what the size of the screen suggests.
	Bandwidth int
}

// The values of --on-hangup.
const (
	HangupSave     = "save"
	HangupContinue = "continue"
)

func (o *Screen) Define(f *pflag.FlagSet) {
	f.BoolVar(&o.Plain, "no-tui", false,
		"no dashboard: progress lines on standard error, the report on standard output")
	f.BoolVar(&o.Exit, "exit", false, "leave the dashboard when the run ends")
	o.DefineLooks(f)
	f.BoolVar(&o.Quiet, "quiet", false, "no bell and no desktop notification when the run ends")
	f.StringVar(&o.Record, "record", "", "record the dashboard to this file, as an asciicast")
	f.StringVar(&o.OnHangup, "on-hangup", HangupSave,
		"if the terminal is lost: save ends the run and saves it; continue finishes the run, which 'benchtop attach' "+
			"can join")
	argv.OneOf(f, "on-hangup", HangupSave, HangupContinue)
	f.DurationVar(&o.Progress, "progress", 5*time.Second, "time between progress lines")
}

// DefineLooks defines what every dashboard has.
func (o *Screen) DefineLooks(f *pflag.FlagSet) {
	f.BoolVar(&o.Ascii, "ascii", false,
		"draw without braille and block characters (default: if the locale is not UTF-8)")
	f.StringVar(&o.Color, "color", "auto", "colours: auto, none, 16, 256 or true")
	f.StringVar(&o.Theme, "theme", screen.Themes()[0], "theme: "+strings.Join(screen.Themes(), ", "))
	argv.Words(f, "color", "auto", "none", "16", "256", "true")
	argv.Words(f, "theme", screen.Themes()...)
	f.BoolVar(&o.Mouse, "mouse", false,
		"select pages and panels with the mouse; the terminal's own selection then needs Shift")
	f.IntVar(&o.Bandwidth, "bandwidth", 0,
		"limit in KB/s to the terminal above which charts are drawn less often (default: 20 at 120x40, 50 at 200x50)")
}

func (o *Screen) Check() error {
	p := usage.Problems{o.CheckLooks()}
	p.BadIf(o.Progress <= 0, "--progress: must be more than 0")
	return errors.Join(p...)
}

func (o *Screen) CheckLooks() error {
	var p usage.Problems
	p.Flag("color", screen.CheckColor(o.Color))
	p.Flag("theme", screen.CheckTheme(o.Theme))
	p.BadIf(o.Bandwidth < 0, "--bandwidth %d: must be positive, or 0 for the default of the screen's size", o.Bandwidth)
	return errors.Join(p...)
}
