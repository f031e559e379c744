package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/loadgen"
)

// check finds what is wrong with the flags of the prompts, as far as it can be told without the files' contents.
func (o *promptOptions) check(given *pflag.FlagSet, load *loadOptions, backend string) (p problemList) {
	for _, name := range []string{"input-len", "output-len", "vocab-size", "sharegpt-output-len", "hf-output-len"} {
		if v, _ := given.GetInt(name); given.Changed(name) && v < 1 {
			p.bad("--%s %d: must be at least 1", name, v)
		}
	}
	kind := datasetNamed(o.dataset)
	if kind == nil {
		p.bad("--dataset-name %s: use one of %s%s", quoted(o.dataset), strings.Join(datasetNames(), ", "), didYouMean(o.dataset, datasetNames()))
		return p
	}
	if o.dataset != "timed_trace" && (o.selfTimed || o.noSelfTimed) {
		p.bad("--self-timed: needs a data set with time stamps, which is timed_trace; %s has none", o.dataset)
	}
	if o.selfTimed && o.noSelfTimed {
		p.bad("--self-timed and --no-self-timed: choose one")
	}
	o.overrideLengths()
	s := load.shape()
	o.number, o.seed = s.Requests(), max(0, load.seed)
	p = append(p, o.checkPath(kind)...)
	readable := kind.draw != nil && (kind.file != onHub || o.hubName() == datasets.BFCLRepository) // else the backend makes no difference
	if backend != "" && readable && len(kind.backends) > 0 && !slices.Contains(kind.backends, backend) {
		p.bad("--dataset-name %s: %s", o.dataset, kind.backendWords(backend))
	}
	if kind.draw == nil {
		p.bad("--dataset-name %s: %s", o.dataset, kind.why)
		return p
	}
	if backend != "" && o.dataset == "random" && o.onlyShown() {
		p.bad("--random-batch-size %d: several prompts in a request are for pooling endpoints, which cannot be loaded; 'benchtop dataset' shows them", o.random.Batch)
	}
	if s.Endless() && !load.find.searching() && kind.list {
		p.bad("users without pause: with %s say how many requests there may be with --num-prompts", o.dataset)
	}
	if kind.check != nil {
		p = append(p, kind.check(o)...)
	}
	o.ignoreEOS = kind.fullLength
	p = append(p, o.tokens.check()...)
	return p
}

// onlyShown says that the requests are for endpoints that cannot be loaded, so that 'benchtop dataset' shows them whatever the
// backend is.
func (o *promptOptions) onlyShown() bool {
	return o.dataset == "random-rerank" || o.dataset == "random" && o.random.Batch > 1
}

// takesAllRows says that without a number of prompts the data set gives each of its rows once.
func (o *promptOptions) takesAllRows() bool {
	kind := datasetNamed(o.dataset)
	return kind != nil && kind.allRows
}

// overrideLengths lets the general lengths win over those of the data sets, but for the ones vLLM leaves alone.
func (o *promptOptions) overrideLengths() {
	if o.inputLen > 0 {
		o.random.InputLen = o.inputLen
	}
	if o.outputLen > 0 {
		for _, own := range []*int{&o.random.OutputLen, &o.sharegptOutput, &o.customOutput, &o.hfOutput, &o.specOutput, &o.repetition.outputLen} {
			*own = o.outputLen
		}
	}
}

// lengthNotes say which of the general lengths the data set does not heed.
func (o *promptOptions) lengthNotes(given *pflag.FlagSet) (notes []string) {
	if given.Changed("output-len") {
		switch o.dataset {
		case "sonnet", "speed_bench":
			notes = append(notes, fmt.Sprintf("--output-len has no effect with %s, as with vLLM; use --%s-output-len", o.dataset, dashes(o.dataset)))
		case "burstgpt", "timed_trace":
			notes = append(notes, fmt.Sprintf("--output-len has no effect with %s: each of its requests has a length", o.dataset))
		}
	}
	if given.Changed("input-len") && !strings.HasPrefix(o.dataset, "random") {
		notes = append(notes, fmt.Sprintf("--input-len has no effect with %s, as with vLLM", o.dataset))
	}
	return notes
}

func (o *promptOptions) checkPath(kind *datasetKind) (p problemList) {
	switch {
	case kind.file == noFile && o.path != "":
		p.bad("--dataset-path %s: the data set %s takes no file", quoted(o.path), o.dataset)
	case kind.file == needsFile && o.path == "":
		p.bad("--dataset-name %s: needs a file; give one with --dataset-path", o.dataset)
	case kind.file != noFile && kind.file != onHub && o.path != "":
		if _, err := os.Stat(o.path); err != nil {
			p.bad("--dataset-path %s: %w", quoted(o.path), errors.Unwrap(err))
		}
	}
	return p
}

// selfTiming says that requests go out at the times of the trace.
func (o *promptOptions) selfTiming() bool { return o.dataset == "timed_trace" && !o.noSelfTimed }

// chat says that a backend speaks the chat protocol.
func isChat(backend string) bool { return backend == string(loadgen.OpenAIChat) }
