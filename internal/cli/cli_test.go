package cli

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

// result is what a command line did.
type result struct {
	code           int
	stdout, stderr string
}

// run performs a command line in this process, without a terminal.
func benchtop(args ...string) result {
	var out, err lockedText
	code := Main(args, strings.NewReader(""), &out, &err)
	return result{code, out.all.String(), err.all.String()}
}

// lockedText is what several goroutines write, as to a file.
type lockedText struct {
	mu  sync.Mutex // guards all
	all strings.Builder
}

func (w *lockedText) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.Write(p)
}

func (r result) expect(t *testing.T, code int, words ...string) {
	t.Helper()
	assert.Equal(t, r.code, code, "exit code")
	assert.Has(t, r.stdout+r.stderr, words...)
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", r.stdout, r.stderr)
	}
}

// simulated starts the simulated server on a free port.
func simulated(t *testing.T, change func(*simulator.Profile)) string {
	t.Helper()
	p := fast()
	if change != nil {
		change(&p)
	}
	s := simulator.New(p)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = s.Close()
	})
	return web.URL
}

// unused is a port on which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

const sharegptFile = "../../datasets/testdata/sharegpt_small.json"

// Wrong usage is reported all at once, and nothing is sent. The rules of the flags are those of internal/spec.
func TestWrongUsage(t *testing.T) {
	server := recorded(t, nil)
	bad := filepath.Join(t.TempDir(), "bad.json")
	assert.Fine(t, os.WriteFile(bad, []byte("[\n{\"conversations\": 5}\n]\n"), 0o644))
	file := "serve --base-url " + server.url + " --dataset-name sharegpt --dataset-path "
	for args, words := range map[string][]string{
		"":     {"usage: benchtop COMMAND"},
		"srve": {`unknown command "srve" (did you mean serve?)`},
		"serve --num-prompts x extra --requst-rate 3 --base-url " + server.url: {
			"--num-prompts x: expected a whole number", "--requst-rate: unknown flag (did you mean request-rate?)",
			`serve takes no arguments, got ["extra"]: 'vllm serve MODEL' starts a server`},
		"serve --num-runs 0 --base-url " + server.url:                           {"--num-runs 0: must be from 1"},
		"serve --sweep-request-rate 1,2 --stages 1:1s --base-url " + server.url: {"--sweep-request-rate, rate=1: "},
		file + "/no/such/file":     {"/no/such/file", "no such file"},
		file + bad:                 {bad, "line 2", "expected"},
		"demo --duration 5 now":    {"--duration 5: expected a time such as", "demo takes no arguments"},
		"simulate --profile h900":  {"--profile h900", "l40s-8b"},
		"report":                   {"report takes a file, got none"},
		"report --baseline a.json": {"--baseline a.json: this is the older run; also name the run to compare with"},
		"report --output-json x":   {"--output-json: unknown flag"},
	} {
		t.Run(args, func(t *testing.T) { benchtop(strings.Fields(args)...).expect(t, session.ExitUsage, words...) })
	}
	if calls := server.all(); len(calls) > 0 {
		t.Errorf("%d requests were sent", len(calls))
	}
}

func TestHelpAndVersion(t *testing.T) {
	benchtop("--help").expect(t, session.ExitFine, "demo", "serve", "simulate", "report")
	benchtop("--version").expect(t, session.ExitFine, "benchtop ")
	for _, c := range commands() {
		benchtop(c.name, "--help").expect(t, session.ExitFine, "usage: benchtop "+c.name)
		benchtop("help", c.name).expect(t, session.ExitFine, "usage: benchtop "+c.name)
	}
	benchtop("help", "sweep", "serve-sla").expect(t, session.ExitFine, "usage: benchtop sweep serve_sla")
	benchtop("help", "serve", "request-rate").expect(t, session.ExitFine, "--request-rate number")
	benchtop("help", "bench", "serve").expect(t, session.ExitFine, "usage: benchtop serve")
	benchtop("bench", "serve", "--help").expect(t, session.ExitFine, "usage: benchtop serve", "--request-rate",
		"(default inf)")
}

