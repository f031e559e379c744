package datasets

import (
	"context"
	"encoding/json"

	"benchtop/datasets/hub"
	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
)

// Kind is a choice of --dataset-name: a data set with its flags, its checks, and its way to a Source.
//
//	Define ── the flags are read ──▶ Validate, Needs ── a tokenizer is found ──▶ Open ──▶ Source
type Kind interface {
	// Name is the value of --dataset-name.
	Name() string
	// Define adds the flags that the data set owns. group begins a heading of the help, or goes on with it.
	Define(group func(heading string) Flags)
	// Needs says how the data set is prepared and sent.
	Needs(c Common) Needs
	// Validate reports every problem that can be told without reading files. It is not called while a required file has no name.
	Validate(c Common) error
	// Open makes the source. It leaves the generators of t as vLLM's client would.
	Open(ctx context.Context, c Common, t Tools) (Source, error)
}

// Flags takes the flags of a data set. BoolVar and the like are those of a pflag.FlagSet.
type Flags interface {
	BoolVar(p *bool, name string, value bool, usage string)
	IntVar(p *int, name string, value int, usage string)
	Float64Var(p *float64, name string, value float64, usage string)
	StringVar(p *string, name string, value string, usage string)
	// CountVar adds a number that is 0 until it is given, and then at least 1.
	CountVar(p *int, name, usage string)
}

// Common is what all data sets are told, each of which heeds what concerns it.
type Common struct {
	Path             string          `json:"path"`    // file, directory or name on the hub; "" for none
	Prompts          int             `json:"prompts"` // how many prompts; where Needs.AllRows holds, 0 or less takes every row once
	Seed             int64           `json:"seed"`
	IDPrefix         string          `json:"request_id_prefix"`
	DisableShuffle   bool            `json:"disable_shuffle"`      // keep the order of the file
	NoOversample     bool            `json:"no_oversample"`        // make do with fewer prompts rather than repeat some
	SkipChatTemplate bool            `json:"skip_chat_template"`   // send prompts as they stand in the file
	TemplateArgs     json.RawMessage `json:"chat_template_kwargs"` // variables of the chat template, an object; nil for none
	MultimodalChat   bool            `json:"multimodal_chat"`      // send prompts as chat messages, with their media inside

	// SharedInputLen and SharedOutputLen, in tokens, replace the lengths of the data set's own flags; 0 leaves them.
	SharedInputLen  int   `json:"-"`
	SharedOutputLen int   `json:"-"`
	VocabSize       int   `json:"-"` // ids that prompts of token ids are made of; 0 where it was not given
	Forms           Forms `json:"-"` // what the run's requests can hold; known when the data set is opened
	NoAnswers       bool  `json:"-"` // answers hold no tokens; known when the data set is opened
	Endless         bool  `json:"-"` // a clock ends the run, whatever Prompts says; known when the data set is opened
}

// outputLen is the output length in tokens, where the data set's own is own.
func (c Common) outputLen(own int) int {
	if c.SharedOutputLen > 0 {
		return c.SharedOutputLen
	}
	return own
}

// answers says for a person how long answers are to be, as ", 128 tokens out"; "" where they hold no tokens.
func (c Common) answers(length string) string {
	if c.NoAnswers {
		return ""
	}
	return ", " + length + " out"
}

// vocabulary is the one that was given; the zero value for none.
func (c Common) vocabulary() Vocabulary { return Vocabulary{Size: c.VocabSize} }

// Forms is a set of forms in which a request can hold its prompts.
type Forms uint8

// The forms of prompts. A data set that has several is sent in any of them.
const (
	AsText      Forms = 1 << iota
	AsTokenIDs        // Turn.TokenIDs
	AsMessages        // of a chat, with media or tools
	AsBatch           // Turn.Batch, several prompts in a request
	AsDocuments       // a query and documents to rank
)

// Overlap reports whether there is a form that is in both sets.
func (f Forms) Overlap(g Forms) bool { return f&g != 0 }

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
	// Forms are those that the prompts can take; 0 where no request can hold them.
	Forms Forms
	// Why is the reason why some requests cannot hold the prompts. By is the flag that makes it so; "" for --dataset-name.
	Why, By string

	Ends       bool // the prompts come to an end
	AllRows    bool // without a number of prompts each row of the file is taken once
	FullLength bool // answers are to go on to the length asked for
	Timed      bool // the source has Times, at which its requests start
	Aligned    bool // prompts of exact lengths, to be cut to what the server counts

	Counts    bool // prompts are chosen or described by token counts, which are estimated where nothing counts
	MustCount bool // they are so even where the user wants no tokenizer
	Template  bool // prompts go through the model's chat template

	OutputLen     int    // tokens asked for in each answer; 0 where they differ
	OutputFlag    string // the one flag that says so, where Common.SharedOutputLen does not count; "" where it does
	OwnOutputLens bool   // each request of the file has an output length, and no flag counts
	TakesInputLen bool   // Common.SharedInputLen counts
}

// Tools are what a data set is opened with: what counts, makes and renders text in a run.
type Tools interface {
	// Text counts tokens and renders chats.
	Text() Text
	// Streams are the generators that the data set shares with the arrivals.
	Streams() *numpy.Streams
	// Local is the model's tokenizer on this machine, nil for none.
	Local() tokenizer.Tokenizer
	// Maker makes text of exact lengths; nil where prompts are to be token ids. It is an error where neither can be sent.
	Maker() (tokenizer.Tokenizer, error)
	// RoughMaker makes text of about the length asked for, without a tokenizer on this machine.
	RoughMaker() (Speller, error)
	// NoMaker is the error of a data set that nothing can make text for.
	NoMaker() error
	// TokenIDs is what prompts of token ids are made of. It is asked only by a data set that sends them.
	TokenIDs() Vocabulary
	// Hub has the data sets of the hub.
	Hub() *hub.Hub
	// Note tells the user something; nothing for "".
	Note(text string)
}
