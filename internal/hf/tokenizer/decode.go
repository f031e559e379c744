package tokenizer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoder turns the texts of tokens into text, a stage at a time; the tokens that the last leaves are joined.
type decoder []namedStage

type namedStage struct {
	name   string // the type in the file
	change decodeStage
	growth int // how many times as long a text can become, rounded up
}

// decodeStage may change the list it is given, and return it.
type decodeStage func(tokens []string) []string

func (d decoder) decode(tokens []string) string {
	for _, stage := range d {
		tokens = stage.change(tokens)
	}
	return strings.Join(tokens, "")
}

// isByteLevel reports whether d does nothing but read the byte alphabet.
func (d decoder) isByteLevel() bool { return len(d) == 1 && d[0].name == "ByteLevel" }

// decoderFields is a decoder object of a tokenizer.json. Fields that do not concern text, such as trim_offsets, are
// there so that they are not taken for unknown.
type decoderFields struct {
	Type        string            `json:"type"`
	Decoders    []json.RawMessage `json:"decoders"`
	Pattern     *stringOrRegex    `json:"pattern"`
	Content     string            `json:"content"`
	Start       int               `json:"start"`
	Stop        int               `json:"stop"`
	Replacement string            `json:"replacement"`
	Scheme      string            `json:"prepend_scheme"`
	PrefixSpace *bool             `json:"add_prefix_space"`
	Prefix      *string           `json:"prefix"`
	Cleanup     *bool             `json:"cleanup"`
	Suffix      *string           `json:"suffix"`

	Split       any `json:"split"`
	StrRep      any `json:"str_rep"`
	TrimOffsets any `json:"trim_offsets"`
	UseRegex    any `json:"use_regex"`
}

// maxNesting bounds how deep sequences may lie in one another.
const maxNesting = 8

// maxGrowth bounds how many times as long a text may become in all stages together: Replace can stand in a file so
// often that no memory would hold the result.
const maxGrowth = 64

// readDecoder reads the decoder of a tokenizer.json; nil if there is none.
func readDecoder(raw json.RawMessage) (decoder, error) {
	d, err := readStages(raw, 0)
	if err != nil {
		return nil, err
	}
	growth := 1
	for _, stage := range d {
		if growth *= max(1, stage.growth); growth > maxGrowth {
			return nil, fmt.Errorf("a text could become more than %d times as long", maxGrowth)
		}
	}
	return d, nil
}

func readStages(raw json.RawMessage, depth int) (decoder, error) {
	if isNull(raw) {
		return nil, nil
	}
	var f decoderFields
	if err := strict(raw, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Type, err)
	}
	if f.Type == "Sequence" {
		return f.sequence(depth)
	}
	stage, err := f.stage()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Type, err)
	}
	growth := 1
	if f.Type == "Replace" {
		growth = (len(f.Content) + len(*f.Pattern.String) - 1) / len(*f.Pattern.String)
	}
	return decoder{{f.Type, stage, growth}}, nil
}

func (f *decoderFields) sequence(depth int) (decoder, error) {
	if depth >= maxNesting {
		return nil, errors.New("sequences lie too deep in one another")
	}
	d := decoder{} // a sequence of none still joins without blanks
	for _, raw := range f.Decoders {
		stages, err := readStages(raw, depth+1)
		if err != nil {
			return nil, err
		}
		d = append(d, stages...)
	}
	return d, nil
}

func (f *decoderFields) stage() (decodeStage, error) {
	switch f.Type {
	case "ByteLevel":
		return decodeByteLevel, nil
	case "ByteFallback":
		return decodeByteFallback, nil
	case "Fuse":
		return func(tokens []string) []string { return []string{strings.Join(tokens, "")} }, nil
	case "Replace":
		if f.Pattern == nil || f.Pattern.String == nil || *f.Pattern.String == "" {
			return nil, errors.New("a pattern that is not a string, or is empty, is not supported")
		}
		return eachToken(func(_ int, token string) string {
			return strings.ReplaceAll(token, *f.Pattern.String, f.Content)
		}), nil
	case "Strip":
		if utf8.RuneCountInString(f.Content) != 1 || f.Start < 0 || f.Stop < 0 {
			return nil, errors.New("content must be one character, start and stop must not be negative")
		}
		return eachToken(f.strip), nil
	case "Metaspace":
		return f.metaspace()
	case "WordPiece":
		return f.wordPiece(), nil
	case "BPEDecoder":
		return decodeSuffix(valueOf(f.Suffix, "</w>")), nil
	}
	return nil, errors.New("this type of decoder is not known")
}

