package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"benchtop/internal/argv"
	"benchtop/internal/ci"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// tasks are the pages that are written by task.
var tasks = []string{"install", "first-run", "saturation", "compare", "ci", "sweeps", "share", "from-vllm", "limits",
	"fleet", "users", "replicas", "answers", "presets"}

// asksCode asks for the exit code of the command before it.
const asksCode = "$ echo $?"

// exampleLine is a command of this program in a block.
var exampleLine = regexp.MustCompile(`(?m)^(?: {4}|\$ )(?:\./)?benchtop (.+?)(?: {2,}#.*)?$`)

// The examples of the pages run, and print the lines that stand below them.
func TestExamples(t *testing.T) {
	ci.SkipUnderRace(t)
	var pages []string
	names := append([]string{"conversations", "offline", "workloads"}, tasks...)
	for _, name := range names {
		pages = append(pages, string(readFile(t, "../../docs/"+name+".md")))
	}
	t.Setenv("MY_KEY", "canary")
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
	var ran atomic.Int64
	t.Cleanup(func() {
		if n := ran.Load(); n < 45 {
			t.Errorf("%d examples ran", n)
		}
	})
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := simulated(t, func(p *simulator.Profile) { p.Prioritized = true })
			for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(pages[i], -1) {
				ran.Add(runBlock(t, strings.Split(strings.TrimSuffix(block[1], "\n"), "\n"), url))
			}
		})
	}
}

// runBlock runs the commands of a block, against the server at a URL, and returns their number.
func runBlock(t *testing.T, lines []string, url string) (ran int64) {
	var last *result
	for i, line := range lines {
		command, isCommand := strings.CutPrefix(line, "$ benchtop ")
		file, isFile := strings.CutPrefix(line, "$ cat ")
		switch {
		case line == asksCode:
			last = &result{stdout: fmt.Sprint(last.code)}
		case isFile:
			last = &result{stdout: string(readFile(t, file))}
		case isCommand:
			words, err := argv.Split(strings.ReplaceAll(command, "http://127.0.0.1:8000", url))
			if err != nil {
				t.Fatal(err)
			}
			r := benchtop(words...)
			if i+1 == len(lines) || !slices.Contains(lines[i+1:], asksCode) {
				r.expect(t, session.ExitFine)
			}
			last = &r
			ran++
		case last == nil || !strings.Contains(last.stdout+last.stderr, line):
			t.Errorf("the example does not print %q", line)
		}
	}
	return ran
}

// Commands of other pages that load a server with these files have no wrong flag.
func TestExamplesOfFiles(t *testing.T) {
	var pages string
	for _, name := range []string{"docs/agents.md", "docs/datasets.md", "docs/first-run.md"} {
		page, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages += strings.ReplaceAll(string(page), "\\\n", "")
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

// Commands of the pages by task, and of the README, have flags that the help of their commands has.
func TestExamplesHaveFlags(t *testing.T) {
	help := map[string]string{}
	checked := 0
	for _, name := range append([]string{"../README"}, tasks...) {
		page, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		joined := strings.ReplaceAll(string(page), "\\\n", "")
		for _, found := range exampleLine.FindAllStringSubmatch(joined, -1) {
			words, err := argv.Split(strings.Split(found[1], " | ")[0])
			if err != nil {
				t.Fatalf("%s: %q: %v", name, found[1], err)
			}
			command := []string{words[0]}
			if words[0] == "bench" || words[0] == "sweep" {
				command = words[:2]
			}
			key := strings.Join(command, " ")
			if help[key] == "" {
				help[key] = benchtop(append(command, "--help-all")...).stdout
			}
			for _, flag := range words[len(command):] {
				if flag, _, _ = strings.Cut(flag, "="); strings.HasPrefix(flag, "--") {
					if checked++; !strings.Contains(help[key], flag+" ") && !strings.HasPrefix(flag, "--help") {
						t.Errorf("%s: %s: no flag %s", name, key, flag)
					}
				}
			}
		}
	}
	if checked < 200 {
		t.Errorf("%d flags", checked)
	}
}
