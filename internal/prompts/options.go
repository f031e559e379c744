package prompts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/usage"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/shape"
)

// Options say which data set and tokenizer the prompts come from.
type Options struct {
	datasets.Common
	Name                   string // of the data set
	kinds                  []datasets.Kind
	counts                 []string // flags of numbers that are at least 1 where they are given
	Tokens                 TokenizerOptions
	repeats                datasets.Repeats
	maxModelLen            int // tokens of a prompt and its answer; 0 for no limit
	templateArguments      argv.JSON
	selfTimed, noSelfTimed bool
	conversations          conversationOptions
	Calibrate              bool
	mix                    Mix
}

// NewOptions are those of a data set without flags.
func NewOptions(name string) *Options {
	o := &Options{Name: name}
	o.kinds = datasets.Kinds(&o.Common)
	return o
}

// datasetFlags takes the flags of data sets.
type datasetFlags struct {
	*pflag.FlagSet
	counts *[]string
}

// CountVar adds a number that is at least 1 if it is given, else 0.
func (f datasetFlags) CountVar(p *int, name, usage string) {
	f.IntVar(p, name, 0, usage)
	*f.counts = append(*f.counts, name)
}

// Define adds the flags, vLLM's names and defaults, under headings that the data sets give.
func (o *Options) Define(groups *argv.Flags) {
	o.kinds = datasets.Kinds(&o.Common)
	group := func(heading string) datasets.Flags { return datasetFlags{groups.Group(heading), &o.counts} }
	f := datasetFlags{groups.Group("Prompts"), &o.counts}
	f.StringVar(&o.Name, "dataset-name", "random",
		"source of the prompts: "+strings.Join(datasets.Names(o.kinds), ", "))
	argv.Words(f.FlagSet, "dataset-name", datasets.Names(o.kinds)...)
	f.StringVar(&o.Path, "dataset-path", "", "file or directory of the data set; hf: also its name on the hub")
	f.Var(&o.mix, "mix", "mixture of workloads with their shares, as chat=0.7,rag=0.3: each is a file, such as "+
		"chat.yaml, with the flags of its data set and its goodput")
	f.CountVar(&o.SharedInputLen, "input-len",
		"prompt length in tokens; overrides the length flag of the random data sets")
	f.CountVar(&o.SharedOutputLen, "output-len", "output length in tokens; overrides the length flag of the data set")
	f.BoolVar(&o.DisableShuffle, "disable-shuffle", false, "keep the order of the file")
	f.BoolVar(&o.NoOversample, "no-oversample", false, "send fewer requests instead of repeating prompts")
	f.BoolVar(&o.SkipChatTemplate, "skip-chat-template", false,
		"custom, speed_bench, hf: send prompts as they are, without the model's chat template")
	f.Var(&o.templateArguments, "chat-template-kwargs",
		"custom, speed_bench: variables for the chat template; for the server's template use "+
			"--extra-body.chat_template_kwargs")
	f.BoolVar(&o.MultimodalChat, "enable-multimodal-chat", false, "send prompts as chat messages with their media")
	f.BoolVar(&o.PromptTokenIDs, "prompt-token-ids", false, "send prompts as lists of token ids instead of text")
	f.CountVar(&o.maxModelLen, "max-model-len",
		"leave out requests whose prompt and answer together have more tokens (default: none)")
	f.IntVar(&o.repeats.Count, "repeat-count", 1,
		"send each prompt so often, and show figures for each occurrence; --num-prompts counts all")
	f.StringVar(&o.repeats.Order, "repeat-mode", "random",
		"order of repeated prompts: "+strings.Join(datasets.RepeatOrders(), ", "))
	argv.OneOf(f.FlagSet, "repeat-mode", datasets.RepeatOrders()...)
	f.Int64Var(&o.repeats.Seed, "shuffle-seed", 0, "seed of the random order of repeated prompts")
	o.Tokens.define(f.FlagSet)
	f.BoolVar(&o.Calibrate, "calibrate-lengths", false,
		"random prompts without a tokenizer: make them of words, also where token ids could be sent, and send one "+
			"request before the run to learn how many tokens the server counts in them")
	o.conversations.define(groups.Group("Conversations"))
	datasets.Define(o.kinds, group)
	f.FlagSet = groups.Group(datasets.TraceHeading)
	f.BoolVar(&o.selfTimed, "self-timed", false,
		"send requests at the times of the trace (default); agents: start sessions at their recorded times")
	f.BoolVar(&o.noSelfTimed, "no-self-timed", false,
		"ignore the times of the trace; --request-rate and similar flags set the load")
}

