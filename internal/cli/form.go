package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/prompts"
	"benchtop/internal/secret"
	"benchtop/internal/server"
	"benchtop/internal/session"
	"benchtop/internal/spec"
	"benchtop/internal/text"
	"benchtop/loadgen/target"
	"benchtop/tui/form"
	"benchtop/tui/term"
)

// Fields of the form; most are named for the flag that they fill.
const (
	fieldServer  = "base-url"
	fieldModel   = "model"
	fieldAPI     = "backend"
	fieldDataset = "dataset-name"
	fieldFile    = "dataset-path"
	fieldInput   = "random-input-len"
	fieldOutput  = "output-len"
	fieldLoad    = "load"
	fieldLength  = "duration"
	fieldPrompts = "num-prompts"
	fieldSLO     = "goodput"
)

// formDatasets are the data sets the form offers: those of prompts that every backend can send, and the hub's, of which
// some need chat.
var formDatasets = []string{"random", "sharegpt", "custom", "prefix_repetition", "sonnet", "spec_bench", "speed_bench",
	"burstgpt", "hf"}

// The kinds of load the form offers.
const (
	loadUsers  = "closed loop"
	loadRate   = "constant rate"
	loadRamp   = "ramp over time"
	loadStages = "rate stages"
	loadFind   = "search for the highest rate"
)

const (
	apiCompletions = "completions"
	apiChat        = "chat"
)

// runForm asks for a benchmark on the terminal and runs it.
func runForm(env *session.Environment) int {
	var values map[string]string
	var chosen bool
	left, err := session.OnTerminal(func(ctx context.Context) (err error) {
		values, chosen, err = form.Ask(ctx, formOptions())
		return err
	})
	switch {
	case left != nil:
		return session.SignalCode(left)
	case err != nil:
		return env.Fail(session.ExitFailed, err)
	case !chosen:
		return session.ExitFine
	}
	args := formArguments(values)
	// So that it can be run again from the shell's own history.
	_, _ = env.Stderr.Write([]byte(strings.Join(argv.ShellWords(secret.HideWords(args, nil)), " ") + "\n"))
	return Main(args, env.Stdin, env.Stdout, env.Stderr)
}

// formField is a field with the kinds of load that it applies to, nil for all.
type formField struct {
	form.Field
	loads []string
}

func formFields() []formField {
	return []formField{
		{form.Field{Key: fieldServer, Label: "Server", Value: "http://127.0.0.1:8000", Hint: "or run 'benchtop demo'"},
			nil},
		{form.Field{Key: fieldModel, Label: "Model", Hint: "default: server's first", Free: true}, nil},
		{form.Field{Key: fieldAPI, Label: "API", Choices: []string{apiCompletions, apiChat}}, nil},
		{form.Field{Key: fieldDataset, Label: "Data set", Short: "Data", Choices: formDatasets}, nil},
		{form.Field{Key: fieldFile, Label: "File", Hint: "or a name on the hub"}, nil},
		{form.Field{Key: fieldInput, Label: "Input tokens", Short: "Input", Value: "1024"}, nil},
		{form.Field{Key: fieldOutput, Label: "Output tokens", Short: "Output", Value: "128"}, nil},
		{form.Field{Key: fieldLoad, Label: "Load",
			Choices: []string{loadUsers, loadRate, loadRamp, loadStages, loadFind}}, nil},
		{form.Field{Key: "max-concurrency", Label: "Users", Value: "16", Hint: "requests in flight"},
			[]string{loadUsers}},
		{form.Field{Key: "request-rate", Label: "Rate", Value: "4", Hint: "requests per second"}, []string{loadRate}},
		{form.Field{Key: "ramp-up-start-rps", Label: "From", Value: "1", Hint: "requests per second"},
			[]string{loadRamp}},
		{form.Field{Key: "ramp-up-end-rps", Label: "To", Value: "32", Hint: "requests per second"}, []string{loadRamp}},
		{form.Field{Key: "stages", Label: "Stages", Value: "4:30s,8:30s,16:30s", Hint: "req/s:time"},
			[]string{loadStages}},
		{form.Field{Key: fieldLength, Label: "Duration", Short: "For", Value: "1m"},
			[]string{loadUsers, loadRate, loadRamp}},
		{form.Field{Key: fieldPrompts, Label: "Requests", Short: "Reqs", Value: "1000", Hint: "at most"},
			[]string{loadUsers}},
		{form.Field{Key: fieldSLO, Label: "Objectives", Short: "SLO", Value: "ttft:500 tpot:50", Hint: "ms; optional"},
			nil},
	}
}

