package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"benchtop/internal/assert"
)

func TestCodeLines(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         int
	}{
		{"nothing", "", 0},
		{"blank lines and comments", "// Package p.\npackage p\n\n/* one\ntwo */\n\t\n", 1},
		{"code before a comment and behind one", "package p // it\n\n/* one */ var x = 1 /* two\nthree */\n", 2},
		{"slashes in texts", "package p\n\nvar u = \"http://x\" +\n\t`// no comment\n\n/* nor this`\n", 4},
		{"a list over lines", "package p\n\nvar l = []int{\n\t1, // one\n\t// two\n}\n", 4},
		{"no line end", "package p", 1},
	} {
		assert.Equal(t, codeLines([]byte(c.source)), c.want, "%s", c.name)
	}
}

func TestReport(t *testing.T) {
	source := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	wide := "// " + strings.Repeat("x", 120) + "\n"
	in := fstest.MapFS{
		"main.go": source("package main\n\nfunc main() {\n\n}\n"),
		"main_test.go": source(
			"package main\n\n// TestLong is long.\nfunc TestLong() {" + strings.Repeat("\n", 500) + "}\n" + wide),
		"a/b/long.go": source(
			"package b\n\nfunc (t T) Long() {\n" + strings.Repeat("\t// why\n", 79) + "}\n\nvar x int\n" + wide),
		"a/testdata/c.go": source("no Go"),
		".git/d.go":       source("no Go"),
		"a/notes.txt":     source("no Go"),
		"a/b/btest/b.go":  source("package btest\n"),
		"wide/wide.go": source("package wide\n\nvar x = `\n" + wide +
			"`\n\nvar y = \"" + strings.Repeat("ü", 112) + "\"\n" +
			"\nvar z = \"" + strings.Repeat("ü", 110) + "\"\n"),
	}
	counted, err := walk(in)
	assert.Fine(t, err)
	var got strings.Builder
	err = counted.report(&got)
	want := `folder     files  lines  of tests
.          1      3      3
a/b        1      4      0
a/b/btest  0      0      1
wide       1      6      0
all        3      13     4

longest function: a/b/long.go Long, 81 lines
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
	over := "a/b/long.go Long: 81 lines, more than 80\na/b/long.go:86: over 120 columns\n" +
		"main_test.go:505: over 120 columns\nwide/wide.go:7: over 120 columns"
	if err == nil || err.Error() != over {
		t.Errorf("got %v, want %s", err, over)
	}
	in["bad.go"] = source("package")
	assert.Complains(t, assert.Failure(walk(in)), "bad.go")
}

func TestWithinTheLimits(t *testing.T) {
	var got strings.Builder
	if err := run(".", &got); err != nil || !strings.Contains(got.String(), "\nall     2 ") {
		t.Errorf("%v\n%s", err, &got)
	}
	if err := run("nowhere", &got); err == nil {
		t.Error("a folder that is not there was counted")
	}
}
