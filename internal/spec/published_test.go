package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// asked parses a command line about a published preset, beside files that it may name.
func asked(t *testing.T, args string) *Spec {
	t.Helper()
	o := New()
	if err := o.Parse(strings.Fields("--model m --base-url http://127.0.0.1:1 --preset " + args)); err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return o
}

// plansOf are the presets that a command line's runs keep, each with the settings that its point adds.
func plansOf(t *testing.T, o *Spec) (plans []metrics.Plan) {
	t.Helper()
	runs := assert.Must(o.Runs())(t)
	for _, r := range runs {
		var p metrics.Plan
		r.Preset.Plan(&p)
		r.Report.Plan(&p)
		p.NumPrompts, p.MaxConcurrency, p.Rate = r.Load.Prompts, r.Load.concurrency, metrics.Rate(r.Load.Rate)
		p.Duration, p.IgnoreEOS = r.Load.duration, false
		plans = append(plans, p)
	}
	return plans
}

// file is an empty file for data sets that need one.
func file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	assert.Fine(t, os.WriteFile(path, nil, 0o600))
	return path
}

// Every published preset parses with what it needs, names its rules, and keeps all of them.
func TestPublishedPresets(t *testing.T) {
	path := file(t)
	for _, w := range published() {
		args := w.name
		switch {
		case strings.HasPrefix(w.name, "mlperf-"):
			args += " --request-rate 3 --dataset-name custom --dataset-path " + path
		case w.name == "agentx":
			args += " --max-active-conversations 4 --dataset-path " + path
		case w.name == "vllm-sharegpt":
			args += " --dataset-path " + path
		}
		for _, p := range plansOf(t, asked(t, args)) {
			if p.Preset == nil || p.Preset.Name != w.name || p.Preset.Source == "" || p.Preset.Changed != nil {
				t.Errorf("%s: %+v", w.name, p.Preset)
			}
		}
	}
}

// A shape of InferenceX is a series of users with ten requests and two warm-ups each.
func TestInferenceX(t *testing.T) {
	o := asked(t, "inferencex-8k1k")
	f := o.Flags.All()
	for flag, want := range map[string]string{"random-isl-dist": "uniform min=6553 max=8192", "request-rate": "inf",
		"random-osl-dist": "uniform min=819 max=1024", "ignore-eos": "true",
		"percentile-metrics": "ttft,tpot,itl,e2el"} {
		assert.Equal(t, f.Lookup(flag).Value.String(), want, "--%s", flag)
	}
	runs := assert.Must(o.Runs())(t)
	assert.Need(t, len(runs), 6, "runs")
	for i, users := range []int{4, 8, 16, 32, 64, 128} {
		l := &runs[i].Load
		if l.concurrency != users || l.Prompts != 10*users || l.Warmups != 2*users {
			t.Errorf("run %d: %d users, %d requests, %d warm-ups", i, l.concurrency, l.Prompts, l.Warmups)
		}
		again := New() // as its report repeats it
		if err := again.Parse(metrics.Words(runs[i].Settings())); err != nil || again.Series.Many() {
			t.Errorf("%q: %v", metrics.Words(runs[i].Settings()), err)
		}
		var p metrics.Plan
		if again.Preset.Plan(&p); p.Preset.Changed != nil {
			t.Errorf("%q: %q", metrics.Words(runs[i].Settings()), p.Preset.Changed)
		}
	}
}

// The limits of MLPerf are objectives and conditions, and each sample is sent equally often for ten minutes or more.
func TestMLPerf(t *testing.T) {
	path := file(t)
	for _, c := range []struct {
		args, gates string
		requests    int
	}{
		{"mlperf-llama3.1-8b-server --request-rate 1", "p99_ttft_ms>2000 p99_tpot_ms>100", 13368},
		{"mlperf-llama3.1-8b-interactive --request-rate 100", "p99_ttft_ms>500 p99_tpot_ms>30", 5 * 13368},
		{"mlperf-deepseek-r1-interactive --request-rate 7.3", "p99_ttft_ms>1500 p99_tpot_ms>15", 4388},
		{"mlperf-deepseek-r1-interactive --request-rate 7.4", "p99_ttft_ms>1500 p99_tpot_ms>15", 2 * 4388},
		{"mlperf-gpt-oss-120b-server --request-rate 5000", "p99_ttft_ms>3000 p99_tpot_ms>80", 470 * 6396},
		{"mlperf-llama2-70b-server --find", "", 1000},
	} {
		p := plansOf(t, asked(t, c.args+" --dataset-name custom --dataset-path "+path))[0]
		gates := metrics.Each(p.Gates, func(g metrics.Gate) string { return g.String() })
		if strings.Join(gates, " ") != c.gates || p.NumPrompts != c.requests || len(p.Goodput) != 2 {
			t.Errorf("%s: gates %q, objectives %v, %d requests", c.args, gates, p.Goodput, p.NumPrompts)
		}
	}
}

