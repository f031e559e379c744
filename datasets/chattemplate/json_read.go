package chattemplate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxNesting bounds the depth of JSON, far above what a chat needs and far below what a stack takes.
const maxNesting = 200

// readJSON makes a value of JSON, members in their order. Numbers that Python reads and Go cannot are refused.
func readJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

func readValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Number:
		return readNumber(t.String())
	case json.Delim:
		if depth == maxNesting {
			return nil, fmt.Errorf("JSON nested deeper than %d", maxNesting)
		}
		if t == '[' {
			return readList(d, depth+1)
		}
		return readDict(d, depth+1)
	}
	return token, nil
}

func readNumber(s string) (any, error) {
	if strings.ContainsAny(s, ".eE") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("number %s is too large", s)
		}
		return v, nil
	}
	v, err := strconv.Atoi(s)
	if err != nil {
		return nil, fmt.Errorf("number %s is too large", s)
	}
	return v, nil
}

func readList(d *json.Decoder, depth int) (any, error) {
	items := []any{}
	for d.More() {
		v, err := readValue(d, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	_, err := d.Token()
	return newList(items), err
}

func readDict(d *json.Decoder, depth int) (any, error) {
	out := newDict()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(d, depth)
		if err != nil {
			return nil, err
		}
		if err := out.set(key, v); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}
