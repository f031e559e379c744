package cli

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/internal/metronome"
)

// onTime serves a metronome with a pace and returns its base URL.
func onTime(t *testing.T, ttft, itl time.Duration) string {
	t.Helper()
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := metronome.New()
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return metronome.Pace("http://"+l.Addr().String(), ttft, itl)
}

// measured runs serve with the real program, in a way of its own, and returns what it said and the client of its
// result. While it runs, it is in the hands of while, which also sees what it says.
func measured(t *testing.T, while func(client *exec.Cmd, said *heard), prefix []string,
	args ...string) (said string, result, client map[string]any) {
	t.Helper()
	dir := t.TempDir()
	words := append(append(prefix, program(t), "serve", "--model", "m", "--random-input-len", "5", "--save-result",
		"--result-dir", dir), args...)
	c := exec.Command(words[0], words[1:]...)
	var out heard
	c.Stdout, c.Stderr = &out, &out
	assert.Fine(t, c.Start())
	while(c, &out)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	result = resultIn(t, dir)
	client, _ = result["benchtop"].(map[string]any)["client"].(map[string]any)
	if client == nil {
		t.Fatalf("no client in the result\n%s", out.String())
	}
	return out.String(), result, client
}

// A client that shares its core with others cannot send in time, and says that it was it.
func TestStarvedClient(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("taskset"); err != nil {
		ci.Skip(t, "no taskset")
	}
	var cores unix.CPUSet
	assert.Fine(t, unix.SchedGetaffinity(0, &cores))
	core := 0
	for !cores.IsSet(core) {
		core++
	}
	pinned := []string{"taskset", "-c", strconv.Itoa(core)}
	runtime.LockOSThread() // the hogs die with their thread
	defer runtime.UnlockOSThread()
	base := onTime(t, 20*time.Millisecond, 20*time.Millisecond)
	for range 3 {
		hog := exec.Command(pinned[0], append(pinned[1:], "sh", "-c", "while :; do :; done")...)
		hog.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		assert.Fine(t, hog.Start())
		defer func() {
			_ = hog.Process.Kill()
			_ = hog.Wait()
		}()
	}
	said, _, client := measured(t, func(*exec.Cmd, *heard) {}, append([]string{"nice", "-n", "5"}, pinned...),
		"--base-url", base, "--request-rate", "500", "--num-prompts", "60", "--random-output-len", "8")
	if client["verdict"] != "limited" || !strings.Contains(said, "client OVERLOADED") {
		t.Errorf("client %v, want it limited\n%s", client["why"], said)
	}
}

// ticking runs the metronome of the real program, which a busy test does not disturb, and returns its address.
func ticking(t *testing.T) (url string) {
	t.Helper()
	c := exec.Command(program(t), "metronome", "--port", "0")
	var out heard
	c.Stdout = &out
	assert.Fine(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	if !eventually(func() bool { return strings.Contains(out.String(), "\n") }) {
		t.Fatalf("the metronome said %q", out.String())
	}
	return strings.Fields(strings.TrimPrefix(out.String(), listening))[0]
}

// doneSome is progress that tells of requests that are over.
var doneSome = regexp.MustCompile(`done [1-9]`)

// A client that was stopped for a while says so, and the time is in none of the figures without a mark.
func TestStoppedClient(t *testing.T) {
	t.Parallel()
	base := metronome.Pace(ticking(t), 20*time.Millisecond, 50*time.Millisecond)
	// The server would have to keep the client waiting for limit, and that not because the client was stopped for
	// longer.
	const limit, pause = 4 * time.Second, 5 * time.Second
	said, result, client := measured(t, func(c *exec.Cmd, said *heard) {
		if !eventually(func() bool { return doneSome.MatchString(said.String()) }) {
			t.Error("nothing is sent")
		}
		_ = c.Process.Signal(syscall.SIGSTOP)
		time.Sleep(pause)
		_ = c.Process.Signal(syscall.SIGCONT)
		_ = c.Process.Signal(os.Interrupt) // which lets it finish what is in flight
	}, nil, "--base-url", base, "--max-concurrency", "10", "--duration", "1h", "--random-output-len", "40",
		"--stall-timeout", limit.String(), "--progress", "100ms")
	if result["failed"] != 0.0 {
		t.Errorf("%v failed: what came during the stop is no stall of the server\n%s", result["failed"], said)
	}
	if client["verdict"] != "limited" || !strings.Contains(said, "stalled for") {
		t.Errorf("client %v, want it limited\n%s", client["why"], said)
	}
	if stood, _ := client["stood_still_s"].(float64); stood < 0.8*pause.Seconds() {
		t.Errorf("stalled for %v s, want about %s", client["stood_still_s"], pause)
	}
	stamps, _ := client["stamps"].(map[string]any)
	if shared, _ := stamps["shared"].(float64); shared < 10 {
		t.Errorf("stamps %v: what came during the stop was read at once", stamps)
	}
}
