package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/usage"

	"github.com/spf13/pflag"
)

// errHelp says that the user asked for help: for all of it, or for what has to do with a word.
type errHelp struct{ word string }

func (errHelp) Error() string { return "help was asked for" }

// Annotations of flags.
const (
	// variadic marks a flag that takes several values in a row, as --goodput ttft:500 tpot:50. With the annotation's value
	// "0" it may also stand without any. Each time such a flag is given its values replace the earlier ones, so its Value
	// is resettable.
	variadic = "variadic"
	// repeatable marks a variadic flag that may be given again and adds to what it has.
	repeatable = "repeatable"
)

// resettable is a Value that takes several values in a row and can forget those it has.
type resettable interface{ Reset() }

// keyed is a Value with parts that are set one by one, as --extra-body.a.b 3.
type keyed interface {
	// SetKey sets what lies under a path of keys. With add it puts the elements of a comma-separated value behind those
	// of the list that is there.
	SetKey(path []string, value string, add bool) error
}

// doubtful is a Value that notices what its writer may not have meant. It is asked once the command line is read.
type doubtful interface{ Warnings(flag string) []string }

// warn prints what a command line does that its writer may not have meant.
func (e *environment) warn(warnings []string) {
	for _, w := range warnings {
		line := "benchtop: WARNING: " + w
		if d := e.display(); d == nil || !d.hold(line) {
			fmt.Fprintln(e.stderr, line)
		}
	}
}

// parseFlags sets the flags of fs from a command line by vLLM's rules, which pflag alone cannot follow:
//
//   - underscores in a name are dashes, and the beginning of a name is enough where it fits one flag only;
//   - a flag given again replaces what was given before, and a warning says so;
//   - some flags take several values in a row, and JSON flags take their members one by one behind a dot;
//   - what begins with a dash is a flag, unless it is a negative number or has a blank in its name. Other values that
//     begin with a dash are joined to their flag by '='.
//
// It returns the arguments that belong to no flag, the warnings, and all problems at once, or errHelp.
func parseFlags(fs *pflag.FlagSet, args []string) (rest, warnings []string, err error) {
	a := &argv{fs: fs, args: args, times: map[*pflag.Flag]int{}}
	for len(a.args) > 0 {
		arg := a.next()
		switch {
		case arg == "--":
			rest = append(rest, a.args...)
			a.args = nil
		case !isOption(arg):
			rest = append(rest, arg)
		case arg == "-h":
			return nil, nil, errHelp{}
		case !strings.HasPrefix(arg, "--"):
			a.oneDash(arg)
		default:
			if help := a.option(arg); help != nil {
				return nil, nil, *help
			}
		}
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if a.times[f] > 1 && !isRepeatable(f) {
			a.warnings = append(a.warnings, fmt.Sprintf("--%s is given more than once; the last one counts", f.Name))
		}
		if d, ok := f.Value.(doubtful); ok {
			a.warnings = append(a.warnings, d.Warnings("--"+f.Name)...)
		}
	})
	return rest, a.warnings, errors.Join(a.problems...)
}

// argv is a command line while it is read.
type argv struct {
	fs       *pflag.FlagSet
	args     []string            // what is left of it
	times    map[*pflag.Flag]int // how often a flag was given as a whole
	warnings []string
	problems []error
}

func (a *argv) problem(format string, values ...any) {
	a.problems = append(a.problems, fmt.Errorf(format, values...))
}

func (a *argv) next() string {
	arg := a.args[0]
	a.args = a.args[1:]
	return arg
}

// values takes what follows, up to the next flag and at most so many.
func (a *argv) values(most int) (values []string) {
	for len(values) < most && len(a.args) > 0 && !isOption(a.args[0]) {
		values = append(values, a.next())
	}
	return values
}

// isOption reports whether an argument is a flag, or --, and not a value. No flag begins with a digit, so that negative
// numbers and times are values.
func isOption(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	if name, _, _ := strings.Cut(arg, "="); strings.ContainsAny(name, " \t\r\n") {
		return false
	}
	if _, err := strconv.ParseFloat(arg, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return false
	}
	return arg[1] != '.' && (arg[1] < '0' || arg[1] > '9')
}

// oneDash says what is wrong with an argument that looks like a flag of one dash.
func (a *argv) oneDash(arg string) {
	name, _, joined := strings.Cut(arg[1:], "=")
	a.problem("%s: flags begin with two dashes%s", usage.Quote(arg), usage.DidYouMean(dashes(name), flagNames(a.fs)))
	if !joined {
		a.values(len(a.args))
	}
}

