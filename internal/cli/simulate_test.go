package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/session"
	"benchtop/internal/simulator"
)

func TestSimulateUsage(t *testing.T) {
	benchtop("simulate", "--fault", "nonsense", "--fault", "status=200", "--fault=reset,every=0", "--spec-tokens", "-1",
		"--log").expect(t, session.ExitUsage,
		`--fault nonsense: unknown fault "nonsense"; use one of refuse, reset-accept`,
		"--fault status=200: fault status: needs an HTTP status from 400 to 599",
		`--fault reset,every=0: "every=0" in "reset,every=0": expected a whole number from 1`,
		"spec tokens is -1, must be from 0 to 64",
		"--log: a value is missing")
	benchtop("simulate", "--port", "0", "--log", filepath.Join(t.TempDir(), "no", "such", "dir")).expect(t,
		session.ExitFailed, "--log: open", "choose another file")
	for args, want := range map[string]string{
		"--max-model-len 0 --block-size -1":     "--block-size -1: must be at least 1",
		"--max-model-len 100000":                "use --num-gpu-blocks 6250 or more, or unbounded",
		"--block-size 64 --max-model-len 65537": "of 1024 blocks of 64 tokens cannot hold",
		"--num-gpu-blocks -3":                   "--num-gpu-blocks -3: expected a number of blocks, or unbounded",
		"--max-num-seqs 4096":                   "use --max-num-batched-tokens 4096 or more",
		"--max-num-batched-tokens 8":            "use --max-num-batched-tokens 64 or more",
		"--speed 0":                             "speed is 0, must be above 0",
		"--speed 1e5":                           "speed is 100000, which makes a step of 11.5ms shorter than 1µs",
		"--log x --log-bodies some":             "--log-bodies some: use full or none or prefix",
		"--log-bodies none":                     "--log-bodies none: has no effect without --log",
	} {
		benchtop(append([]string{"simulate"}, strings.Fields(args)...)...).expect(t, session.ExitUsage, want)
	}
	help := benchtop("simulate", "--help")
	help.expect(t, session.ExitFine, "X-Simulate-Fault", "--fault", "--log", "--spec-tokens")
	for _, name := range simulator.Names() {
		if !strings.Contains(help.stdout, "\n  "+name+" ") {
			t.Errorf("the profile %s is missing in the help", name)
		}
	}
	benchtop("simulate", "--profile", "x").expect(t, session.ExitUsage,
		`--profile x: unknown profile "x"; use one of l40s-8b, a10-8b-tight, h100-70b-spec`)
	benchtop("demo", "--profile", "x").expect(t, session.ExitUsage,
		`--profile x: unknown profile "x"; use one of l40s-8b`)
	for _, k := range simulator.FaultKinds() {
		if !strings.Contains(help.stdout, "\n  "+k.Usage+" ") || !strings.Contains(help.stdout, k.Does) {
			t.Errorf("%s is missing in the help", k.Usage)
		}
	}
	for line := range strings.Lines(help.stdout) {
		if len(line) > 121 {
			t.Errorf("a line of the help is too long: %q", line)
		}
	}
}

