package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchtop/export"
	"benchtop/metrics"
)

func benchtopOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	return resultIn(t, dir)["benchtop"].(map[string]any)
}

// Every shape of load sends what it says.
func TestLoads(t *testing.T) {
	small := "--random-input-len 5 --random-output-len 2 "
	for _, c := range []struct {
		name, args string
		requests   int           // exactly; 0 to look at least
		least      int           // requests
		last       time.Duration // the last one is sent about then
		load       string
		marks      string
	}{
		{"ramp over requests", "--ramp-up-strategy linear --ramp-up-start-rps 50 --ramp-up-end-rps 200 --num-prompts 100 --burstiness inf", 100, 0, 930 * time.Millisecond, "linear ramp 50 to 200 req/s over 100 requests", ""},
		{"ramp in time", "--ramp-up-strategy exponential --ramp-up-start-rps 20 --ramp-up-end-rps 200 --ramp-over 1s --burstiness inf", 0, 75, time.Second, "exponential ramp 20 to 200 req/s over 1s", ""},
		{"ramp in time, so many", "--ramp-up-strategy linear --ramp-up-start-rps 0 --ramp-up-end-rps 100 --ramp-over 500ms --num-prompts 50", 50, 0, 0, "linear ramp 0 to 100 req/s over 500ms", ""},
		{"stages", "--stages 20:500ms,100:500ms,40:250ms --burstiness inf", 0, 68, 1250 * time.Millisecond, "stages of 20, 100, 40 req/s", "20 req/s|100 req/s|40 req/s"},
		{"stages of users", "--concurrency-stages 1:300ms,4:300ms", 0, 4, 0, "stages of 1, 4 users", "1 users|4 users"},
		{"stages cut by the clock", "--stages 20:500ms,100:10s --duration 700ms --burstiness inf", 0, 28, 700 * time.Millisecond, "stages of 20, 100 req/s", "20 req/s|100 req/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := recorded(t, nil)
			dir := t.TempDir()
			run(append([]string{"serve", "--base-url", server.url, "--save-result", "--result-dir", dir}, strings.Fields(small+c.args)...)...).expect(t, exitFine)
			all := server.all()
			v := benchtopOf(t, dir)
			if c.requests > 0 && len(all) != c.requests || len(all) < c.least || c.least > 0 && c.least > 10 && len(all) > c.least+12 {
				t.Errorf("%d requests, want %d or some more than %d", len(all), c.requests, c.least)
			}
			span := all[len(all)-1].at - all[0].at
			if c.last > 0 && (span < c.last*8/10 || span > c.last*2) {
				t.Errorf("the last one came after %s, want about %s", span, c.last)
			}
			if v["load"] != c.load {
				t.Errorf("load %q, want %q", v["load"], c.load)
			}
			var marks []string
			for _, e := range v["events"].([]any) {
				if m, _ := e.(map[string]any)["mark"].(string); m != "" && m != "stall" { // the machine may be busy
					marks = append(marks, m)
				}
			}
			if got := strings.Join(marks, "|"); got != c.marks {
				t.Errorf("marks %q, want %q", got, c.marks)
			}
		})
	}
}

// A ramp over requests has vLLM's events in the result: one for each whole rate.
func TestRateChangeEvents(t *testing.T) {
	server := recorded(t, nil)
	dir := t.TempDir()
	run("serve", "--base-url", server.url, "--random-input-len", "5", "--random-output-len", "2", "--num-prompts", "40", "--ramp-up-strategy", "linear",
		"--ramp-up-start-rps", "50", "--ramp-up-end-rps", "60", "--burstiness", "inf", "--save-result", "--result-dir", dir).expect(t, exitFine)
	v := resultIn(t, dir)
	var rates []float64
	for _, e := range v["rps_change_events"].([]any) {
		rates = append(rates, e.(map[string]any)["rps"].(float64))
		if _, err := time.Parse("2006-01-02T15:04:05.000000", e.(map[string]any)["timestamp"].(string)); err != nil {
			t.Error(err)
		}
	}
	if want := []float64{50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60}; !slices.Equal(rates, want) {
		t.Errorf("rates %v, want %v", rates, want)
	}
	if v["ramp_up_strategy"] != "linear" || v["ramp_up_start_rps"] != 50. || v["request_rate"] != "inf" {
		t.Errorf("%v %v %v", v["ramp_up_strategy"], v["ramp_up_start_rps"], v["request_rate"])
	}
}

