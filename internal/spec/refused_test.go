package spec

import (
	"strings"
	"testing"

	"benchtop/loadgen/protocol"
)

// Wrong usage is refused with the flag, its value and valid ones, before anything is asked of a server.
func TestRefused(t *testing.T) {
	const trace = "--dataset-name timed_trace --dataset-path spec_test.go "
	const hub = "--dataset-name hf --dataset-path "
	const asked, steady = "--goodput ttft:500 ", "--stages 4:5s --goodput ttft:500 "
	for _, c := range [][]string{
		// Values and their number.
		{"--backend foo --num-prompts x --requst-rate 3 --burstiness 0 --dataset-name nope --metric-percentiles 101",
			"--backend foo: use " + protocol.Names(0), "--num-prompts x: expected a whole number",
			"--requst-rate: unknown flag (did you mean request-rate?)", "--burstiness 0: must be more than 0",
			"--dataset-name nope: use one of random, random-mm,",
			"--metric-percentiles 101: expected numbers from 0 to"},
		{"--model", "--model: a value is missing; expected a string"},
		{"--request 3", "--request: ambiguous; could be --request-id-prefix, --request-rate, --request-timeout"},
		{"--num-prompts 0x10", "--num-prompts 0x10: expected a whole number"},
		{"--num-prompts 1_000", "--num-prompts 1_000: expected a whole number"},
		{"--seed -1", "--seed -1: seeds are from 0 to 4294967295"},
		{"--metadata a=1 b benchtop=2", "--metadata: item 2 is not KEY=VALUE"},
		{"--timeline-itl-thresholds 50,25", "--timeline-itl-thresholds 50,25: expected two numbers"},
		{"--color pink --on-hangup panic", "--color:", "use auto, none, 16, 256 or true",
			"--on-hangup panic: use save or continue"},
		{"--on-hangup continue --no-save", "the result would be lost"},
		{"--no-save --save-result", "--no-save and --save-result: choose one"},
		{"--cache warm", "--cache warm: use cold or none or as-is"},
		{"--tokenizer x --skip-tokenizer-init", "--tokenizer and --skip-tokenizer-init: choose one"},

		// The server and its requests.
		{"--base-url ftp://x --num-prompts 0", "--base-url: base URL", "--num-prompts 0: must be at least 1"},
		{"--base-url localhost:8000", "--base-url: base URL", "expected http://HOST:PORT"},
		{"--base-url user:secret@host", "--base-url: base URL: missing http:// or https://"},
		{"--backend openai-chat --endpoint /v1/completions", "for backend openai-chat it must end in chat/completions"},
		{"--header A=1 nope Content-Length=3", "--header: item 2 is not KEY=VALUE"},
		{"--group-by-header a b c d", "--group-by-header: 4 headers; use at most 3"},
		{"--group-by-header x-a X-A", "--group-by-header X-A: given twice"},
		{"--group-by-header set-cookie", "its values are secrets"},
		{"--multi-turn --group-by-header x-a --echo-header X-A", "its values are secrets"},
		{"--group-by-header a:b", "--group-by-header: header \"a\"\u2026: a name has letters, digits and dashes only"},
		{"--header Content-Length=3", "--header: header Content-Length: it cannot be set"},
		{"--request-id-prefix grün", "--request-id-prefix", "only printable ASCII"},
		{"--stall-timeout 0s --duration -1s --pacer sundial", "--stall-timeout 0s: must be more than 0",
			"--duration -1s: must not be negative", "--pacer sundial: this system has"},
		{"--profile-batch-threshold 4 --profile-duration -1", "--profile-batch-threshold: needs --profile",
			"--profile-duration -1s: must not be negative"},
		{"--profile --profile-duration 9", "--profile-duration: needs --profile-batch-threshold"},

		// Users.
		{"--abandon 5", "--abandon 5: 5: expected 5%, 'ttft>10s' or both"},
		{"--abandon 0%", "expected 5%"}, {"--abandon 101%", "expected 5%"}, {"--abandon NaN%", "expected 5%"},
		{"--abandon 5%,ttft>10", "ttft>10: expected a time with its unit"}, {"--abandon ttft>-1s", "expected a time"},
		{"--retry always", "--retry always: always: expected backoff, or backoff,tries=5,most=30s"},
		{"--retry backoff,tries=1", "tries=1: tries are from 2 to 100"}, {"--retry backoff,tries=x", "from 2 to 100"},
		{"--retry backoff,most=30", "most=30: expected a time up to 1h"}, {"--retry backoff,", "expected backoff"},
		{"--retry backoff,backoff", "backoff is given twice"}, {"--retry tries=3", "expected backoff"},
		{"--retry backoff,tries=3,tries=9", "tries=9: tries is given twice; keep one"},
		{"--abandon 5%,6%", "6%: the share is given twice; keep one"},
		{"--abandon ttft>1s,ttft>1s", "ttft>1s: the time is given twice; keep one"},
		{"--read-rate 20", "--read-rate 20: expected tokens or bytes per second"},
		{"--read-rate 0tok/s", "expected 0.1 to 1,000,000,000 tokens or bytes per second"},
		{"--read-rate 1.1.1B/s", "expected tokens or bytes per second"}, {"--read-rate 1" + strings.Repeat("0", 400) +
			"B/s", "expected 0.1 to 1,000,000,000"},
		{"--read-rate 4KB/s --timestamps kernel", "--timestamps kernel and --read-rate: times are of what users read"},
		{"--backend openai-embeddings --abandon 5% --read-rate 3tok/s",
			"--abandon 5%: answers come in one piece", "--read-rate 3tok/s: answers come in one piece"},

		// Objectives and the report.
		{"--goodput ttft:5 speed:9 tpot", `--goodput speed:9: "speed:9": unknown metric "speed"`,
			`--goodput tpot: "tpot": expected NAME:MILLISECONDS`},
		{"--percentile-metrics ttft,spam", "--percentile-metrics spam: unknown; use ttft, tpot"},
		{"--fail-on goodput<90% --fail-on speed>3", "give the objectives with --goodput", "speed"},
		{"--backend openai-embeddings --goodput ttft:5 e2el:9 --fail-on p99_tpot_ms>3",
			"--goodput ttft: backend openai-embeddings does not stream, so only e2el exists",
			"--fail-on p99_tpot_ms>3: backend"},

		// Prompts.
		{"--dataset-path x", "--dataset-path x: the data set random takes no file"},
		{"--random-range-ratio 1.5", "range"},
		{"--backend openai-chat --random-batch-size 4",
			"--random-batch-size 4: several prompts in a request are for completions and pooling endpoints; backend " +
				"openai-chat cannot send them, use --backend vllm, openai, openai-embeddings"},
		{"--dataset-name random-rerank",
			"a query and documents are for rerank and embeddings endpoints; backend openai cannot send them"},
		{"--backend vllm-rerank", "--dataset-name random: backend vllm-rerank sends a query and documents; use " +
			"--dataset-name random-rerank, or another backend"},
		{"--backend openai " + hub + "facebook/voxpopuli",
			"--dataset-name hf: recordings travel as files or in chat messages; backend openai cannot send them"},
		{"--backend vllm " + hub + "gorilla-llm/Berkeley-Function-Calling-Leaderboard",
			"--dataset-name hf: function calls travel in chat requests; backend vllm"},
		{"--dataset-name hf", "give --dataset-path, such as openai/gsm8k"},
		{hub + "org/x --blazedit-max-distance -1 --asr-min-audio-len-sec NaN",
			"--blazedit-max-distance -1 must be at least --blazedit-min-distance 0\n",
			"\n--asr-min-audio-len-sec NaN must not be negative"},
		{trace + "--stages 1:1s", "--stages: the trace sets the times; add --no-self-timed"},
		{trace + "--backend openai-chat", "token ids, which chat cannot send; backend openai-chat"},
		{"--self-timed", "--self-timed: needs a data set with time stamps"},
		{"--backend openai-embeddings --dataset-name structured_output",
			"--dataset-name structured_output: backend openai-embeddings generates no text"},
		{"--dataset-name structured_output --ignore-eos", "--ignore-eos with --dataset-name structured_output"},
		{"--repeat-count 2 --repeat-mode sideways", "--repeat-mode sideways: use random or tile"},
		{"--repeat-count 2 --duration 5s", "--repeat-count: needs a number of requests"},
		{"--priorities 0=1 --priority-header Host:", `--priority-header: header "Host"…`},
		{"--priority-header X-A", "--priority-header: needs --priorities"},

		// The load.
		{"--num-prompts 0", "--num-prompts 0: must be at least 1"},
		{"--num-prompts -3 --dataset-name custom --dataset-path x.jsonl",
			"--num-prompts -3: must be at least 1, or 0 for every row once"},
		{"--num-prompts 2000000000", "about 2e+09 requests: more than 50000000 are too many for one run"},
		{"--duration 5s", "limit it with --max-concurrency"},
		{"--request-rate 1e-12", "--request-rate 1e-12: 1000 requests would take more than a year"},
		{"--request-rate 4 --duration 5s --warmup 5s", "--warmup 5s: the run ends after 5s"},
		{"--stages 8:30s,x --concurrency-stages 1:20s --request-rate 4", `"x": expected RATE:TIME`,
			"--concurrency-stages and --request-rate: choose one"},
		{"--stages 1e6:1h", "about 3.6e+09 requests: more than 50000000"},
		{"--ramp-up-strategy exponential --ramp-up-start-rps 0 --ramp-up-end-rps 0 --request-rate 4",
			"--ramp-up-strategy and --request-rate: choose one", "nothing would be sent"},
		{"--ramp-up-strategy linear --ramp-over 5s", "needs --ramp-up-start-rps", "needs --ramp-up-end-rps"},
		{"--ramp-up-strategy linear --ramp-up-start-rps 0 --ramp-up-end-rps 5", "would never send the first"},

		// A search.
		{"--find --num-prompts 5 --request-rate 3 --find-from 0 --find-step 1ms --find-hold 0s",
			"--find: give the objectives with --goodput", "--find and --num-prompts", "--find and --request-rate",
			"--find-from 0", "--find-step 1ms", "--find-hold 0s"},
		{"--find-users --max-concurrency 3 --find-from 1.5 --stages 1:5s " + asked,
			"--find-users and --max-concurrency",
			"--find-from 1.5: users are whole", "--find and --stages"},
		{"--find-step 5s", "--find-step: needs --find"},
		{"--find --find-from 50 --find-most 5 " + asked, "must not be more than --find-most 5"},
		{"--find-users --find-most 900000 " + asked, "--find-most 900000: "},

		// A confirmation.
		{"--confirm " + asked,
			"--confirm: all requests are due at once, so there is no load to hold; add --ramp-up-strategy, --stages"},
		{"--confirm --request-rate 4 " + asked,
			"--confirm: a single load gives no estimate to hold; add --ramp-up-strategy, --stages"},
		{"--confirm --max-concurrency 4 " + asked, "--confirm: a single load gives no estimate"},
		{"--confirm 90s --stages 4:5s",
			"--confirm: give the objectives with --goodput, as --goodput ttft:500 tpot:50, or with --tier"},
		{"--confirm 5s " + steady, "--confirm 5s: must be at least 15s; a proof takes 1m or more"},
		{"--confirm=9000h " + steady, "--confirm 9000h: more than a year"},
		{"--confirm soon " + steady, "--confirm soon: expected a time such as 90s or 2m, or none"},
		{"--confirm 90s 2m " + steady, "--confirm 2m: one time is enough, such as 2m"},
		{"--confirm " + trace + asked, "--confirm: the trace sets the times; add --no-self-timed"},

		// Presets.
		{"--preset prefix-cacheing", "--preset prefix-cacheing: use one of prefix-caching, long-document-qa"},
		{"--no-control", "--no-control: needs --preset"},
		{"--preset prefix-caching --cache cold",
			"--cache: the control run of --preset prefix-caching sets it; add --no-control"},
		{"--preset long-document-qa --repeat-count 0", "--repeat-count 0: must be at least 1"},
		{"--preset long-document-qa --document-length 0", "document length"},

		{"--cache-hit 120%", "--cache-hit 120%: expected a share between 0 and 100%, such as 60%"},
		{"--cache-hit=nan", "--cache-hit nan: expected a share"},
		{"--cache-hit 60% --random-prefix-len 9", "--cache-hit and --random-prefix-len: choose one"},
		{"--cache-hit 60% --dataset-name sharegpt", "--cache-hit: needs --dataset-name random, not sharegpt"},
		{"--cache-hit 60% --cache none", "--cache-hit and --cache none: no prompt hits the cache then; leave one out"},
		{"--cache-hit 60% --backend openai-chat", "--cache-hit: its prompts are token ids, which backend openai-chat"},
		{"--cache-hit 60% --input-len 100",
			"--cache-hit 60%: too much for prompts of 100 tokens in whole blocks of 128"},
		{"--cache-hit 0.9 --random-input-len 200", "--cache-hit 90%: too much for prompts of"},

		// Several runs.
		{"--sweep-max-concurrency 1,x", "--sweep-max-concurrency x: must be whole numbers"},
		{"--sweep-max-concurrency 1 --sweep-request-rate 2", "choose one"},
		{"--sweep-request-rate 1,0", "--sweep-request-rate: 0: rate must be positive or inf"},
		{"--sweep-num-warmups-factor 2", "--sweep-num-warmups-factor: needs --sweep-max-concurrency"},
		{"--sweep-max-concurrency 9 --sweep-num-warmups-factor -2", "-num-warmups-factor -2: must be at least 1"},
		{"--preset mlperf-llama2-70b-server", "needs --request-rate or --sweep-request-rate or --find"},
		{"--preset mlperf-llama2-server --request-rate 1", "did you mean"},
		{"--sweep-num-prompts-factor 2", "--sweep-num-prompts-factor: needs --sweep-max-concurrency"},
		{"--sweep-max-concurrency 9 --sweep-num-prompts-factor 999999999", "too many requests"},
		{"--num-runs 0", "--num-runs 0: must be from 1"},
		{"--num-runs 600 --sweep-max-concurrency 1,2", "1200 runs in all"},
		{"--sweep-summary-percentiles 7", "--sweep-summary-percentiles: needs"},
		{"--sweep-request-rate 1 --sweep-summary-percentiles 101", "--sweep-summary-percentiles 101: expected"},
		{"--sweep-request-rate 1,2 --stages 1:1s",
			"--sweep-request-rate, rate=1: --stages and --request-rate: choose one"},
		{"--sweep-max-concurrency 1,2 --concurrency-stages 1:20s --num-runs 2",
			"--sweep-max-concurrency, concurrency=1: "},
	} {
		o := New()
		err := o.Parse(strings.Fields(c[0]))
		if err == nil && o.Series.Many() {
			_, err = o.Runs()
		}
		if err == nil {
			t.Errorf("%s: not refused", c[0])
			continue
		}
		for _, want := range c[1:] {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is missing in\n%v", c[0], want, err)
			}
		}
	}
}
