package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"benchtop/export"
	"benchtop/internal/argv"
	"benchtop/internal/secret"
	"benchtop/internal/spec"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Exit codes.
const (
	ExitFine       = 0
	ExitFailed     = 1   // the run failed, see metrics.RunFailed; or it never began
	ExitUsage      = 2   // wrong usage
	ExitMissed     = 3   // a condition of --fail-on holds
	ExitHangup     = 129 // the terminal was lost; saved
	ExitAborted    = 130 // cut short by the user; saved
	ExitTerminated = 143 // SIGTERM; saved
)

// Environment is the input and output of a command.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer // which take writes of several goroutines, as files do
	// JSON takes the result of each run as a line; nil for nobody.
	JSON io.Writer
	// Asked takes the flags of a command whose help is asked for; nil prints the help.
	Asked func(*argv.Flags)
	// dashboard is set from the preparation of a run to its end, else nil. A cancelled step may still read it later.
	dashboard atomic.Pointer[display]
}

// Divert leaves standard output to the results as JSON, if that is asked for. All text goes to standard error.
func (e *Environment) Divert(o *spec.Report) {
	if o.JSON {
		e.JSON, e.Stdout = e.Stdout, e.Stderr
	}
}

// SavesUnasked reports whether results are saved though no flag asks for it: where standard output keeps none.
func (e *Environment) SavesUnasked() bool { return e.JSON == nil && IsTerminal(e.Stdout) }

// Deliver prints a result as JSON, if that is asked for.
func (e *Environment) Deliver(r metrics.Report) error {
	if e.JSON == nil {
		return nil
	}
	err := export.JSON(e.JSON, r)
	_, problem := fmt.Fprintln(e.JSON)
	return errors.Join(err, problem)
}

func (e *Environment) display() *display { return e.dashboard.Load() }

// Parse reads the flags of a command and prints its warnings. The error of a command line that asks for help is for
// fail.
func (e *Environment) Parse(flags *argv.Flags, args []string) (rest []string, err error) {
	rest, warnings, err := flags.Parse(args)
	e.Warn(warnings)
	return rest, err
}

// Fail prints an error, or the help that it asks for, and returns the exit code.
func (e *Environment) Fail(code int, err error) int {
	if help, ok := errors.AsType[argv.Help](err); ok {
		if e.Asked != nil {
			e.Asked(help.Flags)
		} else {
			help.Print(e.Stdout)
		}
		return ExitFine
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(e.Stderr, "benchtop: %s\n", Harmless(secret.Hide(line)))
	}
	return code
}

// Say prints news of what a person waits for.
func (e *Environment) Say(words string) {
	for line := range strings.SplitSeq(words, "\n") {
		fmt.Fprintf(e.Stderr, "benchtop: %s\n", Harmless(line))
	}
}

// Warn prints warnings.
func (e *Environment) Warn(warnings []string) {
	for _, w := range warnings {
		line := "benchtop: WARNING: " + Harmless(secret.Hide(w))
		if d := e.display(); d == nil || !d.held.hold(line) {
			fmt.Fprintln(e.Stderr, line)
		}
	}
}

// Harmless is a line without control characters. Errors quote foreign text, such as the server's name of a model, and
// paths may have any character. A harmless line is unchanged, since blanks matter in paths.
func Harmless(line string) string {
	commands := func(r rune) bool { return r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) }
	if utf8.ValidString(line) && !strings.ContainsFunc(line, commands) {
		return line
	}
	return text.Clean(line)
}

// The version, the commit and its date of a release, set by the linker.
var release, commit, date string

// Version is the version of a release, else the module's as the Go tool recorded it, with the commit where it is known.
func Version() string { return BuildOf().Version }

// Build says of what this program was made; what is not known is "".
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"` // of the commit, RFC 3339
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// BuildOf is the build of this program.
func BuildOf() Build {
	b := Build{Version: "unknown", Commit: commit, Date: date, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = cmp.Or(commit, s.Value)
		case "vcs.time":
			b.Date = cmp.Or(date, s.Value)
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	b.Version = cmp.Or(release, info.Main.Version, "(devel)")
	return b
}