// The warm-up is sent and counted nowhere.
func TestWarmupIsLeftOut(t *testing.T) {
	server := recorded(t, nil)
	dir := t.TempDir()
	run("serve", "--base-url", server.url, "--random-input-len", "5", "--random-output-len", "2", "--request-rate", "50", "--duration", "2s", "--warmup", "1s", "--burstiness", "inf",
		"--save-result", "--result-dir", dir).expect(t, exitFine)
	v := resultIn(t, dir)
	if n := len(server.all()); n != 100 {
		t.Errorf("%d requests were sent, want 100", n)
	}
	if n := v["completed"].(float64); n != 51 { // due at 1.00 s, 1.02 s, ... 2.00 s
		t.Errorf("completed %v, want 51", n)
	}
	if d := v["duration"].(float64); d < 0.9 || d > 1.9 { // two seconds, the first of them left out
		t.Errorf("duration %v, want about 1 s", d)
	}
}

// The exit code says whether a condition of the user's holds; the report says which.
func TestFailOn(t *testing.T) {
	url := simulated(t, nil)
	base := []string{"serve", "--base-url", url, "--num-prompts", "5", "--random-input-len", "5", "--random-output-len", "3"}
	run(append(base, "--fail-on", "p99_ttft_ms>60000", "--fail-on", "failed>0")...).expect(t, exitFine)
	run(append(base, "--fail-on", "p99_ttft_ms>0.001", "--fail-on", "failed>0")...).expect(t, exitMissed, "p99_ttft_ms>0.001")
	run(append(base, "--fail-on", "goodput<90%", "--goodput", "ttft:0.001")...).expect(t, exitMissed, "goodput<90%")
	run(append(base, "--fail-on", "goodput<90%", "--goodput", "ttft:60000")...).expect(t, exitFine)
	run(append(base, "--fail-on", "goodput<90%", "--fail-on", "speed>3")...).expect(t, exitUsage, "say with --goodput what is good", "speed")
	// Nothing that succeeded outranks the condition.
	run("serve", "--base-url", url, "--model", "nobody", "--num-prompts", "2", "--fail-on", "failed>0").expect(t, exitFailed, "no request succeeded")
}

// With patience, a server that is still starting is waited for; without, it is an error at once.
func TestReadyCheck(t *testing.T) {
	born := time.Now().Add(2500 * time.Millisecond)
	server := recorded(t, func(w http.ResponseWriter, _ *http.Request) bool {
		if time.Now().Before(born) {
			http.Error(w, "loading the model", http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	r := run("serve", "--base-url", server.url, "--num-prompts", "3", "--random-input-len", "40", "--random-output-len", "3", "--vocab-size", "32000", "--ready-check-timeout-sec", "20", "--num-warmups", "4")
	r.expect(t, exitFine, "waiting up to 20s for "+server.url, "loading the model", "warming up with 4 requests", "Successful requests:                     3 ")
	prompts := map[string]int{}
	measured := 0
	for _, a := range server.all() {
		prompts[fmt.Sprint(a.fields["prompt"])]++
		if n := len(a.fields["prompt"].([]any)); n != 40 {
			t.Errorf("a prompt of %d tokens, want 40", n)
		}
		if a.header.Get("X-Request-Id") != "" {
			measured++
		}
	}
	if len(prompts) != 3+4+1 || measured != 3 {
		t.Errorf("%d different prompts, %d requests with an id; want 8 and 3", len(prompts), measured)
	}
	run("serve", "--port", "1", "--model", "m", "--ready-check-timeout-sec", "1").expect(t, exitFailed, "waiting up to 1s", "cannot reach")
	never := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			http.Error(w, "still loading", http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	run("serve", "--base-url", never.url, "--ready-check-timeout-sec", "1").expect(t, exitFailed, "was not ready within 1s", "still loading")
}

// The profiler runs during the load and not before or after; a server without one does not matter.
func TestProfiler(t *testing.T) {
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "_profile")
	})
	quick := []string{"--num-prompts", "2", "--random-input-len", "5", "--random-output-len", "2", "--profile"}
	run(append([]string{"serve", "--base-url", server.url}, quick...)...).expect(t, exitFine)
	start, stop := slices.Index(server.paths, "POST /start_profile"), slices.Index(server.paths, "POST /stop_profile")
	first, last := slices.Index(server.paths, "POST /v1/completions"), len(server.paths)-1
	if start < 0 || start > first || stop != last {
		t.Errorf("requests %v", server.paths)
	}
	none := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "_profile") {
			http.NotFound(w, r)
			return true
		}
		return false
	})
	run(append([]string{"serve", "--base-url", none.url}, quick...)...).expect(t, exitFine, "profiler did not stop", "404")
}

