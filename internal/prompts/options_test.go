package prompts

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
	"benchtop/loadgen"
	"benchtop/loadgen/protocol"
)

// General lengths that a data set ignores are named, and the help of 'benchtop dataset' shows the length that counts.
func TestGeneralLengths(t *testing.T) {
	const file = " --dataset-path draw_test.go"
	for _, c := range []struct{ name, args, notes string }{
		{"random", "", ""},
		{"sonnet", "", "--output-len has no effect with sonnet, as with vLLM; use --sonnet-output-len\n" +
			"--input-len has no effect with sonnet, as with vLLM"},
		{"burstgpt", file, "--output-len has no effect with burstgpt: each of its requests sets its own " +
			"length\n--input-len has no effect with burstgpt, as with vLLM"},
		{"timed_trace", file, "--output-len has no effect with timed_trace: each of its requests sets its own " +
			"length\n--input-len has no effect with timed_trace, as with vLLM"},
		{"sharegpt", file, "--input-len has no effect with sharegpt, as with vLLM"},
	} {
		f := must(flagsOf(t, "http://127.0.0.1:1", "--dataset-name "+c.name+c.args+" --input-len 20 --output-len 10",
			atOnce(4)))(t)
		o := &f.options
		assert.Equal(t, strings.Join(o.LengthNotes(f.given.All()), "\n"), c.notes, "%s", c.name)
		assert.Equal(t, o.SelfTiming(), c.name == "timed_trace", "%s: self-timed", c.name)
		for flag, want := range map[string]int{"random-input-len": 20, "random-output-len": 10, "sonnet-output-len": 0,
			"sonnet-input-len": 0} {
			assert.Equal(t, o.LengthOver(flag), want, "%s: --%s", c.name, flag)
		}
	}
	if o := NewOptions("none"); o.LengthNotes(nil) != nil {
		t.Error("an unknown data set has notes")
	}
}

// The fields of a body come in the order of vLLM's client, those of --extra-body last, and each request names its
// module. A length that is given twice is refused, by the names of both, and so is a flag of benchtop's own for another
// data set.
func TestFlagsOfOtherDatasets(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--random-isl-dist 9 --random-output-len 128", ""},
		{"--random-osl-dist 9 --input-len 5 --dataset-name random-mm --backend openai-chat", ""},
		{"--random-isl-dist 9 --random-input-len 1024", "--random-isl-dist and --random-input-len: choose one"},
		{"--random-isl-dist 9 --input-len 5", "--random-isl-dist and --input-len: choose one"},
		{"--random-osl-dist 9 --random-range-ratio 0.5", "--random-osl-dist and --random-range-ratio: choose one"},
		{"--random-mix 1:5/5 --random-isl-dist 9", "--random-mix and --random-isl-dist: choose one"},
		{"--trace-speed 2 --dataset-name timed_trace --dataset-path draw_test.go",
			"--trace-speed: only the data set trace has it; timed_trace does not"},
		{"--random-mix 1:5/5 --dataset-name random-rerank",
			"--random-mix: only random and random-mm draw such lengths; random-rerank does not"},
	} {
		_, err := flagsOf(t, "http://127.0.0.1:1", c.args, atOnce(4))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.args, err, c.want)
		}
	}
}

func TestFields(t *testing.T) {
	args := "--vocab-size 300 --extra-body.seed 3 --temperature 0 --top-k 5 --logprobs 2 --lora-modules a b "
	f := must(flagsOf(t, "http://127.0.0.1:1", args+"--lora-assignment round-robin", atOnce(4)))(t)
	for _, c := range []struct {
		full bool
		want string
	}{
		{false, "logprobs 2, top_k 5, temperature 0.0, seed 3"},
		{true, "logprobs 2, ignore_eos true, top_k 5, temperature 0.0, seed 3"},
	} {
		var all []string
		for _, x := range f.requests.Fields(c.full) {
			all = append(all, x.Name+" "+x.JSON)
		}
		assert.Equal(t, strings.Join(all, ", "), c.want, "full length %t", c.full)
	}
	shared := must(flagsOf(t, "http://127.0.0.1:1", "--lora-modules a=b=3 b=1 --lora-assignment round-robin",
		atOnce(4)))(t)
	assert.Equal(t, strings.Join(shared.requests.LoRA, " "), "a=b b", "modules")
	models := func(f *flagOptions) (all string) {
		load := loadgen.Defaults()
		f.requests.Send(&load, false, numpy.NewStreams(7).Python)
		for i := range 8 {
			all += load.ModelFor(i)
		}
		return all
	}
	assert.Equal(t, models(shared), "a=ba=ba=bba=ba=ba=bb", "by shares")
	assert.Equal(t, models(f), "abababab", "in turn")
	f = must(flagsOf(t, "http://127.0.0.1:1", args, atOnce(4)))(t)
	if got := models(f); got == "abababab" || got != models(f) || strings.Trim(got, "ab") != "" {
		t.Errorf("at random: %s, again %s", got, models(f))
	}
}

// A server that cannot count in every event is not asked to, nor is one asked twice.
func TestContinuousUsage(t *testing.T) {
	for _, p := range protocol.All() {
		name := p.Traits().Name
		var o RequestOptions
		given := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.Define(given)
		fine(t, given.Parse([]string{"--continuous-usage"}))
		problems := errors.Join(o.Check(given, p)...)
		asks := slices.ContainsFunc(o.Fields(false),
			func(f protocol.Field) bool { return strings.Contains(f.Name+f.JSON, "continuous_usage_stats") })
		streams := slices.Contains([]string{"vllm", "openai", "openai-chat", "openai-audio", "sglang", "lmdeploy",
			"llama.cpp", "tgi"}, name)
		if streams != (problems == nil) || streams && !asks ||
			!streams && !strings.Contains(problems.Error(), "backend "+name+" has no") {
			t.Errorf("%s: asks %v, %v", name, asks, problems)
		}
	}
	complains(t, failure(flagsOf(t, "http://127.0.0.1:1",
		"--vocab-size 300 --continuous-usage --extra-body.stream_options.include_usage true", atOnce(4))), "choose one")
}

// Modules and sampling are no part of a request for embeddings, which makes no tokens.
func TestFieldsOfEmbeddings(t *testing.T) {
	f := must(flagsOf(t, "http://127.0.0.1:1",
		"--backend openai-embeddings --vocab-size 300 --top-p 0.5 --extra-body.dimensions 8", atOnce(4)))(t)
	if got := f.requests.Fields(false); len(got) != 1 || got[0] != (protocol.Field{Name: "dimensions", JSON: "8"}) {
		t.Errorf("fields %v", got)
	}
	if notes := strings.Join(f.requests.Notes, "\n"); notes != "--top-p has no effect: backend openai-embeddings "+
		"generates no tokens" {
		t.Errorf("notes %q", notes)
	}
}
