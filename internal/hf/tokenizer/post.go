package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// frame are the tokens that a tokenizer puts around a single text: the post_processor of a tokenizer.json.
type frame struct {
	before, after []int
}

// postFields is a post_processor object. Offsets and pairs of texts are not our concern.
type postFields struct {
	Type       string                     `json:"type"`
	Processors []json.RawMessage          `json:"processors"`
	Single     []templatePart             `json:"single"`
	Special    map[string]templateSpecial `json:"special_tokens"`
	Cls        *numberedToken             `json:"cls"`
	Sep        *numberedToken             `json:"sep"`

	Pair        any `json:"pair"`
	PrefixSpace any `json:"add_prefix_space"`
	TrimOffsets any `json:"trim_offsets"`
	UseRegex    any `json:"use_regex"`
}

// templatePart is one of the two.
type templatePart struct {
	Sequence, SpecialToken *struct {
		ID     string `json:"id"`
		TypeID any    `json:"type_id"`
	}
}

// templateSpecial may be several tokens under one name.
type templateSpecial struct {
	ID     any   `json:"id"`
	IDs    []int `json:"ids"`
	Tokens any   `json:"tokens"`
}

// numberedToken is ["text", id].
type numberedToken struct{ id int }

func (n *numberedToken) UnmarshalJSON(raw []byte) error {
	_, id, parts, err := two(raw)
	if err != nil || parts != 2 {
		return fmt.Errorf("%.40q is not a token and its id", raw)
	}
	return json.Unmarshal(id, &n.id)
}

// readFrame reads the post_processor of a tokenizer.json; the zero frame if there is none.
func readFrame(raw json.RawMessage, depth int) (frame, error) {
	if isNull(raw) {
		return frame{}, nil
	}
	var f postFields
	if err := strict(raw, &f); err != nil {
		return frame{}, fmt.Errorf("%s: %w", f.Type, err)
	}
	var fr frame
	var err error
	switch f.Type {
	case "ByteLevel": // moves offsets only
	case "Sequence":
		fr, err = readFrames(f.Processors, depth)
	case "TemplateProcessing":
		fr, err = f.template()
	case "BertProcessing", "RobertaProcessing":
		if f.Cls == nil || f.Sep == nil {
			err = errors.New("has no cls or no sep")
			break
		}
		fr = frame{[]int{f.Cls.id}, []int{f.Sep.id}}
	default:
		err = errors.New("this type of post-processor is not known")
	}
	for _, id := range append(fr.before[:len(fr.before):len(fr.before)], fr.after...) {
		if err == nil && (id < 0 || id > maxID) {
			err = fmt.Errorf("the id %d is not between 0 and %d", id, maxID)
		}
	}
	if err != nil {
		return frame{}, fmt.Errorf("%s: %w", f.Type, err)
	}
	return fr, nil
}

// readFrames reads a sequence, of which one at most may put tokens.
func readFrames(all []json.RawMessage, depth int) (frame, error) {
	if depth >= maxNesting {
		return frame{}, errors.New("sequences lie too deep in one another")
	}
	var whole frame
	for _, raw := range all {
		fr, err := readFrame(raw, depth+1)
		switch {
		case err != nil:
			return frame{}, err
		case fr.size() > 0 && whole.size() > 0:
			return frame{}, errors.New("two post-processors that put tokens around a text are not supported")
		case fr.size() > 0:
			whole = fr
		}
	}
	return whole, nil
}

// template reads "single": special tokens around the text, which stands there once.
func (f *postFields) template() (frame, error) {
	var fr frame
	texts := 0
	for _, part := range f.Single {
		switch {
		case part.Sequence != nil && part.Sequence.ID == "A" && part.SpecialToken == nil:
			texts++
		case part.SpecialToken != nil && part.Sequence == nil:
			special, ok := f.Special[part.SpecialToken.ID]
			if !ok {
				return fr, fmt.Errorf("the template's token %q is not among its special_tokens", part.SpecialToken.ID)
			}
			if texts == 0 {
				fr.before = append(fr.before, special.IDs...)
			} else {
				fr.after = append(fr.after, special.IDs...)
			}
		default:
			return fr, errors.New(
				"the template for a single text has a part that is neither the text nor a special token")
		}
	}
	if texts != 1 {
		return fr, fmt.Errorf("the template has the text %d times instead of once", texts)
	}
	return fr, nil
}

