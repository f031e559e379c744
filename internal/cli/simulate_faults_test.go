package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/loadgen"
	"benchtop/loadgen/shape"
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
		if c := stop(); c != session.ExitFine {
			t.Errorf("simulate %q: exit code %d: %s", args, c, stderr.String())
		}
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
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// Every kind of fault, in virtual time: the client counts exactly what the server did.
func TestFaultsAreCounted(t *testing.T) {
	const all, third = faultRequests, faultRequests / 3
	plain := faultyClosedLoop(t, "", nil)
	one := func(o *loadgen.Options) { o.Limit = 1 }
	soon := func(o *loadgen.Options) { o.RequestTimeout = 6 * time.Second }
	tests := []struct {
		fault    string
		change   func(*loadgen.Options)
		failed   int
		failures string
		text     func(string) string
	}{
		// Failures.
		{fault: "reset,every=3", failed: third, failures: "reset 200 6"},
		{fault: "reset,after=4,every=3,from=10", failed: 3, failures: "reset 200 3"},
		{fault: "reset-header", failed: all, failures: "reset 20"},
		{fault: "close-header", failed: all, failures: "reset 20"},
		{fault: "not-http,every=3", failed: third, failures: "malformed 6"},
		{fault: "status=429,every=3", failed: third, failures: "http_status 429 6"},
		{fault: "status=500", failed: all, failures: "http_status 500 20"},
		{fault: "status=503,to=7", failed: 7, failures: "http_status 503 7"},
		{fault: "slow-headers=30s,every=3", change: soon, failed: third, failures: "timeout 6"},
		{fault: "empty,every=3", failed: third, failures: "no_output 200 6"},
		{fault: "close,every=3", failed: third, failures: "truncated 200 6"},
		{fault: "truncate,every=3", failed: third, failures: "truncated 200 6"},
		{fault: "error-in-stream,every=3", failed: third, failures: "error_in_stream 200 6"},
		{fault: "malformed,every=3", failed: third, failures: "malformed 200 6"},
		{fault: "stall,every=3", failed: third, failures: "stall 200 6"},
		{fault: "stall,after=0,every=3", change: soon, failed: third, failures: "timeout 200 6"},
		{fault: "stall=30s,after=100,every=3", failed: third, failures: "stall 200 6"},
		{fault: "refuse,from=6", change: one, failed: 14, failures: "connect 14"},
		{fault: "status=500,every=4 status=429,every=2", failed: 10, failures: "http_status 429 5, http_status 500 5"},

		// A connection that was in use a moment ago is not stale.
		{fault: "reset-header,every=3", change: one, failed: third, failures: "reset 6"},
		{fault: "close-header,every=3", change: one, failed: third, failures: "reset 6"},

		// No failures, and the same text.
		{fault: "slow-headers=50ms,every=3"},
		{fault: "stall=100ms,after=3,every=3"},
		{fault: "slow-body=5ms"},
		{fault: "split-utf8", text: strings.NewReplacer("a", "ä", "e", "€", "i", "語", "o", "😀", "u", "ß").Replace},
		{fault: "crlf"},
		{fault: "comments"},
		{fault: "coalesce=3"},
		{fault: "coalesce=100"},
		{fault: "wrong-answer"}, // to requests without a constraint it is nothing
		{fault: "no-usage"},
		{fault: "no-done"},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			counts, tokens, redials := map[string]int{}, 0, 0
			done := faultyClosedLoop(t, tt.fault, tt.change)
			for i, q := range done {
				redials += q.Redials
				if q.Failure != "" {
					counts[strings.TrimSuffix(fmt.Sprint(q.Failure, " ", q.Status), " 0")]++
					continue
				}
				tokens += q.OutputTokens
				text := plain[i].Text
				if tt.text != nil {
					text = tt.text(text)
				}
				if tt.failed == 0 && q.Text != text {
					t.Errorf("text %d is %q, want %q", i, q.Text, text)
				}
			}
			var failures []string
			for what, n := range counts {
				failures = append(failures, fmt.Sprint(what, " ", n))
			}
			slices.Sort(failures)
			want := (all - tt.failed) * faultTokens
			if got := strings.Join(failures, ", "); len(done) != all || got != tt.failures || tokens != want ||
				redials != 0 {
				t.Errorf("%d requests, failed %s, %d tokens, %d redials; want %d, %s, %d, 0", len(done), got, tokens,
					redials, all, tt.failures, want)
			}
		})
	}
	t.Run("all kinds are in the table", func(t *testing.T) {
		for _, k := range simulator.FaultKinds() {
			name := strings.FieldsFunc(k.Usage, func(r rune) bool { return strings.ContainsRune("[=,", r) })[0]
			covered := name == string(simulator.FaultResetAccept) // counts connections: TestResetAtAccept
			for _, tt := range tests {
				covered = covered ||
					strings.FieldsFunc(tt.fault, func(r rune) bool { return r == '=' || r == ',' })[0] == name
			}
			if !covered {
				t.Errorf("%s is not in the table", name)
			}
		}
	})
}

// faultyClosedLoop are the requests of ten users, in order, to a server with faults, in virtual time.
func faultyClosedLoop(t *testing.T, faults string, change func(*loadgen.Options)) (requests []metrics.Request) {
	synctest.Test(t, func(t *testing.T) {
		p := simulator.Defaults()
		for text := range strings.FieldsSeq(faults) {
			f, err := simulator.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			p.Faults = append(p.Faults, f)
		}
		requests, _ = simulatedRun(t, p, random(t, faultRequests, 8, faultTokens)(), func(o *loadgen.Options) {
			o.InputSource, o.Schedule, o.Limit, o.KeepText = metrics.TokensFromIDs, shape.Immediately(), 10, true
			o.StallTimeout, o.RequestTimeout = 3*time.Second, 20*time.Second
			if change != nil {
				change(o)
			}
		})
	})
	slices.SortFunc(requests, metrics.ByIndex)
	return requests
}

