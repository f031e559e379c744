//go:build unix

package telemetry

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// fakeTool writes a shell script under the name of a tool and returns its path. The script notes its processes by
// calling pid.
func fakeTool(t *testing.T, name, script string) (path, pids string) {
	t.Helper()
	dir := t.TempDir()
	path, pids = filepath.Join(dir, name), filepath.Join(dir, "pids")
	text := "#!/bin/sh\npid() { echo $1 >>" + pids + "; }\npid $$\n" + script
	assert.Fine(t, os.WriteFile(path, []byte(text), 0o700))
	return path, pids
}

// watchAll follows a watch until it has so many samples, or ends. It returns the samples and the error of the watch.
func watchAll(t *testing.T, o GPUOptions, most int) ([]metrics.GPUSecond, error) {
	t.Helper()
	return watchUntil(t, o, func(seen []metrics.GPUSecond) bool { return len(seen) == most })
}

// watchUntil follows a watch until it has enough samples, or ends.
func watchUntil(t *testing.T, o GPUOptions, enough func(seen []metrics.GPUSecond) bool) ([]metrics.GPUSecond, error) {
	t.Helper()
	if o.every == 0 {
		o.every = 20 * ms
	}
	w, err := WatchGPUs(t.Context(), o)
	assert.Fine(t, err)
	defer w.Close()
	var seen []metrics.GPUSecond
	for s := range w.Seconds() {
		if seen = append(seen, s); enough(seen) {
			break
		}
	}
	return seen, w.Err()
}

// allGone fails if a process of a fake tool lives on.
func allGone(t *testing.T, pids string) {
	t.Helper()
	text, err := os.ReadFile(pids)
	assert.Fine(t, err)
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		assert.Fine(t, err)
		for end := time.Now().Add(time.Minute); alive(pid); time.Sleep(5 * ms) {
			if time.Now().After(end) {
				t.Fatalf("process %d is still there", pid)
			}
		}
	}
}

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
	}
	return syscall.Kill(pid, 0) == nil
}

const fakeLine = "NVIDIA H200, 50, 1024, 2048, 300.5, 700, 60, 1980"

func TestWatchNvidia(t *testing.T) {
	path, pids := fakeTool(t, "nvidia-smi", `[ "$*" = "--query-gpu=`+nvidiaQuery+` --format=csv,noheader,nounits -lms 20000" ] || { echo "called with $*" >&2; exit 1; }
while :; do echo "0, `+fakeLine+`"; echo "1, `+fakeLine+`"; sleep 0.05; done`)
	// The second line of a sample may come late on a busy machine, so the interval is long.
	seen, err := watchAll(t, GPUOptions{tools: []string{path}, Only: []int{1}, every: 20 * time.Second}, 3)
	if err != nil || len(seen) != 3 {
		t.Fatalf("%d looks, %v", len(seen), err)
	}
	for i, s := range seen {
		want := []metrics.GPU{{Index: 1, Name: "NVIDIA H200", Use: 0.5, MemoryUsed: 1024 * mebi,
			MemoryTotal: 2048 * mebi,
			Power:       300.5, PowerLimit: 700, Temperature: 60, Clock: 1980}}
		if diff := cmp.Diff(want, s.GPUs); diff != "" {
			t.Errorf("look %d: -want +got\n%s", i, diff)
		}
		if i > 0 && (s.Took <= 0 || s.At != seen[i-1].At+s.Took) || i == 0 && s.Took != 0 {
			t.Errorf("look %d at %v took %v, the one before was at %v", i, s.At, s.Took, seen[max(i-1, 0)].At)
		}
	}
	allGone(t, pids)
}

