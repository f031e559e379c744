package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// Kind is a choice of --dataset-name: a data set with its flags, its checks, and its way to a Flow.
//
//	Define ── the flags are read ──▶ Validate, Needs ── a tokenizer is found ──▶ Open ──▶ Flow
type Kind interface {
	// Name is the value of --dataset-name.
	Name() string
	// Define adds the flags that the data set owns. group begins a heading of the help, or goes on with it.
	Define(group func(heading string) Flags)
	// Needs says how the data set is prepared and sent.
	Needs(c Common) Needs
	// Validate reports every problem that can be told without reading files. It is not called while a required file has
	// no name.
	Validate(c Common) error
	// Open makes the prompts of options that Validate finds no fault with. It leaves the generators of t as vLLM's
	// client would.
	Open(ctx context.Context, c Common, t Tools) (Flow, error)
}

// options are those of a data set: the fields of its flags and, embedded, a Common. Their methods do the work of those
// of Kind.
type options[T any] interface {
	*T
	set(c Common)
	Define(group func(heading string) Flags)
	needs() Needs
	check() error
	open(ctx context.Context, t Tools) (Flow, error)
}

// kind is the data set of that name with its flags. Each use has a copy of these, with the Common that it is for.
type kind[T any, O options[T]] struct {
	name  string
	flags T
}

func newKind[T any, O options[T]](name string, flags T) Kind { return &kind[T, O]{name, flags} }

func (k *kind[T, O]) with(c Common) O {
	o := O(new(k.flags))
	o.set(c)
	return o
}

func (k *kind[T, O]) Name() string                            { return k.name }
func (k *kind[T, O]) Define(group func(heading string) Flags) { O(&k.flags).Define(group) }
func (k *kind[T, O]) Needs(c Common) Needs                    { return k.with(c).needs() }
func (k *kind[T, O]) Validate(c Common) error                 { return k.with(c).check() }

func (k *kind[T, O]) Open(ctx context.Context, c Common, t Tools) (Flow, error) {
	return k.with(c).open(ctx, t)
}

// Flags takes the flags of a data set. BoolVar and the like are those of a pflag.FlagSet.
type Flags interface {
	BoolVar(p *bool, name string, value bool, usage string)
	IntVar(p *int, name string, value int, usage string)
	Float64Var(p *float64, name string, value float64, usage string)
	StringVar(p *string, name string, value string, usage string)
	DurationVar(p *time.Duration, name string, value time.Duration, usage string)
	// CountVar adds a number that is 0 until it is given, and then at least 1.
	CountVar(p *int, name, usage string)
}

// Common are the options of all data sets, each of which heeds those that concern it.
type Common struct {
	Path             string // file, directory or name on the hub; "" for none
	Prompts          int    // how many prompts; where Needs.AllRows holds, 0 or less takes every row once
	Seed             int64
	IDPrefix         string
	DisableShuffle   bool            // keep the order of the file
	NoOversample     bool            // make do with fewer prompts rather than repeat some
	SkipChatTemplate bool            // send prompts as they stand in the file
	TemplateArgs     json.RawMessage // variables of the chat template, an object; nil for none
	MultimodalChat   bool            // send prompts as chat messages, with their media inside

	// MultiTurn makes conversations of the prompts, Replay chooses the part and the speed of a recording.
	MultiTurn MultiTurn
	Replay    Replay

	// SharedInputLen and SharedOutputLen, in tokens, replace the lengths of the data set's own flags; 0 leaves them.
	SharedInputLen  int
	SharedOutputLen int
	PromptTokenIDs  bool // prompts are to be sent as token ids, where they can be texts as well
	VocabSize       int  // ids that prompts of token ids are made of; 0 where it was not given
	// Sharing is what the prompts of the run share; nil where it is not counted.
	Sharing   *Sharing
	Forms     Forms // forms that the run's requests can hold; known when the data set is opened
	NoAnswers bool  // answers hold no tokens; known when the data set is opened
	Asked     bool  // the number of prompts was asked for; else it is the default
	SelfTimed bool  // requests go out at the times of the recording
	Endless   bool  // a clock ends the run, whatever Prompts says; known when the data set is opened
}

func (c *Common) set(to Common) { *c = to }

// outputLen is the output length in tokens, where the data set's own is own.
func (c Common) outputLen(own int) int {
	if c.SharedOutputLen > 0 {
		return c.SharedOutputLen
	}
	return own
}

// answers gives the length of the answers for a person, as ", 128 output tokens"; "" where they hold no tokens.
func (c Common) answers(length string) string {
	if c.NoAnswers {
		return ""
	}
	return ", " + length + " output tokens"
}