// Runs that are appended to one file are its lines, each with a journal of its own.
func TestAppend(t *testing.T) {
	url := simulated(t, nil)
	dir := t.TempDir()
	for range 3 {
		run("serve", "--base-url", url, "--num-prompts", "2", "--random-input-len", "5", "--random-output-len", "2",
			"--append-result", "--result-dir", dir, "--result-filename", "all.json").expect(t, exitFine, "result saved to "+filepath.Join(dir, "all.json"))
	}
	data, err := os.ReadFile(filepath.Join(dir, "all.json"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	journals, _ := filepath.Glob(filepath.Join(dir, "all-*.jsonl.gz"))
	if len(lines) != 3 || len(journals) != 3 {
		t.Fatalf("%d lines, %d journals, want 3 each", len(lines), len(journals))
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, `{"date": `) || !strings.HasSuffix(l, "}") {
			t.Errorf("line %.40s", l)
		}
	}
	run("report", journals[0]).expect(t, exitFine, "Successful requests:                     2 ")
	run("report", filepath.Join(dir, "all.json")).expect(t, exitFailed, "holds several runs", journals[2])
}

// A ramp that the clock ends early keeps its slope: it was drawn over all requests, sent or not.
func TestRampCutShort(t *testing.T) {
	server := recorded(t, nil)
	dir := t.TempDir()
	run("serve", "--base-url", server.url, "--random-input-len", "5", "--random-output-len", "2", "--ramp-up-strategy", "linear", "--burstiness", "inf",
		"--ramp-up-start-rps", "20", "--ramp-up-end-rps", "40", "--duration", "1s", "--save-result", "--result-dir", dir).expect(t, exitFine)
	v := resultIn(t, dir)
	if n := len(v["rps_change_events"].([]any)); n != 1 || v["benchtop"].(map[string]any)["load"] != "linear ramp 20 to 40 req/s over 1000 requests" {
		t.Errorf("%d changes of the rate, load %q", n, v["benchtop"].(map[string]any)["load"])
	}
}

// The end of the time that was asked for is no interruption; what was not sent by then is counted.
func TestPlannedEnd(t *testing.T) {
	server := recorded(t, nil)
	dir := t.TempDir()
	run("serve", "--base-url", server.url, "--random-input-len", "5", "--random-output-len", "2", "--duration", "500ms", "--num-prompts", "100000", "--max-concurrency", "2",
		"--save-result", "--result-dir", dir).expect(t, exitFine, "The time was over before")
	v := resultIn(t, dir)
	b := v["benchtop"].(map[string]any)
	if sent := len(server.all()); b["interrupted"] != nil || v["completed"].(float64)+b["not_sent"].(float64) != 100000 || v["completed"] != float64(sent) {
		t.Errorf("interrupted %v, completed %v, not sent %v, %d sent", b["interrupted"], v["completed"], b["not_sent"], sent)
	}
}

// Nothing is announced that does not come any more.
func TestDrainEndsStages(t *testing.T) {
	s := &session{noMore: make(chan struct{}), ran: make(chan struct{})}
	s.plan.Stages = []metrics.Stage{{Start: 0, Length: time.Second, Rate: 1}, {Start: time.Hour, Length: time.Second, Rate: 2}}
	s.load.Start = time.Now()
	s.recorder = metrics.NewRecorder(s.load.Start, &s.plan)
	journal, err := export.NewJournal(nil, s.plan)
	if err != nil {
		t.Fatal(err)
	}
	s.journal = journal
	done := make(chan struct{})
	go func() { defer close(done); s.walkStages(s.untilStopped(t.Context())) }()
	s.endStages()
	<-done
	if len(s.events) > 1 {
		t.Errorf("events %v", s.events)
	}
}

// A run that came to its end stays what it is, whatever is asked for while its result is being saved.
func TestStopWhileSaving(t *testing.T) {
	s := &session{ran: make(chan struct{}), over: make(chan struct{}), told: make(chan struct{}), noMore: make(chan struct{}), closeUI: func() {}}
	close(s.ran)
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, os.Interrupt} {
		s.handle(sig)
	}
	s.Abort()
	if s.code != exitFine || s.reason != "" {
		t.Errorf("exit code %d, reason %q", s.code, s.reason)
	}
}
