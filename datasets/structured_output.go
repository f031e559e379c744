package datasets

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"benchtop/datasets/constraint"
	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// structuredOutput is prompts whose answers must have a form, the workloads of vLLM's benchmark of structured output.
type structuredOutput struct {
	Common
	Form       string  // one of structuredForms
	SchemaPath string  // of a JSON schema for json and json-unique; "" for that of a user profile
	Ratio      float64 // of requests with the constraint, from 0 to 1
	Unguided   bool    // no request has it
	API        string  // one of structuredAPIs
	OutputLen  int     // tokens
}

// The forms of answers. With json-unique each request has a schema of its own, so that no compiled grammar is used
// again.
var structuredForms = []string{"json", "json-unique", "grammar", "regex", "choice"}

// structuredAPIs are the servers whose body fields are known, each with the name of its field for a kind of constraint.
var structuredAPIs = map[string]map[string]string{
	"vllm":      {"json": "json", "grammar": "grammar", "regex": "regex", "choice": "choice"},
	"openai":    {"json": "response_format"},
	"sglang":    {"json": "json_schema", "grammar": "ebnf", "regex": "regex"},
	"llama.cpp": {"json": "json_schema", "grammar": "grammar"},
}

// The constraints. The regular expression and the choices are those of vLLM's benchmark, and so are the members of the
// schema.
const (
	structuredPattern = `\w+@\w+\.com\n`
	structuredSchema  = `{"type": "object", "properties": {"name": {"type": "string"}, "email": {"type": "string"}, ` +
		`"street": {"type": "string"}, ` +
		`"city": {"type": "string"}, "state": {"type": "string"}, "zip": {"type": "string"}, "phone": {"type": ` +
		`"string"}, "website": {"type": "string"}, ` +
		`"company": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "email"]}`
	structuredGrammar = `root ::= select_statement
select_statement ::= "SELECT " column " from " table " where " condition
column ::= "col_1" | "col_2"
table ::= "table_1" | "table_2"
condition ::= column " = " number
number ::= "1" | "2"
`
	// structuredQuery matches what the grammar allows.
	structuredQuery = `SELECT col_[12] from table_[12] where col_[12] = [12]`
	// uniqueMember begins the name of the member that tells schemas apart.
	uniqueMember = "optional_"
)

var structuredChoices = []string{"Positive", "Negative"}

// mostSchema bounds the file of a schema, in bytes.
const mostSchema = 1 << 20

func (o structuredOutput) check() error {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	if !slices.Contains(structuredForms, o.Form) {
		p.add("--structured-output-dataset %q: use %s", o.Form, strings.Join(structuredForms, ", "))
	}
	if !o.Unguided && !(o.Ratio >= 0 && o.Ratio <= 1) {
		p.add("--structured-output-ratio %g: must be from 0 to 1", o.Ratio)
	}
	if fields := structuredAPIs[o.API]; fields == nil {
		p.add("--structured-output-api %q: use vllm, openai, sglang or llama.cpp", o.API)
	} else if fields[o.kind()] == "" {
		p.add("--structured-output-api %s: no field for %s; use vllm", o.API, o.kind())
	}
	if o.SchemaPath != "" && o.kind() != "json" {
		p.add("--json-schema-path: only json and json-unique have a schema; %s has none", o.Form)
	}
	return p.of("structured_output")
}

// kind is the kind of constraint.
func (o structuredOutput) kind() string { return strings.TrimSuffix(o.Form, "-unique") }

func (o *structuredOutput) Define(group func(string) Flags) {
	f := group("Data set structured_output")
	f.StringVar(&o.Form, "structured-output-dataset", o.Form,
		"form of the answers: "+strings.Join(structuredForms, ", ")+"; json-unique has a schema for each request")
	f.StringVar(&o.SchemaPath, "json-schema-path", "", "file of the JSON schema (default: a user profile)")
	f.Float64Var(&o.Ratio, "structured-output-ratio", o.Ratio,
		"share of the requests with the constraint; all are judged")
	f.BoolVar(&o.Unguided, "no-structured-output", false, "send no constraint, as with a ratio of 0")
	f.StringVar(&o.API, "structured-output-api", o.API,
		"body field of the constraint: that of vllm, openai, sglang or llama.cpp")
}

func (o structuredOutput) needs() Needs {
	return Needs{Forms: AsText, Ends: true, Counts: true, Guided: true, OutputLen: o.outputLen(o.OutputLen)}
}

