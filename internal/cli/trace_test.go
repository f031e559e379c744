package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// docsExample is the example of a section of docs/datasets.md: its commands, and the other lines, which are a file.
func docsExample(t *testing.T, heading string) (commands []string, file string) {
	t.Helper()
	page := assert.Must(os.ReadFile("../../docs/datasets.md"))(t)
	_, section, _ := strings.Cut(string(page), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n#")
	for line := range strings.Lines(section) {
		code, indented := strings.CutPrefix(line, "    ")
		if command, is := strings.CutPrefix(code, "benchtop "); is && indented {
			commands = append(commands, strings.TrimSpace(command))
		} else if indented {
			file += code
		}
	}
	return commands, file
}

// The examples of distributions are run; the header has the lengths drawn.
func TestDocsDistributions(t *testing.T) {
	commands, header := docsExample(t, "### Distributions of lengths")
	if len(commands) != 2 {
		t.Fatalf("got commands %q", commands)
	}
	for i, command := range commands {
		var args []string
		for j, part := range strings.Split(command, "'") {
			if j%2 == 1 {
				args = append(args, part)
			} else {
				args = append(args, strings.Fields(part)...)
			}
		}
		r := benchtop(args...)
		r.expect(t, session.ExitFine)
		want, _, _ := strings.Cut(strings.TrimSpace(header), ", 128 output")
		if i > 0 {
			want = "random: mix of 60: 256/128; 40: lognormal mean=4096 std=2000 max=16384/512; drawn: mean 1837.0, " +
				"P50 256, P99 8778 input tokens, mean 288.9, P50 128, P99 512 output tokens"
		}
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q gave\n%s, want %q", args, r.stdout, want)
		}
	}
}

// The examples of conversations and of agents' sessions are data sets.
func TestDocsConversations(t *testing.T) {
	t.Parallel()
	url, path := simulated(t, nil), filepath.Join(t.TempDir(), "file")
	for _, c := range []struct{ heading, name, begins, want string }{
		{"## sharegpt", "sharegpt", `[{"id": "a", "conversations": [{"from": "human", "value": "What is a bench?"},
                               {"from": "gpt", "value": "A long seat for several people."},
                               {"from": "human"`, "1 completed, 0 failed, 0 unfinished; 2.0 of 2.0 turns"},
		{"## custom", "custom", `{"messages"`, "1 completed, 0 failed, 0 unfinished; 2.0 of 2.0 turns"},
		{"## agents", "agents", `{"session"`, "1 completed, 0 failed, 0 unfinished; 2.0 of 2.0 turns"},
	} {
		_, file := docsExample(t, c.heading)
		_, after, found := strings.Cut(file, c.begins)
		if !found {
			t.Fatalf("%s: no example begins with %s", c.heading, c.begins)
		}
		assert.Fine(t, os.WriteFile(path, []byte(c.begins+after), 0o644))
		args := []string{"serve", "--no-tui", "--no-save", "--base-url", url, "--backend", "openai-chat",
			"--dataset-name", c.name, "--dataset-path", path}
		if c.name != "agents" {
			args = append(args, "--multi-turn", "--num-prompts", "1")
		}
		benchtop(args...).expect(t, session.ExitFine, c.want)
	}
}

// The example of a trace is a data set, and the command there a run of it, which has the trace's lengths and lasts as
// long as its times say.
func TestDocsTrace(t *testing.T) {
	commands, file := docsExample(t, "## trace")
	if len(commands) != 1 {
		t.Fatalf("got commands %q", commands)
	}
	t.Chdir(t.TempDir())
	assert.Fine(t, os.WriteFile("trace.csv", []byte(file), 0o644))
	args := strings.Fields(commands[0])
	run := benchtop(append(args, "--no-tui", "--save-detailed", "--save-result", "--result-dir", ".",
		"--result-filename", "r.json", "--trace-speed", "20", "--vocab-size", "500",
		"--base-url", simulated(t, nil))...)
	if run.expect(t, session.ExitFine); !strings.Contains(run.stdout, "\n3 requests of the trace: ") {
		t.Errorf("the answer is not of a trace:\n%s", run.stdout)
	}
	var result struct {
		Completed int
		Duration  float64
		Inputs    []int `json:"input_lens"`
		Outputs   []int `json:"output_lens"`
	}
	data, err := os.ReadFile("r.json")
	if err == nil {
		err = json.Unmarshal(data, &result)
	}
	if err != nil || result.Completed != 3 || !reflect.DeepEqual(result.Inputs, []int{374, 396, 879}) ||
		!reflect.DeepEqual(result.Outputs, []int{44, 109, 55}) || result.Duration < 0.2270 {
		t.Errorf("error %v, got %+v; want 3 requests in at least 0.227 s", err, result)
	}
}
