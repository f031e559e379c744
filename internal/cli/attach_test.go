package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/attach"
	"benchtop/internal/session"
	"benchtop/metrics"
)

func TestRunsTable(t *testing.T) { synctest.Test(t, runsTableTest) }

func runsTableTest(t *testing.T) {
	runs := []attach.RunProcess{
		{PID: 12307, Since: time.Now().Add(-90 * time.Second),
			About: attach.About{Target: "http://gpu7:8000", Model: "llama\x1b[31m", Load: "4 → 50 req/s"}},
		{PID: 7, Since: time.Now().Add(-2 * time.Second)},
	}
	want := `choose one of the runs, as in 'benchtop attach 12307':
PID    FOR    TARGET     MODEL  LOAD
12307  1m30s  gpu7:8000  llama  4 → 50 req/s
7      2s     unknown load`
	assert.Same(t, "runsInWords", runsInWords(runs), want)
}

// joinableRun is a run that can only be found.
type joinableRun struct{ attach.Run }

func (joinableRun) Snapshot() metrics.Snapshot {
	return metrics.Snapshot{Plan: &metrics.Plan{BaseURL: "http://a:1", ModelID: "m\tn", Load: "8 users"}}
}

func (joinableRun) Controllable() bool { return false }

func (joinableRun) Inspect(metrics.Inspection) {}

// ownRuns has the sockets of runs in a directory of the test.
func ownRuns(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "bt") // short, for the name of a socket
	assert.Fine(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("TMPDIR", dir)
}

// The list for other programs is cut at tabs.
func TestListOfRuns(t *testing.T) {
	ownRuns(t)
	h := assert.Must(attach.Listen(joinableRun{}, "v1"))(t)
	defer h.Close()
	var out bytes.Buffer
	assert.Equal(t, listRuns(&session.Environment{Stdout: &out}), session.ExitFine, "exit code")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || lines[0] != "PID\tSINCE\tSOCKET\tTARGET\tMODEL\tLOAD" {
		t.Fatalf("the list is\n%s", out.String())
	}
	if fields := strings.Split(lines[1], "\t"); len(fields) != 6 || fields[3] != "http://a:1" || fields[4] != "m n" ||
		fields[5] != "8 users" {
		t.Errorf("the run is %q", fields)
	}
}

// A run is named by its process id or its socket; the only one needs no name.
func TestChoose(t *testing.T) {
	ownRuns(t)
	refused := func(want string, named ...string) {
		t.Helper()
		if path, err := choose(named); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", named, path, err, want)
		}
	}
	const none = "there is no run to join: start one with 'benchtop demo' or 'benchtop serve'"
	refused(none)
	refused("no run of this user has process id 7; "+none, "7")
	var out bytes.Buffer
	if code := listRuns(&session.Environment{Stdout: &out}); code != session.ExitFine || out.Len() > 0 {
		t.Errorf("the list of no runs ends with %d and is %q", code, out.String())
	}
	h := assert.Must(attach.Listen(joinableRun{}, "v1"))(t)
	defer h.Close()
	only := assert.Must(choose(nil))(t)
	assert.Equal(t, filepath.Base(only), strconv.Itoa(os.Getpid())+".sock", "the only run")
	for _, named := range []string{strconv.Itoa(os.Getpid()), only} {
		assert.Equal(t, assert.Must(choose([]string{named}))(t), only, "%s", named)
	}
	refused("no run of this user has process id 1x; choose one of the runs", "1x")
	refused("no run of this user has process id 1; choose one of the runs", "1")
}

// Wrong usage of attach joins nothing.
func TestAttachUsage(t *testing.T) {
	benchtop("attach", "1", "2").expect(t, session.ExitUsage, `attach takes one run, got ["1" "2"]`)
	benchtop("attach", "--theme", "x").expect(t, session.ExitUsage, "--theme")
	benchtop("attach").expect(t, session.ExitUsage, "attach needs a terminal to draw on; --list works without one")
}
