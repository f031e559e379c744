package tokenizer

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"benchtop/internal/jsonscan"
)

// pipeline is what a class of transformers makes of a tokenizer.json. It takes vocabulary, merges and added tokens from
// the file, and sets up the rest by itself. The stages are as in such a file.
type pipeline struct {
	Options  []string     // settings of tokenizer_config.json that the class takes
	Settings classOptions `json:"defaults"`
	Nulls    string       // what null means in place of a setting: "default" or "false", "" where it is refused

	Model        modelFields     // but vocabulary and merges
	Unknown      bool            // the model has the unknown token
	Normalizer   json.RawMessage // "$name" stands in a stage for a setting
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Decoder      json.RawMessage
	Special      []string // names of special tokens and the tokens, where no file gives others
	// Frame are the tokens around a text, or their names, with "" in the place of the text; nil keeps the file's. A
	// token that is not there is the unknown one.
	Frame []string
	// special tokens that lose properties such as lstrip that the files give them: "bare" or "all" ones, "" for none
	Plain string
}

// classOptions are settings of classes. The last three follow from the others and the file.
type classOptions struct {
	PrefixSpace bool  `json:"add_prefix_space"`
	Legacy      bool  `json:"legacy"`
	Lower       bool  `json:"do_lower_case"`
	Ideographs  bool  `json:"tokenize_chinese_chars"`
	Accents     *bool `json:"strip_accents"`
	ExtraIDs    int   `json:"extra_ids"` // of T5

	Scheme   string          `json:"prepend_scheme"`
	Stripped int             `json:"stripped"` // blanks at the beginning of decoded text
	Charsmap json.RawMessage `json:"charsmap"` // stage with a SentencePiece model's own characters, nil for none
}

// maxExtraIDs is more than any model has.
const maxExtraIDs = 10_000

// unknownOptions are settings of Whisper's class that are not known here.
var unknownOptions = []string{"language", "task", "predict_timestamps"}

// optionNames are the names of settings that classes take.
var optionNames = append([]string{"add_prefix_space", "legacy", "do_lower_case", "tokenize_chinese_chars",
	"strip_accents", "extra_ids"}, unknownOptions...)

// classPipelines are the pipelines by the names of their classes.
//
//go:embed classes.json
var classPipelines []byte

// pipelineOf returns the pipeline of a class, nil for one that is not here. The error says why transformers would not
// take the settings that are given.
func pipelineOf(class string, given map[string]json.RawMessage, charsmap json.RawMessage) (*pipeline, error) {
	var all map[string]*pipeline
	if err := json.Unmarshal(classPipelines, &all); err != nil {
		panic(err) // the file is ours
	}
	p := all[class]
	if p == nil {
		return nil, nil
	}
	o := &p.Settings
	o.Charsmap = charsmap
	if err := p.take(given); err != nil {
		return p, err
	}
	switch o.Scheme, o.Stripped = "first", 1; {
	case !o.PrefixSpace:
		o.Scheme, o.Stripped = "never", 0
	case o.Legacy:
		o.Scheme = "always"
	}
	values, _ := json.Marshal(o) // numbers, and a stage of checked JSON
	var pairs []string
	for name, value := range jsonscan.Members(values) {
		pairs = append(pairs, `"$`+string(name[1:]), string(value))
	}
	fill := strings.NewReplacer(pairs...)
	for _, stage := range []*json.RawMessage{&p.Normalizer, &p.PreTokenizer, &p.Decoder} {
		*stage = json.RawMessage(fill.Replace(string(*stage)))
	}
	return p, nil
}

// take takes the settings that are given.
func (p *pipeline) take(given map[string]json.RawMessage) error {
	options := map[string]json.RawMessage{}
	for _, name := range p.Options {
		value, isGiven := given[name]
		switch {
		case !isGiven:
			continue
		case slices.Contains(unknownOptions, name):
			if !isNull(value) && string(value) != "false" {
				return fmt.Errorf("%s is set", name)
			}
			continue
		case !isNull(value), name == "legacy", name == "strip_accents", p.Nulls == "default":
		case p.Nulls == "false":
			value = json.RawMessage("false")
		default:
			return fmt.Errorf("%s is null", name)
		}
		options[name] = value
	}
	all, _ := json.Marshal(options) // checked JSON
	if err := json.Unmarshal(all, &p.Settings); err != nil {
		return plainly(err)
	}
	if p.Settings.ExtraIDs > maxExtraIDs {
		return fmt.Errorf("extra_ids is above %d, the most that is taken", maxExtraIDs)
	}
	return nil
}

