package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// constraints are the fields of a request that say which form its answer must have: vLLM's and OpenAI's.
type constraints struct {
	Structured *struct {
		JSON    json.RawMessage `json:"json"`
		Regex   string          `json:"regex"`
		Choice  []string        `json:"choice"`
		Grammar string          `json:"grammar"`
	} `json:"structured_outputs"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// grammarCompile is the time that the first request with a constraint waits for it to be compiled.
const grammarCompile = 30 * time.Millisecond

// mostGrammars bounds the compiled ones that are remembered.
const mostGrammars = 1 << 16

// name tells constraints apart; "" is for none.
func (c *constraints) name() string {
	if c.Structured == nil && (c.ResponseFormat == nil || c.ResponseFormat.Type == "text") {
		return ""
	}
	name, _ := json.Marshal(c) // it was read from JSON
	return string(name)
}

// compile waits for the constraint of a request to be compiled if no request had it before.
func (s *Server) compile(name string) {
	s.grammarLock.Lock()
	known := s.grammars[name]
	if len(s.grammars) >= mostGrammars {
		clear(s.grammars)
	}
	s.grammars[name] = true
	s.grammarLock.Unlock()
	if !known {
		time.Sleep(s.profile.sped(grammarCompile))
	}
}

// text is an answer of the form.
func (c *constraints) text(draws *rand.Rand) (string, error) {
	sample := sampler{draws: draws}
	switch {
	case c.Structured == nil && c.ResponseFormat.Type == "json_schema":
		return sample.json(c.ResponseFormat.JSONSchema.Schema)
	case c.Structured == nil:
		return sample.json(json.RawMessage(`{"type": "object"}`))
	case c.Structured.JSON != nil:
		schema := c.Structured.JSON
		var text string
		if json.Unmarshal(schema, &text) == nil { // it may be given as a text
			schema = json.RawMessage(text)
		}
		return sample.json(schema)
	case c.Structured.Regex != "":
		parsed, err := syntax.Parse(c.Structured.Regex, syntax.Perl)
		if err != nil {
			return "", err
		}
		sample.pattern(parsed.Simplify())
	case len(c.Structured.Choice) > 0:
		return c.Structured.Choice[draws.IntN(len(c.Structured.Choice))], nil
	case c.Structured.Grammar != "":
		rules, err := readGrammar(c.Structured.Grammar)
		if err != nil {
			return "", err
		}
		sample.rule(rules, "root", 0)
	default:
		return "", errors.New("no constraint in structured_outputs")
	}
	return sample.out.String(), sample.err
}

// sampler draws texts of a form.
type sampler struct {
	draws *rand.Rand
	out   strings.Builder
	err   error
}

// Bounds of a text, whatever the form says.
const (
	mostSampled = 1 << 16 // bytes
	mostNested  = 32
)

func (s *sampler) json(schema json.RawMessage) (string, error) {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return "", fmt.Errorf("the schema is not JSON: %w", err)
	}
	value := s.value(root, root, 0)
	text, err := json.Marshal(value)
	if err == nil && len(text) > mostSampled {
		err = errors.New("the schema asks for too long an answer")
	}
	return string(text), errors.Join(err, s.err)
}

// value is one of a schema: of each keyword that is simulated.
func (s *sampler) value(root, schema any, depth int) any {
	if depth > mostNested {
		s.err = errors.New("the schema is nested too deeply")
		return nil
	}
	members, _ := schema.(map[string]any)
	if ref, ok := members["$ref"].(string); ok {
		at := root
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			inner, _ := at.(map[string]any)
			at = inner[name]
		}
		return s.value(root, at, depth+1)
	}
	if all, ok := members["enum"].([]any); ok && len(all) > 0 {
		return all[s.draws.IntN(len(all))]
	}
	if v, ok := members["const"]; ok {
		return v
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if all, ok := members[name].([]any); ok && len(all) > 0 {
			return s.value(root, all[s.draws.IntN(len(all))], depth+1)
		}
	}
	return s.valueOf(root, members, depth)
}

// valueOf is a value of the type that a schema names.
func (s *sampler) valueOf(root any, members map[string]any, depth int) any {
	number := func(name string, none float64) float64 {
		if v, ok := members[name].(float64); ok {
			return v
		}
		return none
	}
	kind, _ := members["type"].(string)
	if many, ok := members["type"].([]any); ok && len(many) > 0 {
		kind, _ = many[0].(string)
	}
	switch kind {
	case "string":
		text := s.word()
		for len(text) < int(min(number("minLength", 0), mostSampled)) {
			text += s.word()
		}
		return text[:min(len(text), int(max(0, number("maxLength", mostSampled))))]
	case "integer":
		return int(number("minimum", 0)) + s.draws.IntN(
			max(1, int(min(number("maximum", 99)-number("minimum", 0)+1, 1000))))
	case "number":
		return number("minimum", 0)
	case "boolean":
		return s.draws.IntN(2) == 0
	case "null":
		return nil
	case "array":
		list := []any{}
		for range int(min(max(number("minItems", 1), 0), mostNested)) {
			list = append(list, s.value(root, members["items"], depth+1))
		}
		return list
	}
	return s.object(root, members, depth)
}

// object has the members that are required, and some of the others.
func (s *sampler) object(root any, members map[string]any, depth int) map[string]any {
	properties, _ := members["properties"].(map[string]any)
	required, _ := members["required"].([]any)
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if s.draws.IntN(2) == 0 || slices.Contains(required, any(name)) {
			object[name] = s.value(root, properties[name], depth+1)
		}
	}
	return object
}

func (s *sampler) word() string {
	p := prose{draws: s.draws}
	return strings.TrimSpace(piece(p.next()) + piece(p.next()))
}

// room reports whether there may be more text, and notes that there is too much.
func (s *sampler) room() bool {
	if s.out.Len() > mostSampled && s.err == nil {
		s.err = errors.New("the constraint asks for too long an answer")
	}
	return s.err == nil
}

// pattern draws a match of a simplified expression.
func (s *sampler) pattern(p *syntax.Regexp) {
	if !s.room() {
		return
	}
	times := 0
	switch p.Op {
	case syntax.OpLiteral:
		s.out.WriteString(string(p.Rune))
	case syntax.OpCharClass:
		s.out.WriteRune(s.oneOf(p.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		s.out.WriteRune('a' + rune(s.draws.IntN(26)))
	case syntax.OpCapture:
		s.pattern(p.Sub[0])
	case syntax.OpConcat:
		for _, sub := range p.Sub {
			s.pattern(sub)
		}
	case syntax.OpAlternate:
		s.pattern(p.Sub[s.draws.IntN(len(p.Sub))])
	case syntax.OpQuest, syntax.OpStar:
		times = s.draws.IntN(2)
	case syntax.OpPlus:
		times = 1 + s.draws.IntN(8)
	case syntax.OpNoMatch:
		s.err = errors.New("the expression matches nothing")
	}
	for range times {
		s.pattern(p.Sub[0])
	}
}

// oneOf draws a character of ranges, a visible one of ASCII where there is one.
func (s *sampler) oneOf(ranges []rune) rune {
	var visible []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], '!'); r <= min(ranges[i+1], unicode.MaxASCII-1); r++ {
			visible = append(visible, r)
		}
	}
	if len(visible) == 0 {
		return ranges[0]
	}
	return visible[s.draws.IntN(len(visible))]
}

// grammarRules are the alternatives of each rule, each a sequence of quoted texts and names.
type grammarRules map[string][][]string

// readGrammar reads rules of the form name ::= "text" other | other.
func readGrammar(text string) (grammarRules, error) {
	rules := grammarRules{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, body, ok := strings.Cut(line, "::=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("grammar: expected name ::= rule: %q", line)
		}
		sequence := []string{}
		for body = strings.TrimSpace(body); body != ""; body = strings.TrimSpace(body) {
			if body[0] == '|' {
				rules[name], sequence, body = append(rules[name], sequence), []string{}, body[1:]
				continue
			}
			item := grammarItem(body)
			if item == "" {
				return nil, fmt.Errorf("grammar: only texts, names and | are simulated: %q", body)
			}
			sequence, body = append(sequence, item), body[len(item):]
		}
		rules[name] = append(rules[name], sequence)
	}
	return rules, nil
}

// grammarItem is the quoted text or the name at the beginning of a rule, "" if there is neither.
func grammarItem(body string) string {
	if item, err := strconv.QuotedPrefix(body); err == nil {
		return item
	}
	name := func(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return body[:len(body)-len(strings.TrimLeftFunc(body, name))]
}

func (s *sampler) rule(rules grammarRules, name string, depth int) {
	all := rules[name]
	switch {
	case !s.room():
		return
	case len(all) == 0:
		s.err = fmt.Errorf("grammar: unknown rule %q", name)
		return
	case depth > mostNested:
		s.err = errors.New("grammar: the rules are nested too deeply")
		return
	}
	for _, item := range all[s.draws.IntN(len(all))] {
		if item[0] == '"' {
			text, _ := strconv.Unquote(item)
			s.out.WriteString(text)
		} else {
			s.rule(rules, item, depth+1)
		}
	}
}