func TestServerAbsent(t *testing.T) {
	benchtop("serve", "--port", "1", "--model", "m").expect(t, session.ExitFailed,
		"cannot reach http://127.0.0.1:1", "connection refused", "is the server up", "benchtop demo")
	for status, advice := range map[int]string{
		http.StatusUnauthorized:        "401 Unauthorized: who are you?; is the API key right?",
		http.StatusInternalServerError: "name the model with --model"} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "who are you?\x1b[31m")
		}))
		r := benchtop("serve", "--base-url", web.URL)
		web.Close()
		r.expect(t, session.ExitFailed, "/v1/models", "who are you?", advice)
		if strings.Contains(r.stderr, "\x1b") {
			t.Error("the server's escape sequence went through to the terminal")
		}
	}
}

// An untrusted certificate is refused, unless the user accepts it.
func TestCertificate(t *testing.T) {
	t.Parallel()
	inner := simulator.New(simulator.Defaults())
	defer inner.Close()
	web := httptest.NewTLSServer(inner.Handler())
	defer web.Close()
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	args := []string{"serve", "--base-url", web.URL, "--num-prompts", "2", "--random-input-len", "5",
		"--random-output-len", "2"}
	benchtop(args...).expect(t, session.ExitFailed,
		"the certificate of "+web.URL+" is signed by an authority that is not trusted here", "--ca-file", "--insecure")
	benchtop(append(args, "--insecure")...).expect(t, session.ExitFine, "Successful requests:                     2 ")
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	benchtop(append(args, "--ca-file", authority)...).expect(t, session.ExitFine,
		"Successful requests:                     2 ")
}

