package startup

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/export"
	"benchtop/internal/assert"
	"benchtop/internal/assert/golden"
)

// Lines of vLLM's log, of two workers.
const log = `(Worker_TP0 pid=7) INFO 11-23 15:00:01 [default_loader.py:502] Loading weights took 1.50 seconds
(Worker_TP1 pid=8) INFO 11-23 15:00:01 [default_loader.py:502] Loading weights took 2.25 seconds
(EngineCore pid=6) INFO Model loading took 14.99 GiB memory and 3.125000 seconds
(EngineCore pid=6) INFO [backbone] torch.compile took 9.81 s in total
(EngineCore pid=6) INFO Initial profiling/warmup run took 0.42 s
(EngineCore pid=6) INFO Graph capturing finished in 7 secs, took 0.50 GiB
(EngineCore pid=6) INFO init engine (profile, create kv cache, warmup model) took 20.50 s (compilation: 11.00 s — language_model: 9.75 s, encoder: 1.25 s)
(APIServer pid=5) INFO 11-23 15:00:09 [entry.py:140] Starting vLLM server on http://127.0.0.1:8000
INFO unrelated: took 5 seconds`

// Phases have the longest time of a worker, and their end by our clock.
func TestPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		r := newReader(func(p Phase) { said = append(said, p.describe()) })
		for line := range strings.SplitSeq(log, "\n") {
			time.Sleep(time.Second)
			r.take(line)
		}
		phases, compiled := r.phases()
		want := []Phase{
			{"load_weights", 2250 * time.Millisecond, 2 * time.Second},
			{"load_model", 3125 * time.Millisecond, 3 * time.Second},
			{"torch_compile", 9810 * time.Millisecond, 4 * time.Second},
			{"profiling", 420 * time.Millisecond, 5 * time.Second},
			{"graph_capture", 7 * time.Second, 6 * time.Second}, {"engine", 20500 * time.Millisecond, 7 * time.Second},
			{"http", 0, 8 * time.Second},
		}
		assert.EqualAll(t, phases, want, "phases")
		if want := (Compilation{true, 11 * time.Second, 1250 * time.Millisecond, 9750 * time.Millisecond}); compiled !=
			want {
			t.Errorf("compilation %v, want %v", compiled, want)
		}
		if len(said) != len(want) || said[0] != "weights are loaded in 1.50 s," {
			t.Errorf("said %q", said)
		}
	})
}

// The compilation is the engine's figure, else the compiler's. It is 0 only by an engine that names each one, and
// unknown in words that are not.
func TestCompilation(t *testing.T) {
	const engine = "init engine (profile, create kv cache, warmup model) took 20.50 "
	whole := func(d time.Duration) Compilation { return Compilation{true, d, 0, d} }
	for log, want := range map[string]Compilation{
		engine + "s":                        {Known: true},
		engine + "s (compilation: 1.50 s)":  whole(1500 * time.Millisecond),
		engine + "s (compilation: 1e9 s)":   {},
		engine + "s (compile time: 1.50 s)": {},
		engine + "seconds":                  {},
		"torch.compile takes 12.34 s in total\n" + engine +
			"seconds": whole(12340 * time.Millisecond),
		"torch.compile takes 12.34 s in total\n" + engine +
			"s": whole(12340 * time.Millisecond),
		"torch.compile took 12.34 s in total\n" + engine +
			"s (compilation: 13.00 s)": whole(13 * time.Second),
		"Compiling finished after 12.34 seconds\n" + engine + "s":                                      {},
		"Compiling a graph for compile range (1, 2048) takes 6.40 s\n" + engine + "seconds":            {},
		"compilation_config={'compile_sizes': [], 'seed': 0, 'served_model_name': m}\n" + engine + "s": {Known: true},
		"Enforce eager set, disabling torch.compile and CUDAGraphs\n" + engine + "s":                   {Known: true},
		"nothing": {},
	} {
		r := newReader(func(Phase) {})
		for line := range strings.SplitSeq(log, "\n") {
			r.take(line)
		}
		if _, got := r.phases(); got != want {
			t.Errorf("%s: %v, want %v", log, got, want)
		}
	}
}