// The tests of vLLM's suite are a series of users, or of rates, of 200 requests each.
func TestVLLMSuite(t *testing.T) {
	plans := plansOf(t, asked(t, "vllm-128-2048"))
	if last := plans[len(plans)-1]; len(plans) != 7 || last.MaxConcurrency != 200 || last.NumPrompts != 200 {
		t.Errorf("%d runs, the last of %d users and %d requests", len(plans), last.MaxConcurrency, last.NumPrompts)
	}
	plans = plansOf(t, asked(t, "vllm-sharegpt --sweep-request-rate 1,4,16,inf --dataset-path "+file(t)))
	if len(plans) != 4 || plans[1].Rate != 4 || plans[1].MaxConcurrency != 0 || plans[1].NumPrompts != 200 {
		t.Errorf("%d runs, the second %+v", len(plans), plans[1])
	}
}

// What leaves the rules is named, and what keeps them by other words is not.
func TestPublishedPresetsChanged(t *testing.T) {
	path := file(t)
	for args, want := range map[string]string{
		"inferencex-1k1k --sweep-max-concurrency 2,3":                             "",
		"inferencex-1k1k --max-concurrency 8 --num-prompts 80 --num-warmups 16":   "",
		"inferencex-1k1k --max-concurrency 8 --num-prompts 20 --num-warmups 16":   "--num-prompts",
		"inferencex-1k1k --max-concurrency 8 --num-prompts 80":                    "--num-warmups",
		"inferencex-1k1k --temperature 0":                                         "",
		"inferencex-1k1k --temperature 1 --sweep-max-concurrency 2":               "--temperature",
		"inferencex-1k1k --random-input-len 9 --sweep-max-concurrency 2":          "--random-input-len",
		"inferencex-1k1k --num-warmups 1 --sweep-max-concurrency 2":               "--num-warmups",
		"inferencex-1k8k --request-rate 3":                                        "--request-rate",
		"vllm-128-128 --num-prompts 7":                                            "--num-prompts",
		"MLPERF --find --dataset-name random":                                     "--dataset-path missing --find",
		"MLPERF --find":                                                           "--find",
		"MLPERF --request-rate 1 --num-prompts 49152":                             "",
		"MLPERF --request-rate 1 --num-prompts 24577":                             "--num-prompts",
		"MLPERF --request-rate 90 --num-prompts 24576":                            "--num-prompts",
		"MLPERF --request-rate 1 --burstiness 9 --tier a=ttft:9":                  "--burstiness --tier",
		"agentx --max-active-conversations 2 --max-gap 1s --dataset-path " + path: "--max-gap",

		"MLPERF --request-rate 1 --duration 2s --abandon 30%":                          "--abandon --duration",
		"MLPERF --request-rate 1 --output-len 4":                                       "--output-len",
		"MLPERF --request-rate inf":                                                    "--request-rate",
		"MLPERF --request-rate 1 --custom-output-len -1":                               "",
		"MLPERF --request-rate 1 --custom-output-len 9":                                "--custom-output-len",
		"MLPERF --request-rate 1 --max-concurrency 9":                                  "--max-concurrency",
		"MLPERF --request-rate 1 --goodput tpot:200.0 ttft:2e3":                        "",
		"MLPERF --request-rate 1 --burstiness 1.0":                                     "",
		"MLPERF --request-rate 1 --fail-on p99_tpot_ms>200 --fail-on p99_ttft_ms>2000": "",
		"vllm-128-128 --top-p 0.5 --multi-turn":                                        "--multi-turn --top-p",
		"vllm-128-128 --random-prefix-len 50":                                          "--random-prefix-len",
		"vllm-128-128 --extra-body.max_tokens 1":                                       "--extra-body",
		"vllm-128-128 --cache-hit 60%":                                                 "--cache-hit",
		"vllm-128-128 --random-input-len 0128 --temperature 0.0":                       "",
		"vllm-128-2048 --dataset-name random":                                          "--dataset-name",
		"vllm-128-128 --no-save --seed 3 --header a=b --num-warmups 2 --quiet":         "",
	} {
		if !strings.Contains(args, "dataset") && strings.HasPrefix(args, "MLPERF") {
			args += " --dataset-name custom --dataset-path " + path
		}
		p := plansOf(t, asked(t, strings.Replace(args, "MLPERF", "mlperf-llama2-70b-server", 1)))[0]
		got := strings.ReplaceAll(strings.Join(slices.Sorted(slices.Values(p.Preset.Changed)), " "), " changed", "")
		assert.Equal(t, got, want, "%s: changed", args)
	}
}