// A server that claims absurd numbers of tokens costs neither the run nor its journal.
func TestAbsurdUsage(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"text":"a","finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":9223372036854775800,"completion_tokens":1e300}}`+"\n\ndata: "+
			"[DONE]\n\n")
	}))
	defer web.Close()
	dir := t.TempDir()
	benchtop("serve", "--base-url", web.URL, "--model", "m", "--num-prompts", "4", "--random-input-len", "7",
		"--save-result", "--result-dir", dir).
		expect(t, session.ExitFine, "Successful requests:                     4 ",
			"Total input tokens:                      28 ", "Total generated tokens:                  4 ")
	journals, _ := filepath.Glob(filepath.Join(dir, "*.gz"))
	benchtop("report", journals[0]).expect(t, session.ExitFine, "Successful requests:                     4 ")
}

// Sent and unsent requests add up to the plan, and only sent ones can be cancelled.
func TestNothingGoesUncounted(t *testing.T) {
	dir := t.TempDir()
	inVirtualTime(t, fast(), func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			time.Sleep(300 * time.Millisecond)
			http.Error(w, "slow and no", http.StatusTeapot)
		}
		return r.Method == http.MethodPost
	}, func(t *testing.T, server *virtual) {
		server.serve(t, "--model", "m", "--num-prompts", "15000", "--vocab-size", "300", "--random-input-len", "4",
			"--max-concurrency", "2", "--duration", "500ms",
			"--save-result", "--result-dir", dir, "--result-filename", "r.json").expect(t, session.ExitFailed,
			"Time ran out before")
	})
	data := assert.Must(os.ReadFile(filepath.Join(dir, "r.json")))(t)
	var v struct {
		Completed, Failed int
		MeanTTFT          *float64 `json:"mean_ttft_ms"`
		Benchtop          struct {
			NotSent     int `json:"not_sent"`
			Interrupted *struct{}
		}
	}
	assert.Fine(t, json.Unmarshal(data, &v))
	if v.Failed+v.Benchtop.NotSent != 15000 || v.Benchtop.Interrupted != nil || v.Failed == 0 {
		t.Errorf("%d failed, %d not sent, interrupted %v; want 15000 in all", v.Failed, v.Benchtop.NotSent,
			v.Benchtop.Interrupted)
	}
	if v.MeanTTFT == nil {
		t.Error("mean_ttft_ms is missing from a result without a success")
	}
}

func TestEverythingFails(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no room", http.StatusServiceUnavailable)
	}))
	defer web.Close()
	benchtop("serve", "--base-url", web.URL, "--model", "m", "--num-prompts", "12").expect(t, session.ExitFailed,
		"Failed requests:                         12", "Error 9: no room", "no request succeeded", "503")
}

// vllmKeys are the keys of a result with detail, in order, from the description of vLLM's format, and behind them that
// of its Rust client.
var vllmKeys = strings.Fields(`date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency
	duration completed failed total_input_tokens total_output_tokens request_throughput request_goodput output_throughput
	total_token_throughput input_lens output_lens ttfts itls latencies start_times queue_times generated_texts errors
	max_output_tokens_per_s max_concurrent_requests rtfx
	mean_ttft_ms median_ttft_ms std_ttft_ms p99_ttft_ms mean_tpot_ms median_tpot_ms std_tpot_ms p99_tpot_ms
	mean_itl_ms median_itl_ms std_itl_ms p99_itl_ms input_throughput benchtop`)

// vllmLines are the labels of the report for such a run, in order, from the same description.
var vllmLines = []string{
	"============ Serving Benchmark Result ============",
	"Successful requests:", "Failed requests:", "Request rate configured (RPS):", "Benchmark duration (s):",
	"Total input tokens:", "Total generated tokens:", "Request throughput (req/s):", "Output token throughput (tok/s):",
	"Peak output token throughput (tok/s):", "Peak concurrent requests:", "Total token throughput (tok/s):",
	"---------------Time to First Token----------------", "Mean TTFT (ms):", "Median TTFT (ms):", "P99 TTFT (ms):",
	"-----Time per Output Token (excl. 1st token)------", "Mean TPOT (ms):", "Median TPOT (ms):", "P99 TPOT (ms):",
	"---------------Inter-token Latency----------------", "Mean ITL (ms):", "Median ITL (ms):", "P99 ITL (ms):",
	"==================================================",
}

func keysInOrder(t *testing.T, data []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	var keys []string
	depth := 0
	for expectKey := false; ; {
		token, err := d.Token()
		if err != nil {
			return keys
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			expectKey = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
			expectKey = depth == 1
			continue
		}
		if depth == 1 {
			if expectKey {
				keys = append(keys, token.(string))
			}
			expectKey = !expectKey
		}
	}
}

// The same command a user of vLLM would type gives vLLM's lines and vLLM's keys.
func TestServeLikeVLLM(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := benchtop("serve", "--base-url", simulated(t, nil), "--backend", "openai-chat", "--dataset_name", "sharegpt",
		"--dataset-path="+sharegptFile, "--num-prompts", "60", "--request-rate", "400",
		"--save-result", "--save-detailed", "--no-tui", "--result-dir", dir)
	r.expect(t, session.ExitFine, "Successful requests:                     60        \n", "result saved to "+dir)
	var labels []string
	for line := range strings.Lines(r.stdout[strings.Index(r.stdout, "===="):]) {
		line = strings.TrimRight(line, "\n")
		if label, _, ok := strings.Cut(line, ":"); ok {
			line = label + ":"
		}
		labels = append(labels, line)
		if len(labels) == len(vllmLines) {
			break
		}
	}
	if !slices.Equal(labels, vllmLines) {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(labels, "\n"), strings.Join(vllmLines, "\n"))
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 2 || !strings.HasPrefix(filepath.Base(files[0]), "openai-chat-400.0qps-sim-8b-") ||
		!strings.HasSuffix(files[1], ".jsonl.gz") {
		t.Fatalf("files %v, want a result and its journal", files)
	}
	data := assert.Must(os.ReadFile(files[0]))(t)
	assert.EqualAll(t, keysInOrder(t, data), vllmKeys, "keys")
	var v struct {
		Completed int
		ITLs      [][]float64
		TTFTs     []float64
		Errors    []string
		Texts     []string `json:"generated_texts"`
		Outputs   []int    `json:"output_lens"`
	}
	assert.Fine(t, json.Unmarshal(data, &v))
	if v.Completed != 60 || len(v.ITLs) != 60 || len(v.TTFTs) != 60 || len(v.Errors) != 60 || v.Texts[0] == "" ||
		len(v.ITLs[0])+1 < v.Outputs[0] {
		t.Errorf("completed %d, %d ITL lists, first of %d gaps for %d tokens, text %q", v.Completed, len(v.ITLs),
			len(v.ITLs[0]), v.Outputs[0], v.Texts[0])
	}

	// The journal gives the same report again, and by the result's name too.
	for _, file := range files {
		again := benchtop("report", file)
		again.expect(t, session.ExitFine)
		assert.Equal(t, again.stdout, r.stdout, "report %s differs", file)
	}
	if again := benchtop("report", "--json", files[1]); again.stdout != string(data) {
		t.Error("report --json differs from the saved result")
	}
}

func TestServeShapes(t *testing.T) {
	for _, c := range []struct {
		name string
		args string
		want []string
	}{
		{"random, all at once", "--num-prompts 30 --random-input-len 50 --random-output-len 4",
			[]string{"Successful requests:                     30 ", "Total input tokens:                      1500 ",
				"Total generated tokens:                  120 "}},
		{"limited", "--num-prompts 20 " + shortPrompts + " --max-concurrency 3 --goodput ttft:60000 e2el:60000",
			[]string{"Maximum request concurrency:             3 ", "Request goodput (req/s):"}},
		{"the clock decides how many", "--duration 500ms --request-rate 240 --vocab-size 300 --random-input-len 4 " +
			"--random-output-len 1", []string{"Successful requests:                     120 "}},
		{"other metrics", "--num-prompts 5 " + shortPrompts + " --percentile-metrics e2el --metric-percentiles " +
			"50,99.9", []string{"Median E2EL (ms):", "P99.9 E2EL (ms):"}},
		{"text of the server's tokenizer on the chat protocol",
			"--backend openai-chat --num-prompts 7 --random-input-len 40 --random-output-len 4",
			[]string{"Successful requests:                     7 ", "Total input tokens:                      "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inVirtualTime(t, simulator.Defaults(), nil, func(t *testing.T, server *virtual) {
				server.serve(t, strings.Fields(c.args)...).expect(t, session.ExitFine, c.want...)
			})
		})
	}
	// Prompts without number would all be drawn at one moment of virtual time.
	url := simulated(t, func(p *simulator.Profile) { *p = simulator.Defaults() })
	benchtop(strings.Fields("serve --duration 300ms --max-concurrency 2 "+shortPrompts+" --base-url "+url)...).expect(t,
		session.ExitFine, "Failed requests:                         0 ")
}

// Where nothing counts tokens, data sets of text go by estimates. They are called that wherever they show, and the
// server's own counts take their place in the figures.
func TestEstimateIsLabelled(t *testing.T) {
	t.Parallel()
	inner := simulator.New(simulator.Defaults())
	defer inner.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tokenize" {
			http.NotFound(w, r)
			return
		}
		inner.Handler().ServeHTTP(w, r)
	}))
	defer web.Close()
	dir := t.TempDir()
	args := []string{"serve", "--base-url", web.URL, "--dataset-name", "sharegpt", "--dataset-path", sharegptFile,
		"--num-prompts", "3",
		"--output-len", "3", "--save-result", "--result-dir", dir}
	benchtop(args...).expect(t, session.ExitFine,
		"benchtop: WARNING: prompt lengths are estimated, because there is no tokenizer: ",
		"of the server: it has no /tokenize; name it with --tokenizer DIRECTORY")
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	data := assert.Must(os.ReadFile(files[0]))(t)
	assert.Has(t, string(data), `"dataset": "estimate"`, "lengths estimated", "prompt lengths are estimated",
		`"tokenizer_id": null`, `"usage": 3`)
}

// The address of a server is enough for every data set of text.
func TestAddressIsEnough(t *testing.T) {
	t.Parallel()
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data": [{"id": "tiny", "root": "/models/none"}]}`)
		case "/tokenize", "/detokenize", "/apply-template":
			http.NotFound(w, r)
		default:
			return false
		}
		return true
	})
	const chat, out = " --backend openai-chat", " --output-len 2"
	const asTheyAre = "prompts are sent without a chat template, because none was found"
	for args, want := range map[string]string{
		"custom --dataset-path " + datasetFiles + "custom_small.jsonl" + out:                          asTheyAre,
		"custom --dataset-path " + datasetFiles + "custom_small.jsonl" + out + chat:                   asTheyAre,
		"custom --skip-chat-template --dataset-path " + datasetFiles + "custom_small.jsonl" + out:     "",
		"spec_bench --dataset-path " + datasetFiles + "spec_bench_small.jsonl" + out:                  asTheyAre,
		"speed_bench --speed-bench-output-len 2 --dataset-path " + datasetFiles + "speed_bench_small": asTheyAre,
		"sonnet --sonnet-output-len 2": asTheyAre,
		"sharegpt --dataset-path " + datasetFiles + "sharegpt_small.json" +
			out: "",
		"burstgpt --dataset-path " + datasetFiles + "burstgpt_small.csv" +
			chat: "",
		"hf --hf-name " + datasets.BFCLRepository + " --dataset-path " + datasetFiles + out + " --num-prompts 1" +
			chat: "",
	} {
		r := benchtop(append([]string{"serve", "--base-url", server.url, "--num-prompts", "2", "--dataset-name"},
			strings.Fields(args)...)...)
		r.expect(t, session.ExitFine, "lengths estimated",
			"because there is no tokenizer: path /models/none: no such file or directory; of the server: it has no "+
				"/tokenize")
		if strings.Contains(r.stderr, asTheyAre) != (want != "") {
			t.Errorf("%s: got %q", args, r.stderr)
		}
	}
	for _, args := range []string{"random", "prefix_repetition --prefix-repetition-num-prefixes 1", "random-mm"} {
		name, _, _ := strings.Cut(args, " ")
		r := benchtop(append([]string{"serve", "--base-url", server.url, "--num-prompts", "2", "--backend",
			"openai-chat", "--dataset-name"}, strings.Fields(args)...)...)
		learned := "as text of common words, whose tokens are learned from usage, lengths estimated"
		if name == "random-mm" { // whose pictures are counted, too
			learned = ", lengths estimated"
		}
		r.expect(t, session.ExitFine, name+": ", learned,
			"prompt lengths are estimated, because there is no tokenizer: path /models/none: no such file or "+
				"directory; of the server: it has no /tokenize")
	}
}

