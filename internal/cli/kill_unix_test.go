//go:build unix

package cli

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/metrics"
)

var kills = flag.Int("kills", 1, "times that each command is killed")

// paced is a server whose answers end one after another, with the moments at which they did.
type paced struct {
	url  string
	turn sync.Mutex
	mu   sync.Mutex
	at   []time.Time // in order of time; the last bytes leave a little later
}

const answersPerSecond = 150

func newPaced(t *testing.T) *paced {
	t.Helper()
	inner, p := simulator.New(fast()), &paced{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		measured := q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, "/completions")
		if measured {
			p.turn.Lock()
			defer p.turn.Unlock()
			time.Sleep(time.Second / answersPerSecond)
		}
		inner.Handler().ServeHTTP(w, q)
		if measured {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.at = append(p.at, time.Now())
		}
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = inner.Close()
	})
	p.url = web.URL
	return p
}

// killed is what is left of a run that was killed.
type killed struct {
	at                 time.Duration // from its start
	answered, reported int
	lack               time.Duration // from the first answer that is not in the report to the kill
	late               time.Duration // the most by which a clock was late before it, as any process is
	ended              bool          // the run had ended before
}

// killAfter kills a command after a time and compares its report with the answers.
func killAfter(t *testing.T, after time.Duration, args string) (k killed) {
	t.Helper()
	server, dir := newPaced(t), t.TempDir()
	c := exec.Command(program(t), strings.Fields(strings.ReplaceAll(args, "DIR", dir)+" --base-url "+server.url)...)
	assert.Fine(t, c.Start())
	k.at = after
	for end := time.Now().Add(after); time.Now().Before(end); {
		due := time.Now().Add(5 * time.Millisecond)
		time.Sleep(time.Until(due))
		k.late = max(k.late, time.Since(due))
	}
	server.mu.Lock()
	at, answers := time.Now(), server.at
	_ = c.Process.Kill()
	server.mu.Unlock()
	k.ended, k.answered = c.Wait() == nil, len(answers)
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl*"))
	for _, file := range files {
		if strings.Contains(file, ".tmp") {
			continue // a copy under way
		}
		r := benchtop("report", file)
		m := regexp.MustCompile(`Successful requests: +(\d+)`).FindStringSubmatch(r.stdout)
		if r.code != session.ExitFine || m == nil {
			t.Errorf("killed after %s: no report of %s, exit code %d:\n%s%s", after, file, r.code, r.stdout, r.stderr)
			continue
		}
		k.reported, _ = strconv.Atoi(m[1])
	}
	if k.reported < len(answers) {
		k.lack = at.Sub(answers[k.reported])
	}
	return k
}

// A command that is killed at any moment, from its start to the saving of its result, leaves a journal that gives a
// report, and it lacks no request that was answered more than a second before.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const most, longest = time.Second, 5 * time.Second
	for _, args := range []string{
		"serve --save-result --result-dir DIR --result-filename o.json --request-rate 100 --num-prompts 400 " +
			shortPrompts,
		"throughput --output-json DIR/o.json --num-prompts 500 " + shortPrompts,
		"latency --output-json DIR/o.json --batch-size 2 --output-len 4 --num-iters 250 --num-iters-warmup 0 " +
			"--requests simultaneous",
	} {
		name, _, _ := strings.Cut(args, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var worst killed
			var lacks []float64
			ended, reported := 0, 0
			for range *kills {
				k := killAfter(t, rand.N(longest), args)
				if k.lack > most+k.late {
					t.Errorf("the report lacks more than a second: %+v", k)
				}
				if k.lack > worst.lack {
					worst = k
				}
				if k.ended {
					ended++
				}
				reported += k.reported
				lacks = append(lacks, metrics.Milliseconds(k.lack))
			}
			t.Logf("%d kills, %d after the end; %d requests reported; lack: median %.0f ms; worst %+v", *kills, ended,
				reported, metrics.Median(lacks), worst)
		})
	}
}
