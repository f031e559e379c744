// Package constraint judges answers that a server had to give in a certain form: JSON of a schema, a match of a regular
// expression, or one of some texts.
package constraint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/text"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Why an answer is wrong.
const (
	CutOff    = "cut off"             // it is not complete, since the output limit ended it
	NotJSON   = "not JSON"            // and no JSON stands in it
	AmidText  = "JSON amid text"      // one value in braces, with something around it
	Violation = "violates the schema" // it is JSON
	NoMatch   = "no match"            // of the regular expression or grammar
	NoChoice  = "none of the choices"
	Empty     = "empty"
)

// mostDetail bounds the details of a wrong answer, in bytes.
const mostDetail = 200

// Constraint is the form of an answer. It is safe for concurrent use.
type Constraint struct {
	schema  *jsonschema.Schema
	pattern *regexp.Regexp // of the whole answer
	begin   *regexp.Regexp // of its beginning; nil for a grammar
	choices []string
}

// noLoader refuses schemas in other places: a benchmark must not fetch anything for a data set.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not loaded; put the schema it names into $defs", url)
}

// JSON is the constraint of a JSON schema, of draft 2020-12 unless it says otherwise.
func JSON(schema []byte) (*Constraint, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const name = "schema.json"
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("invalid schema: %w", err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be used: %w", err)
	}
	return &Constraint{schema: compiled}, nil
}

// Pattern is the constraint of a regular expression that matches the whole answer.
func Pattern(expression string) (*Constraint, error) {
	begin, err := regexp.Compile(`\A(?:` + expression + `)`)
	if err != nil {
		return nil, err
	}
	whole, err := regexp.Compile(begin.String() + `\z`)
	return &Constraint{pattern: whole, begin: begin}, err
}

// Grammar is the constraint of a grammar whose texts are those that an expression matches. vLLM's benchmark judges no
// grammar.
func Grammar(expression string) (*Constraint, error) {
	c, err := Pattern(expression)
	if err == nil {
		c.begin = nil
	}
	return c, err
}

// Choice is the constraint of some texts, one of which is the whole answer.
func Choice(texts ...string) *Constraint { return &Constraint{choices: texts} }

// Judgement says whether an answer is right.
type Judgement struct {
	Wrong  string // why it is not, in a few words; "" where it is right
	Detail string // where, or the beginning of the answer
	// Lenient: vLLM's benchmark of structured output calls it correct. Of JSON it asks only that something in braces
	// parses, and of an expression that the answer begins with a match.
	Lenient bool
}

// Judge judges an answer. cut says that the output limit ended it.
func (c *Constraint) Judge(answer string, cut bool) (j Judgement) {
	switch {
	case c.schema != nil:
		j = c.judgeJSON(answer)
	case c.pattern != nil:
		if !c.pattern.MatchString(answer) {
			j = Judgement{Wrong: NoMatch, Detail: excerpt(answer)}
		}
		j.Lenient = j.Wrong == "" || c.begin != nil && c.begin.MatchString(answer)
	default:
		if j.Lenient = slices.Contains(c.choices, answer); !j.Lenient {
			j = Judgement{Wrong: NoChoice, Detail: excerpt(answer)}
		}
	}
	switch {
	case j.Wrong == "":
	case strings.TrimSpace(answer) == "":
		j.Wrong, j.Detail = Empty, ""
	case cut && !j.Lenient:
		j.Wrong = CutOff
	}
	return j
}

func (c *Constraint) judgeJSON(answer string) (j Judgement) {
	j.Lenient = parses(answer)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
	if err != nil {
		if j.Wrong, j.Detail = NotJSON, excerpt(answer); j.Lenient {
			j.Wrong = AmidText
		}
		return j
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](c.schema.Validate(value)); ok {
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		j.Wrong = Violation
		at, path := strings.Join(invalid.InstanceLocation, "/"), strings.Join(invalid.ErrorKind.KeywordPath(), "/")
		j.Detail = text.Clip("at /"+at+": "+path, mostDetail)
	}
	return j
}

// parses is the rule of vLLM's benchmark of structured output: without blanks and line ends, the text from the first
// opening brace to the last closing one is JSON.
func parses(answer string) bool {
	text := strings.NewReplacer("\n", "", " ", "").Replace(answer)
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	return from >= 0 && to > from && json.Valid([]byte(text[from:to+1]))
}

func excerpt(answer string) string {
	return text.Clip(strconv.Quote(text.Clip(answer, mostDetail)), mostDetail)
}
