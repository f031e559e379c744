package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

const someTrace = `{"timestamp": 0, "input_length": 40, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 250, "input_length": 48, "output_length": 9, "hash_ids": [0, 1, 3]}
{"timestamp": 300, "input_length": 16, "output_length": 1, "hash_ids": [0]}
`

func TestAnalyze(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		assert.Fine(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	trace := file("trace.jsonl", someTrace)
	custom := file("custom.jsonl", `{"prompt": "What is a bench?"}`+"\n")
	broken := file("broken.jsonl", someTrace+"{\n")
	small := modelDirectory(t, "synthetic-spbpe")
	for _, c := range []struct {
		name, args string
		code       int
		want       []string
	}{
		{"a trace", trace, session.ExitFine,
			[]string{"form                 trace of lengths with the blocks of prompts", "requests             3\n",
				"   16  ████████████▎ 30.8 % of prompt tokens", "--request-rate 0.00667"}},
		{"its unit and blocks", trace + " --trace-unit ms --timed-trace-chunk-hash-size 24", session.ExitFine,
			[]string{"taken as ms", "over 300ms", "   24 "}},
		{"its columns", trace + " --trace-columns input=output_length", session.ExitFine,
			[]string{"prompt tokens        15 in all"}},
		{"an estimate", custom, session.ExitFine,
			[]string{"tokens               lengths estimated, without a chat template",
				"prompt tokens        4 in all"}},
		{"no estimate", custom + " --tokenizer " + small, session.ExitFine, []string{"counted by tokenizer " + small}},
		{"drawn", "--vocab-size 500 --random-input-len 9 --num-prompts 4", session.ExitFine,
			[]string{"source               random: 9 input tokens", "requests             4\n",
				"hits of a prefix cache"}},
		{"drawn with times", "--dataset-name timed_trace --vocab-size 500 --dataset-path " + trace, session.ExitFine,
			[]string{"rate                 0.00667 requests/s over 5m0s"}},
		{"drawn without times", "--dataset-name timed_trace --vocab-size 500 --no-self-timed --dataset-path " + trace,
			session.ExitFine, []string{"requests             3\n"}},
		{"no such file", filepath.Join(dir, "none"), session.ExitUsage,
			[]string{"none: file does not exist; give the path of a"}},
		{"a broken file", broken, session.ExitUsage, []string{"broken.jsonl, line 4: "}},
		{"two files", trace + " " + custom, session.ExitUsage, []string{"dataset analyze takes one file, got 2"}},
		{"a flag of drawing", trace + " --num-prompts 5", session.ExitUsage,
			[]string{"--num-prompts: a file is analyzed as a whole; to analyze the requests drawn from it, give " +
				"--dataset-name"}},
		{"a bad unit", trace + " --trace-unit min", session.ExitUsage,
			[]string{`--trace-unit "min": use s, ms, us or ns`}},
		{"bad columns", trace + " --trace-columns x", session.ExitUsage,
			[]string{"--trace-columns: expected timestamp=NAME"}},
		{"no such column", trace + " --timed-trace-label-hash-ids nope", session.ExitUsage,
			[]string{`trace.jsonl: unknown column "nope"; the columns are`}},
		{"another's unit", trace + " --timed-trace-sec-multiplier 0.001", session.ExitUsage,
			[]string{"--timed-trace-sec-multiplier: a file is analyzed as a whole"}},
		{"bad blocks", trace + " --timed-trace-chunk-hash-size 0", session.ExitUsage,
			[]string{"--timed-trace-chunk-hash-size 0: must be between 1 and"}},
		{"a wrong draw", "--dataset-name nope", session.ExitUsage, []string{"--dataset-name nope: use one of"}},
		{"no tokenizer there", custom + " --tokenizer " + filepath.Join(dir, "none"), session.ExitUsage,
			[]string{"none"}},
		{"help", "--help", session.ExitFine, []string{"usage: benchtop dataset analyze [flags] [FILE]", "--json "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			benchtop(append([]string{"dataset", "analyze"}, strings.Fields(c.args)...)...).expect(t, c.code, c.want...)
		})
	}
	r := benchtop("dataset", "analyze", trace, "--json")
	var got struct {
		Schema, Requests int
		Prefix           struct {
			Blocks []struct {
				Rate float64 `json:"hit_rate"`
			} `json:"block_sizes"`
		} `json:"prefix_sharing"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != session.ExitFine || got.Requests != 3 ||
		got.Schema != 1 || got.Prefix.Blocks[0].Rate != 32.0/104 {
		t.Errorf("%v, %+v from %s%s", err, got, r.stdout, r.stderr)
	}
}

// The example of docs/datasets.md is a trace, and the commands there analyze it and a data set.
func TestDocsAnalyze(t *testing.T) {
	commands, file := docsExample(t, "## Analyze")
	if len(commands) != 2 {
		t.Fatalf("got commands %q", commands)
	}
	t.Chdir(t.TempDir())
	assert.Fine(t, os.WriteFile("trace.jsonl", []byte(file), 0o600))
	for i, want := range [][]string{
		// 64 + 48 + 32 + 80 of 368
		{"requests             6\n", "16  ████████████████████████▍ 60.9 % of prompt tokens",
			"burstiness           1.14: Poisson-like"},
		// 99 of 100 prompts, a third of each
		{"random: 1024 input tokens after a prefix of 512", "512  █████████████▎ 33.0 % of prompt tokens",
			"--random-prefix-len 512 --random-input-len 1024"},
	} {
		benchtop(strings.Fields(commands[i])...).expect(t, session.ExitFine, want...)
	}
}