// eachToken is a stage that changes every token by itself.
func eachToken(change func(i int, token string) string) decodeStage {
	return func(tokens []string) []string {
		for i, token := range tokens {
			tokens[i] = change(i, token)
		}
		return tokens
	}
}

// strip takes the content away up to Start times at the beginning and up to Stop times at the end.
func (f *decoderFields) strip(_ int, token string) string {
	for n := 0; n < f.Start && strings.HasPrefix(token, f.Content); n++ {
		token = token[len(f.Content):]
	}
	for n := 0; n < f.Stop && strings.HasSuffix(token, f.Content); n++ {
		token = token[:len(token)-len(f.Content)]
	}
	return token
}

// decodeByteFallback joins the tokens <0x00> … <0xFF> that follow one another into text. If the bytes are not UTF-8,
// each of them is a U+FFFD of its own.
func decodeByteFallback(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	var run []byte
	flush := func() {
		if len(run) > 0 && utf8.Valid(run) {
			out = append(out, string(run))
		} else {
			out = append(out, slices.Repeat([]string{"\uFFFD"}, len(run))...)
		}
		run = run[:0]
	}
	for _, token := range tokens {
		if len(token) == 6 && strings.HasPrefix(token, "<0x") && token[5] == '>' {
			if b, err := strconv.ParseUint(token[3:5], 16, 8); err == nil {
				run = append(run, byte(b))
				continue
			}
		}
		flush()
		out = append(out, token)
	}
	flush()
	return out
}

// metaspace puts blanks for the visible blank, and drops those of the first token if encoding puts one there.
func (f *decoderFields) metaspace() (decodeStage, error) {
	if utf8.RuneCountInString(f.Replacement) != 1 {
		return nil, fmt.Errorf("replacement %q is not one character", f.Replacement)
	}
	scheme := f.Scheme
	if scheme == "" && !valueOf(f.PrefixSpace, true) {
		scheme = "never"
	}
	if scheme = cmp.Or(scheme, "always"); !slices.Contains(prependSchemes, scheme) {
		return nil, fmt.Errorf("prepend_scheme %q is not known", scheme)
	}
	return eachToken(func(i int, token string) string {
		blank := " "
		if i == 0 && scheme != "never" {
			blank = ""
		}
		return strings.ReplaceAll(token, f.Replacement, blank)
	}), nil
}

// wordPiece puts a blank before every token that does not go on a word.
func (f *decoderFields) wordPiece() decodeStage {
	prefix, cleanup := valueOf(f.Prefix, wordPiecePrefix), valueOf(f.Cleanup, true)
	return eachToken(func(i int, token string) string {
		if rest, goesOn := strings.CutPrefix(token, prefix); i > 0 && goesOn {
			token = rest
		} else if i > 0 {
			token = " " + token
		}
		if cleanup {
			token = cleanUp(token, true)
		}
		return token
	})
}

// cleanUp takes away blanks that English does not write, one rule after the other. Shorten also turns "do not" into
// "don't", which a decoder does to a token and the clean-up of a whole text does not.
func cleanUp(text string, shorten bool) string {
	if !strings.Contains(text, " ") {
		return text
	}
	for _, rule := range [...][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		if shorten || rule[0] != " do not" {
			text = strings.ReplaceAll(text, rule[0], rule[1])
		}
	}
	return text
}

// decodeSuffix puts a blank for the mark that a word ends, but none behind the last word.
func decodeSuffix(suffix string) decodeStage {
	return func(tokens []string) []string {
		for i, token := range tokens {
			blank := " "
			if i == len(tokens)-1 {
				blank = ""
			}
			if suffix != "" {
				tokens[i] = strings.ReplaceAll(token, suffix, blank)
			}
		}
		return tokens
	}
}

// validText returns text with U+FFFD for every maximal part that is not UTF-8 (the Unicode standard's "substitution of
// maximal subparts", which Python and Rust follow): the bytes of a character cut short are one part, where
// strings.ToValidUTF8 would also join the bad parts beside it.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n <= 1 {
			for n = 1; n < len(text) && !utf8.FullRuneInString(text[:n+1]); n++ {
			}
			b.WriteRune(utf8.RuneError)
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}
