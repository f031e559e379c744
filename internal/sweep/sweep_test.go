package sweep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics/grid"
)

// stand is a bench, and servers, that need no process. A run takes a second.
type stand struct {
	mu      sync.Mutex
	log     []string // what happened, in order
	fail    func(r Run) error
	dies    func(server Item) bool // during its first run
	refuses func(server Item) bool
	slow    time.Duration // until a server is ready
	rate    float64       // the most requests/s, 0 for 20
	last    *standServer
}

func (s *stand) note(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, a...))
}

func (s *stand) Lines(r Run) []string { return []string{fmt.Sprintf("Run Number: %d", r.Number)} }

func (s *stand) Run(ctx context.Context, r Run) error {
	s.note("run %s %d", r.Dir(), r.Number)
	if s.dies != nil && s.last != nil && s.dies(s.last.item) {
		close(s.last.died)
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.fail != nil {
		if err := s.fail(r); err != nil {
			return err
		}
	}
	load := Record{r.Bench}.Number(MaxConcurrency)
	if math.IsNaN(load) {
		load = 20
	}
	return os.WriteFile(r.Path,
		fmt.Appendf(nil,
			`{"completed": 3, "request_throughput": %g, "mean_e2el_ms": 1000.0, "benchtop": {"schema": 1}}`,
			min(load, cmp.Or(s.rate, 20))), 0o600)
}

type standServer struct {
	s    *stand
	item Item
	died chan struct{}
}

func (v *standServer) Ready(context.Context) error {
	time.Sleep(v.s.slow)
	if v.s.refuses != nil && v.s.refuses(v.item) {
		return errors.New("no GPU")
	}
	return nil
}
func (v *standServer) Died() <-chan struct{} { return v.died }
func (v *standServer) Err() error            { return errors.New("exit status 9") }
func (v *standServer) Stop() error           { v.s.note("stop %s", v.item.Name()); return nil }

func (s *stand) servers() *Servers {
	return &Servers{
		Command: func(it Item) []string { return it.Apply([]string{"vllm"}) },
		Start: func(_ context.Context, it Item, log func(string)) (Server, error) {
			s.note("start %s", it.Name())
			log("listening")
			s.last = &standServer{s, it, make(chan struct{})}
			return s.last, nil
		},
	}
}

func (s *stand) options(t *testing.T, dir string) Options {
	var pairs []Combination
	for _, server := range []string{`{"_benchmark_name": "a"}`, `{"_benchmark_name": "b"}`} {
		for _, bench := range []string{`{"max_concurrency": 1}`, `{"max_concurrency": 2}`} {
			pairs = append(pairs, Combination{Server: item(t, server), Bench: item(t, bench)})
		}
	}
	return Options{Dir: dir, ID: "id", Pairs: pairs, Runs: 2, Runner: s, Servers: s.servers(), Out: &bytes.Buffer{}}
}

func sweepOnce(t *testing.T, o Options) (out Outcome, text string, err error) {
	t.Helper()
	out, err = New(o).Run(t.Context())
	return out, o.Out.(*bytes.Buffer).String(), err
}

const (
	a1, a2 = "SERVE--a-BENCH--max_concurrency=1", "SERVE--a-BENCH--max_concurrency=2"
	b1, b2 = "SERVE--b-BENCH--max_concurrency=1", "SERVE--b-BENCH--max_concurrency=2"
)

// A server is started once for all its combinations, each run leaves its record, and the second session has nothing to
// do.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &stand{}
		out, _, err := sweepOnce(t, s.options(t, dir))
		if err != nil || out != (Outcome{Done: 8}) {
			t.Fatalf("%+v, %v", out, err)
		}
		want := []string{"start a", "run " + a1 + " 0", "run " + a1 + " 1", "run " + a2 + " 0", "run " + a2 + " 1",
			"stop a",
			"start b", "run " + b1 + " 0", "run " + b1 + " 1", "run " + b2 + " 0", "run " + b2 + " 1", "stop b"}
		assert.EqualAll(t, s.log, want, "log")
		before := tree(t, dir)
		s.log = nil
		if out, _, err := sweepOnce(t, s.options(t, dir)); err != nil || out.Found != 8 || s.log != nil {
			t.Errorf("%+v, %v, %q", out, err, s.log)
		}
		assert.Equal(t, tree(t, dir), before, "tree")
	})
	var summary []map[string]any
	raw, _ := os.ReadFile(filepath.Join(dir, b2, "summary.json"))
	if err := json.Unmarshal(raw, &summary); err != nil || len(summary) != 2 || summary[1]["run_number"] != 1.0 ||
		summary[1]["_benchmark_name"] != "b" {
		t.Errorf("%s, %v", raw, err)
	}
	table, _ := os.ReadFile(filepath.Join(dir, "summary.csv"))
	if lines := strings.Split(string(table), "\n"); len(lines) != 10 || lines[8] != "7,3,2,1000.0,1,b,2" {
		t.Errorf("%q", lines)
	}
}

