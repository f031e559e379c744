package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/offline"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
	"benchtop/internal/simulator/simtest"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// waves is a server whose time for a set of equal requests is known: batches of so many, all in step.
func waves(batch int) simulator.Profile {
	p := simulator.Defaults()
	p.MaxSequences, p.MaxBatchedTokens, p.ContextToken, p.PrefixCache = batch, 8192, 0, false
	return p
}

// took is the time of a batch by the profile: one step for its prompts, then a step for each further token.
func took(p simulator.Profile, batch, input, output int) time.Duration {
	first := p.StepBase + time.Duration(batch*input)*p.PrefillToken
	return first + time.Duration(output-1)*(p.StepBase+time.Duration(batch)*p.DecodeSequence)
}

func inMemory(t *testing.T, p simulator.Profile) (o loadgen.Options, stop func()) {
	t.Helper()
	dial, stop := simtest.Serve(t, p)
	to := assert.Must(target.New(target.Options{BaseURL: "http://simulated", Dial: dial}))(t)
	o = loadgen.Defaults()
	o.Target, o.Model, o.Pacer, o.Start, o.InputSource = to, p.Model, "timer", time.Now(), metrics.TokensFromIDs
	for _, f := range [][2]string{{"ignore_eos", "true"}, {"stream", "false"}, {"stream_options", "null"}} {
		o.Extra = append(o.Extra, protocol.Field{Name: f[0], JSON: f[1]})
	}
	return o, stop
}

// The throughput of a server is its capacity: 20 batches of 16 requests, one after the other.
func TestThroughputIsCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batch, n, input, output = 16, 320, 100, 32
		p := waves(batch)
		o, stop := inMemory(t, p)
		o.Schedule = shape.Immediately()
		span := &offline.SpanSink{Requests: n}
		engine := assert.Must(loadgen.New(o, span))(t)
		assert.Fine(t, engine.Run(t.Context(), random(t, n, input, output)()))
		stop()
		got := offline.ThroughputOf(
			&metrics.Report{Counts: metrics.Counts{Inputs: n, InputTokens: n * input, OutputTokens: n * output}},
			span.Span(), metrics.Never)
		want := n / batch * took(p, batch, input, output)
		if off := math.Abs(got.Elapsed.Seconds()/want.Seconds() - 1); off > 0.02 {
			t.Errorf("%s for all requests, want %s: %.2f %% off", got.Elapsed, want, 100*off)
		}
	})
}

// A list of prompts takes what the profile says of the batch, exactly.
func TestLatencyOfBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batch, input, output = 8, 32, 20
		p := waves(batch)
		o, stop := inMemory(t, p)
		list := datasets.Turn{MaxTokens: output, InputTokens: batch * input}
		for i := range batch {
			ids := make([]int, input)
			for k := range ids {
				ids[k] = 1000 + i*input + k
			}
			list.Batch = append(list.Batch, datasets.Turn{TokenIDs: ids, InputTokens: input, MaxTokens: output})
		}
		all := loadgen.Try(t.Context(), o, []datasets.Turn{list}, 1)
		stop()
		if !all[0].OK() || all[0].OutputTokens != batch*output || all[0].InputTokens != batch*input {
			t.Fatalf("%+v", all[0])
		}
		if got, want := offline.LatencyOf(all, 0), took(p, batch, input, output).Round(time.Microsecond); got != want {
			t.Errorf("%s for the batch, want %s", got, want)
		}
	})
}

// A server that was paused is resumed, whatever becomes of the run, and a server that cannot be paused is refused.
func TestPrequeue(t *testing.T) {
	t.Parallel()
	url := simulated(t, nil)
	args := []string{"throughput", "--base-url", url, "--num-prompts", "20", "--random-input-len", "20",
		"--random-output-len", "4", "--prequeue-requests"}
	benchtop(args...).expect(t, session.ExitFine, "Of it after the pause:", "Total num output tokens:  80")
	resumed(t, url)
	pauser := &offline.Pauser{Client: http.DefaultClient, Base: url}
	assert.Fine(t, pauser.Pause(context.Background()))
	assert.Fine(t, pauser.Resume())
	resumed(t, url)
	bare := httptest.NewServer(http.NotFoundHandler())
	defer bare.Close()
	pauser = &offline.Pauser{Client: http.DefaultClient, Base: bare.URL}
	if err := pauser.Pause(context.Background()); err != offline.ErrNoPause {
		t.Errorf("a server without pause: %v", err)
	}
}

