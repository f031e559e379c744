package datasets

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"benchtop/internal/hf/numpy"
)

// refusal is an input of the golden file that must be refused, or accepted if it has no error.
type refusal struct {
	Dataset, Case string
	Flags         []string
	Args          json.RawMessage
	Error         string
}

// refusals are the golden file's inputs for a data set.
func refusals(t *testing.T, dataset string) []refusal {
	t.Helper()
	var file struct{ Cases []refusal }
	golden(t, "errors.json", &file)
	var list []refusal
	for _, c := range file.Cases {
		if c.Dataset == dataset {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		t.Fatalf("errors.json has no input for %s", dataset)
	}
	return list
}

// arguments reads the case's arguments, and reports whether it has any.
func (c refusal) arguments(t *testing.T, into any) bool {
	t.Helper()
	if len(c.Args) == 0 || string(c.Args) == "null" {
		return false
	}
	if err := json.Unmarshal(c.Args, into); err != nil {
		t.Fatalf("%s: %v", c.Case, err)
	}
	return true
}

// value is what the case gives for a flag.
func (c refusal) value(flag, otherwise string) string {
	for i, f := range c.Flags {
		if f == flag {
			return c.Flags[i+1]
		}
	}
	return otherwise
}

// path is the case's file among ours.
func (c refusal) path() string {
	path := c.value("--dataset-path", "")
	if path == "" {
		return ""
	}
	return filepath.Join("testdata", filepath.Base(path))
}

// expect holds an error to the golden file's code for the case, for which words tells what to find in it.
func (c refusal) expect(t *testing.T, err error, words map[string]string) {
	t.Helper()
	if words[c.Error] == "" {
		t.Fatalf("%s: nobody knows the reason %q", c.Case, c.Error)
	}
	complains(t, err, "dataset "+c.Dataset+": ", words[c.Error])
}

// TestRefusalsAllHaveATest counts the golden file's inputs. Those that only the command line can refuse, for it alone
// knows the back end and the names of the data sets, are tested with it.
func TestRefusalsAllHaveATest(t *testing.T) {
	var file struct{ Cases []refusal }
	golden(t, "errors.json", &file)
	left := map[string]int{
		"random": 11, "random-rerank": 2, "random-mm": 7, "prefix_repetition": 1, "sonnet": 2, "timed_trace": 2, "hf": 4,
		"custom": 3, "sharegpt": 1, "custom_image": 2, "spec_bench": 1, "speed_bench": 2, "custom_mm": 1,
	}
	for _, c := range file.Cases {
		left[c.Dataset]--
	}
	for dataset, n := range left {
		if n != 0 {
			t.Errorf("%s: %d inputs fewer than there were when the tests were written", dataset, n)
		}
	}
}

func TestFileRefusals(t *testing.T) {
	words := map[string]string{
		"dataset_path_required":          "a path to",
		"jsonl_required":                 "poem_lines.txt does not end in .jsonl",
		"output_tokens_field_missing":    `"output_tokens" is missing`,
		"custom_image_line_lacks_fields": `line 1: either "prompt" and "image_files" or "content" must be there`,
		"turns_column_missing":           `line 1: "turns" is missing`,
		"dataset_path_not_a_directory":   "this is not a directory",
	}
	text := Text{Counter: byWords{}, Template: roleTags{}}
	open := map[string]func(refusal) error{
		"sharegpt": func(c refusal) error {
			o := ShareGPTDefaults()
			o.Path = c.path()
			_, err := NewShareGPT(t.Context(), o, text, numpy.NewStreams(0))
			return err
		},
		"custom": func(c refusal) error {
			o := CustomDefaults()
			o.Path = c.path()
			if c.value("--custom-output-len", "") == "-1" {
				o.OutputLen = OutputFromFile
			}
			_, err := NewCustom(t.Context(), o, text, numpy.NewStreams(0))
			return err
		},
		"custom_image": func(c refusal) error {
			o := customImageDefaults()
			o.Path = c.path()
			_, err := NewCustomImage(t.Context(), o, text, numpy.NewStreams(0))
			return err
		},
		"spec_bench": func(c refusal) error {
			o := SpecBenchDefaults()
			o.Path = c.path()
			_, err := NewSpecBench(t.Context(), o, text, numpy.NewStreams(0))
			return err
		},
		"speed_bench": func(c refusal) error {
			o := SpeedBenchDefaults()
			o.Path = c.path()
			_, err := NewSpeedBench(t.Context(), o, text, numpy.NewStreams(0))
			return err
		},
	}
	for dataset, open := range open {
		for _, c := range refusals(t, dataset) {
			t.Run(c.Case, func(t *testing.T) { c.expect(t, open(c), words) })
		}
	}
}

func TestBFCLRefusals(t *testing.T) {
	for _, c := range refusals(t, "hf") {
		if c.value("--bfcl-categories", "") == "" {
			continue // the command line's: paths and back ends
		}
		o := BFCLDefaults()
		o.Path, o.Categories = "testdata", []string{c.value("--bfcl-categories", "")}
		_, err := NewBFCL(t.Context(), o, Text{Counter: byWords{}}, numpy.NewStreams(0))
		same(t, "reason", c.Error, "bfcl_category_not_found")
		complains(t, err, `dataset bfcl: testdata: unknown category "nope"; give --bfcl-categories some of: live_simple, multiple, parallel, simple`)
	}
}