func formOptions() form.Options {
	o := form.Options{
		Title:   "New benchmark",
		Shown:   formShows,
		Command: formCommand,
		Lookup:  formModels,
		ASCII:   term.Plain(os.Getenv),
	}
	for _, f := range formFields() {
		o.Fields = append(o.Fields, f.Field)
	}
	return o
}

// formShows reports whether a field matters, given the values of others.
func formShows(values map[string]string, key string) bool {
	fields := formFields()
	i := slices.IndexFunc(fields, func(f formField) bool { return f.Key == key })
	return fields[i].matters(values)
}

func (f *formField) matters(values map[string]string) bool {
	needs := formNeeds(values[fieldDataset])
	switch {
	case f.loads != nil && !slices.Contains(f.loads, values[fieldLoad]):
		return false
	case f.Key == fieldFile:
		return needs.File != datasets.NoFile
	case f.Key == fieldPrompts: // needed unless the clock ends the run
		return needs.Ends
	case f.Key == fieldInput:
		return values[fieldDataset] == "random"
	case f.Key == fieldOutput:
		return formOutput(values[fieldDataset]) != ""
	}
	return true
}

// formNeeds are the needs of a data set; none for an unknown name.
func formNeeds(name string) datasets.Needs { return prompts.NewOptions(name).Needs() }

// formArguments is the command line for the values of the form.
func formArguments(values map[string]string) []string {
	args := []string{"serve"}
	for _, f := range formFields() {
		flag, value := f.Key, strings.TrimSpace(values[f.Key])
		switch f.Key {
		case fieldServer:
			value = formServer(values)
		case fieldAPI:
			value = map[string]string{apiChat: "openai-chat"}[value]
		case fieldFile:
			value = expandHome(value)
		case fieldOutput:
			flag = formOutput(values[fieldDataset])
		case fieldLoad:
			args = append(args,
				map[string][]string{loadRamp: {"--ramp-up-strategy", "linear"}, loadFind: {"--find"}}[value]...)
			continue
		case fieldLength:
			if values[fieldLoad] == loadRamp {
				flag = "ramp-over"
			}
		case fieldSLO:
			if slo := strings.Fields(value); len(slo) > 0 {
				args = append(append(args, "--goodput"), slo...)
			}
			continue
		}
		if value != "" && f.matters(values) {
			args = append(args, "--"+flag, value)
		}
	}
	return args
}

// formOutput is the flag of a data set's output length, "" where each prompt has its own.
func formOutput(dataset string) string {
	switch dataset {
	case "random", "sharegpt":
		return dataset + "-output-len"
	case "burstgpt":
		return ""
	case "prefix_repetition", "custom", "spec_bench":
		return "output-len"
	}
	return argv.Dashes(dataset) + "-output-len"
}

// formServer is the server's address; the http:// may be omitted.
func formServer(values map[string]string) string {
	server := strings.TrimSpace(values[fieldServer])
	if server != "" && !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return server
}

// expandHome replaces ~, since no shell reads the form.
func expandHome(file string) string {
	if file != "~" && !(strings.HasPrefix(file, "~") && os.IsPathSeparator(file[1])) {
		return file
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return file // opening it reports the problem
	}
	return filepath.Join(home, file[1:])
}

// formCommand is the command line, quoted for a shell, and its problems.
func formCommand(values map[string]string) (words []string, problem string) {
	args := formArguments(values)
	if err := spec.New().Parse(args[1:]); err != nil {
		problem = err.Error()
	}
	return argv.ShellWords(secret.HideWords(args, nil)), secret.Hide(problem)
}

// formPatience is how long the server may take to name its models.
const formPatience = 5 * time.Second

// formModels asks the server for its models.
func formModels(ctx context.Context, values map[string]string) (field string, choices []string, err error) {
	t, err := target.New(target.Options{BaseURL: formServer(values), Getenv: os.Getenv})
	if err != nil {
		return fieldModel, nil, errors.New(text.Clean(err.Error()))
	}
	client := t.Client()
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, formPatience)
	defer cancel()
	if err := server.Reach(ctx, t); err != nil {
		return fieldModel, nil, errors.New("no server at this address")
	}
	models, err := server.List(ctx, client, t)
	for _, m := range models {
		choices = append(choices, m.ID)
	}
	if err != nil {
		err = errors.New(text.Clean(t.Hide(err.Error())))
	}
	return fieldModel, choices, err
}
