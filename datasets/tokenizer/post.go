package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
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
			return fr, errors.New("the template for a single text has a part that is neither the text nor a special token")
		}
	}
	if texts != 1 {
		return fr, fmt.Errorf("the template has the text %d times instead of once", texts)
	}
	return fr, nil
}

// size is how many tokens it puts.
func (f frame) size() int { return len(f.before) + len(f.after) }