// replayFlags are those of recordings.
var replayFlags = []string{"time-scale", "trace-from", "trace-to", "max-gap", "sample", "turn-timing"}

// kind is the chosen data set, nil for an unknown name.
func (o *Options) kind() datasets.Kind { return datasets.Named(o.kinds, o.Name) }

// Needs are those of the chosen data set; none for an unknown name.
func (o *Options) Needs() (n datasets.Needs) {
	if len(o.mix) > 0 {
		return o.mix.needs()
	}
	if kind := o.kind(); kind != nil {
		n = kind.Needs(o.Common)
	}
	return n
}

// Check finds what is wrong with the flags of the prompts, without reading files. to is nil if the protocol makes no
// difference.
func (o *Options) Check(given *pflag.FlagSet, load shape.Shape, seed int64, searching bool,
	to protocol.Protocol) (p usage.Problems) {
	p = o.checkCounts(given)
	if len(o.mix) > 0 {
		return append(p, o.checkMix(given, load, seed, searching, to)...)
	}
	kind := o.kind()
	if kind == nil {
		names := datasets.Names(o.kinds)
		p.Bad("--dataset-name %s: use one of %s%s",
			usage.Quote(o.Name), strings.Join(names, ", "), usage.DidYouMean(o.Name, names))
		return p
	}
	if text := o.templateArguments.String(); text != "" {
		o.TemplateArgs = json.RawMessage(text)
	}
	o.Prompts, o.Seed = load.Requests(), max(0, seed)
	p = append(p, o.checkRepeats(load)...)
	needs := kind.Needs(o.Common)
	if needs.Guided {
		p = append(p, o.checkGuided(given, to)...)
	}
	recording := needs.Timed || needs.Sessions
	p.BadIf(!recording && (o.selfTimed || o.noSelfTimed),
		"--self-timed: needs a data set with time stamps (timed_trace, trace or agents); %s has none", o.Name)
	p.BadIf(o.selfTimed && o.noSelfTimed, "--self-timed and --no-self-timed: choose one")
	p = append(p, o.conversations.check(given, o, to)...)
	p = append(p, o.checkPath(needs.File)...)
	if to != nil && !to.Traits().Forms.Overlap(needs.Forms) {
		p = append(p, o.cannotSend(to.Traits(), needs))
	} else if o.PromptTokenIDs {
		p = append(p, o.checkTokenIDs(to, needs.Forms))
	}
	p = append(p, o.checkOwners(given, recording)...)
	p.BadIf(load.Endless() && !searching && needs.Ends,
		"closed loop: %s needs a number of requests; give --num-prompts", o.Name)
	o.SelfTimed = o.SelfTiming()
	o.Asked = given.Changed("num-prompts") || load.End() > 0
	p = append(p, o.checkReplay(given)...)
	if needs.File != datasets.RequiredFile || o.Path != "" { // else it was reported already
		p = append(p, kind.Validate(o.Common))
	}
	p.BadIf(o.Tokens.Skip && o.Tokens.Name != "", "--tokenizer and --skip-tokenizer-init: choose one")
	return p
}

// checkMix reads the workloads of a mixture and checks them.
func (o *Options) checkMix(given *pflag.FlagSet, load shape.Shape, seed int64, searching bool,
	to protocol.Protocol) usage.Problems {
	o.Prompts, o.Seed = load.Requests(), max(0, seed)
	p := o.mix.read(given, load, seed, searching, to)
	if len(p) == 0 {
		p = o.conversations.check(given, o, to)
	}
	return p
}

