package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/metrics"
)

// result is one of a run that started so many minutes after noon.
func result(minute int, more string) string {
	return fmt.Sprintf(`{"date": "20261129-12%02d00", "backend": "vllm", `+
		`"model_id": "meta/Llama-8B", `+
		`"completed": 10, "duration": 5.0, "request_rate": 2.0, "request_throughput": 2.0, "mean_ttft_ms": 20.5%s}`,
		minute, more)
}

func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	assert.Fine(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.Fine(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// killed writes the journal of a run of which nothing else was saved.
func killed(t *testing.T, dir, name string) {
	t.Helper()
	var b strings.Builder
	w := assert.Must(journal.NewWriter(&b, metrics.Plan{Started: time.Unix(1, 0), ModelID: "m"}))(t)
	_ = w.Flush()
	write(t, dir, name, b.String())
}

func names(runs []Run) []string {
	return metrics.Each(runs, func(r Run) string { return r.Name })
}

// A folder of everything: each run is listed once, and what is no run is named.
func TestRead(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write(t, dir, "z.json", result(0, ""))
	write(t, dir, "sub/a.json", result(2, ""))
	write(t, dir, "sub/many.json", result(1, "")+"\n"+result(3, "")+"\n")
	write(t, dir, "summary.json", "["+result(0, "")+","+result(2, "")+"]")
	write(t, dir, "sub/z-so-far.json", result(0, ""))
	write(t, dir, "benchmark_results.json", "[]")
	write(t, dir, "cut.json", result(5, "")[:60])
	write(t, dir, "other.json", `{"hello": "world"}`)
	write(t, dir, "empty.json", "")
	write(t, dir, "part.json", result(7, `, "benchtop": {"spec": {"part": "2/3"}}`))
	write(t, dir, "data.jsonl", `{"prompt": "x"}`)
	killed(t, dir, "empty.jsonl")
	killed(t, dir, "lost.jsonl")
	killed(t, dir, "sub/many-2.jsonl")
	for range 2 {
		f, err := Read(dir, index, false)
		if err != nil || f.Unsaved != nil {
			t.Fatal(err, f.Unsaved)
		}
		assert.EqualAll(t, names(f.Runs), []string{"z", "sub/many #1", "sub/a", "sub/many #2"}, "runs")
		slices.Sort(f.Alone)
		if !slices.Equal(f.Alone, []string{"empty.jsonl", "lost.jsonl"}) ||
			!slices.Equal(f.Interim, []string{filepath.Join("sub", "z-so-far.json")}) {
			t.Errorf("alone %q, interim %q", f.Alone, f.Interim)
		}
		if len(f.Others) != 3 || !strings.HasPrefix(f.Others[0], "cut.json: line 1: ") ||
			!strings.HasPrefix(f.Others[1], "other.json: not a result of a benchmark") ||
			!strings.HasPrefix(f.Others[2], "part.json: part 2/3 of a run") {
			t.Errorf("others %q", f.Others)
		}
	}
	if f, err := Read(filepath.Join(dir, "z.json"), index, false); err != nil || len(f.Runs) != 1 {
		t.Error(f, err)
	}
	if _, err := Read(filepath.Join(dir, "missing"), index, false); err == nil {
		t.Error("a folder that is missing is read")
	}
}

// Only what is new or changed is read again; an index that is damaged, foreign or cannot be written loses no run.
func TestIndex(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	path := write(t, dir, "a.json", result(0, `, "p99_ttft_ms": 1.0`))
	write(t, dir, "b.json", result(1, `, "p99_ttft_ms": 1.0`))
	figures := func(anew bool) []string {
		f := assert.Must(Read(dir, index, anew))(t)
		return metrics.Each(f.Runs, func(r Run) string { return r.Text("p99_ttft_ms") })
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		assert.EqualAll(t, got, want, "%s", what)
	}
	expect("at first", figures(false), "1.0", "1.0")
	info, _ := os.Stat(path)
	write(t, dir, "a.json", result(0, `, "p99_ttft_ms": 2.0`))
	assert.Fine(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	expect("known", figures(false), "1.0", "1.0")
	expect("anew", figures(true), "2.0", "1.0")
	write(t, dir, "a.json", result(0, `, "p99_ttft_ms": 33.0`))
	expect("changed", figures(false), "33.0", "1.0")
	whole, _ := os.ReadFile(index)
	for _, damaged := range []string{"", "x", string(whole[:len(whole)-9]),
		strings.Replace(string(whole), "1.0", "1.", 1),
		strings.Replace(string(whole), `"benchtop_history":2`, `"benchtop_history":9`, 1), "\n\n{}\n[]\nnull\n"} {
		write(t, filepath.Dir(index), "index", damaged)
		expect("damaged", figures(false), "33.0", "1.0")
	}
	for i := range 300 { // the index does not grow without end
		write(t, dir, "a.json", result(0, `, "p99_ttft_ms": 33.0`+strings.Repeat(" ", i)))
		figures(false)
	}
	if data, _ := os.ReadFile(index); strings.Count(string(data), "\n") > 105 {
		t.Errorf("%d lines for two files", strings.Count(string(data), "\n"))
	}
	_ = os.Remove(filepath.Join(dir, "b.json"))
	expect("one gone", figures(false), "33.0")
	f, err := Read(dir, filepath.Join(path, "no folder"), false)
	if err != nil || f.Unsaved == nil || len(f.Runs) != 1 {
		t.Error("an index that cannot be written:", f, err)
	}
}

// What could not be read is told, and not kept: it may be readable the next time.
func TestIndexWithoutFailures(t *testing.T) {
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	assert.Fine(t, os.Symlink("gone", filepath.Join(dir, "a.json")))
	write(t, dir, "b.json", "{}")
	for range 2 {
		f, err := Read(dir, index, false)
		if err != nil || len(f.Others) != 2 || !strings.Contains(f.Others[0], "no such file") {
			t.Fatalf("%+v, %v", f, err)
		}
		known, _ := readIndex(index, dir)
		if _, kept := known["a.json"]; kept || known["b.json"].line == nil {
			t.Error("the index has", len(known))
		}
	}
}

func TestKeep(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", result(0,
		`, "max_concurrency": 16, "version": "v1", "benchtop": {"seed": 7, "load": "own"}`))
	write(t, dir, "b.json", result(1, `, "max_concurrency": null, "version": "v2"`))
	f := assert.Must(Read(dir, filepath.Join(dir, "index"), false))(t)
	for words, want := range map[string][]string{
		"model=*llama*": {"a", "b"}, "model=llama": nil, "max_concurrency=16.0": {"a"}, "version=v*": {"a", "b"},
		"version=v[12]": nil, "seed=7": {"a"}, "benchtop.seed=7": {"a"}, "load=own": {"a"}, "load=2 req/s": {"b"},
		"name=B": {"b"}, "workload=*2 req/s*": {"a", "b"},
	} {
		filter := assert.Must(ParseFilter(words))(t)
		assert.EqualAll(t, names(assert.Must(Keep(f.Runs, []Filter{filter}))(t)), want, "%s", words)
	}
	filter, _ := ParseFilter("max_concurency=1")
	assert.Complains(t, assert.Failure(Keep(f.Runs, []Filter{filter})), "max_concurrency")
	for _, words := range []string{"", "x", "=y"} {
		if _, err := ParseFilter(words); err == nil {
			t.Errorf("%q is a filter", words)
		}
	}
}

// A trend is of runs of one workload and load, and names the run at which its figure changed.
func TestTrends(t *testing.T) {
	dir := t.TempDir()
	for i := range 24 {
		figure := fmt.Sprintf(`, "p99_ttft_ms": %d`, 100+i%3+i/16*12)
		write(t, dir, fmt.Sprintf("run-%02d.json", i), result(i, figure))
		write(t, dir, fmt.Sprintf("other-%02d.json", i), result(i, `, "max_concurrency": 4, "duration": 6`+figure+"0"))
	}
	f := assert.Must(Read(dir, filepath.Join(dir, "index"), false))(t)
	all, err := Trends(f.Runs, "p99_ttft")
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	for i, name := range []string{"other", "run"} {
		of := &all[i]
		if len(of.Changes) != 1 || of.Changes[0].Name != name+"-16" {
			t.Fatalf("%+v", of.Changes)
		}
	}
	of := &all[1]
	if got := of.Changes[0].String(); got != "+12% (101 to 113), worse" {
		t.Error(got)
	}
	if got := of.Line(12, true); got != "__.__.__#*##\n        ^" {
		t.Error(got)
	}
	if _, err := Trends(f.Runs, "nothing"); err == nil {
		t.Error("a figure that no run has")
	}
	few, _ := Trends(f.Runs[:6], "p99_ttft_ms")
	if !strings.HasPrefix(few[0].Note, "too few runs") || few[0].Line(80, false) == "" {
		t.Errorf("%+v", few)
	}
}

// The middle of large values is one of them.
func TestMedian(t *testing.T) {
	if got := median([]float64{1.2e308, 1.6e308}); math.Abs(got/1.4e308-1) > 1e-9 {
		t.Error(got)
	}
}

// What was looked at is said beside what was found.
func TestManyRuns(t *testing.T) {
	runs := slices.Repeat([]Run{{Workload: "w", Values: []byte(`{"failed":0,"date":"x"}`)}}, mostSeries+1)
	all, err := Trends(runs, "failed")
	const want = "changes are looked for in the newest 1000 runs; no change found"
	if err != nil || all[0].Note != want {
		t.Errorf("%v, note %q, want %q", err, all[0].Note, want)
	}
	if _, err := Trends(runs, "date"); err == nil || err.Error() != "--figure date: no run has a number for it" {
		t.Error(err)
	}
	if all, err := Trends(nil, "date"); len(all) > 0 || err != nil {
		t.Error(all, err)
	}
}

// A latency that no request had is no figure, though a result has 0 for it.
func TestUnobserved(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		write(t, dir, fmt.Sprintf("%d.json", i), result(i, `, "p99_ttft_ms": 100, "mean_tpot_ms": 0.0, `+
			`"p99_tpot_ms": 0, "std_ttft_ms": 0, "mean_client_queue_time_ms": 0, "date_ms": 0`))
	}
	for i := 10; i < 14; i++ {
		write(t, dir, fmt.Sprintf("%d.json", i), strings.ReplaceAll(result(i, `, "p99_ttft_ms": 0.0, "x_ms": 5`),
			`"completed": 10`, `"completed": 0`))
	}
	f := assert.Must(Read(dir, "", false))(t)
	all, err := Trends(f.Runs, "p99_ttft_ms")
	if err != nil || len(all) != 1 || len(all[0].Points) != 10 || len(all[0].Changes) > 0 ||
		all[0].Note != "4 runs left out, without this figure; no change found" {
		t.Errorf("%+v, %v", all, err)
	}
	for key, want := range map[string][2]string{"p99_ttft_ms": {"100", ""}, "p99_tpot_ms": {}, "std_ttft_ms": {"0", ""},
		"mean_client_queue_time_ms": {"0", ""}, "date_ms": {"0", ""}, "x_ms": {"", "5"}} {
		assert.Equal(t, [2]string{f.Runs[0].Text(key), f.Runs[13].Text(key)}, want, "%s", key)
	}
}

