package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Stages within stages, deeper than any file that means it.
const maxStages = 20

// readObject reads the object of a stage, in the field of that name; the zero value for one that is null or absent.
func readObject[T any](field string, raw json.RawMessage, depth int, read func(kind string, raw json.RawMessage, depth int) (T, error)) (stage T, err error) {
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
func readSequence[T any](all []json.RawMessage, depth int, read func(raw json.RawMessage, depth int) (T, error)) ([]T, error) {
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

// readStage reads the settings of a stage. Every field must be known, since an unknown one may change what comes out, and
// the required ones must be there and not null.
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

// plainly is an error of decoding without the names of Go types.
func plainly(err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Errorf("field %q cannot be a %s", strings.ToLower(mismatch.Field), mismatch.Value)
	case errors.As(err, &mismatch):
		return fmt.Errorf("want an object, not a %s", mismatch.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// finder calls found with the byte offsets of every match in text, from left to right.
type finder func(text string, found func(start, end int)) error

// readFinder reads {"String": …} or {"Regex": …}.
func readFinder(raw json.RawMessage) (finder, error) {
	var s struct{ String, Regex *string }
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