// open makes the prompts. Those with a constraint are drawn from a generator of their own.
func (o structuredOutput) open(ctx context.Context, t Tools) (Flow, error) {
	if o.OutputLen = o.outputLen(o.OutputLen); o.Unguided {
		o.Ratio = 0
	}
	schema, err := o.schema()
	if err != nil {
		return Flow{}, inDataset("structured_output", textfile.At(o.SchemaPath, err))
	}
	judge, err := o.judge(schema)
	if err != nil {
		return Flow{}, inDataset("structured_output", textfile.At(o.SchemaPath, err))
	}
	guided := make([]bool, o.Prompts)
	n := int(float64(o.Prompts) * o.Ratio)
	for _, i := range rand.New(rand.NewPCG(uint64(o.Seed), structuredSeed)).Perm(o.Prompts)[:n] {
		guided[i] = true
	}
	// A schema that allows no other members would not allow the one that is added.
	closed := slices.ContainsFunc(
		[]string{"additionalProperties", "unevaluatedProperties", "maxProperties", "propertyNames"},
		func(word string) bool { return strings.Contains(string(schema), word) })
	unique, classes := o.Form == "json-unique", map[bool]string{true: "constrained", false: "unconstrained"}
	turns := make([]Turn, o.Prompts)
	for i := range turns {
		own := schema
		if unique {
			own = withMember(schema, i)
		}
		if unique && closed {
			if judge, err = constraint.JSON(own); err != nil {
				return Flow{}, inDataset("structured_output", err)
			}
		}
		turns[i] = Turn{Text: o.prompt(own), MaxTokens: o.OutputLen, Judge: judge}
		if guided[i] {
			o.constrain(&turns[i], own)
		}
		if 0 < n && n < o.Prompts {
			turns[i].Class = classes[guided[i]]
		}
	}
	if err := t.Text().countTexts(ctx, turns); err != nil {
		return Flow{}, inDataset("structured_output", err)
	}
	about := fmt.Sprintf("%s, %d with the constraint%s", o.Form, n, o.answers(strconv.Itoa(o.OutputLen)))
	return o.list("structured_output", turns, o.Prompts, about, t.Streams().Python)
}

// structuredSeed sets the choice of requests with a constraint apart from other draws of the same seed.
const structuredSeed = 0x50c7

// schema is that of the file, or the built-in one; nil for other forms.
func (o structuredOutput) schema() ([]byte, error) {
	if o.kind() != "json" {
		return nil, nil
	}
	if o.SchemaPath == "" {
		return []byte(structuredSchema), nil
	}
	info, err := os.Stat(o.SchemaPath)
	if err == nil && info.Size() > mostSchema {
		err = fmt.Errorf("the schema has more than %d KiB", mostSchema>>10)
	}
	if err != nil {
		return nil, err
	}
	schema, err := os.ReadFile(o.SchemaPath)
	schema = bytes.TrimPrefix(schema, []byte("\ufeff"))
	switch trimmed := strings.TrimSpace(string(schema)); {
	case err != nil:
	case !json.Valid(schema):
		err = errors.New("expected a JSON schema: this is not JSON")
	case trimmed[0] != '{':
		err = fmt.Errorf("expected a JSON schema, which is an object: got %s", jsonscan.Kind([]byte(trimmed)))
	}
	return schema, err
}

// structuredKinds are the constraints besides a schema: the prompt, the value of the field, and what judges answers.
var structuredKinds = map[string]struct {
	prompt, value string
	judge         func() (*constraint.Constraint, error)
}{
	"choice": {"Classify this sentiment: vLLM is wonderful!", `["` + strings.Join(structuredChoices, `", "`) + `"]`,
		func() (*constraint.Constraint, error) { return constraint.Choice(structuredChoices...), nil }},
	"regex": {"Give an e-mail address for Alan Turing. It ends in .com and a new line.",
		string(jsonscan.Quote(structuredPattern)),
		func() (*constraint.Constraint, error) { return constraint.Pattern(structuredPattern) }},
	"grammar": {"Write an SQL query that selects a column of a table where a column has some value.",
		string(jsonscan.Quote(structuredGrammar)),
		func() (*constraint.Constraint, error) { return constraint.Grammar(structuredQuery) }},
}

func (o structuredOutput) judge(schema []byte) (*constraint.Constraint, error) {
	if o.kind() == "json" {
		return constraint.JSON(schema)
	}
	return structuredKinds[o.kind()].judge()
}

func (o structuredOutput) prompt(schema []byte) string {
	if o.kind() == "json" {
		return "Generate an example of a brief user profile given the following schema: " + string(schema)
	}
	return structuredKinds[o.kind()].prompt
}

// constrain puts the constraint into the body of a request.
func (o structuredOutput) constrain(t *Turn, schema []byte) {
	value := cmp.Or(structuredKinds[o.kind()].value, string(schema))
	field := structuredAPIs[o.API][o.kind()]
	switch {
	case o.API == "vllm":
		t.AddField("structured_outputs", `{"`+field+`": `+value+`}`)
	case o.API == "openai":
		t.AddField(field, `{"type": "json_schema", "json_schema": {"name": "answer", "schema": `+value+`}}`)
	case o.API == "sglang" && field == "json_schema":
		t.AddField(field, string(jsonscan.Quote(value)))
	default:
		t.AddField(field, value)
	}
}

// withMember is the schema with an optional text of a name of its own among its properties. The name is new in each
// run, as a grammar that a server has compiled stays with it.
func withMember(schema []byte, i int) []byte {
	member := fmt.Sprintf(`"%s%d_%08x": {"type": "string"}`, uniqueMember, i, rand.Uint32())
	with := func(object []byte, member string) []byte { // which ends in a brace
		open, _ := strings.CutSuffix(strings.TrimSpace(string(object)), "}")
		if open = strings.TrimSpace(open); open != "{" {
			open += ", "
		}
		return []byte(open + member + "}")
	}
	if old := jsonscan.Fields(schema, "properties")[0]; old != nil && old[0] == '{' {
		// in its place, since the order of members is that of an answer
		return bytes.Replace(schema, old, with(old, member), 1)
	}
	return with(schema, `"properties": {`+member+"}")
}
