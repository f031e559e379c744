package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The first pages of the help fit a screen.
func TestHelpFits(t *testing.T) {
	for line, most := range map[string]int{"--help": 40, "serve --help": 45} {
		r := benchtop(strings.Fields(line)...)
		if n := strings.Count(r.stdout, "\n"); n > most || n < 20 {
			t.Errorf("%s has %d lines, at most %d fit\n%s", line, n, most, r.stdout)
		}
		for l := range strings.Lines(r.stdout) {
			if len(l) > 121 {
				t.Errorf("%s is wide: %s", line, l)
			}
		}
	}
}

func TestCompletion(t *testing.T) {
	for words, want := range map[string][]string{
		"se":                               {"serve\tload-test a server"},
		"bench se":                         {"serve\t"},
		"sweep serve_":                     {"serve_workload\t", "serve_sla\t"},
		"dataset ana":                      {"analyze\t"},
		"serve --max-con":                  {"--max-concurrency\tmaximum requests in flight\n"},
		"serve --backend openai-ch":        {"openai-chat\n"},
		"serve --model m --dataset-name s": {"sharegpt\n", "sonnet\n"},
		"sweep serve --bench-p":            {"--bench-params\t"},
		"dataset analyze --js":             {"--json\t"},
		"simulate --profile l40":           {"l40s-8b\n"},
		"report --theme l":                 {"light\n"},
	} {
		r := benchtop(append([]string{completeCommand}, strings.Split(words, " ")...)...)
		for _, w := range want {
			if !strings.Contains("\n"+r.stdout, "\n"+w) {
				t.Errorf("%q: %q, want %q", words, r.stdout, w)
			}
		}
	}
	for _, none := range []string{"", "report ", "serve --model ", "nothing ", "compare a", "serve --config x",
		"serve s"} {
		if r := benchtop(append([]string{completeCommand}, strings.Split(none, " ")...)...); none != "" &&
			r.stdout != "" {
			t.Errorf("%q: %q", none, r.stdout)
		}
	}
	for shell := range shells {
		benchtop("completion", shell).expect(t, session.ExitFine, completeCommand)
	}
	benchtop("completion", "tcsh").expect(t, session.ExitUsage, "bash, zsh or fish, got [\"tcsh\"]")
}

// Each command that has flags has them on the manual page, with its text, and no line of them is a request of roff.
func TestManPage(t *testing.T) {
	page := benchtop("man").stdout
	n := 0
	eachCommand(commands(), nil, func(words []string) {
		f := flagsOf(words)
		if f == nil {
			return
		}
		_, own, found := strings.Cut(page, "\n.SS benchtop "+roff(f.Synopsis)+"\n")
		own, _, _ = strings.Cut(own, "\n.SS ")
		if !found {
			t.Errorf("%v is missing", words)
		}
		f.Headings(func(_ string, flags []*pflag.Flag) {
			for _, x := range flags {
				if n++; !strings.Contains(own, `\-\-`+roff(x.Name)+`\fR`) {
					t.Errorf("%v: --%s is missing", words, x.Name)
				}
			}
		})
	})
	if n < 400 {
		t.Errorf("%d flags", n)
	}
	known := map[string]bool{".TH": true, ".SH": true, ".SS": true, ".PP": true, ".TP": true, ".B": true, ".I": true,
		".nf": true, ".fi": true}
	for line := range strings.Lines(page) {
		if name := strings.Fields(line + " x")[0]; strings.HasPrefix(line, ".") && !known[name] || line[0] == '\'' {
			t.Errorf("a request: %s", line)
		}
	}
}

func TestDocs(t *testing.T) {
	benchtop("docs").expect(t, session.ExitFine, "metrics ", "Every number, its formula and its words")
	benchtop("docs", "metrics").expect(t, session.ExitFine, "# Every number")
	benchtop("docs", "metrics.md").expect(t, session.ExitFine, "# Every number")
	benchtop("docs", "CI").expect(t, session.ExitFine, "# In CI")
	benchtop("docs", "metric").expect(t, session.ExitUsage,
		"docs has no page metric (did you mean metrics?); its pages are")
	benchtop("docs", "../go.mod").expect(t, session.ExitUsage, "docs has no page")
}

func TestVersion(t *testing.T) {
	var build session.Build
	r := benchtop("version", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &build); err != nil || build.Version == "" || build.Platform == "" {
		t.Errorf("%v: %s", err, r.stdout)
	}
	benchtop("--version").expect(t, session.ExitFine, "benchtop "+build.Version)
	benchtop("version", "now").expect(t, session.ExitUsage, "version takes no arguments")
}

