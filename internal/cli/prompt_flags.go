package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"benchtop/datasets"
)

// promptOptions say where the prompts come from.
type promptOptions struct {
	dataset, path       string
	inputLen, outputLen int
	tokens              tokenizerOptions

	noOversample, disableShuffle bool
	skipTemplate, multimodalChat bool
	templateArguments            jsonValue

	random     datasets.RandomOptions
	ratio      string
	vocabulary int
	noReranker bool
	mm         mmFlags

	sharegptOutput int // 0: as recorded

	sonnetInput, sonnetOutput, sonnetPrefix int

	customOutput   int
	clientSideData bool

	specOutput   int
	specCategory string

	speedSubset, speedCategory string
	speedOutput                int

	repetition repetitionFlags
	trace      traceFlags

	hfName         string
	hfOutput       int
	bfclCategories string

	selfTimed, noSelfTimed bool

	// What check finds out, number also later: how many prompts, the seed, and that answers are to have their full length.
	number    int
	seed      int64
	ignoreEOS bool
}

// mmFlags are those of random-mm.
type mmFlags struct {
	items          int
	itemsRatio     float64
	limits, bucket string
}

// repetitionFlags are those of prefix_repetition.
type repetitionFlags struct{ prefixLen, suffixLen, prefixes, outputLen int }

// traceFlags are those of timed_trace.
type traceFlags struct {
	chunk                           int
	multiplier                      float64
	timestamp, input, output, hashs string
}

// define adds the flags, vLLM's names and defaults, under a heading for each data set that has some of its own.
func (o *promptOptions) define(groups *flagGroups) {
	o.random = datasets.RandomDefaults()
	f := groups.group("Prompts")
	f.StringVar(&o.dataset, "dataset-name", "random", "where prompts come from: "+strings.Join(datasetNames(), ", "))
	f.StringVar(&o.path, "dataset-path", "", "file or directory of the data set")
	f.IntVar(&o.inputLen, "input-len", 0, "prompt length in tokens; overrides the flag of the random data sets")
	f.IntVar(&o.outputLen, "output-len", 0, "output length in tokens; overrides the data set's own flag")
	f.BoolVar(&o.disableShuffle, "disable-shuffle", false, "keep the order of the file")
	f.BoolVar(&o.noOversample, "no-oversample", false, "send fewer requests rather than repeat prompts")
	f.BoolVar(&o.skipTemplate, "skip-chat-template", false, "send the prompts of custom and speed_bench as they are, not rendered by the model's chat template")
	f.Var(&o.templateArguments, "chat-template-kwargs", "variables for the chat template with custom and speed_bench; for the server's template use --extra-body.chat_template_kwargs")
	f.BoolVar(&o.multimodalChat, "enable-multimodal-chat", false, "send prompts as chat messages with their media")
	o.tokens.define(f)

	o.defineSynthetic(groups)
	o.defineFiles(groups.group("Data sets of files"))
	o.defineTrace(groups.group("Data set timed_trace"))
}

// defineSynthetic is for the data sets that are made up.
func (o *promptOptions) defineSynthetic(groups *flagGroups) {
	mm, repetition := datasets.RandomMMDefaults(), datasets.PrefixRepetitionDefaults()
	f := groups.group("Data sets random, random-mm and random-rerank")
	f.IntVar(&o.random.InputLen, "random-input-len", o.random.InputLen, "prompt length in tokens")
	f.IntVar(&o.random.OutputLen, "random-output-len", o.random.OutputLen, "output length in tokens")
	f.IntVar(&o.random.PrefixLen, "random-prefix-len", o.random.PrefixLen, "tokens all prompts begin with")
	f.StringVar(&o.ratio, "random-range-ratio", "0.0", `lengths vary by this share; or {"input": 0.1, "output": 0.5}`)
	f.IntVar(&o.random.Batch, "random-batch-size", o.random.Batch, "prompts in one request, for pooling endpoints")
	f.IntVar(&o.vocabulary, "vocab-size", 0, "draw token ids from a vocabulary of this size, without a tokenizer (default: the tokenizer's, or else ids 1000 to 31999)")
	f.BoolVar(&o.noReranker, "no-reranker", false, "random-rerank: the model is no reranker by nature")
	f.IntVar(&o.mm.items, "random-mm-base-items-per-request", mm.BaseItems, "random-mm: images in a request")
	f.Float64Var(&o.mm.itemsRatio, "random-mm-num-mm-items-range-ratio", mm.ItemsRatio, "random-mm: their number varies by this share")
	f.StringVar(&o.mm.limits, "random-mm-limit-mm-per-prompt", mm.Limits.String(), "random-mm: most of each kind in a request")
	f.StringVar(&o.mm.bucket, "random-mm-bucket-config", mm.Buckets.String(), "random-mm: how often which (height, width, frames)")

	f = groups.group("Data set prefix_repetition")
	f.IntVar(&o.repetition.prefixLen, "prefix-repetition-prefix-len", repetition.PrefixLen, "length of the prefixes in tokens")
	f.IntVar(&o.repetition.suffixLen, "prefix-repetition-suffix-len", repetition.SuffixLen, "tokens behind the prefix, other ones in each prompt")
	f.IntVar(&o.repetition.prefixes, "prefix-repetition-num-prefixes", repetition.Prefixes, "how many prefixes there are")
	f.IntVar(&o.repetition.outputLen, "prefix-repetition-output-len", repetition.OutputLen, "output length in tokens")
}