// Connections that are reset as they are accepted fail the requests that open them, and those alone: in virtual time,
// on a network without other clients.
func TestResetAtAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := simulator.Defaults()
		p.Faults = []simulator.Fault{{Kind: simulator.FaultResetAccept, Every: 3}}
		// All at once, so each on a connection of its own: the third and the sixth are reset.
		done := faultyRun(t, p, nil, []time.Duration{0, 0, 0, 0, 0, 0})
		var failures []string
		for _, q := range done {
			if q.Failure != "" {
				failures = append(failures, string(q.Failure))
			}
		}
		if len(done) != 6 || !slices.Equal(failures, []string{"reset", "reset"}) {
			t.Errorf("%d requests, failures %q; want 6 and two resets", len(done), failures)
		}
	})
}

// A connection that is reset when the request arrives is replaced once where it was idle for a second, and only there.
func TestResetOfAnIdleConnection(t *testing.T) {
	const ms, sec = time.Millisecond, time.Second
	for _, tt := range []struct {
		fault   string
		pause   time.Duration // between the starts of requests that take about 35 ms
		failed  int
		redials int
	}{
		{"reset-header,every=3", 2 * sec, 0, 4}, // the request that is sent again counts for the server
		{"close-header,every=3", 2 * sec, 0, 4},
		{"reset-header,every=3", 500 * ms, 3, 0},
		{"close-header,every=3", 500 * ms, 3, 0},
		{"reset,every=3", 2 * sec, 3, 0}, // after the first token
	} {
		synctest.Test(t, func(t *testing.T) {
			p := simulator.Defaults()
			f, err := simulator.ParseFault(tt.fault)
			if err != nil {
				t.Fatal(err)
			}
			p.Faults = []simulator.Fault{f}
			var at []time.Duration
			for i := range 10 {
				at = append(at, time.Duration(i)*tt.pause)
			}
			failed, redials := 0, 0
			for _, q := range faultyRun(t, p, nil, at) {
				redials += q.Redials
				if q.Failure != "" {
					failed++
				}
			}
			if failed != tt.failed || redials != tt.redials {
				t.Errorf("%s every %s: %d failed, %d redials; want %d and %d", tt.fault, tt.pause, failed, redials,
					tt.failed, tt.redials)
			}
		})
	}
}

// In virtual time faults and the client's limits last exactly as long as configured.
func TestFaultsTakeTheirTime(t *testing.T) {
	const stall, limit = 7 * time.Second, 20 * time.Second
	latency := func(fault string) (q metrics.Request) {
		synctest.Test(t, func(t *testing.T) {
			p := simulator.Defaults()
			if fault != "" {
				f, err := simulator.ParseFault(fault)
				if err != nil {
					t.Fatal(err)
				}
				p.Faults = []simulator.Fault{f}
			}
			done := faultyRun(t, p, func(o *loadgen.Options) { o.StallTimeout, o.RequestTimeout = stall, limit },
				[]time.Duration{0})
			q = done[0]
		})
		return q
	}
	plain := latency("")
	for _, tt := range []struct {
		fault      string
		failure    metrics.Failure
		ttft, done time.Duration // beyond those without a fault
	}{
		{"slow-headers=3s", "", 3 * time.Second, 3 * time.Second},
		{"slow-headers=19s", "", 19 * time.Second, 19 * time.Second},
		{"slow-headers=1h", metrics.FailedTimeout, 0, limit - plain.Done},
		// Meanwhile the engine goes on, so what comes after the pause comes at once.
		{"stall=5s,after=1", "", 0, 5*time.Second - (plain.Done - plain.FirstChunk)},
		{"stall=1h,after=1", metrics.FailedStall, 0, stall - (plain.Done - plain.FirstChunk)},
		{"stall,after=0", metrics.FailedTimeout, 0, limit - plain.Done},
		// The last token, the usage and [DONE], one after the other; between tokens there is time enough.
		{"slow-body=10ms", "", 10 * time.Millisecond, 30 * time.Millisecond},
	} {
		q := latency(tt.fault)
		ttft := time.Duration(0)
		if q.FirstChunk != metrics.Never {
			ttft = q.FirstChunk - plain.FirstChunk
		}
		// A stall may be found out late by the slack that spares the client timers.
		late := q.Done - plain.Done - tt.done
		slack := 20 * time.Microsecond
		if tt.failure == metrics.FailedStall {
			slack = time.Second
		}
		if q.Failure != tt.failure || (ttft-tt.ttft).Abs() > 20*time.Microsecond || late < -20*time.Microsecond ||
			late > slack {
			t.Errorf("%s: %q, TTFT %v and end %v beyond those without a fault, want %q, %v and %v", tt.fault, q.Failure,
				ttft,
				q.Done-plain.Done, tt.failure, tt.ttft, tt.done)
		}
	}
}

// faultyRun sends a request at each offset, in virtual time, and returns what became of them in order of their end. It
// must be called inside a bubble.
func faultyRun(t *testing.T, p simulator.Profile, change func(*loadgen.Options),
	offsets []time.Duration) []metrics.Request {
	t.Helper()
	requests, _ := simulatedRun(t, p, random(t, len(offsets), 8, 3)(), func(o *loadgen.Options) {
		o.InputSource, o.Schedule = metrics.TokensFromIDs, shape.At(offsets)
		if change != nil {
			change(o)
		}
	})
	return requests
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
