package tokenizer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// pipeline is what a class of transformers makes of a tokenizer.json. It takes vocabulary, merges and added tokens from the
// file, and sets up the rest by itself. The stages are as in such a file, "" for none.
type pipeline struct {
	model      modelFields // but vocabulary and merges
	hasUnknown bool        // the model has the unknown token
	normalizer string
	splitter   string
	decoder    string
	special    []string // names of special tokens and the tokens, where no file gives others
	// frame are the tokens around a text, or their names, with "" in the place of the text; nil keeps the file's.
	frame    []string
	plain    plainTokens
	extraIDs int // how many extra ids T5 has, -1 for other classes
}

// plainTokens says which special tokens lose properties such as lstrip that the files give them.
type plainTokens int

const (
	noPlainTokens plainTokens = iota
	plainBareTokens
	plainAllTokens
)

// classOptions are settings of tokenizer_config.json that classes take.
type classOptions struct {
	PrefixSpace *bool `json:"add_prefix_space"`
	Legacy      *bool `json:"legacy"`
	Lower       *bool `json:"do_lower_case"`
	Ideographs  *bool `json:"tokenize_chinese_chars"`
	Accents     *bool `json:"strip_accents"`
	ExtraIDs    *int  `json:"extra_ids"`
}

// maxExtraIDs is more than any model has.
const maxExtraIDs = 10_000

// optionNames are the names of classOptions, and of Whisper's, which are not known here.
var optionNames = []string{"add_prefix_space", "legacy", "do_lower_case", "tokenize_chinese_chars", "strip_accents", "extra_ids", "language", "task", "predict_timestamps"}