// A server whose tokenizer fails is not asked to render either, and its error is reported; one that counts but makes no
// text gets token ids.
func TestTokenizerOfTheServerFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path   string
		status int
		args   string
		want   string
	}{
		{"/tokenize", 503, "sonnet --sonnet-output-len 2", "lengths estimated"},
		{"/tokenize", 400, "sonnet --sonnet-output-len 2", "the model is not loaded"},
		{"/detokenize", 404, "random --random-input-len 5 --random-output-len 2",
			"WARNING: prompts are token ids, because the server counts tokens but does not turn them into text"},
	} {
		server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case "/v1/models":
				io.WriteString(w, `{"data": [{"id": "tiny", "root": "/models/none"}]}`)
			case c.path:
				http.Error(w, "the model is not loaded", c.status)
			default:
				return false
			}
			return true
		})
		benchtop(append([]string{"serve", "--base-url", server.url, "--num-prompts", "2", "--dataset-name"},
			strings.Fields(c.args)...)...).expect(t, session.ExitFine, c.want)
	}
}

// A secret in the command line appears nowhere.
func TestSecretsStayInside(t *testing.T) {
	const canary = "c4n4ry"
	t.Setenv("OPENAI_API_KEY", canary)
	dir := t.TempDir()
	url := strings.Replace(simulated(t, nil), "http://", "http://user:p@"+canary+"@", 1)
	r := benchtop("serve", "--base-url", url, "--num-prompts", "3", "--random-output-len", "2", "--save-result",
		"--save-detailed", "--result-dir", dir)
	r.expect(t, session.ExitFine)
	bad := benchtop("serve", "--base-url", "http://user:"+canary+"@host:99999999/%zz")
	bad.expect(t, session.ExitUsage)
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, "wrong key %s", r.Header.Get("Authorization"))
	}))
	defer echo.Close()
	refused := benchtop("serve", "--base-url", echo.URL, "--model", "m", "--num-prompts", "2")
	refused.expect(t, session.ExitFailed, "wrong key Bearer ***")
	discovered := benchtop("serve", "--base-url", echo.URL)
	discovered.expect(t, session.ExitFailed, "wrong key Bearer ***")
	absent := benchtop("serve", "--base-url", "http://user:"+canary+"@127.0.0.1:1")
	absent.expect(t, session.ExitFailed)
	all := r.stdout + r.stderr + bad.stderr + absent.stderr + refused.stdout + refused.stderr + discovered.stderr
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if rep := benchtop("report", "--json", f); rep.code == session.ExitFine {
			all += rep.stdout
		}
		data := assert.Must(os.ReadFile(f))(t)
		all += string(data)
	}
	if len(files) != 2 || strings.Contains(all, canary) {
		t.Errorf("the secret came out: %d files, %.300s", len(files), all[max(0, strings.Index(all, canary)-100):])
	}
}