// checkCounts refuses numbers that are given and below 1.
func (o *Options) checkCounts(given *pflag.FlagSet) (p usage.Problems) {
	for _, name := range o.counts {
		v, _ := given.GetInt(name)
		p.BadIf(given.Changed(name) && v < 1, "--%s %d: must be at least 1", name, v)
	}
	return p
}

// checkRepeats checks repeated prompts under a load.
func (o *Options) checkRepeats(load shape.Shape) (p usage.Problems) {
	p.BadIf(o.repeats.Count < 1, "--repeat-count %d: must be at least 1", o.repeats.Count)
	if o.repeats.Count > 1 {
		p.BadIf(o.SelfTiming(), "--repeat-count: the prompts of a trace have their times; add --no-self-timed")
		p.BadIf(load.Endless(), "--repeat-count: needs a number of requests; give --num-prompts")
	}
	return p
}

// checkGuided refuses what a data set whose answers have a constraint rules out.
func (o *Options) checkGuided(given *pflag.FlagSet, to protocol.Protocol) (p usage.Problems) {
	p.BadIf(to != nil && to.Traits().LengthField == "",
		"--dataset-name %s: backend %s generates no text; use another, such as openai", o.Name, nameOf(to))
	f := given.Lookup("ignore-eos")
	p.BadIf(f != nil && f.Value.String() == "true",
		"--ignore-eos with --dataset-name %s: the constraint allows nothing behind its end; leave the flag out", o.Name)
	return p
}

// checkReplay checks how a recording is sent again. A zero that is given is none that was left out.
func (o *Options) checkReplay(given *pflag.FlagSet) (p usage.Problems) {
	p.BadIf(given.Changed("time-scale") && o.Replay.Scale == 0, "--time-scale 0: must be above 0")
	p.BadIf(given.Changed("sample") && o.Replay.Sample == 0, "--sample 0: must be above 0 and at most 1")
	return append(p, o.Replay.Validate()...)
}

// checkOwners refuses flags that only other data sets have.
func (o *Options) checkOwners(given *pflag.FlagSet, recording bool) (p usage.Problems) {
	p.BadIf(o.Name != "random" && (given.Changed("random-cache-hit-fraction") || given.Changed("random-cache-ratio")),
		"--random-cache-hit-fraction, --random-cache-ratio: only random has them; %s does not", o.Name)
	p = append(p, o.checkSpreads(given)...)
	given.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(replayFlags, f.Name) {
			p.BadIf(f.Changed && !recording, "--%s: needs a recording (timed_trace, trace or agents); %s is none",
				f.Name, o.Name)
		} else {
			p.BadIf(f.Changed && o.Name != "trace" && strings.HasPrefix(f.Name, "trace-"),
				"--%s: only the data set trace has it; %s does not", f.Name, o.Name)
		}
	})
	return p
}

// checkSpreads refuses distributions of lengths where nothing draws from them, and lengths that are given twice.
func (o *Options) checkSpreads(given *pflag.FlagSet) (p usage.Problems) {
	for _, f := range []struct {
		name   string
		others []string
	}{
		{"random-isl-dist", []string{"random-input-len", "input-len", "random-range-ratio"}},
		{"random-osl-dist", []string{"random-output-len", "output-len", "random-range-ratio"}},
		{"random-mix", []string{"random-isl-dist", "random-osl-dist", "random-input-len", "random-output-len",
			"input-len", "output-len", "random-range-ratio"}},
	} {
		if !given.Changed(f.name) {
			continue
		}
		p.BadIf(o.Name != "random" && o.Name != "random-mm",
			"--%s: only random and random-mm draw such lengths; %s does not", f.name, o.Name)
		for _, other := range f.others {
			p.BadIf(given.Changed(other), "--%s and --%s: choose one", f.name, other)
		}
	}
	return p
}

