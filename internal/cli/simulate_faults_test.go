package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// startSimulate runs the command 'simulate' on a free port until the test ends, and returns its address. Its exit code
// must be 0.
func startSimulate(t *testing.T, args ...string) (url string) {
	t.Helper()
	stdin, lifeline := io.Pipe()
	out, stdout := io.Pipe()
	code := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		code <- Main(append([]string{"simulate", "--port", "0", "--exit-with-stdin"}, args...), stdin, stdout, &stderr)
		_ = stdout.Close()
	}()
	stop := func() int {
		_ = lifeline.Close()
		return <-code
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(line, listening)
	if err != nil || !ok {
		t.Fatalf("simulate %q said %q (%v), exit code %d, %s", args, line, err, stop(), stderr.String())
	}
	t.Cleanup(func() {
		assert.Equal(t, stop(), session.ExitFine, "simulate %q: exit code: %s", args, stderr.String())
	})
	return strings.Fields(address)[0]
}

// faultResult are the figures of a saved result.
type faultResult struct {
	Completed    int
	OutputTokens int      `json:"total_output_tokens"`
	Texts        []string `json:"generated_texts"`
	ITLs         [][]float64
}

const faultRequests, faultTokens = 20, 6

// serveShort loads the server at url with a few short requests and returns the saved result.
func serveShort(t *testing.T, url string) (o faultResult) {
	t.Helper()
	dir := t.TempDir()
	r := benchtop("serve", "--base-url", url, "--num-prompts", fmt.Sprint(faultRequests), "--random-input-len", "8",
		"--random-output-len", fmt.Sprint(faultTokens), "--max-concurrency", "10",
		"--save-result", "--save-detailed", "--result-dir", dir, "--result-filename", "r.json")
	data, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, r.stdout, r.stderr)
	}
	assert.Fine(t, json.Unmarshal(data, &o))
	return o
}

// requestCollector keeps the requests that are over.
type requestCollector struct {
	mu       sync.Mutex // guards requests
	requests []metrics.Request
}

func (e *requestCollector) Take(x *event.Event) {
	if x.Kind != event.Done {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, *x.Request)
}

// A run with a few failures is a success, and its last line says how many there were.
func TestFailuresAreTheLastLine(t *testing.T) {
	t.Parallel()
	url := simulated(t, func(p *simulator.Profile) {
		p.Faults = []simulator.Fault{{Kind: simulator.FaultStatus, Arg: 500, Every: 4}}
	})
	for _, command := range []string{"serve", "throughput --dataset-name random"} {
		r := benchtop(append(strings.Fields(command), "--base-url", url, "--num-prompts", "8", "--random-input-len",
			"5", "--random-output-len", "2", "--no-save")...)
		r.expect(t, session.ExitFine)
		if lines := strings.Split(strings.TrimSpace(r.stderr),
			"\n"); lines[len(lines)-1] != "benchtop: 2 of 8 requests failed" {
			t.Errorf("%s: the last line is %q", command, lines[len(lines)-1])
		}
	}
}
