package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// checkJSON says where a file is not JSON, or not UTF-8.
func checkJSON(file []byte) error {
	if len(file) == 0 {
		return errors.New("the file is empty")
	}
	if !json.Valid(file) {
		var any json.RawMessage
		err := json.Unmarshal(file, &any)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("byte %d: %w; is the file complete?", syntax.Offset, err)
		}
		return err
	}
	if !utf8.Valid(file) {
		return errors.New("the file is not UTF-8")
	}
	return nil
}

// readSpecialToken takes a text, or a text with its properties.
func readSpecialToken(value []byte) (addedToken, error) {
	if value[0] == '"' {
		w := walker{data: value}
		text, err := w.string()
		if err == nil && len(text) > maxTokenBytes {
			err = fmt.Errorf("a token of %d bytes, more than the %d that are taken", len(text), maxTokenBytes)
		}
		return addedToken{content: string(text), special: true}, err
	}
	var f addedFields
	if err := json.Unmarshal(value, &f); err != nil {
		return addedToken{}, err
	}
	return f.token()
}

// tokenNamed takes {"name": token, …}.
func tokenNamed(value []byte) ([]namedToken, error) {
	var all []namedToken
	w := walker{data: value}
	err := w.object(func(key []byte) error {
		name := string(key)
		t, err := readSpecialToken(w.value())
		all = append(all, namedToken{name, t})
		return err
	})
	return all, err
}

// readList takes [token, …].
func readList(value []byte) ([]addedToken, error) {
	all := []addedToken{}
	w := walker{data: value}
	err := w.array(func() error {
		t, err := readSpecialToken(w.value())
		all = append(all, t)
		return err
	})
	return all, err
}

// readNumbered takes {"id": token, …} and returns the tokens in the order of the ids, which count for nothing else.
func readNumbered(value []byte) ([]addedToken, error) {
	type numbered struct {
		id    int
		token addedToken
	}
	var all []numbered
	w := walker{data: value}
	err := w.object(func(key []byte) error {
		id, err := strconv.Atoi(string(key))
		if err != nil {
			return fmt.Errorf("%.40q is not a token id", key)
		}
		var f addedFields
		if err := json.Unmarshal(w.value(), &f); err != nil {
			return err
		}
		t, err := f.token()
		all = append(all, numbered{id, t})
		return err
	})
	slices.SortStableFunc(all, func(a, b numbered) int { return a.id - b.id })
	tokens := make([]addedToken, len(all))
	for i, n := range all {
		tokens[i] = n.token
	}
	return tokens, err
}
