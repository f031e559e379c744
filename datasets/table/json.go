package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

var errLongRow = fmt.Errorf("the row is longer than %d MiB; is this a file with many rows?", textfile.MaxObject>>20)

// index finds the rows of a text.
type index interface {
	// add goes on with the next bytes.
	add(chunk []byte, offset int64) error
	// done is called behind the last bytes.
	done() error
}

// openJSON finds the rows, and the columns of the first one.
func openJSON(ctx context.Context, t *textTable, rows index, mark int) (Table, error) {
	if err := t.each(ctx, int64(mark), t.size, rows.add); err != nil {
		return nil, err
	}
	if err := rows.done(); err != nil {
		return nil, err
	}
	t.object, t.has = t.jsonObject, t.hasMember
	if t.Len() > 0 {
		first, err := t.row(0, nil)
		if err != nil {
			return nil, t.located(0, err)
		}
		for _, member := range jsonscan.Dict(first) {
			t.columns = append(t.columns, member.Name)
		}
	}
	return t, nil
}

// jsonObject is the object of a row with those columns.
func (t *textTable) jsonObject(raw []byte, last bool, columns []string) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if t.array {
		raw = bytes.TrimRight(raw, ", \t\r\n") // a comma, as the index has seen
	}
	object, err := textfile.CheckObject(raw, !last)
	if err != nil || columns == nil {
		return object, err
	}
	t.part = append(t.part[:0], '{')
	for name, value := range jsonscan.Members(object) {
		if isOneOf(columns, name) {
			t.part = append(t.part, name...)
			t.part = append(t.part, ':')
			t.part = append(t.part, value...)
			t.part = append(t.part, ',')
		}
	}
	t.part = append(bytes.TrimSuffix(t.part, []byte{','}), '}')
	return t.part, nil
}

// isOneOf reports whether a name, with its quotes, is that of a column.
func isOneOf(columns []string, name []byte) bool {
	bare := name[1 : len(name)-1]
	if bytes.IndexByte(bare, '\\') >= 0 {
		return slices.Contains(columns, jsonscan.Text(name))
	}
	for _, column := range columns {
		if column == string(bare) {
			return true
		}
	}
	return false
}

// hasMember looks for a row that has a member of that name. Most rows that have none are told by their bytes.
func (t *textTable) hasMember(ctx context.Context, name string) (bool, error) {
	quoted, escaped := jsonscan.AppendQuoted(nil, []byte(name)), []byte(`\u`)
	for n := range t.Len() {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		raw, err := t.raw(n)
		if err == nil && !bytes.Contains(raw, quoted) && !bytes.Contains(raw, escaped) && !strings.Contains(name, "/") {
			continue
		}
		object, err := t.row(n, nil)
		if err != nil {
			return false, t.located(n, err)
		}
		if jsonscan.Fields(object, name)[0] != nil {
			t.more = append(t.more, name)
			return true, nil
		}
	}
	return false, nil
}

// lineIndex finds the lines that are not blank.
type lineIndex struct {
	*textTable
	offset int64 // where the line begins
	filled bool  // the line is a row
}

func (x *lineIndex) add(chunk []byte, offset int64) error {
	for i := 0; i < len(chunk); {
		line := chunk[i:]
		end := bytes.IndexByte(line, '\n')
		if end >= 0 {
			line = line[:end]
		}
		if !x.filled && len(bytes.TrimLeft(line, " \t\r")) > 0 {
			x.filled = true
			x.starts.Add(x.offset)
		}
		if end < 0 {
			return nil
		}
		i += end + 1
		x.offset, x.filled = offset+int64(i), false
	}
	return nil
}

func (x *lineIndex) done() error {
	x.end = x.size
	return nil
}

// arrayIndex finds the elements of an array.
//
//	[ ──▶ value ──▶ behind ──▶ , ──▶ value ──▶ behind ──▶ ] ──▶ blanks
type arrayIndex struct {
	*textTable
	state  arrayState
	depth  int  // of brackets in the element
	text   bool // in a string
	escape bool // behind a backslash
}

type arrayState int

const (
	beforeArray arrayState = iota
	beforeFirst            // behind the bracket: an element or the end
	beforeValue            // behind a comma
	inValue
	behindValue
	behindArray
)

func (x *arrayIndex) add(chunk []byte, offset int64) error {
	for i := 0; i < len(chunk); i++ {
		c := chunk[i]
		if x.text {
			i += x.skip(chunk[i:])
			continue
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if x.state == inValue && x.depth > 0 {
			x.within(c)
			continue
		}
		if err := x.top(c, offset+int64(i)); err != nil {
			return x.atOffset(offset+int64(i), err)
		}
	}
	return nil
}

// skip is how many bytes stand before the last one that was looked at, in a string.
func (x *arrayIndex) skip(chunk []byte) int {
	if x.escape {
		x.escape = false
		return 0
	}
	n := 0
	for n < len(chunk) && chunk[n] != '"' && chunk[n] != '\\' {
		n++
	}
	if n == len(chunk) {
		return n
	}
	x.escape = chunk[n] == '\\'
	x.text = x.escape
	return n
}

// within takes a byte inside of an element's brackets.
func (x *arrayIndex) within(c byte) {
	switch c {
	case '"':
		x.text = true
	case '{', '[':
		x.depth++
	case '}', ']':
		if x.depth--; x.depth == 0 {
			x.state = behindValue
		}
	}
}

// top takes a byte between elements. Elements are objects.
func (x *arrayIndex) top(c byte, offset int64) error {
	before := x.state == beforeFirst || x.state == beforeValue
	switch {
	case x.state == beforeArray: // it is the bracket, as has been seen
		x.state, x.array = beforeFirst, true
	case x.state == behindArray:
		return errors.New("the file goes on behind the end of the array")
	case before && c == '{': // a row
		x.starts.Add(offset)
		x.state, x.depth = inValue, 1
	case c == ']' && (x.state == beforeFirst || x.state == behindValue):
		x.state, x.end = behindArray, offset
	case c == ',' && x.state == behindValue:
		x.state = beforeValue
	case before:
		return errors.New("expected an array of objects")
	default:
		return fmt.Errorf("not JSON: %q behind an element of the array", c)
	}
	return nil
}

func (x *arrayIndex) done() error {
	if x.state != behindArray {
		return x.atOffset(x.size, errors.New("the file ends before its array does; is it complete?"))
	}
	return nil
}
