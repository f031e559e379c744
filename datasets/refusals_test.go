package datasets

import (
	"encoding/json"
	"testing"

	"benchtop/internal/assert"
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

// TestRefusalsAllHaveATest counts the golden file's inputs. Those that only the command line can refuse, for it alone
// knows the back end and the names of the data sets, are tested with it.
func TestRefusalsAllHaveATest(t *testing.T) {
	var file struct{ Cases []refusal }
	golden(t, "errors.json", &file)
	left := map[string]int{
		"random": 11, "random-rerank": 2, "random-mm": 7, "prefix_repetition": 1, "sonnet": 2, "timed_trace": 2,
		"hf":     4,
		"custom": 3, "sharegpt": 1, "custom_image": 2, "spec_bench": 1, "speed_bench": 2, "custom_mm": 1,
	}
	for _, c := range file.Cases {
		left[c.Dataset]--
	}
	for dataset, n := range left {
		assert.Equal(t, n, 0, "%s: inputs fewer than there were when the tests were written", dataset)
	}
}

// Inputs that vLLM refuses are refused, with the flags that it was given.
func TestRefusals(t *testing.T) {
	words := map[string]string{
		"jsonl_required":                  "poem_lines.txt does not end in .jsonl",
		"output_tokens_field_missing":     `"output_tokens" is missing`,
		"custom_image_line_lacks_fields":  `line 1: either "prompt" and "image_files" or "content" must be there`,
		"turns_column_missing":            `line 1: "turns" is missing`,
		"dataset_path_not_a_directory":    "this is not a directory",
		"sonnet_input_len_not_above_base": "input length 5 must be above 13",
		"tokenizer_required":              "needs a tokenizer",
		"trace_field_missing": `line 1: there is no field "nope"; the fields are "timestamp", ` +
			`"input_length"`,
		"bfcl_category_not_found": `testdata: unknown category "nope"; give --bfcl-categories some of: ` +
			`live_simple, multiple, parallel, simple`,
	}
	for _, dataset := range []string{"sharegpt", "custom", "custom_image", "spec_bench", "speed_bench", "sonnet",
		"timed_trace", "hf"} {
		for _, c := range refusals(t, dataset) {
			if c.Error == "dataset_path_required" {
				continue // the command line's
			}
			common, text := Common{Prompts: 1000}, Text{Counter: byWords{}, Template: roleTags{}}
			flags := common.flagsOf(c.Flags)
			if dataset == "hf" {
				if flags["bfcl-categories"] == "" {
					continue // the command line's: paths and back ends
				}
				flags["hf-name"], common.Path = BFCLRepository, "testdata"
			}
			if c.Error == "tokenizer_required" {
				text.Counter = nil
			}
			t.Run(c.Case, func(t *testing.T) {
				if words[c.Error] == "" {
					t.Fatalf("the reason %q is not known", c.Error)
				}
				complains(t, failure(opened(t, dataset, common, flags,
					testTools{toyTools{notes: new([]string)}, text, numpy.NewStreams(0)})), "dataset ", words[c.Error])
			})
		}
	}
}