func TestSavingRules(t *testing.T) {
	url := simulated(t, nil)
	quick := []string{"serve", "--base-url", url, "--num-prompts", "2", "--random-output-len", "2"}
	t.Run("not unasked without a terminal", func(t *testing.T) {
		t.Chdir(t.TempDir())
		benchtop(quick...).expect(t, session.ExitFine)
		if files, _ := filepath.Glob("*"); len(files) != 0 {
			t.Errorf("files %v", files)
		}
	})
	t.Run("asked, into the current directory", func(t *testing.T) {
		t.Chdir(t.TempDir())
		benchtop(append(quick, "--save-result")...).expect(t, session.ExitFine)
		if files, _ := filepath.Glob("*.json"); len(files) != 1 {
			t.Errorf("files %v", files)
		}
	})
	t.Run("an old result is moved aside", func(t *testing.T) {
		t.Chdir(t.TempDir())
		benchtop(append(quick, "--save-result", "--result-filename", "r.json")...).expect(t, session.ExitFine)
		for n := range 2 {
			benchtop(append(quick, "--save-result", "--result-filename", "r.json")...).
				expect(t, session.ExitFine,
					fmt.Sprintf("benchtop: WARNING: an older result of the same name is now r.json.~%d~\n", n+1))
		}
		files, _ := filepath.Glob("*")
		if want := []string{"r.json", "r.json.~1~", "r.json.~2~", "r.jsonl.gz", "r.jsonl.gz.~1~",
			"r.jsonl.gz.~2~"}; !slices.Equal(files, want) {
			t.Errorf("files %v, want %v", files, want)
		}
		benchtop(append(quick, "--save-result", "--result-filename", "r.json", "--no-clobber")...).expect(t,
			session.ExitUsage, "r.json exists and --no-clobber is set")
	})
	t.Run("a directory that cannot be made", func(t *testing.T) {
		t.Chdir(t.TempDir())
		assert.Fine(t, os.WriteFile("file", nil, 0o644))
		benchtop(append(quick, "--save-result", "--result-dir", "file/x")...).expect(t, session.ExitUsage,
			"cannot save the result", "--result-dir")
	})
}

