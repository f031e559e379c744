package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"benchtop/datasets"
	"benchtop/export"
	"benchtop/internal/cli/argv"
	"benchtop/internal/cli/prompts"
	"benchtop/internal/cli/server"
	"benchtop/loadgen/target"
	"benchtop/tui/form"
	"benchtop/tui/term"
)

// The fields of the form.
const (
	fieldServer  = "server"
	fieldModel   = "model"
	fieldAPI     = "api"
	fieldDataset = "dataset"
	fieldFile    = "file"
	fieldInput   = "input"
	fieldOutput  = "output"
	fieldLoad    = "load"
	fieldUsers   = "users"
	fieldRate    = "rate"
	fieldFrom    = "from"
	fieldTo      = "to"
	fieldStages  = "stages"
	fieldLength  = "length"
	fieldPrompts = "prompts"
	fieldSLO     = "slo"
)

// formDatasets are the data sets the form offers: those of prompts that every backend can send.
var formDatasets = []string{"random", "sharegpt", "custom", "prefix_repetition", "sonnet", "spec_bench", "speed_bench", "burstgpt"}

// The kinds of load the form offers.
const (
	loadUsers  = "users without pause"
	loadRate   = "a rate"
	loadRamp   = "a ramp in time"
	loadStages = "stages of rates"
	loadFind   = "find the highest rate"
)

const (
	apiCompletions = "completions"
	apiChat        = "chat"
)

// runForm asks for a benchmark on the terminal and runs it.
func runForm(env *environment) int {
	var values map[string]string
	var chosen bool
	left, err := onTerminal(func(ctx context.Context) (err error) {
		values, chosen, err = form.Ask(ctx, formOptions())
		return err
	})
	switch {
	case left != nil:
		return signalCode(left)
	case err != nil:
		return env.fail(exitFailed, err)
	case !chosen:
		return exitFine
	}
	args := formArguments(values)
	// So that it can be run again from the shell's own history.
	_, _ = env.stderr.Write([]byte(strings.Join(argv.ShellWords(argv.HideSecrets(args, nil)), " ") + "\n"))
	return Main(args, env.stdin, env.stdout, env.stderr)
}

func formOptions() form.Options {
	return form.Options{
		Title: "what to load, and how",
		Fields: []form.Field{
			{Key: fieldServer, Label: "Server", Value: "http://127.0.0.1:8000", Hint: "or run 'benchtop demo'"},
			{Key: fieldModel, Label: "Model", Hint: "empty: the server's first", Free: true},
			{Key: fieldAPI, Label: "API", Choices: []string{apiCompletions, apiChat}},
			{Key: fieldDataset, Label: "Data set", Short: "Data", Choices: formDatasets},
			{Key: fieldFile, Label: "File", Hint: "of the data set"},
			{Key: fieldInput, Label: "Input tokens", Short: "Input", Value: "1024"},
			{Key: fieldOutput, Label: "Output tokens", Short: "Output", Value: "128"},
			{Key: fieldLoad, Label: "Load", Choices: []string{loadUsers, loadRate, loadRamp, loadStages, loadFind}},
			{Key: fieldUsers, Label: "Users", Value: "16", Hint: "requests in flight"},
			{Key: fieldRate, Label: "Rate", Value: "4", Hint: "requests a second"},
			{Key: fieldFrom, Label: "From", Value: "1", Hint: "requests a second"},
			{Key: fieldTo, Label: "To", Value: "32", Hint: "requests a second"},
			{Key: fieldStages, Label: "Stages", Value: "4:30s,8:30s,16:30s", Hint: "requests a second : time"},
			{Key: fieldLength, Label: "For", Value: "1m"},
			{Key: fieldPrompts, Label: "Requests", Short: "Reqs", Value: "1000", Hint: "at most"},
			{Key: fieldSLO, Label: "Objectives", Short: "SLO", Value: "ttft:500 tpot:50", Hint: "in ms; may be empty"},
		},
		Shown:   formShows,
		Command: formCommand,
		Lookup:  formModels,
		ASCII:   term.Plain(os.Getenv),
	}
}

