package cli

import (
	"cmp"
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
	"benchtop/loadgen/protocol"
	"benchtop/tui/form"
	"benchtop/tui/term"
)

// Fields of the form; most are named for the flag that they fill.
const (
	fieldStart   = "start"
	fieldKey     = "key"
	fieldMore    = "flags"
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
	loadFlags  = "by the flags below"
)

// formAPIs are the backends that the form offers, the usual one first.
var formAPIs = []string{"openai", "openai-chat"}

// runForm asks for a benchmark on the terminal and runs it.
func runForm(env *session.Environment) int {
	var values map[string]string
	var chosen bool
	left, err := session.OnTerminal(func(ctx context.Context) (err error) {
		values, chosen, err = form.Ask(ctx, formOptions(formStarts()))
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

var formFields = []formField{
	{form.Field{Key: fieldStart, Label: "Start from", Short: "Start", Choices: []string{"defaults"}}, nil},
	{form.Field{Key: fieldServer, Label: "Server", Value: "http://127.0.0.1:8000", Asks: true}, nil},
	{form.Field{Key: fieldModel, Label: "Model", Free: true}, nil},
	{form.Field{Key: fieldKey, Label: "API key", Short: "Key", Secret: true, Asks: true}, nil},
	{form.Field{Key: fieldAPI, Label: "API", Choices: formAPIs, Free: true}, nil},
	{form.Field{Key: fieldDataset, Label: "Data set", Short: "Data", Choices: formDatasets, Free: true}, nil},
	{form.Field{Key: fieldFile, Label: "File"}, nil},
	{form.Field{Key: fieldInput, Label: "Input tokens", Short: "Input", Value: "1024"}, nil},
	{form.Field{Key: fieldOutput, Label: "Output tokens", Short: "Output", Value: "128"}, nil},
	{form.Field{Key: fieldLoad, Label: "Load",
		Choices: []string{loadUsers, loadRate, loadRamp, loadStages, loadFind, loadFlags}}, nil},
	{form.Field{Key: "max-concurrency", Label: "Users", Value: "16"}, []string{loadUsers}},
	{form.Field{Key: "request-rate", Label: "Rate", Value: "4"}, []string{loadRate}},
	{form.Field{Key: "ramp-up-strategy", Label: "Ramp", Choices: []string{"linear", "exponential"}},
		[]string{loadRamp}},
	{form.Field{Key: "ramp-up-start-rps", Label: "From", Value: "1"}, []string{loadRamp}},
	{form.Field{Key: "ramp-up-end-rps", Label: "To", Value: "32"}, []string{loadRamp}},
	{form.Field{Key: "stages", Label: "Stages", Value: "4:30s,8:30s,16:30s"}, []string{loadStages}},
	{form.Field{Key: fieldLength, Label: "Duration", Short: "For", Value: "1m"},
		[]string{loadUsers, loadRate, loadRamp}},
	{form.Field{Key: fieldPrompts, Label: "Requests", Short: "Reqs", Value: "1000"}, []string{loadUsers}},
	{form.Field{Key: fieldSLO, Label: "Objectives", Short: "SLO", Value: "ttft:500 tpot:50"}, nil},
	{form.Field{Key: fieldMore, Label: "More flags", Short: "Flags"}, nil},
}

// formOptions is the form, with what was asked for before to start from.
func formOptions(starts []formStart) form.Options {
	flags, keys := spec.New().Flags.All(), formKeys{}
	o := form.Options{
		Title: "New benchmark",
		Shown: formShows,
		Outcome: func(values map[string]string) form.Outcome {
			keys.use(values)
			return formOutcome(values)
		},
		About: func(values map[string]string, field string) (name, text string) {
			if at := startNamed(starts, values[fieldStart]); field == fieldStart && at != nil {
				return at.name, at.about
			}
			return formAbout(flags, values, field)
		},
		Complete: func(values map[string]string, field string) []string { return formComplete(flags, values, field) },
		Fill: func(values map[string]string, field string) map[string]string {
			if field != fieldStart {
				return nil
			}
			return formFilled(startNamed(starts, values[fieldStart]))
		},
		Lookup: formModels,
		ASCII:  term.Plain(os.Getenv),
	}
	for _, f := range formFields {
		if f.Key == fieldStart {
			for _, at := range starts {
				f.Choices = append(f.Choices, at.name)
			}
		}
		if f.Key != fieldStart || starts != nil {
			o.Fields = append(o.Fields, f.Field)
		}
	}
	return o
}

// formShows reports whether a field matters, given the values of others.
func formShows(values map[string]string, key string) bool {
	i := slices.IndexFunc(formFields, func(f formField) bool { return f.Key == key })
	return formFields[i].matters(values)
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

// flag is the flag that a field fills, of the kinds of load that of the chosen one; "" for none.
func (f *formField) flag(values map[string]string) string {
	switch f.Key {
	case fieldStart, fieldKey, fieldMore:
		return ""
	case fieldOutput:
		return formOutput(values[fieldDataset])
	case fieldLoad:
		return map[string]string{loadUsers: "max-concurrency", loadRate: "request-rate", loadRamp: "ramp-up-strategy",
			loadStages: "stages", loadFind: "find"}[values[fieldLoad]]
	case fieldLength:
		if values[fieldLoad] == loadRamp {
			return "ramp-over"
		}
	}
	return f.Key
}

// formArguments is the command line for the values of the form.
func formArguments(values map[string]string) []string {
	args := []string{"serve"}
	for _, f := range formFields {
		flag, value := f.flag(values), strings.TrimSpace(values[f.Key])
		switch f.Key {
		case fieldServer:
			value = formServer(values)
		case fieldFile:
			value = expandHome(value)
		case fieldLoad:
			if value == loadFind {
				args = append(args, "--find")
			}
			continue
		case fieldSLO:
			if slo := strings.Fields(value); len(slo) > 0 {
				args = append(append(args, "--goodput"), slo...)
			}
			continue
		case fieldMore:
			more, _ := argv.Split(value)
			args = append(args, more...)
		}
		if flag != "" && value != "" && f.matters(values) {
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
	case "prefix_repetition", "custom", "spec_bench":
		return "output-len"
	case "sonnet", "speed_bench", "hf":
		return argv.Dashes(dataset) + "-output-len"
	}
	return ""
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

// formOutcome is the command line, quoted for a shell, its problems and its cost.
func formOutcome(values map[string]string) (out form.Outcome) {
	args := formArguments(values)
	asked := spec.New()
	err := asked.Parse(args[1:])
	if _, wrong := argv.Split(values[fieldMore]); wrong != nil {
		err = wrong
	}
	if err != nil {
		out.Problem = secret.Hide(err.Error())
	} else {
		out.Cost = formCost(asked)
	}
	out.Words = argv.ShellWords(secret.HideWords(args, nil))
	return out
}

// formPatience is how long the server may take to name its models.
const formPatience = 5 * time.Second

// formModels asks the server for its models.
func formModels(ctx context.Context, values map[string]string) (field string, choices []string, err error) {
	asked := spec.New()
	_ = asked.Parse(formArguments(values)[1:]) // the form shows its problems
	t := asked.Server.Target
	if t == nil {
		return fieldModel, nil, nil
	}
	client := t.Client()
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, formPatience)
	defer cancel()
	if err := server.Reach(ctx, t); err != nil {
		return fieldModel, nil, errors.New("no server found")
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

// formKeys brings the API key of the form to the rest of the program as the command line gets it, by a variable of the
// environment. It holds what the variables were before.
type formKeys map[string]string

func (k formKeys) use(values map[string]string) {
	name := keyVariable(values)
	if _, known := k[name]; !known {
		k[name] = os.Getenv(name)
	}
	_ = os.Setenv(name, cmp.Or(strings.TrimSpace(values[fieldKey]), k[name]))
}

// keyVariable is the variable with the API key of the chosen backend.
func keyVariable(values map[string]string) string {
	const usual = "OPENAI_API_KEY"
	if p := protocol.Named(values[fieldAPI]); p != nil {
		return cmp.Or(p.Traits().KeyFrom, usual)
	}
	return usual
}
