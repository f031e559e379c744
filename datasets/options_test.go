package datasets

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/internal/hf/media"
)

// Options say all that is wrong with them at once, a line for each problem.
func TestOptionsRefused(t *testing.T) {
	mm := randomMMDefaults()
	mm.Prompts, mm.Batch, mm.BaseItems, mm.ItemsRatio, mm.Limits = 0, 2, -1, math.NaN(), media.Limits{"image": -1}
	mm.Buckets = media.Buckets{bucket(0, 1, 1, 1), bucket(1, 1<<16, 1, math.NaN()), bucket(1, 1, 1, math.Inf(1)),
		bucket(1, 1, 16, 1)}
	heavy, large := randomMMDefaults(), randomMMDefaults()
	heavy.Buckets = media.Buckets{bucket(1, 1, 1, math.MaxFloat64), bucket(2, 2, 1, math.MaxFloat64)}
	large.Buckets = media.Buckets{bucket(60000, 60000, 1, 1)}
	family := func(c Common, output int) custom { return custom{c, &customFlags{output}} }
	hub := defaults[hf]("hf")
	hub.Common = Common{Path: "a/b", Seed: -1}
	hub.flags.minDistance, hub.flags.maxSeconds, hub.flags.minSeconds, hub.flags.version = math.NaN(), 1, 2, "five"
	faster := timedTrace{Common: Common{Path: "x", Prompts: 1}, ChunkSize: 1, Multiplier: math.Inf(1),
		Labels: defaults[timedTrace]("timed_trace").Labels}
	for _, c := range []struct {
		name string
		err  error
		want string // of each problem, a line for each
	}{
		{"dataset random", RandomOptions{Common: Common{Prompts: -1, Seed: -4}, InputLen: -2, OutputLen: maxLen + 1,
			PrefixLen: -3, Ratio: RangeRatio{math.NaN(), math.Inf(1)}}.Validate(),
			"number of prompts -1\ninput length -2\noutput length 16777217\nprefix length -3\nbatch size 0\nseed " +
				"-4\ninput range ratio NaN\noutput range ratio +Inf\nwithout a single token"},
		{"dataset random-rerank",
			rerankOptions{RandomOptions: RandomOptions{Common: Common{Seed: -4}, InputLen: -1,
				Ratio: RangeRatio{1, -1}}}.Validate(),
			"prompts 0\ninput length -1\nbatch size 0\nseed -4\ninput range ratio 1\noutput range ratio -1"},
		{"dataset random-mm", mm.Validate(),
			"prompts 0\nbatch size 2 must be 1\nbucket {(0, 1, 1): 1}: height and width\nbucket {(1, 65536, 1): " +
				"NaN}: height and width\nthe weight NaN\n" +
				"bucket {(1, 1, 16): 1}: no limit for videos\nbucket {(1, 1, 16): 1}: a video has at least 2 by 2 " +
				"pixels\nlimit -1 for image\nitems range ratio NaN\nitems per request -1"},
		{"dataset random-mm", heavy.Validate(), "must be finite"},
		{"dataset random-mm", large.Validate(), "bucket {(60000, 60000, 1): 1}: 1 in a request take 1.08e+10 bytes"},
		{"dataset prefix_repetition", prefixRepetition{Common: Common{Seed: 1 << 32}, PrefixLen: -1,
			SuffixLen: maxLen + 1, OutputLen: -2}.check(),
			"prompts 0\nprefix length -1\nsuffix length 16777217\nprefixes 0\noutput length -2\nseed 4294967296 must " +
				"be at most 4294967295"},
		{"dataset sharegpt", shareGPT{}.check(), "prompts 0"},
		{"dataset sonnet", sonnet{PrefixLen: -1}.check(),
			"number of prompts 0\ninput length 0\noutput length 0\nprefix length -1"},
		{"dataset burstgpt", burstGPT{Common{Seed: 1 << 32}}.check(), "prompts 0\nseed 4294967296"},
		{"dataset bfcl", bfcl{Categories: []string{"", "../simple", "a/b"}}.check(),
			"\"\" is not a category\n\"../simple\" is not a category\n\"a/b\" is not a category\nprompts 0\noutput " +
				"length 0"},
		{"dataset bfcl", bfcl{Common: Common{Path: "x", Prompts: 1}, OutputLen: 1}.check(), "no category"},
		{"dataset custom", family(Common{TemplateArgs: json.RawMessage("[1]")}, 0).check(),
			" does not end in .jsonl\noutput length 0\nchat template arguments [1] must be a JSON object"},
		{"dataset custom", family(Common{Path: "f.json"}, -2).check(),
			"f.json does not end in .jsonl\noutput length -2"},
		{"dataset custom", family(Common{Path: "f.jsonl", TemplateArgs: json.RawMessage("null")}, 1).check(),
			"must be a JSON object"},
		{"dataset custom_image", customImage{custom: family(Common{Path: "f"}, -1)}.check(),
			"f does not end\noutput length -1"},
		{"dataset spec_bench", specBench{}.check(), "output length 0"},
		{"dataset speed_bench", speedBench{Subset: "all"}.check(),
			"unknown subset \"all\"; give one of qualitative, \noutput length 0"},
		{"dataset timed_trace", timedTrace{Multiplier: math.NaN()}.check(),
			"prompts 0\nchunk size 0\nmultiplier of the time stamps NaN\n" +
				"time stamp must have a name\ninput length must\noutput length must\nhash ids must"},
		{"dataset timed_trace", faster.check(), "+Inf"},
		{"dataset trace", traceKind{Common: Common{Prompts: -1, Seed: -1}}.check(),
			"prompts -1\nseed -1\nthe speed 0 must be above 0"},
		{"dataset long_document_qa", longDocuments{Common{Prompts: 1 << 10}, 1 << 22}.check(),
			"more than 268435456 words in all"},
		{"dataset long_document_qa", longDocuments{Common{Prompts: 1}, 0}.check(), "document length 0"},
		{"dataset hf", hub.check(),
			"number of prompts 0\nseed -1\n--hf-datasets-version five\n--blazedit-min-distance NaN must not be " +
				"negative\n" +
				"--asr-max-audio-len-sec 1 must be at least --asr-min-audio-len-sec 2"},
		{"text slices", SlicesOptions{Common: Common{Seed: -1}, OutputLen: -1, Ratio: RangeRatio{1, -0.5}}.Validate(),
			"a path to the text\nprompts 0\ninput length 0\noutput length -1\nseed -1\ninput range ratio 1 " +
				"must\noutput range ratio -0.5 must"},
		{"token", Vocabulary{First: -5, Size: -6}.validate(), "first token id -5\nvocabulary size -6"},
		{"vocabulary", Vocabulary{First: 5, Size: 2, Special: []int{5, 6}}.validate(), "nothing but special tokens"},
	} {
		want := strings.Split(c.want, "\n")
		if complains(t, c.err, append(want, c.name)...); c.err != nil &&
			strings.Count(c.err.Error(), "\n") != len(want)-1 {
			t.Errorf("got more problems than %q:\n%v", want, c.err)
		}
	}
	for _, k := range Kinds(&Common{}) {
		k.Define(func(string) Flags { return given{} })
		path := map[FileUse]string{RequiredFile: "f.jsonl", HubName: "a/b"}[k.Needs(Common{}).File]
		assert.Fails(t, "the defaults are refused", k.Validate(Common{Path: path, Prompts: 10}), "")
	}
}