// tree is all files with their contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %s\n", path, raw)
		return err
	})
	return b.String()
}

// Only what is missing or no whole record of its run is measured again, with the one server that it needs.
func TestResume(t *testing.T) {
	for name, break1 := range map[string]func(path string){
		"missing": func(path string) { _ = os.Remove(path) },
		"half":    func(path string) { _ = os.WriteFile(path, []byte(`{"completed": `), 0o600) },
		"raw":     func(path string) { _ = os.WriteFile(path, []byte(`{"completed": 3}`), 0o600) },
		"other": func(path string) {
			r, _ := readRecord(filepath.Join(filepath.Dir(path), "run=0.json"))
			_ = r.write(path)
		},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			s := &stand{}
			if _, _, err := sweepOnce(t, s.options(t, dir)); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			break1(filepath.Join(dir, b1, "run=1.json"))
			_ = os.Remove(filepath.Join(dir, b1, "summary.json"))
			s.log = nil
			out, text, err := sweepOnce(t, s.options(t, dir))
			if err != nil || out != (Outcome{Done: 1, Found: 7}) ||
				!slices.Equal(s.log, []string{"start b", "run " + b1 + " 1", "stop b"}) {
				t.Errorf("%s: %+v, %v, %q", name, out, err, s.log)
			}
			assert.Equal(t, strings.Contains(text, "is repeated: "), name != "missing", "%s: %s", name, text)
			if after := tree(t, dir); strings.ReplaceAll(after, "listening\n", "") != strings.ReplaceAll(before,
				"listening\n", "") {
				t.Errorf("%s: was\n%s\nis\n%s", name, before, after)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	broken := errors.New("status 500")
	fails := func(r Run) error {
		if r.Dir() == a1 && r.Number == 0 || r.Dir() == a2 {
			return broken
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		s     *stand
		goes  bool
		warm  bool
		want  Outcome
		err   string
		files []string
		lines []string
	}{
		{name: "a run fails", s: &stand{fail: fails}, want: Outcome{Failed: 1}, err: "status 500"},
		{name: "runs fail", s: &stand{fail: fails}, goes: true, want: Outcome{Done: 5, Failed: 3},
			files: []string{a1 + "/run=0.failure.json", a2 + "/run=1.failure.json"},
			lines: []string{"[FAILED BENCHMARK] run=0: RuntimeError: status 500",
				"[NO SUCCESSFUL MEASURED RUNS] leaving combination retryable"}},
		{name: "a warm-up fails", s: &stand{fail: func(r Run) error {
			if r.Number < 0 && r.Dir() == a1 {
				return broken
			}
			return nil
		}}, goes: true, warm: true, want: Outcome{Done: 8},
			files: []string{a1 + "/warmup.failure.json", a2 + "/warmup.json"}},
		{name: "a server is not ready", s: &stand{refuses: func(it Item) bool { return it.Name() == "a" }},
			want: Outcome{}, err: "no GPU"},
		{name: "servers fail", s: &stand{refuses: func(it Item) bool { return it.Name() == "a" }}, goes: true,
			want:  Outcome{Done: 4, Failed: 4},
			files: []string{"SERVE-a-failure.json"},
			lines: []string{"[FAILED SERVER COMBINATION] a: RuntimeError: no GPU"}},
		{name: "a server dies", s: &stand{dies: func(it Item) bool { return it.Name() == "a" }}, goes: true,
			want:  Outcome{Done: 4, Failed: 4},
			files: []string{"SERVE-a-failure.json", "SERVE--a-server.log"},
			lines: []string{"the server ended during a run: exit status 9"}},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			o := c.s.options(t, dir)
			o.ContinueOnError = c.goes
			if c.warm {
				o.Warmup = 7
			}
			out, text, err := sweepOnce(t, o)
			if out != c.want || c.err == "" && err != nil ||
				c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%s: %+v, %v", c.name, out, err)
			}
			for _, f := range c.files {
				assert.Fails(t, c.name, assert.Failure(os.Stat(filepath.Join(dir, f))), "")
			}
			for _, line := range c.lines {
				if !strings.Contains(text, line) {
					t.Errorf("%s: no %q in %s", c.name, line, text)
				}
			}
			starts, stops := count(c.s.log, "start"), count(c.s.log, "stop")
			assert.Equal(t, starts, stops, "%s: %d servers started, %d stopped", c.name, starts, stops)
			// A second session measures what is missing, and no failure file of a run that succeeded is left.
			c.s.fail, c.s.refuses, c.s.dies = nil, nil, nil
			if out, _, err := sweepOnce(t, c.s.options(t, dir)); err != nil || out.Done+out.Found != 8 {
				t.Errorf("%s, resumed: %+v, %v", c.name, out, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*", "run*.failure.json")); left != nil {
				t.Errorf("%s: %v", c.name, left)
			}
		})
	}
	raw := Item{}
	path := filepath.Join(t.TempDir(), "x")
	number := 0
	assert.Fine(t, writeFailure(path, broken, &number, raw, item(t, `{"a": 1}`)))
	got, _ := os.ReadFile(path)
	const want = `{
  "run_number": 0,
  "error_type": "RuntimeError",
  "error": "status 500",
  "serve_overrides": {},
  "bench_overrides": {
    "a": 1
  }
}
`
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

func count(log []string, word string) (n int) {
	for _, line := range log {
		if strings.HasPrefix(line, word) {
			n++
		}
	}
	return n
}

// A dry run prints the blocks and does nothing.
func TestDryRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	s := &stand{}
	o := s.options(t, dir)
	o.Pairs, o.Runs, o.DryRun = o.Pairs[:1], 1, true
	o.Links = nil
	_, text, err := sweepOnce(t, o)
	want := "[BEGIN SERVER]\nServer overrides: {'_benchmark_name': 'a'}\nServer command: ['vllm']\n[BEGIN " +
		"BENCHMARK]\nRun Number: 0\nOutput file: " +
		filepath.Join(dir, a1, "run=0.json") + "\n[END BENCHMARK]\n[END SERVER]\n"
	if _, e := os.Stat(dir); err != nil || text != want || s.log != nil || e == nil {
		t.Errorf("%v, %q, %s", err, s.log, text)
	}
}

// Linked pairs start no server.
func TestLinkedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stand{}
		o := s.options(t, t.TempDir())
		o.Links = []Link{{"_benchmark_name", "max_concurrency"}}
		out, text, err := sweepOnce(t, o)
		if err != nil || s.log != nil || out != (Outcome{}) || strings.Count(text, "Left out by --link-vars") != 4 {
			t.Errorf("%+v, %v, %q, %s", out, err, s.log, text)
		}
	})
}

