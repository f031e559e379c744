package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"benchtop/datasets"
)

// The flags as the data sets' own options. What is not known before the draw, as the prefix of request ids, is left out.

func (o *promptOptions) randomOptions() datasets.RandomOptions {
	r := o.random
	r.Prompts, r.Seed = o.number, o.seed
	return r
}

func (o *promptOptions) rerankOptions() datasets.RerankOptions {
	return datasets.RerankOptions{Prompts: o.number, InputLen: o.random.InputLen, Ratio: o.random.Ratio, Batch: o.random.Batch,
		NoReranker: o.noReranker, Seed: o.seed}
}

func (o *promptOptions) repetitionOptions() datasets.PrefixRepetitionOptions {
	return datasets.PrefixRepetitionOptions{Prompts: o.number, PrefixLen: o.repetition.prefixLen, SuffixLen: o.repetition.suffixLen,
		Prefixes: o.repetition.prefixes, OutputLen: o.repetition.outputLen, DisableShuffle: o.disableShuffle, Seed: o.seed}
}

func (o *promptOptions) sharegptOptions() datasets.ShareGPTOptions {
	return datasets.ShareGPTOptions{Path: o.path, Prompts: o.number, OutputLen: o.sharegptOutput, DisableShuffle: o.disableShuffle,
		NoOversample: o.noOversample, MultimodalChat: o.multimodalChat, Seed: o.seed}
}

func (o *promptOptions) sonnetOptions() datasets.SonnetOptions {
	return datasets.SonnetOptions{Path: o.path, Prompts: o.number, InputLen: o.sonnetInput, OutputLen: o.sonnetOutput, PrefixLen: o.sonnetPrefix}
}

func (o *promptOptions) burstOptions() datasets.BurstGPTOptions {
	return datasets.BurstGPTOptions{Path: o.path, Prompts: o.number, Seed: o.seed}
}

func (o *promptOptions) customOptions() datasets.CustomOptions {
	return datasets.CustomOptions{Path: o.path, Prompts: o.number, OutputLen: o.customOutput, DisableShuffle: o.disableShuffle,
		NoOversample: o.noOversample, SkipChatTemplate: o.skipTemplate, TemplateArgs: o.templateArgs(), Seed: o.seed}
}

// templateArgs are the variables for the chat template, nil for none.
func (o *promptOptions) templateArgs() json.RawMessage {
	if text := o.templateArguments.String(); text != "" {
		return json.RawMessage(text)
	}
	return nil
}

func (o *promptOptions) imageOptions() datasets.CustomImageOptions {
	return datasets.CustomImageOptions{Path: o.path, Prompts: o.number, OutputLen: o.customOutput, DisableShuffle: o.disableShuffle,
		NoOversample: o.noOversample, MultimodalChat: o.multimodalChat, ClientSideData: o.clientSideData, Seed: o.seed}
}

func (o *promptOptions) specOptions() datasets.SpecBenchOptions {
	return datasets.SpecBenchOptions{Path: o.path, Category: o.specCategory, Prompts: o.number, OutputLen: o.specOutput,
		DisableShuffle: o.disableShuffle, NoOversample: o.noOversample}
}

func (o *promptOptions) speedOptions() datasets.SpeedBenchOptions {
	return datasets.SpeedBenchOptions{Path: o.path, Subset: o.speedSubset, Category: o.speedCategory, Prompts: o.number, OutputLen: o.speedOutput,
		DisableShuffle: o.disableShuffle, NoOversample: o.noOversample, SkipChatTemplate: o.skipTemplate, TemplateArgs: o.templateArgs()}
}

func (o *promptOptions) traceOptions() datasets.TimedTraceOptions {
	return datasets.TimedTraceOptions{Path: o.path, Prompts: o.number, ChunkSize: o.trace.chunk, Multiplier: o.trace.multiplier,
		Labels: datasets.TraceLabels{Timestamp: o.trace.timestamp, InputLength: o.trace.input, OutputLength: o.trace.output, HashIDs: o.trace.hashs}}
}

func (o *promptOptions) bfclOptions() datasets.BFCLOptions {
	d := datasets.BFCLDefaults()
	d.Path, d.Prompts, d.DisableShuffle, d.NoOversample, d.Seed = o.path, o.number, o.disableShuffle, o.noOversample, o.seed
	if o.hfOutput > 0 {
		d.OutputLen = o.hfOutput
	}
	if o.bfclCategories != "" {
		d.Categories = strings.Split(o.bfclCategories, ",")
	}
	return d
}

