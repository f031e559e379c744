package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
	"benchtop/internal/session"
)

// A disk that was full for a while: the screen says both at once, and everything is saved.
func TestDiskFullForAWhile(t *testing.T) {
	t.Parallel()
	server, letGo := held(t, 60)
	// No file may grow beyond 16 KB, until the limit is taken away.
	x := open(t, 120, 40, `ulimit -S -f 16; "$BENCHTOP" `+heldRun(server)+` --num-prompts 63 --result-filename r.json`)
	x.wait("! NOT SAVING")
	var limit unix.Rlimit
	err := unix.Prlimit(x.pid(), unix.RLIMIT_FSIZE, nil, &limit)
	if limit.Cur = limit.Max; err == nil {
		err = unix.Prlimit(x.pid(), unix.RLIMIT_FSIZE, &limit, nil)
	}
	assert.Fine(t, err)
	if !eventually(func() bool { return !strings.Contains(x.screen(), "NOT SAVING") }) {
		t.Fatalf("still not saving:\n%s", x.screen())
	}
	dir := filepath.Join(x.dir, "benchtop-results")
	inJournal(t, dir, 60, `{"index":`)
	x.press("6")
	x.wait("the journal is written again; nothing is missing")
	letGo()
	x.wait("✓ DONE")
	x.press("q")
	assert.Equal(t, x.ended(), session.ExitFine, "exit code")
	if s, _ := readSaved(t, x.dir); s.Completed != 63 {
		t.Errorf("completed %d of 63", s.Completed)
	}
	assert.Fine(t, assert.Failure(os.Stat(filepath.Join(dir, "r.jsonl.gz"))))
	benchtop("report", filepath.Join(dir, "r.json")).expect(t, session.ExitFine,
		"Successful requests:                     63 ")
}
