package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of equal workloads names files and tests that exist.
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

// Links between pages, and to files and pictures, are valid, and each picture is linked.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, decisions(t)...)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	linked, headingsOf := map[string]bool{}, map[string][]string{}
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		for _, found := range link.FindAllStringSubmatch(prose(t, page), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			path, heading, _ := strings.Cut(found[1], "#")
			to := page
			if path != "" {
				to = filepath.Join(filepath.Dir(page), path)
			}
			linked[to] = true
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			if heading == "" {
				continue
			}
			if headingsOf[to] == nil {
				headingsOf[to] = headings(t, to)
			}
			if !slices.Contains(headingsOf[to], heading) {
				t.Errorf("%s: %s has no heading %q", page, to, heading)
			}
		}
	}
	pictures, err := filepath.Glob("docs/screens/*.png")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	script := prose(t, "docs/screens/render.sh")
	for _, picture := range pictures {
		if !linked[picture] {
			t.Errorf("%s is shown nowhere", picture)
		}
		page, _, _ := strings.Cut(filepath.Base(picture), "-")
		if !strings.Contains(script, page) {
			t.Errorf("%s is not taken by render.sh", picture)
		}
	}
}

// The index has a line for each decision, with its title and what replaced it, and the page of the design stays short.
func TestDecisions(t *testing.T) {
	index := prose(t, "docs/decisions/README.md")
	replaced := regexp.MustCompile(`(?m)^\*(?:Superseded|Amended) by \[(\d+)\]`)
	for _, page := range decisions(t)[1:] {
		text, name := prose(t, page), filepath.Base(page)
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		number, title, _ := strings.Cut(title, ". ")
		at := strings.Index(index, "\n- "+number+". ["+title+"]("+name+")")
		if at < 0 || !strings.HasPrefix(name, strings.Repeat("0", 3-len(number))+number+"-") {
			t.Errorf("%s: %q has no line in the index", page, title)
			continue
		}
		line, _, _ := strings.Cut(index[at+1:], "\n")
		if by := replaced.FindStringSubmatch(text); by != nil && !strings.Contains(line, "by ["+by[1]+"]") {
			t.Errorf("the index does not say that %s replaced %s", by[1], page)
		}
	}
	if page, err := os.Stat("docs/design.md"); err != nil || page.Size() > 15<<10 {
		t.Errorf("docs/design.md is longer than 15 KiB: %v %v", page, err)
	}
}

// decisions are the pages of the decisions, after their index.
func decisions(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/decisions/[0-9]*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no decisions: %v", err)
	}
	return append([]string{"docs/decisions/README.md"}, pages...)
}

// prose is the text of a file without its code blocks.
func prose(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAllString(string(text), "")
}

// headings are those of a page as links name them.
func headings(t *testing.T, page string) (names []string) {
	t.Helper()
	for _, found := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(prose(t, page), -1) {
		name := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(found[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}