// setUp changes the file's parts as the tokenizer's class does in transformers. Where that is not known here, the parts
// stay as they are, and the counts may differ: then it returns the reason.
func (l *Local) setUp(all sections, fields *modelFields) (doubt string, err error) {
	s := l.settings
	defer s.settleExtra()
	class := s.names.resolve()
	if class == genericClass || class == "" {
		s.generic = class != "" || s.configured
		return s.names.doubt(), nil
	}
	charsmap, err := precompiledStage(all["normalizer"])
	if err != nil {
		return "", err
	}
	p, problem := pipelineOf(class, s.options, charsmap)
	switch {
	case p == nil:
		return class + " sets itself up instead of following tokenizer.json, in an unsupported way", nil
	case problem == nil && p.Model.Type != fields.kind():
		problem = fmt.Errorf("the model is of type %s", fields.kind())
	case problem == nil:
		problem = s.usePipeline(p)
	}
	if problem != nil {
		return fmt.Sprintf("%s is not set up here, because %v", class, problem), nil
	}
	if !s.hasKnown {
		if s.known, err = fileTokens(all["added_tokens"]); err != nil {
			return "", fmt.Errorf("added_tokens: %w", err)
		}
		s.hasKnown = true
	}
	p.Model.Vocab, p.Model.Merges = fields.Vocab, fields.Merges
	if p.Unknown {
		p.Model.Unknown = new(s.text("unk_token"))
	}
	*fields = p.Model
	all["normalizer"], all["pre_tokenizer"], all["decoder"], all["added_tokens"] = p.Normalizer, p.PreTokenizer,
		p.Decoder, nil
	l.pipeline = p
	return s.names.doubt(), nil
}

// doubt is that of a model that comes with a class of its own, "" for others.
func (n *classHints) doubt() string {
	if n.remote && !slices.Contains(wronglyNamed, n.modelType) {
		return "the model comes with a tokenizer class of its own, which a server that trusts it follows"
	}
	return ""
}

// usePipeline completes the settings by a class; an error says why transformers would not take them.
func (s *settings) usePipeline(p *pipeline) error {
	var defaults []namedToken
	for pair := range slices.Chunk(p.Special, 2) {
		name, text := pair[0], pair[1]
		if !slices.ContainsFunc(s.common, func(n namedToken) bool { return n.name == name }) {
			defaults = append(defaults, namedToken{name, addedToken{content: text, special: true, bare: true}})
		}
	}
	whole := settings{common: append(slices.Clone(s.common), defaults...)}
	needed := slices.DeleteFunc(slices.Clone(p.Frame),
		func(name string) bool { return !slices.Contains(commonNames[:], name) })
	if p.Unknown {
		needed = append(needed, "unk_token")
	}
	for _, name := range needed {
		if whole.text(name) == "" {
			return fmt.Errorf("%s is null", name)
		}
	}
	if slices.Contains(p.Options, "extra_ids") {
		if err := s.addExtraIDs(max(0, p.Settings.ExtraIDs)); err != nil {
			return err
		}
	}
	s.common = whole.common
	return nil
}

// addExtraIDs completes the special tokens without a name by those of T5, <extra_id_0> and so on.
func (s *settings) addExtraIDs(count int) error {
	there := 0
	for _, t := range s.additional {
		if strings.Contains(t.content, "<extra_id_") {
			there++
		}
	}
	switch {
	case there == 0:
		for i := range count {
			s.additional = append(s.additional,
				addedToken{content: fmt.Sprintf("<extra_id_%d>", i), special: true, bare: true})
		}
	case count > 0 && count != there:
		return fmt.Errorf("extra_ids is %d, and additional_special_tokens has %d of them", count, there)
	}
	return nil
}

// complete sets up the class's special tokens and frame, once the added tokens are there.
func (p *pipeline) complete(l *Local) {
	known := map[string]bool{}
	for _, t := range l.settings.known {
		known[t.content] = true
	}
	tokens := slices.Clone(l.settings.extra)
	for _, n := range l.settings.named() {
		n.token.bare = n.token.bare && !known[n.token.content]
		tokens = append(tokens, n.token)
	}
	for _, t := range tokens {
		if p.Plain == "all" || p.Plain == "bare" && t.bare {
			l.added.add(addedToken{content: t.content, special: true})
		}
	}
	if p.Frame == nil {
		return
	}
	l.frame = frame{}
	ids := &l.frame.before
	for _, name := range p.Frame {
		if name == "" {
			ids = &l.frame.after
			continue
		}
		*ids = append(*ids, l.idOf(cmp.Or(l.settings.text(name), name)))
	}
}

// idOf is the id of a token, or of the unknown one.
func (l *Local) idOf(text string) int {
	if i, is := l.added.at[text]; is {
		return l.added.tokens[i].id
	}
	if id := l.vocab.find(text); id >= 0 {
		return int(id)
	}
	return l.added.tokens[l.added.at[l.settings.text("unk_token")]].id
}
