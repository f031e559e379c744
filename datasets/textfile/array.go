package textfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"benchtop/internal/jsonscan"
)

// EachRow is EachObject for a file with an object on every line, and EachElement for one that begins as an array.
func EachRow(r io.Reader, form string, do func(object []byte, line int) error) error {
	buffered := bufio.NewReader(r)
	head, _ := buffered.Peek(4096)
	if strings.HasPrefix(strings.TrimLeftFunc(strings.TrimPrefix(string(head), "\ufeff"), unicode.IsSpace), "[") {
		return EachElement(buffered, form, do)
	}
	return EachObject(buffered, form, do)
}

// EachElement calls do with every object of a file that is an array of them, and the number of the line that it begins
// on. The object is do's until it returns; its error gets the line. Other elements are errors that say what form was
// expected.
func EachElement(r io.Reader, form string, do func(object []byte, line int) error) error {
	text, err := NewJSONReader(r)
	if err != nil {
		return err
	}
	a := array{text: text, dec: json.NewDecoder(text)}
	if err := a.open(form); err != nil {
		return err
	}
	var raw json.RawMessage // one buffer for all objects
	for a.dec.More() {
		if err := a.dec.Decode(&raw); err != nil {
			return a.located(err)
		}
		line := text.Line(a.dec.InputOffset() - int64(len(raw)))
		if raw[0] != '{' {
			return AtLine(line, fmt.Errorf("expected %s: got %s", form, jsonscan.Kind(raw)))
		}
		if err := do(raw, line); err != nil {
			return AtLine(line, err)
		}
	}
	return a.close()
}

// array is a JSON array in a file, read element by element.
type array struct {
	text *Reader
	dec  *json.Decoder
}

func (a *array) open(form string) error {
	token, err := a.dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the file is empty; expected %s", form)
	case err != nil:
		return a.located(err)
	case token != json.Delim('['):
		return AtLine(a.text.Line(a.dec.InputOffset()), fmt.Errorf("expected %s: got %s", form, tokenKind(token)))
	}
	return nil
}

// close makes sure that the array is complete and the last thing in the file.
func (a *array) close() error {
	if _, err := a.dec.Token(); err != nil {
		return a.located(err)
	}
	_, err := a.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if _, ok := errors.AsType[*LineError](err); ok {
		return err
	}
	return AtLine(a.text.Line(a.dec.InputOffset()), errors.New("the file goes on behind the end of the array"))
}

// located adds the line to an error of the decoder.
func (a *array) located(err error) error {
	if _, ok := errors.AsType[*LineError](err); ok {
		return err // of the text, which knows its line
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends before its array does; is it complete?")
		return AtLine(a.text.Line(a.text.Offset()), err)
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
		return err // of the file system
	}
	return AtLine(a.text.Line(a.dec.InputOffset()+syntaxOffset(a.dec.Buffered())), fmt.Errorf("not JSON: %w", err))
}

// syntaxOffset is how far into the value that r begins with its JSON goes wrong. The decoder's own count of bytes
// leaves out tokens.
func syntaxOffset(r io.Reader) int64 {
	var value json.RawMessage
	syntax, ok := errors.AsType[*json.SyntaxError](json.NewDecoder(r).Decode(&value))
	if !ok {
		return 0
	}
	return max(0, syntax.Offset-1)
}

func tokenKind(token json.Token) string {
	raw, _ := json.Marshal(token) // brackets have no form in JSON, all else does
	if delim, ok := token.(json.Delim); ok {
		raw = []byte(delim.String())
	}
	return jsonscan.Kind(raw)
}