// size is how many tokens it puts.
func (f frame) size() int { return len(f.before) + len(f.after) }

// Stages within stages, deeper than any file that means it.
const maxStages = 20

// readObject reads the object of a stage, in the field of that name; the zero value for one that is null or absent.
func readObject[T any](field string, raw json.RawMessage, depth int,
	read func(kind string, raw json.RawMessage, depth int) (T, error)) (stage T, err error) {
	if isNull(raw) {
		return stage, nil
	}
	kind, err := stageType(raw, depth)
	if err != nil {
		return stage, fmt.Errorf("%s: %w", field, err)
	}
	if stage, err = read(kind, raw, depth); err != nil {
		err = fmt.Errorf("%s %s: %w", field, kind, err)
	}
	return stage, err
}

// readSequence reads the stages of a sequence at that depth.
func readSequence[T any](all []json.RawMessage, depth int,
	read func(raw json.RawMessage, depth int) (T, error)) ([]T, error) {
	stages := make([]T, len(all))
	for i, raw := range all {
		err := errors.New("null")
		if !isNull(raw) {
			stages[i], err = read(raw, depth+1)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return stages, nil
}

// stageType reads what kind of stage an object describes.
func stageType(raw json.RawMessage, depth int) (string, error) {
	var s struct{ Type *string }
	if depth > maxStages {
		return "", errors.New("sequences too deep")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", plainly(err)
	}
	if s.Type == nil || *s.Type == "" {
		return "", errors.New("an object without a type")
	}
	return *s.Type, nil
}

// readStage reads the settings of a stage. Every field must be known, since an unknown one may change what comes out,
// and the required ones must be there and not null.
func readStage(raw json.RawMessage, settings any, required ...string) error {
	if err := strict(raw, settings); err != nil {
		return plainly(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return plainly(err)
	}
	for _, name := range required {
		if isNull(fields[name]) {
			return fmt.Errorf("field %q is missing", name)
		}
	}
	return nil
}

// withSettings reads a stage that make builds of its settings, whose fields are those of S, by default as in usual.
func withSettings[S, T any](usual S, make func(S) (T, error), required ...string) func(json.RawMessage) (T, error) {
	return func(raw json.RawMessage) (stage T, err error) {
		s := usual
		if err := readStage(raw, &s, required...); err != nil {
			return stage, err
		}
		return make(s)
	}
}

// plainly is an error of decoding without the names of Go types.
func plainly(err error) error {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case ok && mismatch.Field != "":
		return fmt.Errorf("field %q cannot be a %s", strings.ToLower(mismatch.Field), mismatch.Value)
	case ok:
		return fmt.Errorf("want an object, not a %s", mismatch.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// finder calls found with the byte offsets of every match in text, from left to right.
type finder func(text string, found func(start, end int)) error

// stringOrRegex is a pattern, {"String": …} or {"Regex": …}. No known decoder has a regular expression.
type stringOrRegex struct{ String, Regex *string }

func readFinder(raw json.RawMessage) (finder, error) {
	var s stringOrRegex
	if err := readStage(raw, &s); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	switch {
	case s.String != nil && s.Regex != nil, s.String == nil && s.Regex == nil:
		return nil, errors.New("pattern: want either String or Regex")
	case s.Regex != nil:
		return findPattern(*s.Regex)
	case *s.String == "":
		return nil, errors.New("pattern: an empty String, which would match between any two characters")
	}
	return findLiteral(*s.String), nil
}

func findLiteral(literal string) finder {
	return func(text string, found func(start, end int)) error {
		for at := 0; ; {
			i := strings.Index(text[at:], literal)
			if i < 0 {
				return nil
			}
			found(at+i, at+i+len(literal))
			at += i + len(literal)
		}
	}
}

// findRunes finds every single character that is says yes to.
func findRunes(is func(rune) bool) finder {
	return func(text string, found func(start, end int)) error {
		for i, r := range text {
			if is(r) {
				found(i, i+runeSize(text[i:]))
			}
		}
		return nil
	}
}
