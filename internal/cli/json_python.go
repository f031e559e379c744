package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonNode is a JSON value that keeps what Python's json module would keep of it: the order of the names, whole numbers
// of any length, and the halves of broken surrogate pairs. Exactly one of its parts is set.
type jsonNode struct {
	scalar string // a text, number, true, false or null, as Python writes it
	list   *[]*jsonNode
	object *jsonObject
}

// jsonObject holds members by name in the order in which the names first came. Names are JSON texts.
type jsonObject struct {
	names   []string
	members map[string]*jsonNode
}

func newObject() *jsonNode { return &jsonNode{object: &jsonObject{members: map[string]*jsonNode{}}} }

// set gives a name its value, which keeps its place if it is there already, and returns the value before.
func (o *jsonObject) set(name string, v *jsonNode) (before *jsonNode) {
	before = o.members[name]
	if before == nil {
		o.names = append(o.names, name)
	}
	o.members[name] = v
	return before
}

// appendTo writes the value as Python's json.dumps does: blanks after commas and colons, ASCII only.
func (n *jsonNode) appendTo(dst []byte) []byte {
	switch {
	case n.list != nil:
		dst = append(dst, '[')
		for i, x := range *n.list {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = x.appendTo(dst)
		}
		return append(dst, ']')
	case n.object != nil:
		dst = append(dst, '{')
		for i, name := range n.object.names {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(dst, name...)
			dst = append(dst, ": "...)
			dst = n.object.members[name].appendTo(dst)
		}
		return append(dst, '}')
	}
	return append(dst, n.scalar...)
}

// clone copies what can be changed.
func (n *jsonNode) clone() *jsonNode {
	switch {
	case n.list != nil:
		list := make([]*jsonNode, len(*n.list))
		for i, x := range *n.list {
			list[i] = x.clone()
		}
		return &jsonNode{list: &list}
	case n.object != nil:
		c := newObject()
		for _, name := range n.object.names {
			c.object.set(name, n.object.members[name].clone())
		}
		return c
	}
	return n
}

// what names the kind of value for a person.
func (n *jsonNode) what() string {
	switch {
	case n.list != nil:
		return "a list"
	case n.object != nil:
		return "an object"
	case n.scalar[0] == '"':
		return "a text"
	case n.scalar == "true", n.scalar == "false", n.scalar == "null":
		return n.scalar
	}
	return "a number"
}

// refusal is what Python's reader would take and no server would: it is an error where other bad JSON would be a text.
type refusal struct{ error }

// deepest is how many objects and lists may lie in each other.
const deepest = 500

// readJSON reads a text by the rules of Python's json.loads, by which the last of several members of one name counts;
// twice are such names. Errors give the place and what was found there.
func readJSON(text string) (n *jsonNode, twice []string, err error) {
	r := &jsonReader{text: text}
	if !utf8.ValidString(text) {
		return nil, nil, refusal{errors.New("it is not UTF-8 text")}
	}
	if n, err = r.value(); err != nil {
		return nil, nil, err
	}
	if r.blanks(); r.at < len(r.text) {
		return nil, nil, r.unexpected("the end")
	}
	if r.refused != nil {
		return nil, nil, r.refused
	}
	return n, r.twice, nil
}

// jsonReader reads a JSON text from left to right.
type jsonReader struct {
	text    string
	at      int
	depth   int
	refused error    // the first refusal; told only if all else is JSON
	twice   []string // names that an object has more than once
}

// unexpected is the error for what stands at the reader's place.
func (r *jsonReader) unexpected(wanted string) error {
	const shown = 12
	found := "the end"
	if rest := []rune(r.text[r.at:min(len(r.text), r.at+utf8.UTFMax*shown)]); len(rest) > 0 {
		found = strconv.Quote(string(rest[:min(shown, len(rest))]))
	}
	return fmt.Errorf("%s: found %s, expected %s", r.place(r.at), found, wanted)
}

// place is a position for a person: characters count from 1.
func (r *jsonReader) place(at int) string {
	return fmt.Sprintf("character %d", utf8.RuneCountInString(r.text[:at])+1)
}

func (r *jsonReader) refuse(at int, format string, a ...any) {
	if r.refused == nil {
		r.refused = refusal{fmt.Errorf("%s: %s", r.place(at), fmt.Sprintf(format, a...))}
	}
}

func (r *jsonReader) blanks() {
	for r.at < len(r.text) && strings.IndexByte(" \t\n\r", r.text[r.at]) >= 0 {
		r.at++
	}
}

// take reports whether the text goes on with a word, and goes past it.
func (r *jsonReader) take(word string) bool {
	if !strings.HasPrefix(r.text[r.at:], word) {
		return false
	}
	r.at += len(word)
	return true
}

func (r *jsonReader) value() (*jsonNode, error) {
	r.blanks()
	start := r.at
	for _, word := range []string{"true", "false", "null"} {
		if r.take(word) {
			return &jsonNode{scalar: word}, nil
		}
	}
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if r.take(word) {
			r.refuse(start, "%s is a number in Python but not in JSON; write a finite number, null, or \"%s\" with double quotes for the text",
				word, word)
			return &jsonNode{scalar: "null"}, nil
		}
	}
	switch c := r.text[start:]; {
	case r.take(`"`):
		return r.string()
	case r.take("{"), r.take("["):
		if r.depth++; r.depth > deepest {
			return nil, fmt.Errorf("%s: more than %d objects and lists within each other", r.place(start), deepest)
		}
		defer func() { r.depth-- }()
		if c[0] == '{' {
			return r.object()
		}
		return r.list()
	case c != "" && (c[0] == '-' || isDigit(c[0])):
		return r.number()
	}
	return nil, r.unexpected("a value")
}

