package cli

import (
	"fmt"
	"strings"

	"benchtop/internal/usage"

	"github.com/spf13/pflag"
)

// findFlag looks a name up: exactly, or as the beginning of exactly one flag. The error is errHelp for help.
func findFlag(fs *pflag.FlagSet, written string) (*pflag.Flag, error) {
	name := dashes(written)
	if f := fs.Lookup(name); f != nil {
		return f, nil
	}
	names := flagNames(fs)
	var match []string
	for _, n := range names {
		if n == name {
			match = []string{n}
			break
		}
		if name != "" && strings.HasPrefix(n, name) {
			match = append(match, n)
		}
	}
	switch {
	case len(match) == 0:
		return nil, fmt.Errorf("--%s: unknown flag%s", usage.Quote(written), usage.DidYouMean(name, names))
	case len(match) > 1:
		return nil, fmt.Errorf("--%s: could be any of --%s", written, strings.Join(match, ", --"))
	case match[0] == "help":
		return nil, errHelp{}
	}
	return fs.Lookup(match[0]), nil
}

// flagNames are the names a command line may use.
func flagNames(fs *pflag.FlagSet) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return append(names, "help")
}

func dashes(name string) string { return strings.ReplaceAll(name, "_", "-") }
