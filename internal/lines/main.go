// Lines counts the Go code of a tree: lines that are neither blank nor comment, those of tests apart.
//
//	go run ./internal/lines [DIRECTORY]
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
)

// The most files that a folder should have without tests, and the most lines of a file and a function.
const (
	mostFiles         = 45
	mostFileLines     = 400
	mostFunctionLines = 80
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	files, err := walk(os.DirFS(root))
	if err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
	report(os.Stdout, files)
}

// sum is that of some files.
type sum struct {
	folder             string
	files, code, tests int // code and tests in lines
}

func (s *sum) add(f file) {
	if f.test {
		s.tests += f.code
		return
	}
	s.files++
	s.code += f.code
}

// report writes the sum of each folder, what is over its limit, and the longest file and function. Tests are in no limit.
func report(w io.Writer, files []file) {
	total := sum{folder: "all"}
	var folders []sum
	var long []string
	var longest, function part
	for _, f := range files {
		i := slices.IndexFunc(folders, func(s sum) bool { return s.folder == f.folder })
		if i < 0 {
			i = len(folders)
			folders = append(folders, sum{folder: f.folder})
		}
		folders[i].add(f)
		total.add(f)
		if f.test {
			continue
		}
		whole := part{f.name, f.length}
		longest = longer(longest, whole)
		long = append(long, over(mostFileLines, whole)...)
		for _, p := range f.functions {
			function = longer(function, p)
			long = append(long, over(mostFunctionLines, p)...)
		}
	}
	slices.SortFunc(folders, func(a, b sum) int { return cmp.Compare(a.folder, b.folder) })
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "folder\tfiles\tlines\tof tests")
	for _, s := range append(folders, total) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", s.folder, s.files, s.code, s.tests)
		if s.folder != total.folder && s.files > mostFiles {
			long = append(long, fmt.Sprintf("%s: %d files, more than %d", s.folder, s.files, mostFiles))
		}
	}
	_ = table.Flush()
	fmt.Fprintf(w, "\nlongest file: %s, %d lines\nlongest function: %s, %d lines\n", longest.name, longest.lines, function.name, function.lines)
	for _, text := range long {
		fmt.Fprintln(w, text)
	}
}

func longer(a, b part) part {
	if b.lines > a.lines {
		return b
	}
	return a
}

// over says that a part has more lines than most.
func over(most int, p part) []string {
	if p.lines <= most {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d lines, more than %d", p.name, p.lines, most)}
}
