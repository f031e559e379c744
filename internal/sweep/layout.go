package sweep

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"benchtop/internal/usage"
)

// Combination is one place of the grid: the parameters of the server and of the benchmark, and the load where the sweep
// sets it.
type Combination struct {
	Server, Bench Item
	// Load is the load as KEY=VALUE, "" for that of the benchmark's parameters. Its value is one of Bench.
	Load string
	// Place is the directory, where it is not that of vLLM's rule for these parameters.
	Place string
	// File is the file of its only run in the experiment's directory, where it has no directory of its own; Place
	// stands for it then.
	File string
	// Runs is how often it is measured, 0 for as often as the others.
	Runs int
}

// Dir is the combination's directory below that of the experiment, by vLLM's rule; "" for the experiment's own, without
// any parameters.
func (c Combination) Dir() string {
	if c.Place != "" {
		return c.Place
	}
	parts := dirParts("SERVE-", c.Server, "BENCH-", c.Bench)
	if c.Load != "" {
		parts = append(parts, "WL-", c.Load)
	}
	return FileName(strings.Join(parts, "-"))
}

// ItemsDir is the name of a directory for two items, each under its heading: SERVE- and BENCH-, or SERVE- and STARTUP-.
func ItemsDir(heading1 string, a Item, heading2 string, b Item) string {
	return FileName(strings.Join(dirParts(heading1, a, heading2, b), "-"))
}

func dirParts(heading1 string, a Item, heading2 string, b Item) (parts []string) {
	if len(a) > 0 {
		parts = append(parts, heading1, a.Name())
	}
	if len(b) > 0 {
		parts = append(parts, heading2, b.Name())
	}
	return parts
}

// FileName is a text as the name of a file, by vLLM's rule. Control characters and the separators of other systems go
// as well.
func FileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == filepath.Separator {
			return '_'
		}
		return r
	}, name)
	name = strings.NewReplacer("/", "_", "..", "__").Replace(name)
	return strings.Trim(strings.Trim(name, "'"), `"`)
}

// runFile is the name of a run's record.
func runFile(number int) string {
	if number == warmup {
		return "warmup.json"
	}
	return fmt.Sprintf("run=%d.json", number)
}

// warmup is the number of the run before the measured ones.
const warmup = -1

// longestName is the longest name of a directory, in bytes: common file systems take 255, and files beside it add to
// the name of its server.
const longestName = 230

// CheckNames refuses directories with names too long for the file system, and combinations that share one.
func CheckNames(dirs []string) error {
	var problems []error
	seen := map[string]bool{}
	for _, dir := range dirs {
		if len(dir) > longestName {
			problems = append(problems,
				fmt.Errorf("the directory %s would have a name of %d bytes, at most %d are possible; name the entries "+
					"of the parameter files with %s",
					usage.Quote(dir), len(dir), longestName, nameKey))
		}
		if seen[dir] {
			problems = append(problems,
				fmt.Errorf("two combinations share the directory %s; name the entries of the parameter files with %s",
					usage.Quote(dir), nameKey))
		}
		seen[dir] = true
	}
	return errors.Join(problems...)
}