// The screen skips, repeats and stops.
func TestControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stand{}
		ended := make(chan error, 1)
		begin := func() *Sweep {
			sweep := New(s.options(t, t.TempDir()))
			go func() {
				_, err := sweep.Run(t.Context())
				ended <- err
			}()
			return sweep
		}
		sweep := begin()
		time.Sleep(500 * time.Millisecond) // within run 0 of a1
		sweep.Skip(0)
		time.Sleep(500 * time.Millisecond) // within run 0 of a2
		sweep.Repeat(0)
		sweep.Skip(2)
		sweep.Skip(3)
		sweep.Repeat(2)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"start a", "run " + a1 + " 0", "run " + a2 + " 0", "run " + a2 + " 1",
			"stop a",
			"start a", "run " + a1 + " 0", "run " + a1 + " 1", "stop a", "start b", "run " + b1 + " 0",
			"run " + b1 + " 1", "stop b"}
		if err := <-ended; err != nil || !slices.Equal(s.log, want) {
			t.Errorf("%v, %q", err, s.log)
		}
		var last grid.Snapshot
		for shot := range sweep.Snapshots() {
			last = shot
		}
		if !last.Over || last.Cells[0].State != grid.Done || last.Cells[3].State != grid.Skipped ||
			last.Cells[1].Runs[0].Took != time.Second {
			t.Errorf("%+v", last)
		}
		s.log, s.slow = nil, 3*time.Second
		sweep = begin()
		time.Sleep(time.Second) // while the first server starts
		sweep.Skip(0)
		if err := <-ended; err != nil || count(s.log, "run "+a1) != 0 || count(s.log, "run ") != 6 {
			t.Errorf("%v, %q", err, s.log)
		}
		s.log = nil
		sweep = begin()
		time.Sleep(4700 * time.Millisecond)
		// Seven runs of a second, and the other server.
		if shot := <-sweep.Snapshots(); !shot.LeftKnown || shot.Left != 10*time.Second || shot.Current != 0 ||
			shot.CurrentRun != 1 || shot.Server.Log[0] != "listening" {
			t.Errorf("%+v", shot)
		}
		sweep.Stop()
		if err := <-ended; !errors.Is(err, ErrStopped) || s.log[len(s.log)-1] != "stop a" {
			t.Errorf("%v, %q", err, s.log)
		}
		for shot := range sweep.Snapshots() {
			last = shot
		}
		if c := last.Cells[0]; c.State != grid.Waiting || c.Runs[0].State != grid.Done ||
			c.Runs[1].State != grid.Waiting {
			t.Errorf("the combination that was cut: %+v", c)
		}
	})
}

