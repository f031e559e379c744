package argv

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/internal/secret"
	"benchtop/internal/usage"
)

// Annotations of flags.
const (
	// Variadic marks a flag that takes several values in a row, as --goodput ttft:500 tpot:50. With the annotation's
	// value "0" it may also stand without any. Each time such a flag is given its values replace the earlier ones, so
	// its Value is resettable.
	Variadic = "Variadic"
	// Repeatable marks a variadic flag that may be given again and adds to what it has.
	Repeatable = "Repeatable"
)

// resetter is a Value that takes several values in a row and can forget those it has.
type resetter interface{ Reset() }

// keySetter is a Value with parts that are set one by one, as --extra-body.a.b 3.
type keySetter interface {
	// SetKey sets what lies under a path of keys. With add it puts the elements of a comma-separated value behind those
	// of the list that is there.
	SetKey(path []string, value string, add bool) error
}

// warner is a Value that warns of likely mistakes. It is asked once the command line is read.
type warner interface{ Warnings(flag string) []string }

// parse sets the flags of fs from a command line by vLLM's rules, which pflag alone cannot follow:
//
//   - underscores in a name are dashes, and the beginning of a name is enough where it fits one flag of vLLM's only, or
//     one of all;
//   - a flag given again replaces what was given before, and a warning says so;
//   - a flag of an older release is the one of today, and a warning says so;
//   - a flag of one letter stands for its long name;
//   - some flags take several values in a row, and JSON flags take their members one by one behind a dot;
//   - an argument that begins with a dash is a flag, unless it is a negative number or has a blank in its name. Other
//     values that begin with a dash are joined to their flag by '='.
//
// It returns the arguments that belong to no flag, the warnings, and all problems at once, or Help.
func parse(fs *pflag.FlagSet, args []string, given func(flag *pflag.Flag, member string, texts []string)) (
	rest, warnings []string, err error) {
	a := &argv{fs: fs, args: args, times: map[*pflag.Flag]int{}, given: given}
	for len(a.args) > 0 {
		arg := a.long(a.next())
		switch {
		case arg == "--":
			rest = append(rest, a.args...)
			a.args = nil
		case !isOption(arg):
			rest = append(rest, arg)
		case arg == "-h":
			return nil, nil, Help{}
		case !strings.HasPrefix(arg, "--"):
			a.oneDash(arg)
		default:
			if help := a.option(arg); help != nil {
				return nil, nil, *help
			}
		}
	}
	a.imply()
	fs.VisitAll(func(f *pflag.Flag) {
		if a.times[f] > 1 && !isRepeatable(f) {
			a.warnings = append(a.warnings, fmt.Sprintf("--%s is given more than once; the last one applies", f.Name))
		}
		if d, ok := f.Value.(warner); ok {
			a.warnings = append(a.warnings, d.Warnings("--"+f.Name)...)
		}
	})
	return rest, a.warnings, errors.Join(a.problems...)
}

// argv is a command line while it is read.
type argv struct {
	fs       *pflag.FlagSet
	args     []string            // the rest of it
	times    map[*pflag.Flag]int // how often a flag was given as a whole
	implied  []string            // by old spellings, as NAME=VALUE
	warnings []string
	problems []error
	// given hears of each flag that was set, with the keys of a member as .a.b; nil for nobody.
	given func(flag *pflag.Flag, member string, texts []string)
}

// has notes that a flag was set.
func (a *argv) has(flag *pflag.Flag, member string, texts ...string) {
	if a.given != nil {
		a.given(flag, member, texts)
	}
}

func (a *argv) problem(format string, values ...any) {
	a.problems = append(a.problems, fmt.Errorf(format, values...))
}

func (a *argv) next() string {
	arg := a.args[0]
	a.args = a.args[1:]
	return arg
}

// values takes the arguments up to the next flag, at most so many.
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

// long is a flag of one letter, with its value behind '=' or at once, under its long name; other arguments stay.
func (a *argv) long(arg string) string {
	if !isOption(arg) || arg[1] == '-' {
		return arg
	}
	flag := a.fs.ShorthandLookup(arg[1:2])
	switch {
	case flag == nil:
		return arg
	case len(arg) == 2:
		return "--" + flag.Name
	}
	return "--" + flag.Name + "=" + strings.TrimPrefix(arg[2:], "=")
}

// oneDash reports an argument that looks like a flag with one dash.
func (a *argv) oneDash(arg string) {
	name, _, joined := strings.Cut(arg[1:], "=")
	a.problem("%s: flags begin with two dashes%s", usage.Quote(arg), usage.DidYouMean(Dashes(name), flagNames(a.fs)))
	if !joined {
		a.values(len(a.args))
	}
}