// The watch of a broken tool ends with an error and leaves no process behind. The time-out must be long enough for the
// tool to print its output, which takes an unknown time here, so a failed attempt is repeated with a longer time-out.
// PATIENCE stands for the time-out in messages.
func TestWatchGPUsTroubled(t *testing.T) {
	for _, c := range []struct {
		name, script string
		looks        int
		says         string
	}{
		{"hangs at once", "sleep 1000 & pid $!; wait", 0, "nvidia-smi gave no output for PATIENCE and was ended"},
		{"hangs later, deaf", "trap '' TERM INT HUP; echo '0, " + fakeLine + "'; sleep 1000", 1,
			"nvidia-smi gave no output for PATIENCE and was ended"},
		{"garbage", `printf 'garbage\n\000\377\n,,,,,,,,\n\n"\n'; echo '0, ` + fakeLine + `'; printf '%20000s\n'; ` +
			`sleep 1000`, 1, "nvidia-smi gave no output for PATIENCE"},
		{"garbage only", `while :; do printf '\033[31m0, 1, 2\n'; sleep 0.02; done`, 0,
			`nvidia-smi gave no data for PATIENCE, only "[31m0, 1, 2" and was ended`},
		{"one long line", `printf '%0200d\n' 0; sleep 1000`, 0,
			`nvidia-smi gave no data for PATIENCE, only "` + strings.Repeat("0", 119) + `…" and was ended`},
		{"complaints only", `echo 'waiting for the driver' >&2; sleep 1000`, 0,
			`nvidia-smi gave no data for PATIENCE, only "waiting for the driver" and was ended`},
		{"garbage later", `echo '0, ` + fakeLine + `'; echo 'lost it'; sleep 1000`, 1,
			`nvidia-smi gave no data for PATIENCE, only "lost it" and was ended`},
		{"a part of a line", `echo '0, ` + fakeLine + `'; printf '0, NVIDIA H200, 50, 1024, 2048, 300.5, 700, 60, 19'`,
			1, "nvidia-smi ended without output"},
		{"exits early", `echo >&2; echo 'no permission' >&2; echo 'sorry' >&2; exit 4`, 0,
			"nvidia-smi ended: no permission (exit status 4)"},
		{"exits later", `echo '0, ` + fakeLine + `'; echo 'lost it' >&2; exit 4`, 1,
			"nvidia-smi ended: lost it (exit status 4)"},
		{"complains on its output", `echo 'NVIDIA-SMI has failed because it could not.'; exit 9`, 0,
			"nvidia-smi ended: NVIDIA-SMI has failed because it could not. (exit status 9)"},
		{"complains on its output later",
			`echo '0, ` + fakeLine + `'; echo 'Unable to determine the device handle for GPU0: Unknown Error'; exit 15`,
			1, "nvidia-smi ended: Unable to determine the device handle for GPU0: Unknown Error (exit status 15)"},
		{"is killed", `kill -9 $$`, 0, "nvidia-smi ended: signal: killed"},
		{"says nothing at all", ``, 0, "nvidia-smi ended without output"},
		{"closes its output", `exec >&-; sleep 1000`, 0, "nvidia-smi ended: signal: killed"},
		{"leaves a child behind", `sleep 1000 & pid $!; echo '0, ` + fakeLine + `'; exit 3`, 1,
			"nvidia-smi gave no output for PATIENCE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for long := 300 * ms; ; long *= 5 {
				path, pids := fakeTool(t, "nvidia-smi", c.script)
				p := timeouts{time.Minute, long}
				if c.looks == 0 {
					p.first = long
				}
				seen, err := watchAll(t, GPUOptions{tools: []string{path}, timeouts: p}, -1)
				says := strings.ReplaceAll(c.says, "PATIENCE", long.String())
				_, began := os.Stat(pids)
				if began == nil && err != nil && strings.HasPrefix(err.Error(), says) && len(seen) == c.looks {
					allGone(t, pids)
					return
				}
				if long > 20*time.Second {
					t.Fatalf("%d looks, error %v; want %d, %q", len(seen), err, c.looks, says)
				}
			}
		})
	}
}

// The next tool has its turn if the first shows no accelerator.
func TestWatchGPUsNextTool(t *testing.T) {
	broken, _ := fakeTool(t, "nvidia-smi", "echo 'No devices were found'; exit 6")
	amd, pids := fakeTool(t, "amd-smi", `[ "$*" = "monitor -p -t -u -m -v --csv --watch 1" ] || exit 1
echo gpu,power_usage,gfx; while :; do echo 0,100,50; sleep 0.05; done`)
	seen, err := watchAll(t, GPUOptions{tools: []string{broken, amd}}, 2)
	if err != nil || len(seen) != 2 || seen[0].GPUs[0].Power != 100 || seen[0].GPUs[0].Use != 0.5 {
		t.Errorf("%+v, %v", seen, err)
	}
	allGone(t, pids)
	none, _ := fakeTool(t, "rocm-smi", "exit 1")
	_, err = watchAll(t, GPUOptions{tools: []string{broken, none}}, 1)
	assert.Fails(t, "two tools", err,
		"nvidia-smi ended: No devices were found (exit status 6)\nrocm-smi ended: exit status 1")
}

// A tool without a loop of its own is started for each sample.
func TestWatchRocm(t *testing.T) {
	path, pids := fakeTool(t, "rocm-smi",
		`echo 'device,GPU use (%),Average Graphics Package Power (W)'; echo card0,10,41.0; echo card1,20,42.0`)
	// The lines of a sample may be split on a busy machine.
	seen, err := watchUntil(t, GPUOptions{tools: []string{path}}, func(seen []metrics.GPUSecond) bool {
		return len(seen) > 2 && len(seen[len(seen)-1].GPUs) == 2
	})
	if err != nil || len(seen) < 3 {
		t.Fatalf("%+v, %v", seen, err)
	}
	if last := seen[len(seen)-1]; last.GPUs[1].Power != 42 || last.Took <= 0 {
		t.Errorf("%+v", last)
	}
	if text, _ := os.ReadFile(pids); len(strings.Fields(string(text))) < 2 {
		t.Errorf("processes %q, want one for each look", text)
	}
}

// Without a reader the tool runs on and the oldest samples are lost, until Close or the context ends it.
func TestWatchGPUsClose(t *testing.T) {
	for _, by := range []string{"Close", "the context"} {
		path, pids := fakeTool(t, "nvidia-smi",
			`sleep 1000 & pid $!; i=0; while [ $i -lt 100 ]; do echo "0, g, $i, 1, 1, 1, 1, 1, 1"; i=$((i+1)); done; `+
				`echo done >>`+t.TempDir()+`/x; wait`)
		ctx, cancel := context.WithCancel(t.Context())
		w, err := WatchGPUs(ctx, GPUOptions{tools: []string{path}, every: 10 * ms})
		assert.Fine(t, err)
		first := <-w.Seconds()
		for first.GPUs[0].Use < 0.05 { // all the lines came without anybody reading
			first = <-w.Seconds()
		}
		if by == "Close" {
			w.Close()
		} else {
			cancel()
		}
		for range w.Seconds() {
		}
		w.Close()
		cancel()
		if err := w.Err(); err != nil {
			t.Errorf("%s: error %v", by, err)
		}
		allGone(t, pids)
	}
}
