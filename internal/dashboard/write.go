package dashboard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"benchtop/internal/argv"
	"benchtop/internal/jsonscan"
	"benchtop/internal/table"
)

// JSON writes the commands.
func (c Commands) JSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(c)
}

// Result is a result with the commands that made it.
type Result struct {
	Kind     Kind
	Name     string // of its files, without endings; begins with the kind
	JSON     []byte
	Commands Commands
}

// About is what a result does not say of its measurement.
type About struct {
	Server string // the command of the server, "" for unknown
	GPU    string // a name for each GPU, one per line; "" for unknown
}

// Unknown stands for a server's command that nothing tells. It has two words, as the reader of the commands expects.
const Unknown = "vllm serve"

// Own takes a result of benchtop or vLLM, a JSON object, and makes its commands: of the client by the result, of the
// server by what is known.
func Own(name string, raw []byte, a About) (Result, error) {
	result := map[string]json.RawMessage{}
	for _, m := range jsonscan.Dict(raw) {
		result[m.Name] = m.Value
	}
	kind, err := kindOf(result)
	if err != nil {
		return Result{}, err
	}
	r := Result{Kind: kind, JSON: raw, Commands: Commands{GPU: a.GPU}}
	var own struct {
		Command []string
		GPUs    struct{ Names []string }
		Server  json.RawMessage
	}
	_ = json.Unmarshal(result["benchtop"], &own)
	if r.Commands.GPU == "" {
		r.Commands.GPU = strings.Join(own.GPUs.Names, "\n")
	}
	r.Commands.GPU = cmp.Or(r.Commands.GPU, "unknown")
	client := clientLine(kind, own.Command, result)
	switch kind {
	case Serving:
		r.Commands.Client = client
		r.Commands.Server = serverLine(a.Server, result)
		rate, users := scalar(result["request_rate"]), scalar(result["max_concurrency"])
		if users == nil {
			users = scalar(result["num_prompts"])
		}
		r.Name = fmt.Sprintf("%s_qps_%s_concurrency_%s", name, valueText(rate), valueText(users))
	case Throughput:
		r.Commands.Throughput, r.Name = client, name
	case Latency:
		r.Commands.Latency, r.Name = client, name
	}
	if !strings.HasPrefix(r.Name, string(kind)) {
		r.Name = string(kind) + "_" + r.Name
	}
	r.Name = FileName(r.Name)
	return r, nil
}

func valueText(v any) string {
	if v == nil {
		return "none"
	}
	if f, ok := v.(float64); ok {
		return strings.TrimSuffix(fmt.Sprintf("%g", f), ".0")
	}
	return fmt.Sprint(v)
}

// shell are words as a line for a shell.
func shell(words []string) string { return strings.Join(argv.ShellWords(words)[1:], " ") }

// verbs are the commands of vLLM that make the kinds.
var verbs = map[Kind]string{Serving: "serve", Throughput: "throughput", Latency: "latency"}

// clientLine is the command of the client in vLLM's form. Flags that the table needs are there even where the result
// was made with their defaults.
func clientLine(kind Kind, command []string, result map[string]json.RawMessage) string {
	words := []string{"vllm", "bench", verbs[kind]}
	if len(command) > 0 {
		words = append(words, command[1:]...)
	}
	if kind != Serving {
		return shell(words)
	}
	values := map[string]any{}
	ownValues(values, result)
	given := Flags(words)
	for _, f := range []struct{ flag, key string }{
		{"--dataset-name", "dataset_name"}, {"--random-input-len", "input_len"}, {"--random-output-len", "output_len"},
		{"--request-rate", "qps"},
	} {
		if v := values[f.key]; v != nil && given[f.flag] == nil {
			words = append(words, f.flag, valueText(v))
		}
	}
	return shell(words)
}

// serverLine is the command of the server. Parallel sizes are those that the result's own metadata tell, where they do.
func serverLine(command string, result map[string]json.RawMessage) string {
	if words, err := argv.Split(command); err != nil || len(words) < 2 {
		command = strings.TrimSpace(Unknown + " " + valueText(scalar(result["model_id"])))
		if scalar(result["model_id"]) == nil {
			command = Unknown
		}
	}
	words, _ := argv.Split(command)
	for _, f := range parallel {
		words = f.set(words, scalar(result[f.key]))
	}
	return shell(words)
}

// parallelSize is a parallel size: its key in a result, and its flags in a server's command.
type parallelSize struct{ key, flag, short string }

var parallel = []parallelSize{{"tensor_parallel_size", "--tensor-parallel-size", "-tp"},
	{"pipeline_parallel_size", "--pipeline-parallel-size", "-pp"}}

// set is a command with the size as its last flag, in the spelling that the scripts know: the given one, else that
// which it has.
func (f *parallelSize) set(words []string, size any) (out []string) {
	own := ""
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		if argv.Dashes(name) != f.flag && name != f.short {
			out = append(out, words[i])
			continue
		}
		if i++; joined || i == len(words) {
			i--
		} else {
			value = words[i]
		}
		own = value
	}
	if size != nil {
		own = valueText(size)
	}
	if own != "" {
		out = append(out, f.flag, own)
	}
	return out
}

// WriteTable writes rows as the table of a folder, in its order.
func WriteTable(w io.Writer, rows []Row) error {
	Sort(rows)
	var objects []string
	for _, row := range rows {
		var members []string
		for _, title := range Columns(KindOf(row)) {
			if v, ok := row[title]; ok {
				value, err := json.Marshal(v)
				if err != nil {
					return err
				}
				members = append(members, fmt.Sprintf("%q: %s", title, value))
			}
		}
		objects = append(objects, "{"+strings.Join(members, ", ")+"}")
	}
	_, err := fmt.Fprintf(w, "[%s]\n", strings.Join(objects, ", "))
	return err
}

// WriteMarkdown writes rows as a table in Markdown for each kind.
func WriteMarkdown(w io.Writer, rows []Row) error {
	Sort(rows)
	var b strings.Builder
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;")
	for _, kind := range kinds {
		t := &table.Table{}
		for _, title := range Columns(kind) {
			t.Columns = append(t.Columns, table.Column{Name: title, Align: table.Plain, Optional: true})
		}
		for _, r := range rows {
			if KindOf(r) == kind {
				t.Add(r.cells(kind)...)
			}
		}
		if len(t.Rows) > 0 {
			name := strings.ToUpper(string(kind[:1])) + string(kind[1:])
			fmt.Fprintf(&b, "## %s tests\n\n%s\n", name, t.Markdown(escape))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cells are the values of a kind's columns as texts, "" for none.
func (r Row) cells(k Kind) (out []any) {
	for _, title := range Columns(k) {
		switch v := r[title].(type) {
		case nil:
			out = append(out, "")
		case float64:
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%.6g", v), ".0"))
		default:
			out = append(out, v)
		}
	}
	return out
}
