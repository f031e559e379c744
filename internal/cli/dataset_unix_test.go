//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A signal ends a command that waits for the end of its file, and leaves no half of a result.
func TestStoppedWhileReading(t *testing.T) {
	t.Parallel()
	path := assert.Must(binary())(t)
	server, model := recorded(t, nil), modelDirectory(t, "synthetic-spbpe")
	const custom = "--dataset-name custom --skip-chat-template --tokenizer estimate --dataset-path PIPE"
	for _, c := range []struct {
		name, args string
		sig        syscall.Signal
		code       int
	}{
		{"dataset", "dataset --jsonl OUT/x.jsonl " + custom, syscall.SIGINT, session.ExitAborted},
		{"dataset, terminated", "dataset " + custom, syscall.SIGTERM, session.ExitTerminated},
		{"serve", "serve --no-save --base-url " + server.url + " " + custom, syscall.SIGINT, session.ExitAborted},
		{"slices", "dataset slices --tokenizer " + model + " --input PIPE --output OUT/x.jsonl", syscall.SIGINT,
			session.ExitAborted},
	} {
		t.Run(c.name, func(t *testing.T) {
			pipe, out := filepath.Join(t.TempDir(), "pipe.jsonl"), t.TempDir()
			assert.Fine(t, syscall.Mkfifo(pipe, 0o600))
			words := strings.NewReplacer("PIPE", pipe, "OUT", out).Replace(c.args)
			command := exec.Command(path, strings.Fields(words)...)
			var said strings.Builder
			command.Stderr = &said
			assert.Fine(t, command.Start())
			defer command.Process.Kill()
			writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
			assert.Fine(t, err)
			defer writer.Close()
			assert.Fine(t, command.Process.Signal(c.sig))
			_ = command.Wait() // shown by the exit code
			if code := command.ProcessState.ExitCode(); code != c.code || !strings.Contains(said.String(), "stopped") {
				t.Errorf("exit code %d, want %d: %s", code, c.code, &said)
			}
			if left, _ := os.ReadDir(out); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	if calls := server.all(); len(calls) > 0 {
		t.Errorf("%d requests were sent", len(calls))
	}
}

// A disk that is full is no fault of the command line.
func TestDatasetToAFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Log("this system has no " + full)
		return
	}
	model := modelDirectory(t, "synthetic-spbpe")
	r := benchtop("dataset", "--vocab-size", "100", "--num-prompts", "100", "--jsonl", full)
	if r.expect(t, session.ExitFailed, "/dev/full"); strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("told more than once: %s", r.stderr)
	}
	r = benchtop("dataset", "slices", "--input", datasetFiles+"slices_source.txt", "--output", full, "--tokenizer",
		model)
	if r.expect(t, session.ExitFailed, "/dev/full"); strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("told more than once: %s", r.stderr)
	}
}

func TestDatasetInto(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.jsonl")
	assert.Fine(t, os.WriteFile(file, []byte("old\n"), 0o600))
	model := modelDirectory(t, "synthetic-spbpe")
	benchtop("dataset", "--dataset-name", "hf", "--dataset-path", dir, "--hf-name", datasets.BFCLRepository,
		"--tokenizer", model, "--jsonl", file).expect(t, session.ExitUsage)
	if data, _ := os.ReadFile(file); string(data) != "old\n" {
		t.Errorf("an old file is lost: %q", data)
	}
	benchtop("dataset", "--jsonl", filepath.Join(dir, "no", "x.jsonl")).expect(t, session.ExitUsage,
		"--jsonl: create "+filepath.Join(dir, "no", "x.jsonl")+": no such file")
	benchtop("dataset", "--vocab-size", "100", "--num-prompts", "3", "--jsonl", file).expect(t, session.ExitFine)
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	// A text that cannot be cut leaves nothing.
	benchtop("dataset", "slices", "--input", filepath.Join(dir, "none"), "--output", filepath.Join(dir, "y"),
		"--tokenizer", model).expect(t, session.ExitUsage)
	benchtop("dataset", "slices", "--input", file, "--output", filepath.Join(dir, "y"), "--tokenizer",
		"estimate").expect(t, session.ExitUsage, "an estimate cannot cut a text")
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// A pipe is refused before anything waits for it: it may have no writer, and can be read only once.
func TestReportOfAPipe(t *testing.T) {
	for _, name := range []string{"pipe", "pipe.json", "pipe.jsonl"} {
		pipe := filepath.Join(t.TempDir(), name)
		assert.Fine(t, syscall.Mkfifo(pipe, 0o600))
		if name == "pipe.json" { // a result that has no journal
			benchtop("report", "--baseline", pipe, "x").expect(t, session.ExitUsage, "pipe.json is not a regular file")
			continue
		}
		benchtop("report", pipe).expect(t, session.ExitFailed,
			name+" is not a regular file, and a run is read more than once; write it to a file first")
	}
}
