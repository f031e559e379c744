package cli

import (
	"fmt"
	"strings"

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
		return nil, fmt.Errorf("--%s: unknown flag%s", quoted(written), didYouMean(name, names))
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

// didYouMean suggests the name nearest to what was written, if any is near.
func didYouMean(written string, names []string) string {
	const longest = 64 // no name is near to anything longer
	best, distance := "", len(written)/3+2
	if len(written) > longest {
		return ""
	}
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
