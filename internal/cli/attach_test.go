package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/attach"
	"benchtop/metrics"
)

func TestRunsTable(t *testing.T) { synctest.Test(t, runsTableTest) }

func runsTableTest(t *testing.T) {
	runs := []attach.Running{
		{PID: 12307, Since: time.Now().Add(-90 * time.Second), About: attach.About{Target: "http://gpu7:8000", Model: "llama\x1b[31m", Load: "4 → 50 req/s"}},
		{PID: 7, Since: time.Now().Add(-2 * time.Second)},
	}
	want := `choose one of the runs, as in 'benchtop attach 12307':
PID    FOR    TARGET     MODEL  LOAD
12307  1m30s  gpu7:8000  llama  4 → 50 req/s
7      2s     it does not say`
	if diff := cmp.Diff(want, runsInWords(runs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// joinable is a run that can only be found.
type joinable struct{ attach.Run }

func (joinable) Snapshot() metrics.Snapshot {
	return metrics.Snapshot{Plan: &metrics.Plan{BaseURL: "http://a:1", ModelID: "m\tn", Load: "8 users"}}
}

func (joinable) Controllable() bool { return false }

// The list for other programs is cut at tabs.
func TestListOfRuns(t *testing.T) {
	dir, err := os.MkdirTemp("", "bt") // short, for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("TMPDIR", dir)
	h, err := attach.Listen(joinable{}, "v1")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var out bytes.Buffer
	if code := listRuns(&environment{stdout: &out}); code != exitFine {
		t.Errorf("exit code %d", code)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || lines[0] != "PID\tSINCE\tSOCKET\tTARGET\tMODEL\tLOAD" {
		t.Fatalf("the list is\n%s", out.String())
	}
	if fields := strings.Split(lines[1], "\t"); len(fields) != 6 || fields[3] != "http://a:1" || fields[4] != "m n" || fields[5] != "8 users" {
		t.Errorf("the run is %q", fields)
	}
}