// defineFiles is for the data sets of files that are sent without times.
func (o *promptOptions) defineFiles(f *pflag.FlagSet) {
	sonnet, speed := datasets.SonnetDefaults(), datasets.SpeedBenchDefaults()
	f.IntVar(&o.sharegptOutput, "sharegpt-output-len", datasets.ShareGPTDefaults().OutputLen, "sharegpt: output length in tokens (default: the recorded answer's)")
	f.IntVar(&o.customOutput, "custom-output-len", datasets.CustomDefaults().OutputLen, "custom, custom_image: output length in tokens; -1 takes output_tokens from the file")
	f.BoolVar(&o.clientSideData, "custom-ensure-client-side-data", false, "custom_image: load the images here and send them along")
	f.IntVar(&o.sonnetInput, "sonnet-input-len", sonnet.InputLen, "sonnet: longest prompt in tokens")
	f.IntVar(&o.sonnetOutput, "sonnet-output-len", sonnet.OutputLen, "sonnet: output length in tokens")
	f.IntVar(&o.sonnetPrefix, "sonnet-prefix-len", sonnet.PrefixLen, "sonnet: about how many tokens all prompts begin with")
	f.IntVar(&o.specOutput, "spec-bench-output-len", datasets.SpecBenchDefaults().OutputLen, "spec_bench: output length in tokens")
	f.StringVar(&o.specCategory, "spec-bench-category", "", "spec_bench: take only questions of this category")
	f.StringVar(&o.speedSubset, "speed-bench-dataset-subset", speed.Subset, "speed_bench: "+strings.Join(datasets.SpeedBenchSubsets(), ", "))
	f.IntVar(&o.speedOutput, "speed-bench-output-len", speed.OutputLen, "speed_bench: output length in tokens")
	f.StringVar(&o.speedCategory, "speed-bench-category", "", "speed_bench: take only prompts of this category")
	f.StringVar(&o.hfName, "hf-name", "", "hf: name of the data set on the hub, where --dataset-path is a copy of it")
	f.IntVar(&o.hfOutput, "hf-output-len", 0, "hf: output length in tokens (default: the data set's)")
	f.StringVar(&o.bfclCategories, "bfcl-categories", "", "hf, BFCL: categories, separated by commas (default: simple,live_simple,multiple)")
}

func (o *promptOptions) defineTrace(f *pflag.FlagSet) {
	trace := datasets.TimedTraceDefaults()
	f.IntVar(&o.trace.chunk, "timed-trace-chunk-hash-size", trace.ChunkSize, "tokens that a hash id stands for")
	f.Float64Var(&o.trace.multiplier, "timed-trace-sec-multiplier", trace.Multiplier, "seconds that a unit of the time stamps has, as 0.001 for milliseconds")
	f.StringVar(&o.trace.timestamp, "timed-trace-label-timestamp", trace.Labels.Timestamp, "name of the field with the time")
	f.StringVar(&o.trace.input, "timed-trace-label-input-length", trace.Labels.InputLength, "name of the field with the prompt length")
	f.StringVar(&o.trace.output, "timed-trace-label-output-length", trace.Labels.OutputLength, "name of the field with the output length")
	f.StringVar(&o.trace.hashs, "timed-trace-label-hash-ids", trace.Labels.HashIDs, "name of the field with the hash ids")
	f.BoolVar(&o.selfTimed, "self-timed", false, "send requests at the times of the trace; so unless --no-self-timed is given")
	f.BoolVar(&o.noSelfTimed, "no-self-timed", false, "send them as --request-rate and its like say")
}