func (r *jsonReader) list() (*jsonNode, error) {
	list := []*jsonNode{}
	n := &jsonNode{list: &list}
	if r.blanks(); r.take("]") {
		return n, nil
	}
	for {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		r.blanks()
		switch {
		case r.take("]"):
			return n, nil
		case !r.take(","):
			return nil, r.unexpected("a comma or ]")
		}
	}
}

func (r *jsonReader) object() (*jsonNode, error) {
	n := newObject()
	if r.blanks(); r.take("}") {
		return n, nil
	}
	for {
		r.blanks()
		start := r.at
		if !r.take(`"`) {
			return nil, r.unexpected("a name in double quotes")
		}
		name, err := r.string()
		if err != nil {
			return nil, err
		}
		if pythonText(goText(name.scalar)) != name.scalar {
			r.refuse(start, "the name %s is not text: it has half a surrogate pair", name.scalar)
		}
		if r.blanks(); !r.take(":") {
			return nil, r.unexpected("a colon")
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		if n.object.set(name.scalar, v) != nil {
			r.twice = append(r.twice, name.scalar)
		}
		r.blanks()
		switch {
		case r.take("}"):
			return n, nil
		case !r.take(","):
			return nil, r.unexpected("a comma or }")
		}
	}
}

// string reads a text whose first quote is behind the reader.
func (r *jsonReader) string() (*jsonNode, error) {
	start := r.at - 1
	text := []byte{'"'}
	for r.at < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		switch {
		case c == '"':
			r.at++
			return &jsonNode{scalar: string(append(text, '"'))}, nil
		case c < ' ':
			return nil, r.unexpected(`no control character within a text; a line end is \n, a tab \t`)
		case c == '\\':
			unit, err := r.escape()
			if err != nil {
				return nil, err
			}
			text = appendUnit(text, unit)
		default:
			r.at += size
			for _, unit := range utf16.AppendRune(nil, c) {
				text = appendUnit(text, unit)
			}
		}
	}
	return nil, fmt.Errorf("%s: the text that begins here has no closing quote", r.place(start))
}

// escape reads what a backslash begins.
func (r *jsonReader) escape() (uint16, error) {
	const letters, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	rest := r.text[r.at+1:]
	if rest != "" {
		if i := strings.IndexByte(letters, rest[0]); i >= 0 {
			r.at += 2
			return uint16(means[i]), nil
		}
		if rest[0] == 'u' && len(rest) >= 5 && strings.Trim(rest[1:5], "0123456789abcdefABCDEF") == "" {
			unit, _ := strconv.ParseUint(rest[1:5], 16, 16)
			r.at += 6
			return uint16(unit), nil
		}
	}
	return 0, r.unexpected(`an escape such as \n, \" or \u00e9`)
}

// number reads a number. Whole numbers stay as long as they are; others become the nearest 64-bit float.
func (r *jsonReader) number() (*jsonNode, error) {
	start := r.at
	r.take("-")
	digits := func() bool {
		from := r.at
		for r.at < len(r.text) && isDigit(r.text[r.at]) {
			r.at++
		}
		return r.at > from
	}
	if !r.take("0") && !digits() {
		return nil, r.unexpected("a digit")
	}
	whole := r.text[start:r.at]
	if before := r.at; r.take(".") && !digits() {
		r.at = before
	}
	if before := r.at; r.take("e") || r.take("E") {
		if !r.take("+") {
			r.take("-")
		}
		if !digits() {
			r.at = before
		}
	}
	text := r.text[start:r.at]
	if text == whole {
		if whole == "-0" {
			whole = "0"
		}
		return &jsonNode{scalar: whole}, nil
	}
	v, _ := strconv.ParseFloat(text, 64)
	if math.IsInf(v, 0) {
		r.refuse(start, "%s is too large for a number with a point or an exponent", quoted(text))
	}
	return &jsonNode{scalar: pythonFloat(v)}, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// pythonFloat is Python's repr of a finite float: the shortest text that reads back as the same number, with an exponent
// below 1e-4 and from 1e16 on.
func pythonFloat(v float64) string {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// pythonText is a text as JSON with every character outside ASCII escaped.
func pythonText(s string) string {
	text := []byte{'"'}
	for _, r := range s {
		for _, unit := range utf16.AppendRune(nil, r) {
			text = appendUnit(text, unit)
		}
	}
	return string(append(text, '"'))
}

// goText is the text of what pythonText wrote.
func goText(scalar string) string {
	r := &jsonReader{text: scalar, at: 1}
	var units []uint16
	for r.at < len(scalar)-1 {
		if scalar[r.at] == '\\' {
			unit, _ := r.escape()
			units = append(units, unit)
			continue
		}
		units = append(units, uint16(scalar[r.at]))
		r.at++
	}
	return string(utf16.Decode(units))
}

// appendUnit writes one UTF-16 unit of a JSON text.
func appendUnit(dst []byte, unit uint16) []byte {
	if i := strings.IndexByte("\"\\\b\f\n\r\t", byte(unit)); unit < 0x80 && i >= 0 {
		return append(dst, '\\', `"\bfnrt`[i])
	}
	if unit >= ' ' && unit < 0x7f {
		return append(dst, byte(unit))
	}
	return fmt.Appendf(dst, `\u%04x`, unit)
}
