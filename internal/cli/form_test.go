package cli

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func formLine(values map[string]string) (line, problem string) {
	words, problem := formCommand(values)
	return strings.Join(words, " "), problem
}

// The form's command lines are such as serve takes, whatever is chosen.
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
			if v := values[f.Key]; v != "" && len(f.Choices) == 0 && f.Key != fieldSLO && formShows(values, f.Key) && !strings.Contains(line, " "+v) {
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
		{fieldUsers, "many", "--max-concurrency many", "--max-concurrency"},
		{fieldSLO, "fast", "--goodput fast", "--goodput"},
	} {
		values := maps.Clone(begin)
		values[c.key] = c.value
		line, problem := formLine(values)
		if !strings.Contains(line, c.want) || !strings.Contains(problem, c.problem) || (c.problem == "") != (problem == "") {
			t.Errorf("%s of %q: %s: %q, want %q in it and the problem %q", c.key, c.value, line, problem, c.want, c.problem)
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
	field, choices, err := formModels(t.Context(), map[string]string{fieldServer: strings.TrimPrefix(server.url, "http://")})
	if field != fieldModel || len(choices) == 0 || err != nil {
		t.Errorf("field %q, models %q, %v", field, choices, err)
	}
}

// What only the choices of the form are to blame for is said in their words.
func TestFormChatRandom(t *testing.T) {
	values := map[string]string{fieldAPI: apiChat, fieldDataset: "random", fieldLoad: loadUsers, fieldUsers: "16"}
	line, problem := formLine(values)
	if !strings.Contains(line, "--backend openai-chat --dataset-name random") || !strings.Contains(problem, "change API to completions, or Data set to") || strings.Contains(problem, "--") {
		t.Errorf("%s: %s", line, problem)
	}
	values[fieldUsers] = "many"
	if _, problem := formLine(values); !strings.Contains(problem, "change API to") || !strings.Contains(problem, "\n--max-concurrency") {
		t.Errorf("one of the two problems is missing: %s", problem)
	}
}

// In the form there is no shell that knows what ~ is.
func TestFormHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for file, want := range map[string]string{
		" ~/a b.json ": filepath.Join(home, "a b.json"), "~": home, "~me/x.json": "~me/x.json", "a~/x.json": "a~/x.json",
	} {
		args := formArguments(map[string]string{fieldDataset: "sharegpt", fieldFile: file})
		if i := slices.Index(args, "--dataset-path"); i < 0 || args[i+1] != want {
			t.Errorf("%q: %q, want %q", file, args, want)
		}
	}
}