// Stages that several classes have.
const (
	byteLevelDecoder    = `{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}`
	visibleBlankDecoder = `{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}`
	nfc                 = `{"type":"NFC"}`
	qwen2Pattern        = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen35Pattern       = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// pipelineOf returns the pipeline of a class; known is false for one that is not here. charsmap is the file's stage with a
// SentencePiece model's own characters, "" for none.
func pipelineOf(class string, o classOptions, charsmap string) (p pipeline, known bool) {
	prefix := valueOf(o.PrefixSpace, false)
	p = pipeline{model: modelFields{Type: "BPE"}, extraIDs: -1}
	switch class {
	case "LlamaTokenizer":
		p.llama(o)
	case "GemmaTokenizer":
		p.model.Fuse, p.model.ByteFallback, p.hasUnknown = true, true, true
		p.normalizer = `{"type":"Replace","pattern":{"String":" "},"content":"▁"}`
		p.splitter = `{"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false}`
		p.decoder = sequence("decoders", visibleBlankDecoder)
		p.special = []string{"unk_token", "<unk>", "bos_token", "<bos>", "eos_token", "<eos>", "pad_token", "<pad>", "mask_token", "<mask>"}
	case "Qwen2Tokenizer", "Qwen3_5Tokenizer":
		pattern := qwen35Pattern
		if class == "Qwen2Tokenizer" {
			pattern, p.plain = qwen2Pattern, plainAllTokens
		}
		quoted, _ := json.Marshal(pattern) // a text can always be written
		p.normalizer, p.decoder = nfc, byteLevelDecoder
		p.splitter = sequence("pretokenizers", fmt.Sprintf(`{"type":"Split","pattern":{"Regex":%s},"behavior":"Isolated","invert":false}`, quoted),
			byteLevelStage(prefix, false))
		p.special = []string{"unk_token", "<|endoftext|>", "bos_token", "", "eos_token", "<|endoftext|>", "pad_token", "<|endoftext|>"}
	case "GPT2Tokenizer", "CodeGenTokenizer":
		p.splitter, p.decoder = byteLevelStage(prefix, true), byteLevelDecoder
		p.special = []string{"unk_token", "<|endoftext|>", "bos_token", "<|endoftext|>", "eos_token", "<|endoftext|>", "pad_token", ""}
	case "WhisperTokenizer":
		p.splitter, p.decoder = byteLevelStage(prefix, true), byteLevelDecoder
		p.special = []string{"unk_token", "<|endoftext|>", "bos_token", "<|endoftext|>", "eos_token", "<|endoftext|>"}
		p.frame = []string{"<|startoftranscript|>", "<|notimestamps|>", "", "eos_token"} // a token that is not there is the unknown one
	case "GPTNeoXTokenizer":
		p.normalizer, p.splitter, p.decoder, p.frame = nfc, byteLevelStage(prefix, true), byteLevelDecoder, []string{""}
		p.special = []string{"unk_token", "<|endoftext|>", "bos_token", "<|endoftext|>", "eos_token", "<|endoftext|>", "pad_token", "<|padding|>"}
	case "CohereTokenizer":
		p.normalizer, p.decoder, p.plain = nfc, byteLevelDecoder, plainBareTokens
		p.splitter = sequence("pretokenizers", `{"type":"Digits","individual_digits":true}`, byteLevelStage(prefix, true))
		p.special = []string{"unk_token", "<UNK>", "bos_token", "<BOS_TOKEN>", "eos_token", "<|END_OF_TURN_TOKEN|>", "pad_token", "<PAD>",
			"cls_token", "<CLS>", "sep_token", "<SEP>", "mask_token", "<MASK_TOKEN>"}
	case "RobertaTokenizer":
		p.splitter, p.decoder, p.frame = byteLevelStage(prefix, true), byteLevelDecoder, []string{"cls_token", "", "sep_token"}
		p.special = robertaTokens
	case "XLMRobertaTokenizer":
		p.unigram(3, charsmap, valueOf(o.PrefixSpace, true))
		p.special, p.frame = robertaTokens, []string{"bos_token", "", "eos_token"}
	case "T5Tokenizer":
		p.unigram(2, charsmap, true)
		p.special, p.frame = []string{"eos_token", "</s>", "unk_token", "<unk>", "pad_token", "<pad>"}, []string{"", "eos_token"}
		p.extraIDs = max(0, valueOf(o.ExtraIDs, 100))
	case "BertTokenizer":
		p.bert(o)
	default:
		return p, false
	}
	return p, true
}

var robertaTokens = []string{"bos_token", "<s>", "eos_token", "</s>", "sep_token", "</s>", "cls_token", "<s>", "unk_token", "<unk>",
	"pad_token", "<pad>", "mask_token", "<mask>"}

func (p *pipeline) llama(o classOptions) {
	scheme, decoders := "first", []string{visibleBlankDecoder, `{"type":"Strip","content":" ","start":1,"stop":0}`}
	switch {
	case !valueOf(o.PrefixSpace, true):
		scheme, decoders = "never", decoders[:1]
	case valueOf(o.Legacy, false):
		scheme = "always"
	}
	p.model.Fuse, p.model.ByteFallback = true, true
	p.splitter, p.decoder = metaspaceStage(scheme, false), sequence("decoders", decoders...)
	p.special = []string{"unk_token", "<unk>", "bos_token", "<s>", "eos_token", "</s>"}
}

// unigram sets up the classes of SentencePiece's Unigram models.
func (p *pipeline) unigram(unknown int, charsmap string, prefix bool) {
	scheme := "always"
	if !prefix {
		scheme = "never"
	}
	p.model = modelFields{Type: "Unigram", UnknownID: &unknown}
	p.normalizer, p.decoder = charsmap, metaspaceStage(scheme, true)
	p.splitter = sequence("pretokenizers", `{"type":"WhitespaceSplit"}`, metaspaceStage(scheme, true))
}

func (p *pipeline) bert(o classOptions) {
	accents := "null"
	if o.Accents != nil {
		accents = fmt.Sprint(*o.Accents)
	}
	p.model, p.hasUnknown = modelFields{Type: "WordPiece"}, true
	p.normalizer = fmt.Sprintf(`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":%t,"strip_accents":%s,"lowercase":%t}`,
		valueOf(o.Ideographs, true), accents, valueOf(o.Lower, true))
	p.splitter, p.decoder = `{"type":"BertPreTokenizer"}`, `{"type":"WordPiece","prefix":"##","cleanup":true}`
	p.special = []string{"unk_token", "[UNK]", "sep_token", "[SEP]", "pad_token", "[PAD]", "cls_token", "[CLS]", "mask_token", "[MASK]"}
	p.frame = []string{"cls_token", "", "sep_token"}
}

func sequence(of string, stages ...string) string {
	return fmt.Sprintf(`{"type":"Sequence","%s":[%s]}`, of, strings.Join(stages, ","))
}

func byteLevelStage(prefix, words bool) string {
	return fmt.Sprintf(`{"type":"ByteLevel","add_prefix_space":%t,"trim_offsets":true,"use_regex":%t}`, prefix, words)
}

func metaspaceStage(scheme string, split bool) string {
	return fmt.Sprintf(`{"type":"Metaspace","replacement":"▁","prepend_scheme":%q,"split":%t}`, scheme, split)
}

// setUp changes the file's parts as the tokenizer's class does in transformers. Where that is not known here, the parts stay as
// they are, and the counts may differ: then it returns the reason.
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
	o, problem := s.classOptions(class)
	p, known := pipelineOf(class, o, charsmap)
	switch {
	case !known:
		return class + " sets itself up instead of following tokenizer.json, in an unsupported way", nil
	case problem == nil && p.model.Type != fields.kind():
		problem = fmt.Errorf("the model is of type %s", fields.kind())
	}
	if problem == nil {
		problem = s.usePipeline(&p)
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
	p.model.Vocab, p.model.Merges = fields.Vocab, fields.Merges
	if p.hasUnknown {
		p.model.Unknown = new(s.text("unk_token"))
	}
	*fields = p.model
	all["normalizer"], all["pre_tokenizer"], all["decoder"] = json.RawMessage(p.normalizer), json.RawMessage(p.splitter), json.RawMessage(p.decoder)
	all["added_tokens"] = nil
	l.pipeline = &p
	return s.names.doubt(), nil
}

// doubt is that of a model that comes with a class of its own, "" for others.
func (n *naming) doubt() string {
	if n.remote && !slices.Contains(wronglyNamed, n.modelType) {
		return "the model comes with a tokenizer class of its own, which a server that trusts it follows"
	}
	return ""
}

// optionsOf are the options that a class takes.
func optionsOf(class string) []string {
	switch class {
	case "GemmaTokenizer":
		return nil
	case "BertTokenizer":
		return []string{"do_lower_case", "tokenize_chinese_chars", "strip_accents"}
	case "T5Tokenizer":
		return []string{"extra_ids"}
	case "LlamaTokenizer":
		return []string{"add_prefix_space", "legacy"}
	case "WhisperTokenizer":
		return []string{"add_prefix_space", "language", "task", "predict_timestamps"}
	}
	return []string{"add_prefix_space"}
}

// classOptions are the options for a class; an error says why transformers would not take them. A null is the default for some
// classes, and false for one.
func (s *settings) classOptions(class string) (o classOptions, err error) {
	options := map[string]json.RawMessage{}
	for _, name := range optionsOf(class) {
		value, given := s.options[name]
		switch {
		case !given:
			continue
		case class == "WhisperTokenizer" && name != "add_prefix_space":
			if !isNull(value) && string(value) != "false" {
				return o, fmt.Errorf("%s is set", name)
			}
			continue
		case !isNull(value), name == "legacy", name == "strip_accents", class == "LlamaTokenizer", class == "Qwen2Tokenizer", class == "Qwen3_5Tokenizer":
		case class == "XLMRobertaTokenizer":
			value = json.RawMessage("false")
		default:
			return o, fmt.Errorf("%s is null", name)
		}
		options[name] = value
	}
	all, err := json.Marshal(options)
	if err == nil {
		err = json.Unmarshal(all, &o)
	}
	switch {
	case err != nil:
		return o, plainly(err)
	case valueOf(o.ExtraIDs, 0) > maxExtraIDs:
		return o, fmt.Errorf("extra_ids is above %d, the most that is taken", maxExtraIDs)
	}
	return o, nil
}

// usePipeline completes the settings by a class; an error says why transformers would not take them.
func (s *settings) usePipeline(p *pipeline) error {
	var defaults []namedToken
	for i := 0; i < len(p.special); i += 2 {
		name, text := p.special[i], p.special[i+1]
		if !slices.ContainsFunc(s.common, func(n namedToken) bool { return n.name == name }) {
			defaults = append(defaults, namedToken{name, addedToken{content: text, special: true, bare: true}})
		}
	}
	whole := settings{common: append(slices.Clone(s.common), defaults...)}
	needed := slices.DeleteFunc(slices.Clone(p.frame), func(name string) bool { return !slices.Contains(commonNames[:], name) })
	if p.hasUnknown {
		needed = append(needed, "unk_token")
	}
	for _, name := range needed {
		if whole.text(name) == "" {
			return fmt.Errorf("%s is null", name)
		}
	}
	if p.extraIDs >= 0 {
		if err := s.addExtraIDs(p.extraIDs); err != nil {
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
			s.additional = append(s.additional, addedToken{content: fmt.Sprintf("<extra_id_%d>", i), special: true, bare: true})
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
		if p.plain == plainAllTokens || p.plain == plainBareTokens && t.bare {
			l.added.add(addedToken{content: t.content, special: true})
		}
	}
	if p.frame == nil {
		return
	}
	l.frame = frame{}
	ids := &l.frame.before
	for _, name := range p.frame {
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