// vocabulary is the one that was given; the zero value for none.
func (c Common) vocabulary() Vocabulary { return Vocabulary{Size: c.VocabSize} }

// Forms is a set of forms in which a request can hold its prompts.
type Forms uint16

// The forms of prompts. A data set that has several is sent in any of them.
const (
	AsText      Forms = 1 << iota
	AsTokenIDs        // Turn.TokenIDs
	AsMessages        // of a chat, with media or tools
	AsBatch           // Turn.Batch, several prompts in a request
	AsDocuments       // Turn.Batch, a query and documents to rank
	AsMedia           // Turn.Text with Turn.Media
	AsInputs          // Turn.Batch, texts that are only read
	AsAudio           // Turn.Audio, a recording sent as a file
)

// Overlap reports whether there is a form that is in both sets.
func (f Forms) Overlap(g Forms) bool { return f&g != 0 }

// mediaForm is the form of prompts with media.
func (c Common) mediaForm() Forms {
	if c.MultimodalChat {
		return AsMessages
	}
	return AsMedia
}

// chat reports whether prompts are sent as chat messages, or as the text of one: completions take several prompts.
func (c Common) chat() bool { return !c.Forms.Overlap(AsTokenIDs | AsBatch) }

// asMessages reports whether texts are sent as chat messages. A backend that takes texts alone, or content parts of
// other names, gets the text.
func (c Common) asMessages() bool {
	return c.MultimodalChat && (c.Forms == 0 || c.Forms.Overlap(AsMessages|AsMedia))
}

// FileUse says what a data set does with Common.Path.
type FileUse int

// The uses of a file.
const (
	NoFile FileUse = iota
	OptionalFile
	RequiredFile
	HubName // a name on the hub, or a copy of what is there
)

// Needs says how a data set is prepared and sent.
type Needs struct {
	File FileUse
	// Forms are those that the prompts can take.
	Forms Forms
	// Why is the reason why some requests cannot hold the prompts. By is the flag that makes it so; "" for
	// --dataset-name.
	Why, By string

	Ends       bool // the prompts come to an end
	AllRows    bool // without a number of prompts each row of the file is taken once
	FullLength bool // answers are to go on to the length asked for
	Shares     bool // its prompts share prefixes by design
	Sessions   bool // it has sessions of several requests
	Turns      bool // it makes conversations of several turns itself where Common.MultiTurn asks for them
	Guided     bool // answers end where their constraint says, which ignoring the end of the text would prevent
	Timed      bool // the flow has Times, at which its requests start
	Aligned    bool // prompts of exact lengths, to be cut to what the server counts

	Counts    bool // prompts are chosen or described by token counts, which are estimated where nothing counts
	MustCount bool // they are so even where the user wants no tokenizer
	Template  bool // prompts go through the model's chat template

	InputLen      int    // tokens of each request; 0 where they differ, or are not known without the file
	OutputLen     int    // tokens asked for in each answer; 0 where they differ
	OutputFlag    string // the one flag that says so, where Common.SharedOutputLen does not count; "" where it does
	OwnOutputLens bool   // each request of the file has an output length, and no flag counts
	TakesInputLen bool   // Common.SharedInputLen counts
}

// Tools open a data set: they count, make and render text in a run.
type Tools interface {
	// Text counts tokens and renders chats.
	Text() Text
	// Streams are the generators that the data set shares with the arrivals.
	Streams() *numpy.Streams
	// Local is the model's tokenizer on this machine, nil for none.
	Local() tokenizer.Tokenizer
	// Maker makes text of exact lengths; nil where prompts are to be token ids. It is an error where neither can be
	// sent.
	Maker() (tokenizer.Tokenizer, error)
	// RoughMaker makes text of about the length asked for, without a tokenizer on this machine.
	RoughMaker() (tokenizer.Tokenizer, error)
	// NoMaker is the error of a data set that nothing can make text for.
	NoMaker() error
	// TokenIDs is the vocabulary of prompts of token ids. It is asked only by a data set that sends them.
	TokenIDs() Vocabulary
	// Hub has the data sets of the hub.
	Hub() *hub.Hub
	// Lasting is the context of the flow that is opened: it ends when no more is taken from it, and outlives that of
	// Open.
	Lasting() context.Context
	// Note tells the user something; nothing for "".
	Note(text string)
}

// filesHeading is that of the flags of data sets that are files without times.
const filesHeading = "Data sets of files"