// cannotSend explains why a backend cannot send the prompts, and names those that can.
func (o *Options) cannotSend(to protocol.Traits, needs datasets.Needs) error {
	by := cmp.Or(needs.By, "--dataset-name "+o.Name)
	if to.Only != "" {
		return fmt.Errorf("%s: %w", by, to.Lacking())
	}
	others := protocol.Names(needs.Forms)
	if others == "" {
		return fmt.Errorf("%s: %s", by, needs.Why)
	}
	return fmt.Errorf("%s: %s; backend %s cannot send them, use --backend %s", by, needs.Why, to.Name, others)
}

// checkTokenIDs is an error if the prompts cannot be sent as token ids. to is nil if the protocol makes no difference.
func (o *Options) checkTokenIDs(to protocol.Protocol, prompts datasets.Forms) error {
	if !prompts.Overlap(datasets.AsText | datasets.AsTokenIDs | datasets.AsBatch | datasets.AsInputs) {
		return fmt.Errorf("--prompt-token-ids: the prompts of %s are more than text", o.Name)
	}
	if to != nil && !to.Traits().Forms.Overlap(datasets.AsTokenIDs) {
		return fmt.Errorf("--prompt-token-ids: backend %s takes no token ids; use --backend %s",
			to.Traits().Name, protocol.Names(datasets.AsTokenIDs))
	}
	return nil
}

// LengthNotes name the general lengths that the data set ignores.
func (o *Options) LengthNotes(given *pflag.FlagSet) (notes []string) {
	if o.kind() == nil {
		return nil
	}
	needs := o.Needs()
	switch {
	case !given.Changed("output-len"):
	case needs.OutputFlag != "":
		notes = append(notes,
			fmt.Sprintf("--output-len has no effect with %s, as with vLLM; use --%s", o.Name, needs.OutputFlag))
	case needs.OwnOutputLens:
		notes = append(notes,
			fmt.Sprintf("--output-len has no effect with %s: each of its requests sets its own length", o.Name))
	}
	if given.Changed("input-len") && !needs.TakesInputLen {
		notes = append(notes, fmt.Sprintf("--input-len has no effect with %s, as with vLLM", o.Name))
	}
	return notes
}

func (o *Options) checkPath(use datasets.FileUse) (p usage.Problems) {
	switch {
	case use == datasets.NoFile && o.Path != "":
		p.Bad("--dataset-path %s: the data set %s takes no file; name that of the file with --dataset-name",
			usage.Quote(o.Path),
			o.Name)
	case use == datasets.RequiredFile && o.Path == "":
		p.Bad("--dataset-name %s: needs a file; give it with --dataset-path", o.Name)
	case (use == datasets.RequiredFile || use == datasets.OptionalFile) && o.Path != "":
		if _, err := os.Stat(o.Path); err != nil {
			p.Bad("--dataset-path %s: %w", usage.Quote(o.Path), errors.Unwrap(err))
		}
	}
	return p
}

// SelfTiming reports whether requests go out at the times of a trace.
func (o *Options) SelfTiming() bool {
	needs := o.Needs()
	return needs.Timed && !o.noSelfTimed || needs.Sessions && o.selfTimed
}

// templateAdvice is for a chat template that is missing or cannot be rendered. The server's rendering, if there is a
// server, has been tried by then.
func (o *Options) templateAdvice() string {
	way := "give a tokenizer with a working chat template with --tokenizer DIRECTORY, or a server that renders chats " +
		"with --base-url"
	skipped := o.Common
	skipped.SkipChatTemplate = true
	if !o.kind().Needs(skipped).Template {
		way += ", or send the prompts as they are with --skip-chat-template (with --backend openai-chat the server " +
			"then renders them)"
	}
	return way
}

// LengthOver is the general length that vLLM writes over a data set's own, 0 for none.
func (o *Options) LengthOver(flag string) int {
	switch {
	case flag == "random-input-len":
		return o.SharedInputLen
	case strings.HasSuffix(flag, "-output-len") &&
		!slices.ContainsFunc(o.kinds, func(k datasets.Kind) bool { return k.Needs(o.Common).OutputFlag == flag }):
		return o.SharedOutputLen
	}
	return 0
}
