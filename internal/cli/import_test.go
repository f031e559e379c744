package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// The examples of the page run, and print the lines that stand below them.
func TestImportExamples(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	page := assert.Must(os.ReadFile(filepath.Join("docs", "agents.md")))(t)
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	assert.Equal(t, len(blocks), 3, "examples")
	for _, block := range blocks {
		var last result
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			if command, ok := strings.CutPrefix(line, "$ benchtop "); ok {
				words := assert.Must(argv.Split(command))(t)
				last = benchtop(words...)
				last.expect(t, session.ExitFine)
			} else if !strings.Contains(last.stdout+last.stderr, line) {
				t.Errorf("the example does not print %q but\n%s%s", line, last.stdout, last.stderr)
			}
		}
	}
}

// The file appears whole or not at all, and replaces none that is not meant.
func TestImportOutput(t *testing.T) {
	fixtures := assert.Must(filepath.Abs(filepath.Join("testdata", "import")))(t)
	t.Chdir(t.TempDir())
	broken := "broken.jsonl"
	assert.Fine(t, os.WriteFile(broken, []byte(`{"custom_id":"a","body":{"prompt":"a"}}`+"\n{"), 0o666))
	benchtop("import", broken, "-o", "s.jsonl").expect(t, session.ExitFailed,
		"broken.jsonl, line 2: the file ends before its last object does")
	if left, _ := filepath.Glob("*s.jsonl*"); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	r := benchtop("import", fixtures, "--output", "s.jsonl")
	r.expect(t, session.ExitFine, "4 sessions, 13 requests, 2 sub-agents")
	data, err := os.ReadFile("s.jsonl")
	if n := strings.Count(string(data), "\n"); err != nil || n != 4 || r.stdout != "" {
		t.Errorf("%d lines, %v, on standard output %q", n, err, r.stdout)
	}
	benchtop("import", broken, "-o", "s.jsonl").expect(t, session.ExitUsage,
		"--output s.jsonl: the file exists; choose another name, or give --overwrite")
	benchtop("import", broken, "-o", "s.jsonl", "--overwrite").expect(t, session.ExitFailed, "broken.jsonl, line 2")
	assert.Equal(t, string(assert.Must(os.ReadFile("s.jsonl"))(t)), string(data), "a failed import changed the file")
	benchtop("import", filepath.Join(fixtures, "agentx.json"), "-o", "s.jsonl", "--overwrite").expect(t,
		session.ExitFine, "1 session, 6 requests")
	benchtop("import", "s.jsonl").expect(t, session.ExitFailed, "s.jsonl: this is a file of sessions already")
}

// Prompts of batch files are counted by a tokenizer, and kept as they were if that was asked for.
func TestImportText(t *testing.T) {
	batch := filepath.Join("testdata", "import", "batch.jsonl")
	if r := benchtop("import", batch); strings.Contains(r.stdout, "fox") || strings.Contains(r.stdout, "messages") {
		t.Errorf("texts were kept: %s", r.stdout)
	}
	benchtop("import", "--keep-text", batch).expect(t, session.ExitFine,
		`"content": "A fox met a crow who held a cheese."`)
	benchtop("import", "--tokenizer", "no/such/folder", batch).expect(t, session.ExitUsage, "no/such/folder")
	benchtop("import", "--tokenizer", "estimate", batch).expect(t, session.ExitFine, "4 characters each")
}

func TestImportUsage(t *testing.T) {
	for _, c := range []struct {
		line string
		want string
	}{
		{"import", "import takes the files to read; see 'benchtop import --help'"},
		{"import --formt otel x", "--formt: unknown flag (did you mean format?)"},
		{"import --format otl x", "--format otl: use auto or agentx or otel or openai-batch"},
		{"import --block-size 0 x", "--block-size 0: must be between 1 and 1048576"},
		{"import x -o x", "--output x: this is also read; choose another name"},
		{"imprt", "did you mean import?"},
	} {
		benchtop(strings.Fields(c.line)...).expect(t, session.ExitUsage, c.want)
	}
	benchtop("import", "no-such-file").expect(t, session.ExitFailed,
		"no-such-file: file does not exist; give the path of a file or folder of recordings")
	benchtop("import", "--help").expect(t, session.ExitFine, "benchtop import agentx.tar.zst -o sessions.jsonl",
		"--keep-text")
}
