package chattemplate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
)

// maxNesting bounds the depth of JSON, far above what a chat needs and far below what a stack takes.
const maxNesting = 200

// readJSON makes a value of JSON, members in their order. Numbers that Python reads and Go cannot are refused.
func readJSON(data []byte) (any, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, err
	}
	return readValue(raw, 0)
}

func readValue(raw []byte, depth int) (any, error) {
	switch raw[0] {
	case '{', '[':
		if depth == maxNesting {
			return nil, fmt.Errorf("JSON nested deeper than %d", maxNesting)
		}
		if raw[0] == '[' {
			return readList(raw, depth+1)
		}
		return readDict(raw, depth+1)
	case '"':
		return jsonscan.Text(raw), nil
	case 't', 'f':
		return raw[0] == 't', nil
	case 'n':
		return nil, nil
	}
	return readNumber(string(raw))
}

// readNumber makes a float of a number with a dot or an exponent, and an int of others.
func readNumber(s string) (v any, err error) {
	if strings.ContainsAny(s, ".eE") {
		v, err = strconv.ParseFloat(s, 64)
	} else {
		v, err = strconv.Atoi(s)
	}
	if err != nil {
		return nil, fmt.Errorf("number %s is too large", s)
	}
	return v, nil
}

func readList(raw []byte, depth int) (any, error) {
	items := []any{}
	for element := range jsonscan.Elements(raw) {
		v, err := readValue(element, depth)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return newList(items), nil
}

func readDict(raw []byte, depth int) (any, error) {
	out := newDict()
	for name, value := range jsonscan.Members(raw) {
		v, err := readValue(value, depth)
		if err != nil {
			return nil, err
		}
		_ = out.set(jsonscan.Text(name), v) // a text is a key
	}
	return out, nil
}

// printer writes values as Python's json.dumps does with ensure_ascii=False, or as its repr.
type printer struct {
	strings.Builder
	repr      bool
	indent    string
	lines     bool // a line for each member
	item, key string
	sort      bool
	escape    bool // everything outside ASCII
}

// filterJSON is tojson.
func filterJSON(r *run, v any, args []any) (any, error) {
	p := printer{item: ", ", key: ": ", escape: truth(or(args[0], false)), sort: truth(or(args[3], false))}
	if err := p.setIndent(or(args[1], nil)); err != nil {
		return nil, err
	}
	if err := p.setSeparators(or(args[2], nil)); err != nil {
		return nil, err
	}
	if err := p.write(v, 0); err != nil {
		return nil, err
	}
	return p.String(), r.long(p.Len())
}

const widestIndent = 100

func (p *printer) setIndent(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if len(v) > widestIndent {
			return fmt.Errorf("indent of %d bytes is too wide", len(v))
		}
		p.indent, p.lines = v, true
		return nil
	case int:
		if v > widestIndent {
			return fmt.Errorf("indent %d is too wide", v)
		}
		p.indent, p.lines = strings.Repeat(" ", max(v, 0)), true
		return nil
	}
	return fmt.Errorf("indent by a %s", typeName(v))
}

func (p *printer) setSeparators(v any) error {
	if v == nil {
		if p.lines {
			p.item = ","
		}
		return nil
	}
	pair, ok := v.(*list)
	if !ok || pair.kind > isTuple || len(pair.items) != 2 {
		return fmt.Errorf("separators must be a pair")
	}
	item, ok := pair.items[0].(string)
	key, fine := pair.items[1].(string)
	if !ok || !fine {
		return fmt.Errorf("separators must be strings")
	}
	p.item, p.key = item, key
	return nil
}

func (p *printer) write(v any, depth int) error {
	switch { // a list may hold another many times, and so on downwards
	case p.Len() > maxOutput:
		return errTooLong
	case depth > maxNesting:
		return errTooDeep
	}
	switch v := v.(type) {
	case nil:
		p.word("None", "null")
	case bool:
		p.word(map[bool]string{true: "True", false: "False"}[v], strconv.FormatBool(v))
	case int:
		p.WriteString(strconv.Itoa(v))
	case float64:
		p.float(v)
	case string:
		p.quote(v)
	case undefined:
		if !p.repr {
			return p.refused(v)
		}
		p.WriteString("Undefined")
	case *list:
		if v.kind > isTuple {
			return p.refused(v)
		}
		open, end := "[", "]"
		if p.repr && v.kind == isTuple {
			if open, end = "(", ")"; len(v.items) == 1 {
				end = ",)"
			}
		}
		return p.group(open, end, len(v.items), depth, func(i int) error { return p.write(v.items[i], depth+1) })
	case *dict:
		return p.object(v, depth)
	default:
		return p.refused(v)
	}
	return nil
}

// word writes the one of repr or the one of JSON.
func (p *printer) word(repr, json string) {
	if p.repr {
		json = repr
	}
	p.WriteString(json)
}

func (p *printer) refused(v any) error {
	if p.repr {
		return fmt.Errorf("a %s cannot be printed", typeName(v))
	}
	return fmt.Errorf("a %s has no form in JSON", typeName(v))
}

func (p *printer) float(v float64) {
	switch {
	case p.repr || !math.IsNaN(v) && !math.IsInf(v, 0):
		p.WriteString(pyjson.Float(v))
	case math.IsNaN(v):
		p.WriteString("NaN")
	case v > 0:
		p.WriteString("Infinity")
	default:
		p.WriteString("-Infinity")
	}
}

func (p *printer) object(d *dict, depth int) error {
	keys := d.keys
	if p.sort {
		keys = slices.Clone(keys)
		for _, k := range keys {
			if _, ok := k.(string); !ok {
				return fmt.Errorf("sort_keys supports string keys only")
			}
		}
		slices.SortFunc(keys, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	return p.group("{", "}", len(keys), depth, func(i int) error {
		mark := ""
		if _, isText := keys[i].(string); !isText && !p.repr {
			mark = `"`
		}
		p.WriteString(mark)
		_ = p.write(keys[i], 0) // every key has a form
		p.WriteString(mark + p.key)
		v, _ := d.get(keys[i])
		return p.write(v, depth+1)
	})
}

// group writes the members of a list or an object between its marks.
func (p *printer) group(open, end string, n, depth int, member func(i int) error) error {
	p.WriteString(open)
	for i := range n {
		if i > 0 {
			p.WriteString(p.item)
		}
		p.newline(depth + 1)
		if err := member(i); err != nil {
			return err
		}
	}
	if n > 0 {
		p.newline(depth)
	}
	p.WriteString(end)
	return nil
}

func (p *printer) newline(depth int) {
	if p.lines {
		p.WriteByte('\n')
		for range depth {
			p.WriteString(p.indent)
		}
	}
}

func (p *printer) quote(s string) {
	switch {
	case p.repr:
		p.Write(pyjson.AppendReprString(nil, s))
	case p.escape:
		p.Write(pyjson.AppendString(nil, s))
	default:
		p.Write(jsonscan.AppendQuoted(nil, []byte(s)))
	}
}