// Of the repeats of one command the run in progress ends as planned, and none follows it.
func TestSkipRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sweep := New(Options{Pairs: []Combination{{}}, Runs: 3, Out: io.Discard,
			Measure: func(ctx context.Context, _ Run) (f grid.Figures, err error) {
				select {
				case <-ctx.Done():
					err = context.Cause(ctx)
				case <-time.After(time.Second):
				}
				return f, err
			}})
		words := make(chan string, 1)
		time.AfterFunc(time.Second/2, func() { words <- sweep.Skip(0) })
		out, err := sweep.Run(t.Context())
		if said, want := <-words, "no run begins after this one"; err != nil || said != want {
			t.Errorf("%v, said %q, want %q", err, said, want)
		}
		assert.Equal(t, out.String(), "1 run measured, 2 skipped", "told")
	})
}

// The levels lie between the estimates of the two ends.
func TestWorkload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stand{}
		o := s.options(t, t.TempDir())
		w := &Workload{Variable: MaxConcurrency, Levels: 5, Prompts: 100}
		o.Pairs, o.Runs, o.Driver = []Combination{{}}, 1, w
		_, text, err := sweepOnce(t, o)
		want := []string{"start ", "run BENCH--max_concurrency=1-WL--max_concurrency=1 0",
			"run BENCH--max_concurrency=100-WL--max_concurrency=100 0",
			"run WL--max_concurrency=6 0", "run WL--max_concurrency=10 0", "run WL--max_concurrency=15 0", "stop "}
		if err != nil || !slices.Equal(s.log, want) {
			t.Errorf("%v, %q", err, s.log)
		}
		table, _ := os.ReadFile(filepath.Join(o.Dir, "summary.csv"))
		var loads []string
		for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
			loads = append(loads, line[strings.LastIndex(line, ",")+1:])
		}
		assert.EqualAll(t, loads, []string{"1", "6", "10", "15", "100"}, "of %s", table)
		if !strings.Contains(text, "Serial inference: max_concurrency=1\n") ||
			!strings.Contains(text, "Exploring: max_concurrency=10\n") {
			t.Errorf("%s", text)
		}
	})
	for _, c := range []struct {
		variable      string
		serial, batch float64
		levels        int
		want          []float64
	}{
		{RequestRate, 1, 1, 10, []float64{1}},
		{RequestRate, 9, 0, 4, []float64{3, 6}},
		{RequestRate, 1.5, 10.9, 5, []float64{4, 6, 8}},
		{RequestRate, 0.769, 0.769, 3, []float64{0.769}},
		{RequestRate, 0.2, 0.8, 5, []float64{0.35, 0.5, 0.65}},
		// 1, 2 and 3 are whole, but two of them are all that lie within
		{RequestRate, 0.5, 3.5, 5, []float64{1.25, 2, 2.75}},
		{RequestRate, 0.00012341, 0.00052341, 3, []float64{0.000323}},
		{MaxConcurrency, 0.2, 0.8, 5, []float64{1}},
		{MaxConcurrency, 1.2, 3.9, 6, []float64{2, 3}},
	} {
		w := &Workload{Variable: c.variable, Levels: c.levels}
		if got := w.between(c.serial, c.batch); !slices.Equal(got, c.want) {
			t.Errorf("%d levels of %s from %g to %g: %v, want %v", c.levels, c.variable, c.serial, c.batch, got, c.want)
		}
	}
}