func resumed(t *testing.T, url string) {
	t.Helper()
	answer := assert.Must(http.Get(url + "/is_paused"))(t)
	defer answer.Body.Close()
	var paused struct {
		Paused bool `json:"is_paused"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&paused); err != nil || paused.Paused {
		t.Errorf("the server is paused: %v, %v", paused.Paused, err)
	}
}

// Results have vLLM's keys first, in its order, and figures that agree with each other.
func TestOfflineResults(t *testing.T) {
	url, dir := simulated(t, nil), t.TempDir()
	t.Setenv(session.PytorchVariable, "1")
	benchtop("throughput", "--base-url", url, "--num-prompts", "30", "--random-input-len", "20", "--random-output-len",
		"4", "--prompts-per-request", "10", "--n", "2",
		"--output-json", filepath.Join(dir, "throughput.json")).expect(t, session.ExitFine,
		"Total num prompt tokens:  600", "Total num output tokens:  240")
	benchtop("latency", "--base-url", url, "--num-iters", "5", "--num-iters-warmup", "1", "--batch-size", "3",
		"--output-len", "4",
		"--output-json", filepath.Join(dir, "latency.json")).expect(t, session.ExitFine, "50% percentile latency: ",
		"Prefix cache: no hits")
	for name, keys := range map[string]string{
		"throughput": "model_id elapsed_time num_requests total_num_tokens requests_per_second tokens_per_second " +
			"benchtop",
		"latency": "model_id avg_latency latencies percentiles benchtop",
	} {
		raw := assert.Must(os.ReadFile(filepath.Join(dir, name+".json")))(t)
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^    "(\w+)":`).FindAllStringSubmatch(string(raw), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != keys {
			t.Errorf("%s: keys %s, want %s", name, got, keys)
		}
		if records, err := os.ReadFile(filepath.Join(dir, name+".pytorch.json")); err != nil ||
			!strings.Contains(string(records), `"benchmark_values"`) {
			t.Errorf("%s in PyTorch's form: %v", name, err)
		}
	}
	var r struct {
		Elapsed  float64 `json:"elapsed_time"`
		Requests int     `json:"num_requests"`
		Tokens   int     `json:"total_num_tokens"`
		Rate     float64 `json:"requests_per_second"`
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "throughput.json"))
	if err := json.Unmarshal(raw, &r); err != nil || r.Requests != 30 || r.Tokens != 840 ||
		math.Abs(r.Rate*r.Elapsed-30) > 1e-9 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Answers that come in one piece have an E2EL, whatever of the run is looked at; those of a stream have all latencies.
func TestThroughputOfWholeAnswers(t *testing.T) {
	t.Chdir(t.TempDir())
	url := simulated(t, nil)
	for _, want := range []bool{false, true} {
		stream := fmt.Sprintf("--stream=%t", want)
		file := fmt.Sprintf("%t.json", want)
		r := benchtop("throughput", "--base-url", url, "--num-prompts", "30", "--random-input-len", "9",
			"--random-output-len", "8", "--save-result", "--result-filename", file, stream)
		r.expect(t, session.ExitFine)
		if strings.Contains(r.stdout, "images") {
			t.Errorf("%s: text prompts are told of as\n%s", stream, r.stdout)
		}
		saved := assert.Must(os.ReadFile(file))(t)
		told := benchtop("report", file).stdout
		if strings.Contains(string(saved), `"ttft_here_ms": {"n": 0`) == want {
			t.Errorf("%s: a TTFT of the client beside the server's: %t", stream, !want)
		}
		for _, name := range []string{"ttft", "tpot", "itl"} {
			if strings.Contains(string(saved), "mean_"+name) != want ||
				strings.Contains(told, "Mean "+strings.ToUpper(name)) != want {
				t.Errorf("%s: %s in the result or the report, want %t\n%s", stream, name, want, told)
			}
		}
		if strings.Contains(told, "Mean E2EL") == want {
			t.Errorf("%s: E2EL in the report: %t\n%s", stream, want, told)
		}
	}
}

