package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"benchtop/datasets/jsonscan"
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

// eachMember calls each for the members of an object, in JSON that has been checked.
func eachMember(object []byte, each func(name string, value []byte) error) error {
	object = bytes.TrimSpace(object)
	if object[0] != '{' {
		return errors.New("is not an object")
	}
	for quoted, value := range jsonscan.Members(object) {
		name, err := textOf(quoted)
		if err == nil {
			err = each(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachElement calls each for the elements of an array.
func eachElement(array []byte, each func(value []byte) error) error {
	if array[0] != '[' {
		return errors.New("is not a list")
	}
	for value := range jsonscan.Elements(array) {
		if err := each(value); err != nil {
			return err
		}
	}
	return nil
}

// two are the first two elements of an array; n is how many it has.
func two(array []byte) (first, second []byte, n int, err error) {
	err = eachElement(array, func(value []byte) error {
		switch n++; n {
		case 1:
			first = value
		case 2:
			second = value
		}
		return nil
	})
	return first, second, n, err
}

// textOf is the text of a string.
func textOf(value []byte) (string, error) {
	text, err := appendText(nil, value)
	return string(text), err
}

// appendText appends the text of a string. Half a surrogate pair is no text.
func appendText(text, value []byte) ([]byte, error) {
	if !jsonscan.IsString(value) {
		return text, fmt.Errorf("%.40q stands where a string should", value)
	}
	text, err := jsonscan.AppendText(text, value)
	if err != nil {
		return text, fmt.Errorf("the string %.40q holds half a surrogate pair", value[1:len(value)-1])
	}
	return text, nil
}

// wholeOf is a number that must be an integer from 0 to limit.
func wholeOf(digits []byte, limit int) (int, error) {
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%.40q stands where a number from 0 to %d should", digits, limit)
		}
		if n = n*10 + int(c-'0'); n > limit {
			return 0, fmt.Errorf("%.40s is above %d, the most that is taken", digits, limit)
		}
	}
	return n, nil
}

// strict decodes a JSON object into a struct that knows all the fields there may be: one it does not know could change
// the result.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// isNull reports whether there is no value, or null.
func isNull(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}
