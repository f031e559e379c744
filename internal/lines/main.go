// Lines counts the Go code of a tree: lines that are neither blank nor comment, those of tests apart. It fails if a
// line is too wide, or a function outside tests too long.
//
//	go run ./internal/lines [DIRECTORY]
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
)

// The most lines of a function, and the most columns of a line with its tabs.
const (
	mostFunctionLines = 80
	mostColumns       = 120
	tabColumns        = 4
)

func main() {
	if err := run(append(os.Args[1:], ".")[0], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

func run(root string, w io.Writer) error {
	t, err := walk(os.DirFS(root))
	if err != nil {
		return err
	}
	return t.report(w)
}

// report writes the sums of each folder, and the longest function. The error lists everything over its limit.
func (t *tree) report(w io.Writer) error {
	var problems []error
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "folder\tfiles\tlines\tof tests")
	var all folder
	for _, name := range slices.Sorted(maps.Keys(t.folders)) {
		f := t.folders[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", name, f.files, f.code, f.tests)
		all = folder{all.files + f.files, all.code + f.code, all.tests + f.tests}
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\n", all.files, all.code, all.tests)
	_ = table.Flush()
	for _, f := range t.functions {
		if f.lines > mostFunctionLines {
			problems = append(problems, fmt.Errorf("%s: %d lines, more than %d", f.name, f.lines, mostFunctionLines))
		}
	}
	for _, place := range t.wide {
		problems = append(problems, fmt.Errorf("%s: over %d columns", place, mostColumns))
	}
	longest := slices.MaxFunc(append(t.functions, function{}),
		func(a, b function) int { return cmp.Compare(a.lines, b.lines) })
	fmt.Fprintf(w, "\nlongest function: %s, %d lines\n", longest.name, longest.lines)
	return errors.Join(problems...)
}