// A place that takes no result is refused before anything is asked of the server.
func TestPlacesRefusedFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	server, long := recorded(t, nil), strings.Repeat("x", 240)
	for _, args := range []string{
		"serve --num-warmups 1 --save-result --result-filename LONG.json",
		"serve --num-warmups 1 --sweep-max-concurrency 1,2 --save-result --result-filename LONG.json",
		"serve --num-warmups 1 --plot-timeline --result-filename LONG.json",
		"throughput --num-warmups 1 --output-json LONG.json",
		"throughput --num-warmups 1 --save-result --output-json LONG.json",
		"latency --output-json LONG.json",
	} {
		args := append(strings.Fields(strings.ReplaceAll(args, "LONG", long)), "--base-url", server.url)
		benchtop(args...).expect(t, session.ExitUsage, "file name too long; choose another")
	}
	benchtop("startup", "--serve-cmd", "none", "--output-json", long+".json").expect(t, session.ExitUsage,
		"file name too long")
	if calls := server.all(); len(calls) > 0 {
		t.Errorf("%d requests were sent", len(calls))
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A latency without a figure leaves no files, and says only why it has none. A profile leaves an older result where it
// is.
func TestLatencyWithoutFigure(t *testing.T) {
	t.Chdir(t.TempDir())
	refusing := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/completions") {
			w.WriteHeader(http.StatusTeapot)
			return true
		}
		return strings.HasSuffix(r.URL.Path, "_profile")
	})
	r := benchtop("latency", "--base-url", refusing.url, "--num-iters-warmup", "0", "--output-json", "o.json")
	r.expect(t, session.ExitFailed, "iteration 1 of 30: ")
	if left, _ := os.ReadDir("."); len(left) > 0 || strings.Count(r.stderr, "benchtop:") != 1 {
		t.Errorf("left behind %v, said %q", left, r.stderr)
	}
	assert.Fine(t, os.WriteFile("o.json", []byte("older"), 0o644))
	benchtop("latency", "--base-url", refusing.url, "--num-iters-warmup", "0", "--output-json", "o.json", "--profile")
	if text, err := os.ReadFile("o.json"); string(text) != "older" {
		t.Errorf("the older result is %q, %v", text, err)
	}
}

// Wrong usage of the offline benchmarks is told at once; what vLLM ignores is said.
func TestOfflineUsage(t *testing.T) {
	for args, want := range map[string][]string{
		"throughput --backend hf --n 0 --prompts-per-request 0 --request-rate 3 --output-json no/such/x.json": {
			"--backend hf: it runs in the client's process", "--n 0: must be", "--prompts-per-request 0:",
			"--request-rate: not a flag of throughput", "there is no directory no/such"},
		"throughput --base-url http://127.0.0.1:9 --serve-cmd x": {"--serve-cmd and --base-url"},
		"throughput http://127.0.0.1:9 http://b":                 {"throughput takes one URL"},
		"throughput --tensor-parallel-size 2":                    {"no server: name a model with --model"},
		"throughput --base-url http://127.0.0.1:9 --lora-path a": {
			"--lora-path: a server has its adapters under names"},
		"throughput --backend vllm-chat --prompts-per-request 2": {"chat takes one prompt per request"},
		"latency --batch-size 0 --num-iters 0 --dataset-name random": {"--batch-size 0:", "--num-iters 0:",
			"--dataset-name: not a flag of latency"},
		"latency --backend openai-chat --base-url http://127.0.0.1:9": {
			"--backend openai-chat: the prompts are lists of token ids"},
		"throughput --goodput ttft:500 e2el:900 --fail-on p99_tpot_ms>50 p99_e2el_ms>9": {
			"--goodput ttft: answers come in one piece, so only e2el exists; add --stream",
			"--fail-on p99_tpot_ms>50: answers come in one piece"},
		"latency --stream":                       {"--stream: the answers to a list come mixed"},
		"bench forward":                          {"forward: it times single forward passes"},
		"mm-processor":                           {"mm-processor: the stages of preprocessing"},
		"benchmark_serving.py --model m":         {"benchmark_serving.py: a script of vLLM's; use 'benchtop serve'"},
		"benchmarks/benchmark_prefix_caching.py": {"use 'benchtop serve --preset prefix-caching'"},
		"benchmark_hash.py":                      {"benchmark_hash.py: it runs the engine's own code"},
		"bench kernels":                          {"kernels: it runs the engine's own code", "docs/compatibility.md"},
		"vllm.entrypoints.api_server":            {"no protocol for its /generate"},
		"throughput --model m --distributed-executor-backend=external_launcher": {
			"external_launcher: with it each process"},
	} {
		benchtop(strings.Fields(args)...).expect(t, session.ExitUsage, want...)
	}
	url := simulated(t, nil)
	benchtop("throughput", "--base-url", url, "--num-prompts", "3", "--output-len", "9", "--random-output-len", "2",
		"--tensor-parallel-size", "2").expect(t, session.ExitFine,
		"the data set is random instead of sharegpt", "--output-len has no effect on random prompts",
		"--tensor-parallel-size 2: no effect, since the server runs already", "Total num output tokens:  6")
	benchtop("throughput", url, "--num-prompts", "3", "--random-output-len", "2", "--tensor-parallel-size",
		"2").expect(t, session.ExitFine, "--tensor-parallel-size 2: no effect, since the server runs already")
	r := benchtop("latency", url, "--num-iters", "1", "--num-iters-warmup", "0", "--output-len", "2")
	if r.expect(t, session.ExitFine); strings.Contains(r.stderr, "no effect") {
		t.Error(r.stderr)
	}
}

