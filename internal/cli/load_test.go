package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/metrics"
	"benchtop/metrics/report"
)

func benchtopOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	return resultIn(t, dir)["benchtop"].(map[string]any)
}

// requestsIn are the requests of the one journal in a directory, in the order in which they were due.
func requestsIn(t *testing.T, dir string) (all []metrics.Request) {
	t.Helper()
	journals, _ := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if len(journals) != 1 {
		t.Fatalf("journals %v, want one", journals)
	}
	_, requests, err := report.Gather(journal.Read(journals[0]))
	assert.Fine(t, err)
	for q, err := range requests {
		assert.Fine(t, err)
		all = append(all, q)
	}
	slices.SortFunc(all, metrics.ByIndex)
	return all
}

// steady is a stage of evenly spaced arrivals: the last of n comes n/rate after its start.
func steady(start time.Duration, rate float64, n int) (at []time.Duration) {
	for i := range n {
		at = append(at, start+time.Duration(float64(i+1)/rate*1e9))
	}
	return at
}

// A load sends its requests at the times of its shape: the schedule is exact, however busy the machine is.
func TestLoads(t *testing.T) {
	for _, c := range []struct {
		name, args string
		due        []time.Duration
		load       string
		marks      string
	}{
		// A request that is due at the very end is not sent; on the edge of two stages it is.
		{"stages", "--stages 20:500ms,100:500ms,40:250ms",
			slices.Concat(steady(0, 20, 10), steady(500*time.Millisecond, 100, 50), steady(time.Second, 40, 9)),
			"stages of 20, 100, 40 req/s", "20 req/s|100 req/s|40 req/s"},
		{"stages cut by the clock", "--stages 20:500ms,100:10s --duration 700ms", append(steady(0, 20, 10),
			steady(500*time.Millisecond, 100, 19)...), "stages of 20, 100 req/s", "20 req/s|100 req/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			sent := 0
			inVirtualTime(t, fast(), nil, func(t *testing.T, server *virtual) {
				server.serve(t,
					strings.Fields("--burstiness inf --save-result --result-dir "+dir+" "+shortPrompts+" "+
						c.args)...).expect(t, session.ExitFine)
				sent = len(server.all())
			})
			v := benchtopOf(t, dir)
			requests := requestsIn(t, dir)
			if n := sent; n != len(c.due) || len(requests) != n {
				t.Fatalf("%d requests came, %d are in the journal, want %d", n, len(requests), len(c.due))
			}
			for i, want := range c.due {
				q := requests[i]
				if (q.Scheduled-want).Abs() > 2*time.Microsecond || q.Due < q.Scheduled || q.Sent < q.Due {
					t.Errorf("request %d was scheduled at %s, due at %s and sent at %s; want %s and not before", i,
						q.Scheduled, q.Due, q.Sent, want)
				}
			}
			if v["load"] != c.load {
				t.Errorf("load %q, want %q", v["load"], c.load)
			}
			assert.Equal(t, marksOf(v), c.marks, "marks")
		})
	}
}

// A stage of users holds its number of requests in flight and begins at its time.
func TestStagesOfUsers(t *testing.T) {
	const users, begins = 4, 300 * time.Millisecond
	dir := t.TempDir()
	inVirtualTime(t, simulator.Defaults(), nil, func(t *testing.T, server *virtual) {
		server.serve(t,
			strings.Fields("--concurrency-stages 1:300ms,4:1h --num-prompts 4 --vocab-size 300 --random-output-len "+
				"100 --save-result --result-dir "+dir)...).expect(t, session.ExitFine)
	})
	requests := requestsIn(t, dir)
	assert.Need(t, len(requests), users, "requests")
	for _, q := range requests[1:] {
		if q.Sent != begins {
			t.Errorf("request %d was sent at %s, the second stage begins at %s", q.Index, q.Sent, begins)
		}
	}
	v := benchtopOf(t, dir)
	if v["load"] != "stages of 1, 4 users" || marksOf(v) != "1 user|4 users" {
		t.Errorf("load %q, marks %q", v["load"], marksOf(v))
	}
}

// marksOf are the marks of a result's events but those that the machine makes.
func marksOf(v map[string]any) string {
	var marks []string
	for _, e := range v["events"].([]any) {
		if m, _ := e.(map[string]any)["mark"].(string); m != "" && m != "stall" {
			marks = append(marks, m)
		}
	}
	return strings.Join(marks, "|")
}

// The exit code shows whether a condition of the user holds; the report names it.
func TestFailOn(t *testing.T) {
	t.Parallel()
	url := simulated(t, nil)
	base := []string{"serve", "--base-url", url, "--num-prompts", "5", "--random-input-len", "5", "--random-output-len",
		"3"}
	benchtop(append(base, "--fail-on", "p99_ttft_ms>60000", "--fail-on", "failed>0")...).expect(t, session.ExitFine)
	benchtop(append(base, "--fail-on", "p99_ttft_ms>0.001", "--fail-on", "failed>0")...).expect(t, session.ExitMissed,
		"p99_ttft_ms>0.001")
	benchtop(append(base, "--fail-on", "goodput<90%", "--goodput", "ttft:0.001")...).expect(t, session.ExitMissed,
		"goodput<90%")
	benchtop(append(base, "--fail-on", "goodput<90%", "--goodput", "ttft:60000")...).expect(t, session.ExitFine)
	// Nothing that succeeded outranks the condition.
	benchtop("serve", "--base-url", url, "--extra-body.model", "nobody", "--num-prompts", "2", "--fail-on",
		"failed>0").expect(t, session.ExitFailed, "no request succeeded")
}

