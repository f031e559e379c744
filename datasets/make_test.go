package datasets

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchtop/internal/hf/hub"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// Data sets as tests make them: of flags, or of options, with the tools at hand.

// given are the values of flags by their names; the others have their defaults.
type given map[string]string

func (g given) BoolVar(p *bool, name string, value bool, _ string) { *p = value || g[name] == "true" }
func (g given) CountVar(p *int, name, usage string)                { g.IntVar(p, name, 0, usage) }
func (g given) DurationVar(p *time.Duration, _ string, value time.Duration, _ string) {
	*p = value
}

func (g given) IntVar(p *int, name string, value int, _ string) {
	if *p = value; g[name] != "" {
		*p, _ = strconv.Atoi(g[name])
	}
}

func (g given) Float64Var(p *float64, name string, value float64, _ string) {
	if *p = value; g[name] != "" {
		*p, _ = strconv.ParseFloat(g[name], 64)
	}
}

func (g given) StringVar(p *string, name, value, _ string) {
	if *p = value; g[name] != "" {
		*p = g[name]
	}
}

// flagsOf are the flags of a vector, in which those of all data sets are set in c.
func (c *Common) flagsOf(args []string) given {
	flags := given{}
	for i := 0; i < len(args); i++ {
		name, value := strings.TrimPrefix(args[i], "--"), "true"
		if i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			i++
			value = args[i]
		}
		switch name {
		case "disable-shuffle":
			c.DisableShuffle = true
		case "no-oversample":
			c.NoOversample = true
		case "skip-chat-template":
			c.SkipChatTemplate = true
		case "enable-multimodal-chat":
			c.MultimodalChat = true
		case "output-len":
			c.SharedOutputLen, _ = strconv.Atoi(value)
		case "input-len":
			c.SharedInputLen, _ = strconv.Atoi(value)
		case "seed":
			c.Seed, _ = strconv.ParseInt(value, 10, 64)
		case "dataset-path":
			c.Path = filepath.Join("testdata", filepath.Base(value))
		case "dataset-name", "backend":
		default:
			flags[name] = value
		}
	}
	return flags
}

// opened opens a data set as a user would who gives these flags.
func opened(t *testing.T, name string, c Common, flags given, tools Tools) (Flow, error) {
	t.Helper()
	kinds, names := Kinds(&Common{}), []string{}
	Define(kinds, func(string) Flags { return flagNames{&names} })
	for flag := range flags {
		if !slices.Contains(names, flag) {
			t.Fatalf("there is no flag %s", flag)
		}
	}
	Define(kinds, func(string) Flags { return flags })
	k := Named(kinds, name)
	if err := k.Validate(c); err != nil {
		return Flow{}, err
	}
	return k.Open(t.Context(), c, tools)
}

// made is the flow of options.
func made(ctx context.Context, o interface {
	check() error
	open(ctx context.Context, t Tools) (Flow, error)
}, text Text, s *numpy.Streams) (Flow, error) {
	if err := o.check(); err != nil {
		return Flow{}, err
	}
	return o.open(ctx, testTools{toyTools{notes: new([]string)}, text, s})
}

// defaults are the options of a data set without flags, for 1000 prompts.
func defaults[T any, O options[T]](name string) T {
	return *Named(Kinds(&Common{}), name).(*kind[T, O]).with(Common{Prompts: 1000})
}

// toyTools has a toy tokenizer on this machine, or none.
type toyTools struct {
	local tokenizer.Tokenizer
	notes *[]string
}

func (t toyTools) Text() Text {
	return Text{Counter: byWords{}, Tokenizer: t.local, Template: roleTags{}}
}
func (t toyTools) Streams() *numpy.Streams                  { return numpy.NewStreams(0) }
func (t toyTools) Local() tokenizer.Tokenizer               { return t.local }
func (t toyTools) Maker() (tokenizer.Tokenizer, error)      { return t.local, nil }
func (t toyTools) RoughMaker() (tokenizer.Tokenizer, error) { return tokenizer.Words{}, nil }
func (t toyTools) NoMaker() error                           { return errors.New("no tokenizer") }
func (t toyTools) TokenIDs() Vocabulary                     { return AssumedVocabulary() }
func (t toyTools) Lasting() context.Context                 { return context.Background() }
func (t toyTools) Note(text string)                         { *t.notes = append(*t.notes, text) }
func (t toyTools) Hub() *hub.Hub {
	return hub.New(hub.Options{Env: func(string) string { return "" }, Client: &http.Client{}})
}

// testTools are Tools with a text and generators of a test's own.
type testTools struct {
	toyTools
	text    Text
	streams *numpy.Streams
}

func (g testTools) Text() Text              { return g.text }
func (g testTools) Streams() *numpy.Streams { return g.streams }

// wordTools count words and render with roleTags.
func wordTools() Tools { return toyTools{notes: new([]string)} }