// The help gives the defaults and effects that flags have with these commands, and lengths without an effect are named
// by those that have one.
func TestOfflineFlagsAreDescribed(t *testing.T) {
	for command, want := range map[string][]string{
		"throughput": {"--input-len int               no effect, as with vLLM; use --random-input-len",
			"no effect on random prompts, as", `(default "sharegpt")`, "sampling temperature (default 1)"},
		"latency": {"--input-len int    prompt length in tokens (default 32)",
			"--output-len int   output length in tokens (default 128)", "it is sent to the server", `(default "cold")`,
			"sampling temperature (default 1)", "generate up to the full output length (default true)",
			"(default 10000)"},
	} {
		help := benchtop(command, "--help").stdout
		for _, w := range want {
			if !strings.Contains(help, w) {
				t.Errorf("%s --help lacks %q", command, w)
			}
		}
		if command == "latency" && strings.Contains(help, "no effect in vLLM's client") {
			t.Errorf("%s --help: a beam search has an effect", command)
		}
	}
	for args, want := range map[string][]string{
		"--dataset-name random-mm --output-len 9": {
			"--output-len has no effect on random-mm prompts, as with vLLM; their lengths are those of --random-*"},
		"--dataset-name random --input-len 9 --prefix-len 3": {"--input-len has no effect on random " +
			"prompts, as with vLLM; their lengths are those of --random-*", "--prefix-len has no effect"},
		"--dataset-name prefix-repetition --input-len 9 --output-len 9": {
			"--input-len has no effect on prefix-repetition prompts, as with vLLM; their lengths are those of " +
				"--prefix-repetition-*", "--output-len has no effect on prefix-repetition"},
		"--dataset-name custom_audio --dataset-path a.jsonl --output-len 9": {
			"--output-len has no effect on custom_audio prompts, as with vLLM; their lengths are those of --custom-*"},
		"--dataset-name sharegpt --dataset-path a.json --output-len 9": nil,
	} {
		o := newThroughputOptions()
		_ = o.Spec.Parse(append(strings.Fields(args), "--base-url", "http://h")) // some lack a file
		said := strings.Join(o.printed, "\n")
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%s: %q, want %q", args, said, w)
			}
		}
		if want == nil && said != "" {
			t.Errorf("%s: %q", args, said)
		}
	}
}

// A profiled latency says what it did, and that there are no figures.
func TestLatencyProfileIsToldOf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.json")
	r := benchtop("latency", "--base-url", simulated(t, nil), "--batch-size", "2", "--num-iters-warmup", "1",
		"--output-len", "3", "--profile", "--output-json", file)
	r.expect(t, session.ExitFine, "one iteration was profiled, after 1 warm-ups; the trace is where the server's "+
		"profiler writes it. There are no figures and no --output-json, as with vLLM")
	if _, err := os.Stat(file); err == nil {
		t.Error("there is a result")
	}
}

// Words of a command line are parted into own flags and those of another program.
func TestPart(t *testing.T) {
	flags := newThroughputOptions().Flags.All()
	for line, want := range map[string]string{
		"--model m --tensor-parallel-size 2 --num-prompts 3": "--model m --num-prompts 3 | --tensor-parallel-size 2",
		"-tp 2 --seed=4 --enforce-eager":                     "--seed=4 | -tp 2 --enforce-eager",
		"--goodput ttft:1 tpot:2 --dtype half x":             "--goodput ttft:1 tpot:2 | --dtype half x",
		"--num_prompts 3 --help":                             "--num_prompts 3 --help | ",
	} {
		own, others := argv.Part(flags, strings.Fields(line))
		assert.Equal(t, strings.Join(own, " ")+" | "+strings.Join(others, " "), want, "%s", line)
	}
}
