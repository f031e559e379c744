package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table that the words "the same workload" rest on names files and tests that are there.
func TestDatasetsTable(t *testing.T) {
	page, err := os.ReadFile("docs/datasets.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| .*\]\(\.\./.*testdata/.*$`)
	link := regexp.MustCompile(`\]\(\.\./([^)]+)\)`)
	name := regexp.MustCompile("`(Test\\w+)`")
	rows := row.FindAllString(string(page), -1)
	if len(rows) < 15 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		var tests string
		for _, file := range link.FindAllStringSubmatch(row, -1) {
			if _, err := os.Stat(file[1]); err != nil {
				t.Error(err)
			}
			tests += testsIn(t, filepath.Dir(filepath.Dir(file[1])))
		}
		names := name.FindAllStringSubmatch(row, -1)
		if len(names) == 0 {
			t.Errorf("no test in %s", row)
		}
		for _, n := range names {
			if !strings.Contains(tests+testsIn(t, "internal/cli"), "func "+n[1]+"(") {
				t.Errorf("%s is not beside the files of its row", n[1])
			}
		}
	}
}

// testsIn are the tests of a package.
func testsIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", dir, err)
	}
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