// A server below one request a second is measured at rates with a fraction, and levels that are left out are said.
func TestWorkloadOfASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stand{rate: 0.769}
		o := s.options(t, t.TempDir())
		o.Pairs, o.Runs, o.Driver = []Combination{{}}, 1, &Workload{Variable: RequestRate, Levels: 4, Prompts: 2}
		_, text, err := sweepOnce(t, o)
		if err != nil || !slices.Contains(s.log, "run WL--request_rate=0.769 0") ||
			!strings.Contains(text,
				"1 of 2 levels between the ends are left out: the ends lie too close together, at 0.769 and 0.769\n") {
			t.Errorf("%v, %q, %s", err, s.log, text)
		}
	})
}

func TestManifest(t *testing.T) {
	m := Manifest{Kind: "serve", Settings: []Setting{{"serve-cmd", "vllm serve m"}, {"bench-cmd", "vllm bench serve"}}}
	dir := filepath.Join(t.TempDir(), "x")
	assert.Complains(t, m.Open(dir, true), "no such directory")
	assert.Fine(t, errors.Join(m.Open(dir, false), m.Write(dir), m.Open(dir, true)))
	assert.Complains(t, m.Open(dir, false), "cannot overwrite")
	other := Manifest{Kind: "serve",
		Settings: []Setting{{"serve-cmd", "vllm serve n"}, {"bench-cmd", "vllm bench serve"}}}
	assert.Complains(t, other.Open(dir, true), `--serve-cmd was "vllm serve m" and is "vllm serve n" now`)
	if m.ID() == other.ID() {
		t.Error("other settings have the same ID")
	}
	_ = os.WriteFile(filepath.Join(dir, manifestFile), []byte("{"), 0o600)
	assert.Complains(t, m.Open(dir, true), "manifest.json")
	_ = os.Remove(filepath.Join(dir, manifestFile))
	assert.Fails(t, "a directory that is empty", m.Open(dir, true), "")
	_ = os.Mkdir(filepath.Join(dir, a1), 0o700)
	assert.Complains(t, m.Open(dir, true), "no manifest.json in it")
}
