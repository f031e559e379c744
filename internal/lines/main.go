// Lines counts the Go code of a tree: lines that are neither blank nor comment, those of tests apart. It fails if a folder, a file
// or a function is over its limit. Tests have no limits.
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

// The most files that a folder may have without tests, and the most lines of a file and a function.
const (
	mostFiles         = 45
	mostFileLines     = 400
	mostFunctionLines = 80
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

// report writes the sums of each folder, and the longest file and function. The error lists everything over its limit.
func (t *tree) report(w io.Writer) error {
	var problems []error
	check := func(name string, n, most int, what string) {
		if n > most {
			problems = append(problems, fmt.Errorf("%s: %d %s, more than %d", name, n, what, most))
		}
	}
	longest := func(parts []part, most int) part {
		for _, p := range parts {
			check(p.name, p.lines, most, "lines")
		}
		return slices.MaxFunc(append(parts, part{}), func(a, b part) int { return cmp.Compare(a.lines, b.lines) })
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "folder\tfiles\tlines\tof tests")
	var all folder
	for _, name := range slices.Sorted(maps.Keys(t.folders)) {
		f := t.folders[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", name, f.files, f.code, f.tests)
		all = folder{all.files + f.files, all.code + f.code, all.tests + f.tests}
		check(name, f.files, mostFiles, "files")
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\n", all.files, all.code, all.tests)
	_ = table.Flush()
	file, function := longest(t.files, mostFileLines), longest(t.functions, mostFunctionLines)
	fmt.Fprintf(w, "\nlongest file: %s, %d lines\nlongest function: %s, %d lines\n", file.name, file.lines, function.name, function.lines)
	return errors.Join(problems...)
}
