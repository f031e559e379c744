package cli

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// A result so far is read from the journal of its run, unless it has one of its own.
func TestJournalOfTheRunSoFar(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.json", "a-so-far.json", "a.jsonl.gz", "b-so-far.json", "b.jsonl", "c-so-far.json", "c-so-far.jsonl", "c.jsonl", "d-so-far.json"} {
		if err := os.WriteFile(name, nil, fs.ModePerm); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{"a-so-far.json": "a.jsonl.gz", "a.json": "a.jsonl.gz", "b-so-far.json": "b.jsonl", "c-so-far.json": "c-so-far.jsonl"} {
		if got, err := journalOf(file); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %s", file, got, err, want)
		}
	}
	if _, err := journalOf("d-so-far.json"); err == nil || !strings.Contains(err.Error(), "no journal beside it") {
		t.Errorf("without a journal: %v", err)
	}
}

// A baseline is the run as it was when it was saved.
func TestBaselineSoFar(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a-so-far.json": `{"completed": 7, "duration": 2}`, "a.jsonl": "the whole run\n"} {
		if err := os.WriteFile(name, []byte(text), fs.ModePerm); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := savedReport("a-so-far.json"); err != nil || r.Completed != 7 {
		t.Errorf("%d completed, %v", r.Completed, err)
	}
}

// A directory is no damaged journal: what to give is said.
func TestReportOfADirectory(t *testing.T) {
	dir := t.TempDir()
	const words = " is a directory; give a result (.json) or a journal (.jsonl or .jsonl.gz) in it"
	run("report", dir).expect(t, exitFailed, "benchtop: "+dir+words)
	run("report", "--baseline", dir, "x.json").expect(t, exitUsage, "--baseline: "+dir+words)
}
