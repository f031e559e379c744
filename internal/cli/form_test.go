package cli

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
)

func formLine(values map[string]string) (line, problem string) {
	words, problem := formCommand(values)
	return strings.Join(words, " "), problem
}

// Serve takes the form's command line for every choice.
func TestFormCommands(t *testing.T) {
	begin := map[string]string{}
	var loads []string
	for _, f := range formOptions().Fields {
		begin[f.Key] = f.Value
		if f.Value == "" && len(f.Choices) > 0 {
			begin[f.Key] = f.Choices[0]
		}
		if f.Key == fieldLoad {
			loads = f.Choices
		}
	}
	for _, load := range loads {
		values := maps.Clone(begin)
		values[fieldLoad] = load
		line, problem := formLine(values)
		if problem != "" {
			t.Errorf("%s: %s: %s", load, line, problem)
		}
		for _, f := range formOptions().Fields {
			if v := values[f.Key]; v != "" && len(f.Choices) == 0 && f.Key != fieldSLO && formShows(values, f.Key) &&
				!strings.Contains(line, " "+v) {
				t.Errorf("%s: field %s with %q, shown is %t: %s", load, f.Key, v, formShows(values, f.Key), line)
			}
		}
	}
	for _, c := range []struct{ key, value, want, problem string }{
		{fieldModel, "a b", "--model 'a b'", ""},
		{fieldModel, "it's", `--model 'it'\''s'`, ""},
		{fieldSLO, "ttft:200 e2el:9000", "--goodput ttft:200 e2el:9000", ""},
		{fieldSLO, " ", "--max-concurrency 16 --duration 1m", ""},
		{fieldServer, "", "serve --dataset-name", ""},
		{fieldServer, "http://me:canary@host", "--base-url 'http://***@host'", ""},
		{fieldServer, " gpu-box:8000 ", "--base-url http://gpu-box:8000 ", ""},
		{fieldServer, "127.0.0.1:18301/v2", "--base-url http://127.0.0.1:18301/v2 ", ""},
		{fieldServer, "me:canary@host", "--base-url 'http://***@host'", ""},
		{fieldServer, "https://host", "--base-url https://host ", ""},
		{"max-concurrency", "many", "--max-concurrency many", "--max-concurrency"},
		{fieldSLO, "fast", "--goodput fast", "--goodput"},
	} {
		values := maps.Clone(begin)
		values[c.key] = c.value
		line, problem := formLine(values)
		if !strings.Contains(line, c.want) || !strings.Contains(problem, c.problem) ||
			(c.problem == "") != (problem == "") {
			t.Errorf("%s of %q: %s: %q, want %q in it and the problem %q", c.key, c.value, line, problem, c.want,
				c.problem)
		}
	}
}

// In a window of 20 columns most of the line is left for the value, and in one of 80 there is room for hints.
func TestFormWidths(t *testing.T) {
	for _, f := range formOptions().Fields {
		if short := cmp.Or(f.Short, f.Label); len(short) > 6 {
			t.Errorf("%q is more than 6 columns wide", short)
		}
		if len(f.Hint) > 25 {
			t.Errorf("%q is more than 25 columns wide", f.Hint)
		}
	}
}

// The server is asked for its models at the address that the command line has.
func TestFormModels(t *testing.T) {
	server := recorded(t, nil)
	field, choices,
		err := formModels(t.Context(), map[string]string{fieldServer: strings.TrimPrefix(server.url, "http://")})
	if field != fieldModel || len(choices) == 0 || err != nil {
		t.Errorf("field %q, models %q, %v", field, choices, err)
	}
}

// Each data set has the fields that it uses, and makes a command line that serve takes.
func TestFormDatasets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range formDatasets {
		values := map[string]string{fieldAPI: apiChat, fieldDataset: name, fieldFile: file, fieldInput: "20",
			fieldOutput: "10", fieldLoad: loadRate, "request-rate": "3", fieldLength: "1m"}
		line, problem := formLine(values)
		if problem != "" || strings.Contains(line, file) != (formNeeds(name).File != datasets.NoFile) ||
			strings.Contains(line, " 20 ") != (name == "random") ||
			strings.Contains(line, "-len 10 ") == (name == "burstgpt") {
			t.Errorf("%s: %s", line, problem)
		}
	}
}

// In the form there is no shell that knows what ~ is.
func TestFormHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for file, want := range map[string]string{
		" ~/a b.json ": filepath.Join(home, "a b.json"), "~": home, "~me/x.json": "~me/x.json",
		"a~/x.json": "a~/x.json",
	} {
		args := formArguments(map[string]string{fieldDataset: "sharegpt", fieldFile: file})
		if i := slices.Index(args, "--dataset-path"); i < 0 || args[i+1] != want {
			t.Errorf("%q: %q, want %q", file, args, want)
		}
	}
}

// Every data set of the form goes with every load.
func TestFormEveryLoad(t *testing.T) {
	files := map[string]string{"sharegpt": "sharegpt_small.json", "custom": "custom_small.jsonl",
		"spec_bench":  "spec_bench_small.jsonl",
		"speed_bench": "speed_bench_small", "burstgpt": "burstgpt_small.csv"}
	values := map[string]string{}
	var loads []string
	for _, f := range formOptions().Fields {
		values[f.Key] = f.Value
		if f.Key == fieldLoad {
			loads = f.Choices
		}
	}
	for _, dataset := range formDatasets {
		for _, load := range loads {
			for _, api := range []string{apiCompletions, apiChat} {
				values[fieldDataset], values[fieldLoad], values[fieldAPI], values[fieldFile] = dataset, load, api, ""
				if file := files[dataset]; file != "" {
					values[fieldFile] = datasetFiles + file
				} else if dataset == "hf" {
					values[fieldFile] = "openai/gsm8k"
				}
				if line, problem := formLine(values); problem != "" {
					t.Errorf("%s: %s", line, problem)
				}
			}
		}
	}
}
