package dashboard

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

// Flags follow the scripts: the value after an equals sign or a blank, a switch alone, and metadata as keys of their
// own.
func TestFlags(t *testing.T) {
	got := Flags([]string{"vllm", "bench", "serve", "--a=1", "--b", "2.5", "--c", "--d", "inf", "--e", "None", "--f",
		"true", "--metadata", "x=1", "y=z"})
	want := map[string]any{"--a": 1.0, "--b": 2.5, "--c": true, "--d": "inf", "--f": true}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s: %v (%T), want %v", name, got[name], got[name], v)
		}
	}
}

// What is written as a table is read again, row by row.
func TestTableReadsBack(t *testing.T) {
	rows := []Row{
		{"Test name": "serving_b", "GPU": "H100", "Tput (req/s)": 2.5, "qps": "inf"},
		{"Test name": "latency_a", "GPU": "2xH100", "Mean latency (ms)": 7.0},
	}
	var b bytes.Buffer
	assert.Fine(t, WriteTable(&b, rows))
	path := filepath.Join(t.TempDir(), "benchmark_results.json")
	assert.Fine(t, os.WriteFile(path, b.Bytes(), 0o600))
	got, notes, err := Read(path)
	if err != nil || len(notes) > 0 || len(got) != 2 {
		t.Fatalf("%v, %v, %v", got, notes, err)
	}
	Sort(got)
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Error(diff)
	}
}

// A command has each parallel size once, that of the result where it tells one, and the table has the same.
func TestParallelSizesOfACommand(t *testing.T) {
	for _, c := range []struct{ command, result, want, tp string }{
		{"vllm serve m -tp 2", `"tensor_parallel_size": "4"`, "vllm serve m --tensor-parallel-size 4", "4"},
		{"vllm serve m -tp=2 --dtype half", `"tensor_parallel_size": 1`,
			"vllm serve m --dtype half --tensor-parallel-size 1", "1"},
		{"vllm serve m --tensor_parallel_size=2 -tp 3", `"tensor_parallel_size": 4`,
			"vllm serve m --tensor-parallel-size 4", "4"},
		{"vllm serve m -tp 2 -pp 3", `"x": 1`, "vllm serve m --tensor-parallel-size 2 --pipeline-parallel-size 3", "2"},
		{"vllm serve m --tensor-parallel-size 2", `"tensor_parallel_size": 2`, "vllm serve m --tensor-parallel-size 2",
			"2"},
		{"", `"model_id": "m", "tensor_parallel_size": 2`, "vllm serve m --tensor-parallel-size 2", "2"},
		{"vllm serve m -tp", `"tensor_parallel_size": 2`, "vllm serve m --tensor-parallel-size 2", "2"},
	} {
		r, err := Own("x", []byte(`{"completed": 1, "request_throughput": 1, `+c.result+`}`), About{Server: c.command})
		assert.Fine(t, err)
		values := map[string]any{}
		if err := commandValues(values, r.Commands); err != nil || r.Commands.Server != c.want ||
			valueText(values["tp_size"]) != c.tp {
			t.Errorf("%s, %s: %s, tp %v, %v, want %s", c.command, c.result, r.Commands.Server, values["tp_size"], err,
				c.want)
		}
	}
}

// A folder that cannot be read is named, and does not keep the others out.
func TestUnreadableFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "c/d"} {
		assert.Fine(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	for _, name := range []string{"a.json", "c/d/e.json"} {
		assert.Fine(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	found, left, err := Files(dir, func(string, fs.DirEntry) bool {
		_ = os.Remove(filepath.Join(dir, "b")) // gone behind the look at its folder: no rights stop root
		return true
	})
	if err != nil || len(found) != 2 || left != "1 folder left out: b" {
		t.Errorf("%q, %q, %v", found, left, err)
	}
	if _, _, err := Files(filepath.Join(dir, "b"), nil); err == nil {
		t.Error("a folder that is missing is read")
	}
}

// FuzzRead looks for files that break the reader: a table, a result, a list of results.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"Test name": "serving_a", "TP Size": 1}]`))
	f.Add([]byte(`{"avg_latency": 1, "percentiles": {"50": 1}}`))
	f.Add([]byte(`{"mean_ttft_ms": 1, "request_rate": "inf"}` + "\n" + `{"mean_ttft_ms": 2}`))
	f.Add([]byte(`{"benchmarks": [{"metrics": {"request_totals": {"successful": 1}}, "duration": 1}, {"x": 1}]}`))
	f.Add([]byte(`{"request_count": {"avg": 1}, "request_latency": {"avg": 1, "unit": "<b>"}, "input_config": []}`))
	path := filepath.Join(f.TempDir(), "serving_x.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		assert.Fine(t, os.WriteFile(path, data, 0o600))
		rows, _, err := Read(path)
		if err != nil {
			return
		}
		var b bytes.Buffer
		assert.Fine(t, WriteTable(&b, rows))
		if !json.Valid(b.Bytes()) {
			t.Errorf("no JSON: %s", b.String())
		}
		assert.Fine(t, WriteMarkdown(&b, rows))
		_, _ = Own("x", data, About{Server: "vllm serve m -tp 2"}) // must not panic
	})
}

// The table in Markdown has a part for each kind, with the columns that have a value in any row.
func TestMarkdown(t *testing.T) {
	rows := []Row{
		{"Test name": "serving_b", "# of req.": 200.0, "qps": "inf", "Tput (req/s)": 1.0 / 3},
		{"Test name": "serving_a|<b>", "# of req.": 1e7},
		{"Test name": "latency_x", "Mean latency (ms)": 12.5},
	}
	var b strings.Builder
	assert.Fine(t, WriteMarkdown(&b, rows))
	const want = `## Latency tests

| Test name | Mean latency (ms) |
| --- | --- |
| latency_x | 12.5 |

## Serving tests

| Test name | # of req. | qps | Tput (req/s) |
| --- | --- | --- | --- |
| serving_a\|&lt;b> | 1e+07 |  |  |
| serving_b | 200 | inf | 0.333333 |

`
	assert.Equal(t, b.String(), want, "table")
	for _, x := range []any{true, 1.0, " 1"} {
		if v, ok := (Row{"x": x}).Number("x"); v != 1 || !ok {
			t.Errorf("%v is %v, %v", x, v, ok)
		}
	}
	assert.Equal(t, FileName("a b/ü_1.json"), "a_b___1.json", "file name")
}