func FuzzPhases(f *testing.F) {
	for line := range strings.SplitSeq(log, "\n") {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := newReader(func(Phase) {})
		r.take(line)
		phases, compiled := r.phases()
		for _, p := range phases {
			if p.Took < 0 {
				t.Errorf("%q: %v", line, p)
			}
		}
		if min(compiled.Whole, compiled.Encoder, compiled.LanguageModel) < 0 {
			t.Errorf("%q: %v", line, compiled)
		}
	})
}

func example() Result {
	start := func(kind Kind, healthy, compiled time.Duration) Start {
		return Start{
			Kind: kind, Listening: healthy - time.Second, Healthy: healthy, Models: healthy + 10*time.Millisecond,
			FirstToken: healthy + 2*time.Second,
			Phases:     []Phase{{"load_weights", 2 * time.Second, 9 * time.Second}, {"http", 0, healthy}},
			Compiled:   Compilation{true, compiled, 0, compiled},
		}
	}
	r := Result{Model: "org/m", Starts: []Start{
		start(Cold, 41*time.Second, 12*time.Second), start(Cold, 44*time.Second, 13*time.Second),
		start(Warm, 20*time.Second, 500*time.Millisecond),
	}}
	r.Starts[0].Dropped = CacheDrop{Files: 3, Size: 2 << 20, Before: 2 << 20}
	r.Starts[1].Dropped.Why = "they were not found"
	r.Starts[2].FirstToken = 0
	return r
}

// The result as JSON, as text and in PyTorch's format.
func TestResult(t *testing.T) {
	r := example()
	var b strings.Builder
	assert.Fine(t, r.JSON(&b, "v1", []string{"vllm", "serve", "org/m"}))
	var keys map[string]any
	if err := json.Unmarshal([]byte(b.String()), &keys); err != nil || keys["avg_cold_startup_time"] != 42.5 ||
		keys["avg_warm_compilation_time"] != 0.5 {
		t.Errorf("error %v, result %v", err, keys)
	}
	b.WriteString("\n")
	assert.Fine(t, r.Text(&b))
	assert.Fine(t, r.PyTorch([]export.Arg{{Name: "model", Value: "org/m"}}, "eager.json",
		func(key string, content func(io.Writer) error) error {
			b.WriteString("\n" + key + ": ")
			return content(&b)
		}))
	golden.Same(t, "testdata/result.txt", b.String())
}

// A compilation that one start's log does not tell is unknown, and no 0 in the result.
func TestUnknownCompilation(t *testing.T) {
	r := example()
	r.Starts[1].Compiled = Compilation{}
	var text, result strings.Builder
	assert.Fine(t, errors.Join(r.Text(&text), r.JSON(&result, "v1", nil)))
	if got := text.String(); strings.Count(got, "Avg compilation time: unknown\n") != 1 ||
		!strings.Contains(got, "Avg compilation time: 0.50 seconds\n") {
		t.Errorf("got %s", got)
	}
	if got := result.String(); strings.Contains(got, "cold_compilation") || !strings.Contains(got, "warm_compilation") {
		t.Errorf("got %s", got)
	}
}

// A model's files are found in a directory, and dropped from memory.
func TestDropModel(t *testing.T) {
	if d := dropModel("no/such--model"); d.String() != "the model's files may be in memory: they were not found" {
		t.Errorf("got %s", d)
	}
	if runtime.GOOS != "linux" {
		return // dropPages says that it cannot
	}
	dir := t.TempDir()
	f := assert.Must(os.Create(filepath.Join(dir, "weights")))(t)
	_, _ = f.Write(make([]byte, 1<<20))
	_ = f.Sync() // only clean pages are dropped
	_ = f.Close()
	if d := dropModel(dir); d.Why != "" || d.Files != 1 || d.Size != 1<<20 || d.Before > d.Size || d.After > d.Before {
		t.Errorf("got %+v", d)
	}
}

// A command that does not run leaves no directory, and says which start it was.
func TestRunFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	o := Options{Cold: 1, Warm: 1, Say: func(string) {}}
	o.Server.Command, o.Server.Guard = []string{"x", "--port", "1"}, []string{"/no/such/guard"}
	r, err := Run(context.Background(), o)
	if err == nil || !strings.HasPrefix(err.Error(), "start 1 of 2 (cold): cannot start the server command x: ") ||
		!r.Interrupted || len(r.Starts) > 0 {
		t.Errorf("got %v, %+v", err, r)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}