// The file that init writes is right for serve, in each of its profiles.
func TestInit(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("KEY", "canary")
	url := simulated(t, nil)
	benchtop("init", strings.TrimPrefix(url, "http://")+"/v1", "--api-key", "$KEY").expect(t, session.ExitFine,
		"wrote benchtop.yaml; run it with: benchtop serve --config benchtop.yaml#chat")
	text := readFile(t, "benchtop.yaml")
	first := text
	assert.Has(t, string(text), "base-url: "+url, "model: sim-8b", "api-key: $KEY", "tokens together")
	profiles := argv.Profiles("benchtop.yaml")
	if len(profiles) < 4 {
		t.Errorf("profiles %q", profiles)
	}
	for _, name := range profiles {
		benchtop("serve", "--config", "benchtop.yaml#"+name, "--dry-run").expect(t, session.ExitFine, "base-url: "+url)
	}
	benchtop("init", url).expect(t, session.ExitUsage, "--output benchtop.yaml: the file exists")
	benchtop("init", url, "--output", "-").expect(t, session.ExitFine, "# api-key: $MY_KEY")
	benchtop("init", url, "--output", "plain.yaml", "--api-key", "canary").expect(t, session.ExitFine,
		"no place for secrets")
	benchtop("serve", "--config", "plain.yaml#chat", "--dry-run").expect(t, session.ExitFine, "base-url: "+url)
	at := strings.TrimPrefix(url, "http://")
	r := benchtop("init", "http://me:canary@"+at, "--auth-command", "echo canary", "--header", "X=canary", "Y=$KEY",
		"--output", "a file.yaml")
	r.expect(t, session.ExitFine, "run it with: benchtop serve --config 'a file.yaml'#chat")
	text = readFile(t, "a file.yaml")
	for _, want := range []string{"\nbase-url: " + url, "\nheader: Y=$KEY", "# auth-command: a secret", "# header: a s",
		"# base-url: a secret is left out; write user and password as header: Authorization="} {
		if !strings.Contains(string(text), want) || strings.Contains(string(text)+r.stderr, "canary") {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	benchtop("serve", "--config", "a file.yaml#chat", "--lora-modules", "sql", "--dry-run").expect(t, session.ExitFine,
		"base-url: "+url, `{"model": "sql"`)
	benchtop("init", "127.0.0.1:"+unused(t), "--overwrite").expect(t, session.ExitFailed, "cannot reach")
	if again := readFile(t, "benchtop.yaml"); string(again) != string(first) {
		t.Errorf("a file of a run that failed: %s", again)
	}
}

// With --json standard output has the results alone, a line each, and the figures of --export lie beside the result.
func TestJSONOnStandardOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	common := []string{simulated(t, nil), "--num-prompts", "4", "--random-input-len", "8", "--random-output-len", "4",
		"--json"}
	for words, lines := range map[string]int{"serve": 1, "serve --num-runs 2": 2, "throughput": 1} {
		r := benchtop(append(strings.Fields(words), common...)...)
		r.expect(t, session.ExitFine)
		got := 0
		for line := range strings.Lines(r.stdout) {
			var result struct{ Completed int }
			if err := json.Unmarshal([]byte(line), &result); err != nil || result.Completed != 4 {
				t.Errorf("%s: %v, %d completed in %.100s", words, err, result.Completed, line)
			}
			got++
		}
		if strings.Contains(r.stderr, "--json") {
			t.Errorf("%s: to repeat it takes no --json:\n%s", words, r.stderr)
		}
		if got != lines || !strings.Contains(r.stderr, "throughput") && !strings.Contains(r.stderr, "Throughput") {
			t.Errorf("%s: %d lines, standard error:\n%s", words, got, r.stderr)
		}
	}
	benchtop(append([]string{"serve", "--export", "csv,md,junit", "--fail-on", "completed<4", "--result-dir", "r"},
		common...)...).expect(t,
		session.ExitFine)
	for ending, want := range map[string]string{".csv": "\ncompleted,4\n", ".md": "| Successful requests | 4 |\n",
		".junit.xml": `<testsuite name="benchtop" tests="2" failures="0"`} {
		found, _ := filepath.Glob("r/*" + ending)
		if len(found) != 1 {
			t.Errorf("%s: %q", ending, found)
			continue
		}
		if text, err := os.ReadFile(found[0]); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", found[0], err, text)
		}
	}
	benchtop("serve", "--export", "xls").expect(t, session.ExitUsage, "--export xls: use csv or md or junit")
}