// A journal that is whole but cannot be packed is a saved one.
func TestJournalThatCannotBePacked(t *testing.T) {
	dir := t.TempDir()
	server := recorded(t, func(http.ResponseWriter, *http.Request) bool {
		_ = os.WriteFile(filepath.Join(dir, "r.jsonl.gz"), nil, 0o644) // the name is taken while the run is on
		return false
	})
	args := strings.Fields("serve --num-prompts 2 --save-result --result-filename r.json " + shortPrompts)
	benchtop(append(args, "--base-url", server.url, "--result-dir", dir)...).expect(t, session.ExitFine,
		"its journal could not be compressed", "result saved to ")
}

// Only a regular file is a place for a result, only an empty one is taken over, and nothing of the user's is removed.
func TestOddPlaces(t *testing.T) {
	url := simulated(t, nil)
	quick := []string{"serve", "--base-url", url, "--num-prompts", "2", "--random-input-len", "5",
		"--random-output-len", "2"}
	t.Chdir(t.TempDir())
	assert.Fine(t, os.MkdirAll("folder/inside", 0o755))
	benchtop(append(quick, "--save-result", "--result-filename", "folder")...).expect(t, session.ExitUsage,
		"cannot save the result: folder: a directory; name a file in it")
	benchtop(append(quick, "--append-result", "--result-filename", os.DevNull)...).expect(t, session.ExitUsage,
		": not a regular file")
	benchtop(append(quick, "--save-result", "--result-filename", "x.jsonl.gz")...).expect(t, session.ExitUsage,
		"is the journal's ending")
	assert.Fine(t, assert.Failure(os.Stat("folder/inside")))
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s is no more what it was: %v", os.DevNull, err)
	}
	for _, name := range []string{"made.beforehand", "r.json"} {
		assert.Fine(t, os.WriteFile(name, nil, 0o600))
		benchtop(append(quick, "--save-result", "--result-filename", name)...).expect(t, session.ExitFine,
			"result saved to "+name+"\n")
		if data, err := os.ReadFile(name); err != nil || !json.Valid(data) {
			t.Errorf("%s: %v, %.40q", name, err, data)
		}
	}
	// A run that was killed does not hold its name.
	for _, name := range []string{"dead.json", "dead.jsonl"} {
		assert.Fine(t, os.WriteFile(name, nil, 0o644))
	}
	benchtop(append(quick, "--save-result", "--result-filename", "dead.json")...).expect(t, session.ExitFine,
		"result saved to dead.json\n")
}

// Several servers share a run, each asked alike; report, result and a later report have a line for each.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	one, two := recorded(t, nil), recorded(t, nil)
	dir := t.TempDir()
	r := benchtop(
		strings.Fields(
			"serve --base-url " + one.url + " " + two.url + " --num-prompts 5 --num-warmups 2 --save-result " +
				"--result-dir " + dir + " " + shortPrompts)...)
	r.expect(t, session.ExitFine, "Servers, round-robin", one.url+"      3      0", two.url+"      2      0")
	if a, b := len(one.all()), len(two.all()); a != 4 || b != 3 { // with a warm-up
		t.Errorf("%d and %d requests", a, b)
	}
	results, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	assert.Need(t, len(results), 1, "results %v", results)
	benchtop("report", results[0]).expect(t, session.ExitFine, "Servers, round-robin", two.url+"      2      0")
	benchtop("serve", "--base-url", one.url, "http://127.0.0.1:1", "--num-prompts", "1").expect(t, session.ExitFailed,
		"cannot reach http://127.0.0.1:1: ")
}
