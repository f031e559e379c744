package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// errHelp says that the user asked for help.
var errHelp = errors.New("help")

// variadic marks a flag that takes several values in a row, as --goodput ttft:500 tpot:50.
const variadic = "variadic"

// parseFlags sets the flags of fs from a command line by vLLM's rules, which pflag alone cannot follow: underscores are
// dashes, unambiguous prefixes are names, some flags take several values, and all problems are reported at once. It
// returns the arguments that belong to no flag.
func parseFlags(fs *pflag.FlagSet, args []string) (rest []string, err error) {
	var problems []error
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "-h", arg == "--help", strings.HasPrefix(arg, "--help="):
			return nil, errHelp
		case arg == "--":
			return append(rest, args[i+1:]...), errors.Join(problems...)
		case !strings.HasPrefix(arg, "--"):
			rest = append(rest, arg)
			continue
		}
		name, value, given := strings.Cut(arg[2:], "=")
		flag, err := findFlag(fs, name)
		if err != nil {
			problems = append(problems, err)
			// What follows an unknown flag is most likely its value, not an argument.
			for !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
				i++
			}
			continue
		}
		values := []string{value}
		switch _, several := flag.Annotations[variadic]; {
		case given:
		case flag.NoOptDefVal != "":
			values[0] = flag.NoOptDefVal
		default:
			values = nil
			for i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") && (several || len(values) == 0) {
				i++
				values = append(values, args[i])
			}
			if len(values) == 0 {
				problems = append(problems, fmt.Errorf("--%s: a value is missing; expected %s", flag.Name, kind(flag)))
			}
		}
		for _, v := range values {
			if err := fs.Set(flag.Name, v); err != nil {
				problems = append(problems, fmt.Errorf("--%s %s: %s", flag.Name, quoted(v), explain(flag, err)))
				// Checks that follow should not stumble over what is left of it.
				_ = flag.Value.Set(flag.DefValue)
			}
		}
	}
	return rest, errors.Join(problems...)
}

// findFlag looks a name up: exactly, or as the beginning of exactly one flag.
func findFlag(fs *pflag.FlagSet, name string) (*pflag.Flag, error) {
	name = strings.ReplaceAll(name, "_", "-")
	if f := fs.Lookup(name); f != nil {
		return f, nil
	}
	var names, match []string
	fs.VisitAll(func(f *pflag.Flag) {
		names = append(names, f.Name)
		if name != "" && strings.HasPrefix(f.Name, name) {
			match = append(match, f.Name)
		}
	})
	switch len(match) {
	case 0:
		return nil, fmt.Errorf("--%s: unknown flag%s", name, didYouMean(name, names))
	case 1:
		return fs.Lookup(match[0]), nil
	}
	return nil, fmt.Errorf("--%s: could be any of --%s", name, strings.Join(match, ", --"))
}

// kind says in words what a flag's value looks like.
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
		return "a text"
	}
	return f.Value.Type()
}

// explain turns a parser's error into one for a person. Types of our own explain themselves.
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

func quoted(v string) string {
	if v == "" || strings.ContainsAny(v, " \t\n\"") {
		return fmt.Sprintf("%q", v)
	}
	return v
}

// didYouMean suggests the name nearest to what was written, if any is near.
func didYouMean(written string, names []string) string {
	best, distance := "", len(written)/3+2
	for _, n := range names {
		if d := editDistance(written, n); d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// editDistance is Levenshtein's.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