// formShows says which fields matter for what was chosen in others.
func formShows(values map[string]string, key string) bool {
	load := values[fieldLoad]
	switch key {
	case fieldFile:
		return formNeeds(values[fieldDataset]).File != datasets.NoFile
	case fieldPrompts: // where the clock alone would not end the run
		return formNeeds(values[fieldDataset]).Ends && load == loadUsers
	case fieldInput:
		return values[fieldDataset] == "random"
	case fieldOutput:
		return formOutput(values[fieldDataset]) != ""
	case fieldAPI, fieldDataset:
		return true
	case fieldUsers:
		return load == loadUsers
	case fieldRate:
		return load == loadRate
	case fieldFrom, fieldTo:
		return load == loadRamp
	case fieldStages:
		return load == loadStages
	case fieldLength:
		return load == loadUsers || load == loadRate || load == loadRamp
	}
	return true
}

// formNeeds are those of a data set; none for a name that none has.
func formNeeds(name string) datasets.Needs {
	o := prompts.NewOptions(name)
	return o.Needs()
}

// formArguments is the command line of what was filled in.
func formArguments(values map[string]string) []string {
	args := []string{"serve"}
	add := func(flag, key string) {
		if v := strings.TrimSpace(values[key]); v != "" {
			args = append(args, "--"+flag, v)
		}
	}
	if server := formServer(values); server != "" {
		args = append(args, "--base-url", server)
	}
	add("model", fieldModel)
	if values[fieldAPI] == apiChat {
		args = append(args, "--backend", "openai-chat")
	}
	args = append(args, "--dataset-name", values[fieldDataset])
	if formShows(values, fieldFile) {
		if file := strings.TrimSpace(values[fieldFile]); file != "" {
			args = append(args, "--dataset-path", atHome(file))
		}
	}
	if formShows(values, fieldInput) {
		add("random-input-len", fieldInput)
	}
	if flag := formOutput(values[fieldDataset]); flag != "" {
		add(flag, fieldOutput)
	}
	switch values[fieldLoad] {
	case loadUsers:
		add("max-concurrency", fieldUsers)
		add("duration", fieldLength)
		if formShows(values, fieldPrompts) {
			add("num-prompts", fieldPrompts)
		}
	case loadRate:
		add("request-rate", fieldRate)
		add("duration", fieldLength)
	case loadRamp:
		args = append(args, "--ramp-up-strategy", "linear")
		add("ramp-up-start-rps", fieldFrom)
		add("ramp-up-end-rps", fieldTo)
		add("ramp-over", fieldLength)
	case loadStages:
		add("stages", fieldStages)
	case loadFind:
		args = append(args, "--find")
	}
	if slo := strings.Fields(values[fieldSLO]); len(slo) > 0 {
		args = append(append(args, "--goodput"), slo...)
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

// formServer is the server's address; people write it without http.
func formServer(values map[string]string) string {
	server := strings.TrimSpace(values[fieldServer])
	if server != "" && !strings.Contains(server, "://") {
		server = "http://" + server
	}
	return server
}

// atHome is a file's name with the ~ that no shell has seen.
func atHome(file string) string {
	if file != "~" && !(strings.HasPrefix(file, "~") && os.IsPathSeparator(file[1])) {
		return file
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return file // it will not be found, which is said
	}
	return filepath.Join(home, file[1:])
}

// formCommand is the command line as a person types it, in words, and what is wrong with it.
func formCommand(values map[string]string) (words []string, problem string) {
	args := formArguments(values)
	if err := newServeOptions().parse(args[1:]); err != nil {
		problem = err.Error()
	}
	return argv.ShellWords(argv.HideSecrets(args, nil)), argv.HideUsers(problem)
}

// formPatience is how long the server may take to name its models.
const formPatience = 5 * time.Second

// formModels asks the server for its models.
func formModels(ctx context.Context, values map[string]string) (field string, choices []string, err error) {
	t, err := target.New(target.Options{BaseURL: formServer(values)})
	if err != nil {
		return fieldModel, nil, errors.New(export.Clean(err.Error()))
	}
	client := t.Client()
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, formPatience)
	defer cancel()
	if err := server.Reach(ctx, t); err != nil {
		return fieldModel, nil, errors.New("no server answers there")
	}
	models, err := server.List(ctx, client, t)
	for _, m := range models {
		choices = append(choices, m.ID)
	}
	if err != nil {
		err = errors.New(export.Clean(t.Hide(err.Error())))
	}
	return fieldModel, choices, err
}
