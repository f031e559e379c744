package spec

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// Command lines of vLLM's older documentation work. A flag that has another name today, or no effect any more, is told
// in one warning, all others in none.
func TestOldSpellings(t *testing.T) {
	const sharegptFile, datasetFiles = "../../datasets/testdata/sharegpt_small.json", "../../datasets/testdata/"
	const trace = "--dataset-name sharegpt --dataset-path " + sharegptFile
	for _, c := range []struct {
		line    string
		warning string // the one, "" for none
		sets    string // flags that then have these values
	}{
		{"--dataset " + sharegptFile, "--dataset is an old spelling of --dataset-path with --dataset-name sharegpt",
			"dataset-name=sharegpt dataset-path=" + sharegptFile},
		{"--dataset_name custom --dataset " + datasetFiles + "custom_small.jsonl",
			"--dataset is an old spelling of --dataset-path with --dataset-name sharegpt", "dataset-name=custom"},
		{"--endpoint-type openai-chat --endpoint /v1/chat/completions",
			"--endpoint-type is an old spelling of --backend", "backend=openai-chat"},
		{"--output-json r.json", "--output-json is an old spelling of --result-filename with --save-result",
			"result-filename=r.json save-result=true"},
		{"--output-file=r.json", "--output-file is an old spelling of --result-filename with --save-result",
			"result-filename=r.json save-result=true"},
		{"--dataset-name custom --dataset-path " + datasetFiles + "custom_small.jsonl --custom-skip-chat-template",
			"--custom-skip-chat-template is an old spelling of --skip-chat-template", "skip-chat-template=true"},
		{"--best-of 2", "--best-of is an old spelling of --extra-body.best_of", `extra-body={"best_of": 2}`},
		{"--best_of=2 --extra-body.n 2", "--best-of is an old spelling of --extra-body.best_of",
			`extra-body={"best_of": 2, "n": 2}`},
		{"--dataset-name speed-bench --dataset-path " + datasetFiles + "speed_bench_small --speed-bench-config " +
			"qualitative",
			"--speed-bench-config is an old spelling of --speed-bench-dataset-subset",
			"speed-bench-dataset-subset=qualitative"},
		{"--use-beam-search", "--use-beam-search has no effect: no effect in vLLM's client either", ""},
		{"--disable-tqdm", "--disable-tqdm has no effect: there is no tqdm progress bar; see --progress", ""},
		{"--tokenizer-mode slow", "--tokenizer-mode has no effect: every tokenizer is read from its tokenizer.json",
			""},
		{"--trust-remote-code", "--trust-remote-code has no effect: remote code is never run", ""},
		{"--dataset-name hf --dataset-path openai/gsm8k --hf-split train --hf-subset main --no-stream", "",
			"hf-split=train"},
		{trace + " --sharegpt-output-len 20 --num-prompts 5 --request-rate 9 --burstiness 1.0 --seed 1", "",
			"sharegpt-output-len=20"},
		{"--dataset-name sonnet --sonnet-input-len 500 --sonnet-output-len 20 --sonnet-prefix-len 100", "",
			"sonnet-prefix-len=100"},
		{"--random-input-len 20 --random-output-len 4 --random-prefix-len 5 --random-range-ratio 0.5", "",
			"random-prefix-len=5"},
		{"--backend tgi --endpoint /v1/completions", "", "backend=tgi"},
		{"--backend vllm --model m --tokenizer gpt2 --ignore-eos --logprobs 1 --top-p 0.9 --top-k 5 --min-p 0.1 " +
			"--temperature 0", "", "top-k=5"},
		{"--save-result --save-detailed --append-result --metadata a=b c=d --result-dir out --result-filename r.json",
			"", "metadata=a=b c=d"},
		{"--percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 25,99 --goodput ttft:200 tpot:50", "",
			"goodput=ttft:200 tpot:50"},
		{"--max-concurrency 4 --profile --lora-modules a b --served-model-name s --model m --hf-output-len 5", "",
			"served-model-name=s"},
		{"--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5", "", "ramp-up-strategy=linear"},
	} {
		o := New()
		err := o.Parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		assert.Equal(t, strings.Join(append(o.Warnings, o.Notes...), "\n"), c.warning, "%s: told", c.line)
		all := o.Flags.All()
		for name, rest := range settings(c.sets) {
			assert.Equal(t, all.Lookup(name).Value.String(), rest, "%s: --%s", c.line, name)
		}
	}
}

// settings are the values of flags, NAME=VALUE each; a value may have blanks.
func settings(text string) map[string]string {
	all := map[string]string{}
	last := ""
	for _, word := range strings.Fields(text) {
		if name, value, ok := strings.Cut(word, "="); ok && New().Flags.All().Lookup(name) != nil {
			all[name], last = value, name
		} else {
			all[last] += " " + word
		}
	}
	return all
}
