package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// The table of equal workloads names files and tests that exist.
func TestDatasetsTable(t *testing.T) {
	page := assert.Must(os.ReadFile("docs/datasets.md"))(t)
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
		data := assert.Must(os.ReadFile(f))(t)
		all.Write(data)
	}
	return all.String()
}

// Links between pages, and to files and pictures, are valid, and each picture is linked.
func TestLinks(t *testing.T) {
	pages := assert.Must(filepath.Glob("docs/*.md"))(t)
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
			assert.Fails(t, page, assert.Failure(os.Stat(to)), "")
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
	text := assert.Must(os.ReadFile(path))(t)
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

// The README answers in few words, and the pages by task fit a few screens.
func TestPagesAreShort(t *testing.T) {
	if page, err := os.Stat("README.md"); err != nil || page.Size() > 5000 {
		t.Errorf("README.md is longer than 5,000 bytes: %v %v", page, err)
	}
	for _, name := range []string{"install", "first-run", "saturation", "compare", "ci", "sweeps", "share", "from-vllm",
		"limits"} {
		text := assert.Must(os.ReadFile("docs/" + name + ".md"))(t)
		if n := strings.Count(string(text), "\n"); n > 150 {
			t.Errorf("docs/%s.md has %d lines, more than 150", name, n)
		}
	}
}

// The action of a CI job is composite, its steps have shells, and what it uses of its inputs is there, and the reverse.
func TestAction(t *testing.T) {
	text := assert.Must(os.ReadFile("action.yml"))(t)
	var action struct {
		Name, Description string
		Inputs            map[string]struct{ Description string }
		Runs              struct {
			Using string
			Steps []struct {
				Name, Shell, Run string
				Env              map[string]string
			}
		}
	}
	assert.Fine(t, yaml.Unmarshal(text, &action))
	if action.Name == "" || action.Description == "" || action.Runs.Using != "composite" ||
		len(action.Runs.Steps) != 2 {
		t.Fatalf("%+v", action)
	}
	page := prose(t, "docs/ci.md")
	var used []string
	for _, step := range action.Runs.Steps {
		if step.Shell != "bash" || strings.Contains(step.Run, "${{") {
			t.Errorf("%s: shell %q; a value belongs in the environment, where it is no command:\n%s", step.Name,
				step.Shell, step.Run)
		}
	}
	for _, found := range regexp.MustCompile(`\$\{\{ inputs\.([\w-]+) \}\}`).FindAllStringSubmatch(string(text), -1) {
		used = append(used, found[1])
	}
	for name, input := range action.Inputs {
		if input.Description == "" || !slices.Contains(used, name) || !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("input %s: without description, not used or not in docs/ci.md", name)
		}
	}
	for _, name := range used {
		if _, ok := action.Inputs[name]; !ok {
			t.Errorf("there is no input %s", name)
		}
	}
	loads(t, action.Runs.Steps[1].Run)
}

// loads runs the step of the action that loads a server, with a program that prints its words.
func loads(t *testing.T, script string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		ci.Skip(t, "no bash")
	}
	dir := t.TempDir()
	program := "#!/bin/sh\nprintf '<%s>' \"$@\" >words\necho figures >results/new.md\nexit 3\n"
	assert.Fine(t, os.WriteFile(filepath.Join(dir, "benchtop"), []byte(program), 0o755))
	earlier := filepath.Join(dir, "results", "earlier.md")
	assert.Fine(t, os.Mkdir(filepath.Dir(earlier), 0o755))
	assert.Fine(t, os.WriteFile(earlier, []byte("an earlier step\n"), 0o644))
	assert.Fine(t, os.Chtimes(earlier, time.Time{}, time.Now().Add(-time.Hour)))
	c := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	c.Dir = dir
	c.Env = append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"),
		"RESULT_DIR=results", "BASE_URL=http://h:8000", "API_KEY_ENV=MY_KEY",
		"ARGS=--goodput ttft:500 tpot:50\n--fail-on 'goodput<95%' $(touch run)")
	out, _ := c.CombinedOutput()
	assert.Equal(t, c.ProcessState.ExitCode(), 3, "exit code: %s", out)
	const want = "<serve><http://h:8000><--no-tui><--save-result><--export><md><--result-dir><results>" +
		"<--api-key><$MY_KEY><--goodput><ttft:500><tpot:50><--fail-on><goodput<95%><$(touch><run)>"
	assert.Equal(t, string(assert.Must(os.ReadFile(filepath.Join(dir, "words")))(t)), want, "words")
	assert.Equal(t, string(assert.Must(os.ReadFile(filepath.Join(dir, "summary")))(t)), "figures\n", "summary")
	// A quote without an end runs nothing, since what is behind it may be the gate.
	broken := exec.Command(c.Args[0], c.Args[1:]...)
	broken.Dir, broken.Env = dir, append(c.Env, `ARGS=--num-prompts 9 --fail-on "goodput<95%`)
	assert.Fine(t, os.Remove(filepath.Join(dir, "words")))
	out, _ = broken.CombinedOutput()
	if _, err := os.Stat(filepath.Join(dir, "words")); err == nil || broken.ProcessState.Success() {
		t.Errorf("broken words were used: %s", out)
	}
}