// A thousand files of anything: nothing panics, no text has a control character, and each is told.
func TestThousand(t *testing.T) {
	dir := t.TempDir()
	good := result(0, `, "label": "\u001b[31m=cmd|' /C calc'!A0<script>alert(1)</script>\u009b"`)
	for i := range 1000 {
		content := good[:len(good)*(i%10)/9]
		if i%3 == 0 {
			content = strings.Repeat("[", i) + content
		}
		write(t, dir, fmt.Sprintf("%d/%d.json", i%7, i), strings.Replace(content, "1200", fmt.Sprintf("%04d", i), 1))
	}
	write(t, dir, "\x1b]0;x\a.json", good)
	write(t, dir, "long.json", result(1, `, "a": "`+strings.Repeat("x", 1<<20)+`"`+
		strings.Repeat(fmt.Sprintf(`, "%s": 1`, strings.Repeat("k", 200)), 10000)))
	write(t, dir, "deep.json", strings.Repeat(`{"benchtop":`, 1<<15))
	f, err := Read(dir, filepath.Join(dir, "index"), false)
	if err != nil || len(f.Runs) < 2 || len(f.Others) < 900 {
		t.Fatalf("%d runs, %d others, %v", len(f.Runs), len(f.Others), err)
	}
	for _, r := range f.Runs {
		line, _ := json.Marshal(r)
		if len(line) > 2*mostValues || strings.ContainsAny(string(line), "\x1b\u009b\a") {
			t.Errorf("%.300q of %d bytes", line, len(line))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(result(0, "")), []byte(`{"path":"a.json","size":1,"runs":[{"name":"a","values":{"x":1}}]}`))
	f.Add([]byte(`[{"completed":1,"duration":1,"benchtop":{"spec":{"a":"b"}}}]`),
		[]byte(`{"path":"a.json","runs":[{}]}`))
	f.Fuzz(func(t *testing.T, content, line []byte) {
		dir := t.TempDir()
		index := write(t, dir, "index", string(headOf(dir))+"\n"+string(line))
		a := file{Path: "a.json"}
		known, _ := readIndex(index, dir)
		a.read(write(t, dir, "a.json", string(content)))
		out := &Folder{}
		out.collect(append(slices.Collect(maps.Values(known)), a))
		for i := range out.Runs {
			out.Runs[i].Texts("x", "load", "benchtop.spec.a")
		}
		if len(out.Runs) > 0 {
			_, _ = Trends(out.Runs, "duration")
		}
	})
}

// BenchmarkRead lists ten thousand runs that the index knows.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	more := ""
	for i := range 60 {
		more += fmt.Sprintf(`, "p%d_ttft_ms": %d.123456789`, i, i)
	}
	for i := range 10000 {
		write(b, dir, fmt.Sprintf("%d/%d.json", i%100, i),
			strings.Replace(result(0, more), "-12", fmt.Sprintf("-%02d", i%24), 1))
	}
	index := filepath.Join(dir, "index")
	_, _ = Read(dir, index, false)
	for b.Loop() {
		if _, err := Read(dir, index, false); err != nil {
			b.Fatal(err)
		}
	}
}