// outputs is the length of an answer in tokens, 0 where the data set has one for each prompt.
func (o *promptOptions) outputs() int {
	switch o.dataset {
	case "random", "random-mm":
		return o.random.OutputLen
	case "prefix_repetition":
		return o.repetition.outputLen
	case "sharegpt":
		return o.sharegptOutput
	case "sonnet":
		return o.sonnetOutput
	case "custom", "custom_image":
		return max(0, o.customOutput)
	case "spec_bench":
		return o.specOutput
	case "speed_bench":
		return o.speedOutput
	case "hf":
		return o.bfclOptions().OutputLen
	}
	return 0
}

// problem makes an error a list of none or one.
func problem(err error) problemList {
	if err == nil {
		return nil
	}
	return problemList{err}
}

func (o *promptOptions) checkRerank() problemList {
	return slices.Concat(o.checkRatio(), problem(o.rerankOptions().Validate()))
}
func (o *promptOptions) checkRepetition() problemList {
	return problem(o.repetitionOptions().Validate())
}
func (o *promptOptions) checkSonnet() problemList      { return problem(o.sonnetOptions().Validate()) }
func (o *promptOptions) checkTrace() problemList       { return problem(o.traceOptions().Validate()) }
func (o *promptOptions) checkBurstGPT() problemList    { return o.ifPath(o.burstOptions().Validate) }
func (o *promptOptions) checkShareGPT() problemList    { return o.ifPath(o.sharegptOptions().Validate) }
func (o *promptOptions) checkCustom() problemList      { return o.ifPath(o.customOptions().Validate) }
func (o *promptOptions) checkCustomImage() problemList { return o.ifPath(o.imageOptions().Validate) }
func (o *promptOptions) checkSpecBench() problemList   { return o.ifPath(o.specOptions().Validate) }
func (o *promptOptions) checkSpeedBench() problemList  { return o.ifPath(o.speedOptions().Validate) }

// ifPath validates unless the file is missing, which was told already.
func (o *promptOptions) ifPath(validate func() error) problemList {
	if o.path == "" {
		return nil
	}
	return problem(validate())
}

// checkRandom is for random prompts.
func (o *promptOptions) checkRandom() problemList {
	return slices.Concat(o.checkRatio(), problem(o.randomOptions().Validate()))
}

// checkRatio reads the ratio of the random family; what is wrong with the rest is told apart.
func (o *promptOptions) checkRatio() (p problemList) {
	ratio, err := datasets.ParseRangeRatio(o.ratio)
	if err != nil {
		p.bad("--random-range-ratio %s: %s", quoted(o.ratio), err)
	}
	o.random.Ratio = ratio
	return p
}

// mmOptions are those of random-mm, whose flags have to be read first.
func (o *promptOptions) mmOptions() (datasets.RandomMMOptions, error) {
	limits, err1 := datasets.ParseMediaLimits(o.mm.limits)
	if err1 != nil {
		err1 = fmt.Errorf("--random-mm-limit-mm-per-prompt: %w", err1)
	}
	buckets, err2 := datasets.ParseBuckets(o.mm.bucket)
	if err2 != nil {
		err2 = fmt.Errorf("--random-mm-bucket-config: %w", err2)
	}
	return datasets.RandomMMOptions{RandomOptions: o.randomOptions(), BaseItems: o.mm.items, ItemsRatio: o.mm.itemsRatio,
		Limits: limits, Buckets: buckets, MultimodalChat: o.multimodalChat}, errors.Join(err1, err2)
}

func (o *promptOptions) checkRandomMM() problemList {
	p := o.checkRatio()
	m, err := o.mmOptions()
	if err == nil {
		err = m.Validate()
	}
	return append(p, problem(err)...)
}

// hubName is the name of the data set on the hub.
func (o *promptOptions) hubName() string {
	if o.hfName != "" {
		return o.hfName
	}
	return o.path
}

// checkHub refuses all data sets of the hub but BFCL.
func (o *promptOptions) checkHub() (p problemList) {
	name := o.hubName()
	switch {
	case o.path == "":
		p.bad("--dataset-name hf: needs the data set's name; give --dataset-path %s", datasets.BFCLRepository)
	case name != datasets.BFCLRepository:
		if o.hfName != "" {
			p.bad("--hf-name %s: of the hub's data sets only %s can be read", quoted(name), datasets.BFCLRepository)
			break
		}
		p.bad("--dataset-path %s: of the hub's data sets only %s can be read; where this is a copy of it say so with --hf-name %[2]s", quoted(name), datasets.BFCLRepository)
	default:
		p = append(p, problem(o.bfclOptions().Validate())...)
	}
	return p
}