// Kinds are the data sets, in the order in which the help names them, with flags of their own, whose defaults are
// vLLM's. Shared flags are written to c.
func Kinds(c *Common) []Kind {
	random, family := &randomFlags{RandomOptions: RandomDefaults(), vocabSize: &c.VocabSize}, &customFlags{256}
	return []Kind{
		newKind("random", randomKind{randomFlags: random}),
		newKind("random-mm", randomMMKind{randomFlags: random,
			mm: randomMMOptions{BaseItems: 1, Limits: media.DefaultLimits(), Buckets: media.DefaultBuckets()}}),
		newKind("random-rerank", rerankKind{randomFlags: random}),
		newKind("prefix_repetition", prefixRepetition{PrefixLen: 256, SuffixLen: 256, Prefixes: 10, OutputLen: 128}),
		newKind("sharegpt", shareGPT{}),
		newKind("sonnet", sonnet{InputLen: 550, OutputLen: 150, PrefixLen: 200}),
		newKind("burstgpt", burstGPT{}),
		newKind("custom", custom{customFlags: family}),
		newKind("custom_image", customImage{custom: custom{customFlags: family}}),
		newKind("custom_audio", customAudio{custom{customFlags: family}}),
		newKind("spec_bench", specBench{OutputLen: 256}),
		newKind("speed_bench", speedBench{Subset: "qualitative", OutputLen: 4096}),
		newKind("timed_trace", timedTrace{ChunkSize: 16, Multiplier: 1,
			Labels: traceLabels{Timestamp: "timestamp", InputLength: "input_length", OutputLength: "output_length",
				HashIDs: "hash_ids"}}),
		newKind("trace", traceKind{speed: 1, replay: &c.Replay}),
		newKind("agents", agentsKind{timing: turnDelays}),
		newKind("long_document_qa", longDocuments{Length: 20000}),
		newKind("structured_output", structuredOutput{Form: "json", Ratio: 1, API: "vllm", OutputLen: 128}),
		newKind("hf", hf{bfcl: bfcl{Categories: []string{"simple", "live_simple", "multiple"}, OutputLen: 512},
			flags: hfFlags{version: hfNewest, maxDistance: 1, maxSeconds: math.Inf(1)}}),
	}
}

// Define adds the flags of all kinds, in their order. Only sonnet's have their place behind those of the custom family.
func Define(kinds []Kind, group func(heading string) Flags) {
	for _, k := range kinds {
		if k.Name() != "sonnet" {
			k.Define(group)
		}
		if k.Name() == "custom_image" {
			Named(kinds, "sonnet").Define(group)
		}
	}
}

// Named is the kind of that name, nil for none. Dashes and underscores are the same, as vLLM's clients differ there.
func Named(kinds []Kind, name string) Kind {
	dashed := func(name string) string { return strings.ReplaceAll(name, "_", "-") }
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return dashed(k.Name()) == dashed(name) }); i >= 0 {
		return kinds[i]
	}
	return nil
}

// Names are those of the kinds.
func Names(kinds []Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name())
	}
	return names
}

// noCounter is the error of a data set that has to count tokens and has no counter.
func noCounter(dataset string) error {
	return fmt.Errorf("dataset %s: needs a tokenizer to count its prompts; give --tokenizer with the model's "+
		"directory or name, or leave out --skip-tokenizer-init", dataset)
}

// ErrNoTemplate is the error of a data set that renders chats where there is no chat template.
var ErrNoTemplate = errors.New("needs the model's chat template")

// noTemplate is the error of a data set that has to render chats for a model without a chat template. way is what else
// the user can do.
func noTemplate(dataset, way string) error {
	return fmt.Errorf("dataset %s: %w; give --tokenizer with a directory or name that has one%s", dataset,
		ErrNoTemplate, way)
}

// inFile says which file of which dataset an error is about, if there is one. A missing chat template is no fault of
// a file.
func inFile(dataset, path string, err error) error {
	if err == nil || errors.Is(err, ErrNoTemplate) {
		return err
	}
	return inDataset(dataset, textfile.At(path, err))
}

// within says what an error is about, if there is one.
func within(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// inDataset says which data set an error is about, if there is one.
func inDataset(dataset string, err error) error { return within("dataset "+dataset, err) }

// shortened is a text of a file, fit to be shown.
func shortened(s string) string {
	s, more := textfile.Cut(s, 120)
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s) + more
}

// someOf lists names, as many as a person would read.
func someOf(names []string) string {
	const most = 40
	var list []string
	for _, name := range names[:min(most, len(names))] {
		list = append(list, shortened(name))
	}
	if len(names) > most {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}