// option reads a flag, from its two dashes on, and its values.
func (a *argv) option(arg string) *Help {
	name, value, joined := strings.Cut(arg[2:], "=")
	name, keys, dotted := strings.Cut(a.current(name), ".")
	flag, err := Find(a.fs, name)
	var help Help
	switch {
	case errors.As(err, &help):
		help.Word = cmp.Or(help.Word, value)
		return &help
	case err != nil:
		a.problems = append(a.problems, err)
		if !joined {
			// The word after an unknown flag is probably its value, not an argument.
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
		number, several := flag.Annotations[Variadic]
		most := 1
		if several {
			most = len(a.args)
		}
		values := a.values(most)
		if len(values) == 0 && !slices.Contains(number, "0") {
			a.missing("--"+flag.Name, kind(flag))
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
		flag.Changed = true // as Set does for a flag with a value
	}
	_, several := flag.Annotations[Variadic]
	if v, ok := flag.Value.(resetter); ok && !isRepeatable(flag) {
		v.Reset()
	}
	good := values
	for _, v := range values {
		if err := a.fs.Set(flag.Name, decimal(flag, v)); err != nil {
			good = nil
			a.problem("--%s %s: %s", flag.Name, usage.Quote(secret.HideBroken(beginning(v))), explain(flag, err))
			if !several {
				// A wrong value must not cause further errors in later checks.
				_ = flag.Value.Set(flag.DefValue)
			}
		}
	}
	if good != nil || len(values) == 0 {
		a.has(flag, "", good...)
	}
}

// beginning is more of a value than an error shows of it.
func beginning(value string) string { return value[:min(len(value), 1000)] }

// decimal makes whole numbers decimal: 010 is ten, as in Python, and 0x10 is an error. The library would accept other
// bases.
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
	_, yes := f.Annotations[Repeatable]
	return yes
}

// member sets what lies under the keys behind a flag's name.
func (a *argv) member(flag *pflag.Flag, keys, value string, joined bool) {
	name := "--" + flag.Name + "." + keys
	path, add := strings.CutSuffix(keys, "+")
	if !joined {
		values := a.values(1)
		if len(values) == 0 {
			a.missing(usage.Shorten(name), "JSON or a string")
			return
		}
		value = values[0]
	}
	v, ok := flag.Value.(keySetter)
	if !ok {
		a.problem("%s: --%s takes no keys after a dot", usage.Quote(name), flag.Name)
		return
	}
	if err := v.SetKey(strings.Split(path, "."), value, add); err != nil {
		safe := secret.HideWords([]string{name, secret.HideBroken(beginning(value))}, nil)[1]
		a.problem("%s %s: %w", usage.Quote(name), usage.Quote(safe), err)
		return
	}
	flag.Changed = true
	a.has(flag, "."+keys, value)
}

// missing reports that a flag has no value, with advice if the next argument was meant as one.
func (a *argv) missing(name, expected string) {
	hint := ""
	if len(a.args) > 0 && a.args[0] != "--" && a.args[0] != "-h" {
		next := a.args[0]
		long := strings.HasPrefix(next, "--")
		written, _, _ := strings.Cut(strings.TrimPrefix(next, "--"), "=")
		written, _, _ = strings.Cut(written, ".")
		if _, err := Find(a.fs, written); !long || err != nil && !errors.As(err, new(Help)) {
			hint = fmt.Sprintf("; if %s is meant, join it with '=': %s=%[1]s", usage.Quote(next), name)
		}
		if !long {
			a.next() // no flag, so probably the value
		}
	}
	a.problem("%s: a value is missing; expected %s%s", name, expected, hint)
}

// Find looks a name up: exactly, or as the beginning of exactly one flag of vLLM's, or of exactly one of all. The error
// is Help for help.
func Find(fs *pflag.FlagSet, written string) (*pflag.Flag, error) {
	name := Dashes(written)
	if f := fs.Lookup(name); f != nil {
		return f, nil
	}
	if name == "help-all" {
		return nil, Help{Word: "all"}
	}
	names := flagNames(fs)
	match := beginningWith(name, names)
	if theirs := beginningWith(name, flagsOfVLLM(fs.Name())); len(theirs) == 1 {
		match = theirs // whatever flags are added here
	}
	switch {
	case len(match) > 1:
		return nil, fmt.Errorf("--%s: ambiguous; could be --%s", written, strings.Join(match, ", --"))
	case len(match) == 1 && match[0] == "help":
		return nil, Help{}
	case len(match) == 0 || fs.Lookup(match[0]) == nil:
		return nil, fmt.Errorf("--%s: unknown flag%s", usage.Quote(written), usage.DidYouMean(name, names))
	}
	return fs.Lookup(match[0]), nil
}

// beginningWith is the name alone if it is one of the names, else those that begin with it.
func beginningWith(name string, names []string) (match []string) {
	if slices.Contains(names, name) {
		return []string{name}
	}
	for _, n := range names {
		if name != "" && strings.HasPrefix(n, name) {
			match = append(match, n)
		}
	}
	return match
}

// flagNames are the names a command line may use.
func flagNames(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return append(names, "help")
}

// Dashes is a name with dashes for underscores, as flags are written.
func Dashes(name string) string { return strings.ReplaceAll(name, "_", "-") }

// kind describes the values of a flag.
func kind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 500ms, 30s or 2m"
	case "string":
		return "a string"
	}
	return f.Value.Type()
}

// explain turns an error of the library's parsers into a description of the right value. Types of our own describe
// themselves.
func explain(f *pflag.Flag, err error) string {
	switch f.Value.Type() {
	case "int", "int64", "float64", "bool", "duration":
		return "expected " + kind(f)
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = invalid.Unwrap()
	}
	return err.Error()
}
