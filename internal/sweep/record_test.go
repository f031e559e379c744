package sweep

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

func TestRecord(t *testing.T) {
	c := Combination{Server: item(t, `{"_benchmark_name": "s", "tp": 2}`),
		Bench: item(t, `{"_benchmark_name": "b", "request_rate": 5}`)}
	r := Record{item(t,
		`{"request_rate": "inf", "output_throughput": 100.0, "max_concurrency": null, "max_concurrent_requests": 10, `+
			`"benchtop": {"schema": 1, "output_token_throughput_per_user": {"n": 9, "median": 85.0}}}`)}
	done := r.of(c, 2, "id")
	const want = `{"request_rate": 5, "output_throughput": 100.0, "max_concurrency": null, ` +
		`"max_concurrent_requests": ` +
		`10, "benchtop": {"schema": 1, "output_token_throughput_per_user": {"n": 9, "median": 85.0}, "sweep": "id"}, ` +
		`"run_number": 2, "_benchmark_name": "b", "tp": 2}`
	assert.Need(t, string(done.JSON()), want, "record")
	if f := done.Figures(); f.PerUser != 85 || f.PerGPU != 50 || f.P99TTFT == f.P99TTFT {
		t.Errorf("%+v", f)
	}
	if f, err := FiguresOf(metrics.Report{}); err != nil || !math.IsNaN(f.PerGPU) {
		t.Errorf("%g tokens/s for each of an unknown number of GPUs, %v", f.PerGPU, err)
	}
	path := filepath.Join(t.TempDir(), "run=2.json")
	assert.Fine(t, done.write(path))
	back := assert.Must(readRecord(path))(t)
	assert.Equal(t, string(back.JSON()), want, "record read back")
	assert.Equal(t, back.matches(c, 2, "id"), "", "refused")
	other := c
	other.Bench = item(t, `{"_benchmark_name": "b", "request_rate": 6}`)
	for _, why := range []string{back.matches(c, 1, "id"), back.matches(c, 2, "other"), back.matches(other, 2, "id"),
		r.matches(c, 2, "id")} {
		if why == "" {
			t.Error("the record of another run is taken")
		}
	}
	for _, bad := range []string{"", `{"a": 1`, `[]`, "{}\n{}"} {
		_ = os.WriteFile(path, []byte(bad), 0o600)
		assert.Fails(t, bad, assert.Failure(readRecord(path)), path)
	}
	assert.Complains(t, assert.Failure(readRecord(os.DevNull)), "not a regular file")
}

// Secrets of parameters reach the command, and neither names nor files; entries that differ in them alone stay apart.
func TestItemSecrets(t *testing.T) {
	const file = `[{"header": "Authorization=Bearer canary1"}, {"header": "Authorization=Bearer canary2"}, {"n": 3, ` +
		`"base_url": "http://u:canary@h"}]`
	items, problems := parseItems([]byte(file))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	names := map[string]bool{}
	for _, it := range items {
		if !strings.Contains(strings.Join(it.Apply(nil), " "), "canary") {
			t.Errorf("%s: the command lacks the secret", it)
		}
		c := Combination{Server: it, Bench: it}
		names[c.Dir()] = true
		done := Record{}.of(c, 0, "id")
		failure := filepath.Join(t.TempDir(), "f.json")
		assert.Fine(t, writeFailure(failure, os.ErrInvalid, new(int), it, it))
		written, _ := os.ReadFile(failure)
		for _, text := range []string{c.Dir(), it.String(), it.Repr(), serverLog(it), string(done.JSON()),
			string(Params([]Item{it})[0]), string(written)} {
			if strings.Contains(text, "canary") || !strings.Contains(text, "***") {
				t.Errorf("shown or saved: %s", text)
			}
		}
		assert.Equal(t, done.matches(c, 0, "id"), "", "not recognized")
		old := Record{done.With("header", `"A=canary"`).With("base_url", `"http://u:canary@x"`)}
		if why := old.matches(c, 0, "id"); why == "" || strings.Contains(why, "canary") {
			t.Errorf("a record of before: %s", why)
		}
	}
	if len(names) != 3 || (Record{}).of(Combination{Bench: items[0]}, 0, "id").matches(Combination{Bench: items[1]}, 0,
		"id") == "" {
		t.Errorf("mixed up: %v", names)
	}
	one, _ := parseItems([]byte(`[{"header": "Authorization=Bearer canary1"}]`))
	if name := one[0].Name(); name != "header=Authorization=***" {
		t.Errorf("%s", name)
	}
}

// The table is what pandas 3.1 writes of the same records.
func TestCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.csv")
	records := []Record{
		{item(t, `{"date": "x", "rate": "inf", "n": 5, "f": 1, "both": 1, "some": 3, "none": null, "b": true, "list": `+
			`[1.50, "a,\"b\"", null], "benchtop": {"x": 1}, "mixed": true}`)},
		{item(t, `{"date": "", "rate": 2.50, "n": 7, "f": 1e-7, "both": 2.5, "none": null, "b": false, "list": [], `+
			`"new": 123456789, "mixed": 3, "text": "a\nb, 'c'"}`)},
	}
	assert.Fine(t, writeCSV(path, records))
	got, _ := os.ReadFile(path)
	const want = `,date,rate,n,f,both,some,none,b,list,mixed,new,text
0,x,inf,5,1.0,1.0,3.0,,True,"[1.5, 'a,""b""', None]",True,,
1,,2.5,7,1e-07,2.5,,,False,[],3,123456789.0,"a
b, 'c'"
`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