// With patience, a server that is still starting is waited for; without, it is an error at once.
func TestReadyCheck(t *testing.T) {
	t.Parallel()
	var tries atomic.Int64
	server := recorded(t, func(w http.ResponseWriter, _ *http.Request) bool {
		if tries.Add(1) == 1 {
			http.Error(w, "loading the model", http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	r := benchtop("serve", "--base-url", server.url, "--num-prompts", "3", "--random-input-len", "40",
		"--random-output-len", "3", "--vocab-size", "32000", "--ready-check-timeout-sec", "600", "--num-warmups", "4")
	r.expect(t, session.ExitFine, "waiting up to 10m0s more for "+server.url, "loading the model",
		"warming up with 4 requests", "Successful requests:                     3 ")
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
	refused := benchtop("serve", "--port", "1", "--model", "m", "--ready-check-timeout-sec", "1")
	refused.expect(t, session.ExitFailed, "waiting up to 1s more for http://127.0.0.1:1: connect: connection refused\n",
		"benchtop: cannot reach http://127.0.0.1:1: ")
	if strings.Contains(refused.stderr, "timeout") { // the time that is up is the user's own
		t.Errorf("got %q", refused.stderr)
	}
}

// The prefix cache is reset before anything else and once more after the warm-ups; a server that cannot is refused
// before any request.
func TestResetPrefixCache(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/reset_prefix_cache" && status != http.StatusOK {
			http.Error(w, "Not Found", status)
		}
		return r.URL.Path == "/reset_prefix_cache"
	})
	args := []string{"serve", "--base-url", server.url, "--num-prompts", "2", "--random-input-len", "5",
		"--random-output-len", "2", "--num-warmups", "1", "--reset-prefix-cache"}
	benchtop(args...).expect(t, session.ExitFine,
		"Prefix cache: cache reset (before the run), so that earlier runs have no effect.")
	var order []string
	for _, path := range server.paths {
		if path == "POST /reset_prefix_cache" || path == "POST /v1/completions" {
			order = append(order, path[len("POST /"):])
		}
	}
	if got := strings.Join(order, " "); got != "reset_prefix_cache v1/completions reset_prefix_cache v1/completions "+
		"v1/completions" {
		t.Errorf("requests %s", got)
	}
	status, server.paths = http.StatusNotFound, nil
	benchtop(args...).expect(t, session.ExitFailed,
		"benchtop: --reset-prefix-cache: "+server.url+" cannot reset its prefix cache: it has no /reset_prefix_cache "+
			"(404)")
	if slices.Contains(server.paths, "POST /v1/completions") {
		t.Errorf("requests %v", server.paths)
	}
}

// The profiler runs during the load and not before or after; a server without one does not matter.
func TestProfiler(t *testing.T) {
	t.Parallel()
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "_profile")
	})
	quick := []string{"--num-prompts", "2", "--random-input-len", "5", "--random-output-len", "2", "--profile"}
	benchtop(append([]string{"serve", "--base-url", server.url}, quick...)...).expect(t, session.ExitFine)
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
	benchtop(append([]string{"serve", "--base-url", none.url}, quick...)...).expect(t, session.ExitFine,
		"profiler did not start", "404")
}

// Runs that are appended to one file are its lines, each with a journal and figures of its own.
func TestAppend(t *testing.T) {
	t.Parallel()
	url := simulated(t, nil)
	dir := t.TempDir()
	for range 3 {
		benchtop("serve", "--base-url", url, "--num-prompts", "2", "--random-input-len", "5", "--random-output-len",
			"2",
			"--append-result", "--result-dir", dir, "--result-filename", "all.json", "--export", "md").expect(t,
			session.ExitFine, "result saved to "+filepath.Join(dir, "all.json"))
	}
	data := assert.Must(os.ReadFile(filepath.Join(dir, "all.json")))(t)
	lines := strings.Split(string(data), "\n")
	journals, _ := filepath.Glob(filepath.Join(dir, "all-*.jsonl.gz"))
	pages, _ := filepath.Glob(filepath.Join(dir, "all-*.md"))
	if len(lines) != 3 || len(journals) != 3 || len(pages) != 3 {
		t.Fatalf("%d lines, %d journals, %d pages, want 3 each", len(lines), len(journals), len(pages))
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, `{"date": `) || !strings.HasSuffix(l, "}") {
			t.Errorf("line %.40s", l)
		}
	}
	benchtop("report", journals[0]).expect(t, session.ExitFine, "Successful requests:                     2 ")
	benchtop("report", filepath.Join(dir, "all.json")).expect(t, session.ExitFailed, "holds several runs", journals[2])
}
