package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"benchtop/internal/argv"
	"benchtop/internal/ci"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// The examples of the pages run, and print the lines that stand below them.
func TestExamples(t *testing.T) {
	ci.SkipUnderRace(t)
	var pages []byte
	for _, name := range []string{"offline", "workloads", "conversations"} {
		page, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page...)
	}
	url := simulated(t, func(p *simulator.Profile) { p.Prioritized = true })
	dir, model := t.TempDir(), modelDirectory(t, "gpt2-short")
	for _, files := range []string{"examples", "import"} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", files))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "gpt2"), os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(pages), -1)
	ran := 0
	for _, block := range blocks {
		var last *result
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			command, isCommand := strings.CutPrefix(line, "$ benchtop ")
			file, isFile := strings.CutPrefix(line, "$ cat ")
			switch {
			case isFile:
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				last = &result{stdout: string(data)}
			case isCommand:
				words, err := argv.Split(strings.ReplaceAll(command, "http://127.0.0.1:8000", url))
				if err != nil {
					t.Fatal(err)
				}
				r := benchtop(words...)
				r.expect(t, session.ExitFine)
				last = &r
				ran++
			case last == nil || !strings.Contains(last.stdout+last.stderr, line):
				t.Errorf("the example does not print %q", line)
			}
		}
	}
	if ran < 25 {
		t.Errorf("%d examples ran", ran)
	}
}

// Commands of other pages that load a server with these files have no wrong flag.
func TestExamplesOfFiles(t *testing.T) {
	var pages string
	for _, name := range []string{"README.md", "docs/agents.md", "docs/datasets.md"} {
		page, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages += string(page)
	}
	t.Chdir("testdata/examples")
	commands := regexp.MustCompile(`(?m)^ {4}(?:\./)?benchtop (serve .*--(?:multi-turn |mix |dataset-name `+
		`agents).*)$`).FindAllStringSubmatch(pages, -1)
	if len(commands) < 5 {
		t.Errorf("%d commands", len(commands))
	}
	for _, command := range commands {
		words, err := argv.Split(command[1])
		if err != nil {
			t.Fatal(err)
		}
		// A wrong value of another flag keeps the command from more than looking at its flags.
		r := benchtop(append(words, "--gpu-price", "-1")...)
		if r.expect(t, session.ExitUsage, "--gpu-price"); strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: %s", command[1], r.stderr)
		}
	}
}