// No cell of the table is a formula, whatever the parameters and the answers.
func TestCSVFormulas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.csv")
	assert.Fine(t, writeCSV(path, []Record{{item(t, `{"=cmd": "@SUM(A1)", "n": -1.5, "mixed": "-2+3"}`)},
		{item(t, `{"=cmd": "+1-2", "n": -2, "mixed": -4}`)}}))
	got, _ := os.ReadFile(path)
	if want := ",'=cmd,n,mixed\n0,'@SUM(A1),-1.5,'-2+3\n1,'+1-2,-2.0,-4\n"; string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

const suite = `{"defaults": {"qps_list": ["inf"], "server_parameters": {"dtype": "bfloat16"}, "client_parameters": {"num_prompts": 200}}, "tests": [
  {"test_name": "serving_a", "server_environment_variables": {"X": 1}, "server_parameters": {"model": "m", "disable_log_stats": "", "tensor_parallel_size": 2},
   "client_parameters": {"model": "m", "dataset_name": "random"}},
  {"test_name": "serving_b", "qps_list": [1, 2.5], "max_concurrency_list": [4, 8], "server_parameters": {"model": "n", "dtype": "half"}, "client_parameters": {"model": "n", "num_prompts": 10}}]}`

func TestSuite(t *testing.T) {
	env := map[string]string{}
	tests, problems := parseSuite([]byte(suite), func(name string) string { return env[name] })
	if problems != nil || len(tests) != 2 {
		t.Fatalf("%v, %v", tests, problems)
	}
	a, b := tests[0], tests[1]
	if got := strings.Join(a.Server.Words(), " "); got != "--dtype bfloat16 --model m --disable-log-stats "+
		"--tensor-parallel-size 2" || a.Env[0] != "X=1" {
		t.Errorf("%s, %v", got, a.Env)
	}
	if a.Loads[0] != (SuiteLoad{"inf", 200, 0}) || a.Stem(a.Loads[0]) != "serving_a_qps_inf_concurrency_200" {
		t.Errorf("%v", a.Loads)
	}
	if len(b.Loads) != 4 || b.Stem(b.Loads[3]) != "serving_b_qps_2.5_concurrency_8" ||
		b.Loads[3].Item().String() != "request_rate=2.5, max_concurrency=8" {
		t.Errorf("%v", b.Loads)
	}
	env = map[string]string{"TEST_SELECTOR": "_b$", "PROMPTS_PER_CONCURRENCY": "5", "MAX_NUM_PROMPTS": "30",
		"DTYPE_FILTER": "half", "MODEL_FILTER": "n"}
	tests, problems = parseSuite([]byte(suite), func(name string) string { return env[name] })
	if problems != nil || len(tests) != 1 || tests[0].Loads[0].Prompts != 20 || tests[0].Loads[1].Prompts != 30 {
		t.Errorf("%v, %v", tests, problems)
	}
	for _, c := range []struct{ file, want string }{
		{`3`, "expected a list of tests"},
		{`[{}]`, "test 1 \"\": expected a test_name"},
		{`[3]`, "test 1: a number instead"},
		{`[{"test_name": "serving_a", "server_parameters": {"model": "m"}}]`, "the same model"},
		{`[{"test_name": "serving_a", "server_parameters": {"model": "m"}, "client_parameters": {"model": "m"}}]`,
			"expected a qps_list"},
		{`[{"test_name": "serving_a", "qps_list": [0], "server_parameters": {"model": "m"}, "client_parameters": ` +
			`{"model": "m"}}]`, "0: rate must be"},
		{`[{"test_name": "serving_a", "qps_list": ["Infinity"], "server_parameters": {"model": "m"}, ` +
			`"client_parameters": {"model": "m"}}]`, "Infinity: rate must be"},
		{`[{"test_name": "serving_a", "qps_list": [], "server_parameters": {"model": "m"}, "client_parameters": ` +
			`{"model": "m"}}]`, "the list is empty"},
		{`[{"test_name": "serving_a", "qps_list": [1], "max_concurrency_list": ["x"], "server_parameters": {"model": ` +
			`"m"}, "client_parameters": {"model": "m"}}]`, "x: number must be"},
		{`[{"test_name": "serving_a", "server_parameters": []}]`, "expected an object"},
		{`[]`, "no test is chosen"},
	} {
		if _, problems := parseSuite([]byte(c.file), func(string) string { return "" }); len(problems) == 0 ||
			!strings.Contains(problems[0].Error(), c.want) {
			t.Errorf("%s: %v", c.file, problems)
		}
	}
}

// Any suite gives tests, or an error.
func FuzzSuite(f *testing.F) {
	f.Add([]byte(suite))
	f.Fuzz(func(t *testing.T, file []byte) {
		tests, problems := parseSuite(file, func(string) string { return "" })
		if len(tests) == 0 && len(problems) == 0 {
			t.Fatalf("%q: neither tests nor problems", file)
		}
	})
}
