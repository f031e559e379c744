package cli

import (
	"cmp"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/argv"
	"benchtop/internal/assert"
	"benchtop/internal/spec"
	"benchtop/metrics"
)

func formLine(values map[string]string) (line, problem string) {
	out := formOutcome(values)
	return strings.Join(out.Words, " "), out.Problem
}

// Serve takes the form's command line for every choice.
func TestFormCommands(t *testing.T) {
	begin := map[string]string{}
	var loads []string
	for _, f := range formOptions(nil).Fields {
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
		assert.Equal(t, problem, "", "%s: %s", load, line)
		for _, f := range formOptions(nil).Fields {
			if v := values[f.Key]; v != "" && len(f.Choices) == 0 && f.Key != fieldSLO && f.Key != fieldMore &&
				formShows(values, f.Key) &&
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
		{fieldServer, "", "serve --backend", ""},
		{fieldMore, "--num-warmups 3 --label 'a b'", "--num-warmups 3 --label 'a b'", ""},
		{fieldMore, "--label 'a", "--goodput ttft:500 tpot:50", "a quotation mark is not closed"},
		{fieldMore, "--num-warmup", "--num-warmup", "--num-warmup"},
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

// In a window of 20 columns most of the line is left for the value.
func TestFormWidths(t *testing.T) {
	for _, f := range formOptions(nil).Fields {
		if short := cmp.Or(f.Short, f.Label); len(short) > 6 {
			t.Errorf("%q is more than 6 columns wide", short)
		}
	}
}

// The server is asked for its models at the address that the command line has.
func TestFormModels(t *testing.T) {
	server := recorded(t, nil)
	values := map[string]string{fieldServer: strings.TrimPrefix(server.url, "http://")}
	field, choices, err := formModels(t.Context(), values)
	if field != fieldModel || len(choices) == 0 || err != nil {
		t.Errorf("field %q, models %q, %v", field, choices, err)
	}
}

// Each data set has the fields that it uses, and makes a command line that serve takes.
func TestFormDatasets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	assert.Fine(t, os.WriteFile(file, nil, 0o600))
	for _, name := range formDatasets {
		values := map[string]string{fieldAPI: formAPIs[1], fieldDataset: name, fieldFile: file, fieldInput: "20",
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
	for _, f := range formOptions(nil).Fields {
		values[f.Key] = f.Value
		if f.Value == "" && len(f.Choices) > 0 {
			values[f.Key] = f.Choices[0]
		}
		if f.Key == fieldLoad {
			loads = f.Choices
		}
	}
	for _, dataset := range formDatasets {
		for _, load := range loads {
			for _, api := range formAPIs {
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

// The API key goes to the server and is in no word of the command line; without one the variable is as it was.
func TestFormKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "of-the-shell")
	var sent []string
	server := recorded(t, func(w http.ResponseWriter, r *http.Request) bool {
		sent = append(sent, r.Header.Get("Authorization"))
		return false
	})
	o := formOptions(nil)
	for _, key := range []string{"canary", ""} {
		values := map[string]string{fieldServer: server.url, fieldKey: key}
		if out := o.Outcome(values); strings.Contains(strings.Join(out.Words, " ")+out.Cost, "canary") {
			t.Errorf("the key is shown: %q", out)
		}
		if _, _, err := formModels(t.Context(), values); err != nil {
			t.Error(err)
		}
	}
	if sent = slices.Compact(sent); !slices.Equal(sent, []string{"Bearer canary", "Bearer of-the-shell"}) {
		t.Errorf("sent %q", sent)
	}
}

// Starting from an older run gives the same run, whatever fields the form has for it; fields that are changed count.
func TestFormStarts(t *testing.T) {
	for _, line := range []string{
		"",
		"--model m --dataset-name random --random-input-len 64 --request-rate 20 --num-prompts 30",
		"--num-prompts 10 --max-concurrency 2",
		"--base-url http://a --base-url http://b --max-concurrency 3 --duration 5s --goodput ttft:500 tpot:50",
		"--ramp-up-strategy exponential --ramp-up-start-rps 1 --ramp-up-end-rps 9 --ramp-over 9s --num-warmups 2",
		"--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 9 --num-prompts 9",
		"--stages 3:5s,0:5s --request-timeout 10m --header 'X=$HOME' --label 'a b' --extra-body.top_k 3",
		"--find --goodput ttft:500 --find-from 3 --max-concurrency 100",
		"--find-users --goodput ttft:500",
		"--concurrency-stages 1:5s,2:5s --num-prompts 20 --backend openai-responses --dataset-name prefix_repetition " +
			"--output-len 9",
	} {
		words := assert.Must(argv.Split(line))(t)
		asked := spec.New()
		if err := asked.Parse(words); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		values := formFilled(&formStart{settings: asked.Settings()})
		again := spec.New()
		assert.Fails(t, line, again.Parse(formArguments(values)[1:]), "")
		var got, want []string
		for _, s := range again.Settings() {
			// else the default
			if s.Flag != "backend" && s.Flag != "dataset-name" || slices.Contains(words, "--"+s.Flag) {
				got = append(got, metrics.Words([]metrics.Setting{s})...)
			}
		}
		for _, s := range asked.Settings() {
			want = append(want, metrics.Words([]metrics.Setting{s})...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(again.Warnings) > len(asked.Warnings) {
			t.Errorf("%s:\n%q, want\n%q, %q", line, got, want, again.Warnings)
		}
	}
}

// Saved runs and profiles are there to start from: the newest run first, profiles of files of flags alone.
func TestFormFindsStarts(t *testing.T) {
	server := recorded(t, nil)
	t.Chdir(t.TempDir())
	for file, text := range map[string]string{
		"a.yaml": "model: m\nprofiles:\n  chat: {max-concurrency: 3}\n", "b.yaml": "services: {x: 1}\n",
		"c.yml": "- 1\n",
	} {
		assert.Fine(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, n := range []string{"2", "3"} {
		out := benchtop("serve", "--base-url", server.url, "--num-prompts", n, "--random-input-len", "4", "--no-tui",
			"--save-result", "--result-dir", "benchtop-results", "--result-filename", n+".json")
		if out.code != 0 {
			t.Fatal(out.stderr)
		}
		old := time.Now().Add(-time.Hour)
		if n == "2" {
			_ = os.Chtimes("benchtop-results/2.jsonl.gz", old, old)
		}
	}
	var names []string
	starts := formStarts()
	for _, s := range starts {
		names = append(names, s.name)
	}
	if !slices.Equal(names, []string{"3.json", "2.json", "a.yaml#chat"}) {
		t.Fatalf("%q", names)
	}
	values := formFilled(startNamed(starts, "3.json"))
	if values[fieldServer] != server.url || values[fieldInput] != "4" ||
		!strings.Contains(values[fieldMore], "--num-prompts=3") {
		t.Errorf("%q", values)
	}
	if values := formFilled(startNamed(starts, "a.yaml#chat")); values[fieldModel] != "m" ||
		values["max-concurrency"] != "3" ||
		values[fieldLoad] != loadUsers {
		t.Errorf("%q", values)
	}
}

// What a run costs is said as far as it is known.
func TestFormCost(t *testing.T) {
	for line, want := range map[string]string{
		"--request-rate 2 --num-prompts 100 --random-input-len 10 --random-output-len 5": "at most 100 requests · " +
			"up to about 1k tokens in · at most 500 tokens out · about 50s, then the last answers",
		"--max-concurrency 4 --duration 1m": "requests unknown: depends on the server · about 1k tokens in each · " +
			"at most 128 tokens out each · about 1m, then the last answers",
		"--stages 2:10s,5:10s --random-input-len 10 " +
			"--random-output-len 1": "about 70 requests · about 700 tokens in · " +
			"about 70 tokens out · about 20s, then the last answers",
		"--random-range-ratio 0.5": "at most 1k requests · tokens in unknown: depends on the data set · " +
			"tokens out unknown: depends on the data set · time unknown: depends on the server",
		"--find --goodput ttft:500": "requests unknown: depends on the server · about 1k tokens in each · " +
			"at most 128 tokens out each · time unknown: depends on the server",
		"--multi-turn --num-prompts 5": "requests unknown: depends on the conversations · about 1k tokens in each · " +
			"at most 128 tokens out each · time unknown: depends on the server",
		"--num-runs 3 --num-prompts 5 --dataset-name sonnet": "each run: at most 5 requests · " +
			"tokens in unknown: depends on the data set · at most 750 tokens out · time unknown: depends on the server",
	} {
		o := spec.New()
		words, _ := argv.Split(line)
		if err := o.Parse(words); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		assert.Equal(t, formCost(o), want, "%s", line)
	}
}

// Each field is described by the help of the flag that it fills, those of loads by that of the chosen one.
func TestFormAbout(t *testing.T) {
	o := formOptions(nil)
	for _, f := range formFields {
		for _, load := range []string{loadUsers, loadRate, loadRamp, loadStages, loadFind} {
			values := map[string]string{fieldDataset: "random", fieldLoad: load}
			name, about := o.About(values, f.Key)
			if name == "" || about == "" {
				t.Errorf("%s with %s has no description", f.Key, load)
			}
		}
	}
	for more, want := range map[string]string{"--label x": "flags of benchtop serve", "--no-tui --warmup": "--warmup"} {
		if name, _ := o.About(map[string]string{fieldMore: more}, fieldMore); name != want {
			t.Errorf("%q is about %q, want %q", more, name, want)
		}
	}
}

// Files, data sets of the hub and flags are completed.
func TestFormCompletes(t *testing.T) {
	o := formOptions(nil)
	for _, c := range []struct{ dataset, field, typed, want string }{
		{"custom", fieldFile, datasetFiles + "custom_sm", datasetFiles + "custom_small.jsonl"},
		{"custom", fieldFile, "testd", "testdata/"},
		{"hf", fieldFile, "likaixin", "likaixin/InstructCoder"},
		{"", fieldMore, "--no-tui --num-wa", "--no-tui --num-warmups"},
	} {
		all := o.Complete(map[string]string{fieldDataset: c.dataset, c.field: c.typed}, c.field)
		if !slices.Contains(all, c.want) {
			t.Errorf("%q: %.300q, want %q", c.typed, all, c.want)
		}
	}
}
