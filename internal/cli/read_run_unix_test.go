//go:build unix

package cli

import (
	"path/filepath"
	"syscall"
	"testing"

	"benchtop/export/journal"
)

// A journal without an end is that of a run that is on for as long as its writer lives, and reading it takes nothing from that.
func TestReportOfARunThatIsOn(t *testing.T) {
	t.Chdir(t.TempDir())
	files, err := (&savingOptions{result: true, name: "r.json"}).reserve(plan())
	if err != nil {
		t.Fatal(err)
	}
	written, err := journal.NewWriter(files.journal, plan())
	if err != nil {
		t.Fatal(err)
	}
	if err := written.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		run("report", "r.json").expect(t, exitFine, "Interrupted: "+stillOn+".")
	}
	if !inUse("r.jsonl") {
		t.Error("the lock is gone")
	}
	if err := files.journal.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	run("report", "r.json").expect(t, exitFine, "Interrupted: its journal has no end")
	_ = written.Close() // which cannot be written any more
}

// A pipe is refused before anything waits for it: it may have no writer, and can be read only once.
func TestReportOfAPipe(t *testing.T) {
	for _, name := range []string{"pipe", "pipe.json", "pipe.jsonl"} {
		pipe := filepath.Join(t.TempDir(), name)
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "pipe.json" { // a result that has no journal
			run("report", "--baseline", pipe, "x").expect(t, exitUsage, "pipe.json is not a regular file")
			continue
		}
		run("report", pipe).expect(t, exitFailed, name+" is not a regular file, and a run is read more than once; write it to a file first")
	}
}