// option reads a flag, from its two dashes on, and its values.
func (a *argv) option(arg string) *errHelp {
	name, value, joined := strings.Cut(arg[2:], "=")
	name, keys, dotted := strings.Cut(name, ".")
	flag, err := findFlag(a.fs, name)
	switch {
	case errors.As(err, new(errHelp)):
		return &errHelp{word: value}
	case err != nil:
		a.problems = append(a.problems, err)
		if !joined {
			// What follows an unknown flag is most likely its value, not an argument.
			a.values(len(a.args))
		}
	case dotted:
		a.member(flag, keys, value, joined)
	case joined:
		a.set(flag, []string{value})
	case flag.NoOptDefVal != "":
		a.set(flag, []string{flag.NoOptDefVal})
		if len(a.args) > 0 && (strings.EqualFold(a.args[0], "true") || strings.EqualFold(a.args[0], "false")) {
			meant := a.next()
			a.problem("--%s %s: a switch takes no value; write --%[1]s=%[3]s", flag.Name, meant, strings.ToLower(meant))
		}
	default:
		number, several := flag.Annotations[variadic]
		most := 1
		if several {
			most = len(a.args)
		}
		values := a.values(most)
		if len(values) == 0 && !slices.Contains(number, "0") {
			a.missing("--"+flag.Name, flag, kind(flag))
			return nil
		}
		a.set(flag, values)
	}
	return nil
}

// set gives a flag its values.
func (a *argv) set(flag *pflag.Flag, values []string) {
	a.times[flag]++
	if len(values) == 0 {
		flag.Changed = true // as Set says of a flag with a value
	}
	_, several := flag.Annotations[variadic]
	if v, ok := flag.Value.(resettable); ok && !isRepeatable(flag) {
		v.Reset()
	}
	for _, v := range values {
		if err := a.fs.Set(flag.Name, decimal(flag, v)); err != nil {
			a.problem("--%s %s: %s", flag.Name, usage.Quote(v), explain(flag, err))
			if !several {
				// Checks that follow should not stumble over what is left of it.
				_ = flag.Value.Set(flag.DefValue)
			}
		}
	}
}

// decimal spares whole numbers the library's taste for other bases: 010 is ten, as in Python, and 0x10 is none.
func decimal(flag *pflag.Flag, v string) string {
	if t := flag.Value.Type(); t != "int" && t != "int64" {
		return v
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return "?" // which no base has
	}
	return strconv.FormatInt(n, 10)
}

func isRepeatable(f *pflag.Flag) bool {
	_, yes := f.Annotations[repeatable]
	return yes
}

// member sets what lies under the keys behind a flag's name.
func (a *argv) member(flag *pflag.Flag, keys, value string, joined bool) {
	name := "--" + flag.Name + "." + keys
	path, add := strings.CutSuffix(keys, "+")
	if !joined {
		values := a.values(1)
		if len(values) == 0 {
			a.missing(usage.Shorten(name), flag, "JSON or a text")
			return
		}
		value = values[0]
	}
	v, ok := flag.Value.(keyed)
	if !ok {
		a.problem("%s: --%s takes no keys behind a dot", usage.Quote(name), flag.Name)
		return
	}
	if err := v.SetKey(strings.Split(path, "."), value, add); err != nil {
		a.problem("%s %s: %w", usage.Quote(name), usage.Quote(value), err)
		return
	}
	flag.Changed = true
}

// missing says that a flag has no value, and what to do if what follows was meant as one.
func (a *argv) missing(name string, flag *pflag.Flag, expected string) {
	hint := ""
	if len(a.args) > 0 && a.args[0] != "--" && a.args[0] != "-h" {
		next := a.args[0]
		long := strings.HasPrefix(next, "--")
		written, _, _ := strings.Cut(strings.TrimPrefix(next, "--"), "=")
		written, _, _ = strings.Cut(written, ".")
		if _, err := findFlag(a.fs, written); !long || err != nil && !errors.As(err, new(errHelp)) {
			hint = fmt.Sprintf("; if %s is meant, join it by '=': %s=%[1]s", usage.Quote(next), name)
		}
		if !long {
			a.next() // no flag, so most likely the value
		}
	}
	a.problem("%s: a value is missing; expected %s%s", name, expected, hint)
}