// The log has a line for each request, in order of arrival, as the client sent it.
func TestSimulateLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "requests.jsonl")
	t.Run("run", func(t *testing.T) { // so that the server has stopped afterwards
		url := startSimulate(t, "--log", file, "--fault", "status=503,from=20")
		t.Setenv("OPENAI_API_KEY", "c4n4ry")
		serveShort(t, url)
	})
	data := assert.Must(os.ReadFile(file))(t)
	if strings.Contains(string(data), "c4n4ry") {
		t.Error("the key is in the log")
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	assert.Need(t, len(lines), faultRequests, "lines")
	at := 0.0
	for i, text := range lines {
		var v struct {
			Arrival    int
			Path       string
			Headers    map[string]string
			Body       string
			Status     int
			Fault      string
			At         float64 `json:"at_s"`
			FirstByte  float64 `json:"first_byte_s"`
			FirstToken float64 `json:"first_token_s"`
			LastByte   float64 `json:"last_byte_s"`
			Prompt     int     `json:"prompt_tokens"`
			Output     int     `json:"output_tokens"`
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if v.Arrival != i+1 || v.Path != "/v1/completions" || v.At < at ||
			v.Headers["Content-Type"] != "application/json" || !json.Valid([]byte(v.Body)) {
			t.Errorf("line %d: %s", i+1, text)
		}
		at = v.At
		if i == faultRequests-1 {
			if v.Status != 503 || v.Fault != "status=503,from=20" || v.Output != 0 {
				t.Errorf("the last line: %s", text)
			}
			continue
		}
		if v.Status != 200 || v.Prompt != 8 || v.Output != faultTokens ||
			!(v.At < v.FirstByte && v.FirstByte < v.FirstToken && v.FirstToken < v.LastByte) {
			t.Errorf("line %d: %s", i+1, text)
		}
	}
}

// With -, standard output is the log alone; the address goes to standard error.
func TestSimulateLogToStandardOutput(t *testing.T) {
	// its input has ended
	r := benchtop("simulate", "--port", "0", "--exit-with-stdin", "--log", "-", "--fault", "reset", "--fault", "crlf")
	if r.code != session.ExitFine || r.stdout != "" || !strings.HasPrefix(r.stderr, listening+"http://127.0.0.1:") {
		t.Errorf("exit code %d, standard output %q, standard error %q", r.code, r.stdout, r.stderr)
	}
}

// Speculative decoding brings several tokens in a chunk; texts and token counts stay.
func TestSimulateSpeculation(t *testing.T) {
	t.Parallel()
	plain := serveShort(t, startSimulate(t))
	url := startSimulate(t, "--spec-tokens", "2", "--spec-acceptance", "1")
	drafted := serveShort(t, url)
	if drafted.Completed != faultRequests || drafted.OutputTokens != faultRequests*faultTokens ||
		strings.Join(drafted.Texts, "|") != strings.Join(plain.Texts, "|") {
		t.Errorf("%d completed, %d tokens, the same texts: %v", drafted.Completed, drafted.OutputTokens,
			strings.Join(drafted.Texts, "|") == strings.Join(plain.Texts, "|"))
	}
	// One token from the prompt, then three and three in two steps, of which the last is cut off.
	for _, itls := range drafted.ITLs {
		assert.Equal(t, len(itls), 2, "gaps between chunks")
	}
	response := assert.Must(http.Get(url + "/metrics"))(t)
	defer response.Body.Close()
	page := assert.Must(io.ReadAll(response.Body))(t)
	for _, line := range []string{
		`vllm:spec_decode_num_drafts_total{engine="0",model_name="sim-8b"} 40.0`,
		`vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="sim-8b"} 80.0`,
	} {
		if !strings.Contains(string(page), "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

// Profiles keep their settings unless a flag changes them.
func TestSimulateProfiles(t *testing.T) {
	t.Parallel()
	ask := func(args ...string) (answer struct {
		Model string
		Usage struct {
			Details *struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		Metrics *struct {
			TTFT float64 `json:"time_to_first_token_ms"`
		}
	}, page string) {
		t.Helper()
		url := startSimulate(t, args...)
		for range 2 {
			response, err := http.Post(url+"/v1/completions", "application/json",
				strings.NewReader(
					`{"prompt":"`+strings.Repeat("the same beginning ", 20)+`","max_tokens":2,"ignore_eos":true}`))
			assert.Fine(t, err)
			err = json.NewDecoder(response.Body).Decode(&answer)
			if response.Body.Close(); err != nil {
				t.Fatal(err)
			}
		}
		response := assert.Must(http.Get(url + "/metrics"))(t)
		defer response.Body.Close()
		text := assert.Must(io.ReadAll(response.Body))(t)
		return answer, string(text)
	}
	a, page := ask("--profile", "h100-70b-spec", "--request-metrics")
	if a.Model != "sim-70b" || a.Usage.Details == nil || a.Usage.Details.Cached < 16 || a.Metrics == nil ||
		a.Metrics.TTFT < 14 || !strings.Contains(page, "spec_decode") {
		t.Errorf("speculating: %+v", a)
	}
	a, page = ask("--profile", "h100-70b-spec", "--no-prefix-cache", "--spec-tokens", "0")
	if a.Usage.Details != nil || a.Metrics != nil || strings.Contains(page, "spec_decode") {
		t.Errorf("with all that turned off: %+v", a)
	}
}

// A server of a long context with a cache without bounds and a hundredfold speed.
func TestSimulateSizes(t *testing.T) {
	t.Parallel()
	url := startSimulate(t, "--max-model-len", "1000000", "--num-gpu-blocks", "unbounded", "--block-size", "64",
		"--max-num-seqs", "4",
		"--max-num-batched-tokens", "8192", "--speed", "1000")
	body := `{"prompt":[` + strings.Repeat("1000,", 100_000) + `1],"max_tokens":2,"ignore_eos":true}`
	for _, want := range []int{0, 100_000 / 64 * 64} {
		response, err := http.Post(url+"/v1/completions", "application/json", strings.NewReader(body))
		assert.Fine(t, err)
		var answer struct {
			Usage struct {
				Prompt  int `json:"prompt_tokens"`
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		err = json.NewDecoder(response.Body).Decode(&answer)
		if response.Body.Close(); err != nil || answer.Usage.Prompt != 100_001 || answer.Usage.Details.Cached != want {
			t.Errorf("%v, usage %+v, want %d cached", err, answer.Usage, want)
		}
	}
}
