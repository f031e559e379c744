package datasets

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"benchtop/datasets/numpy"
)

// SpecBenchOptions says what to take from a file of Spec-Bench's questions. The seed is of no account: vLLM
// shuffles this data set with seed 0.
type SpecBenchOptions struct {
	Common

	Category  string `json:"category,omitempty"` // only questions of it; "" takes all
	OutputLen int    `json:"output_len"`         // tokens
}

// SpecBenchDefaults are vLLM's: 1000 prompts of all categories, 256 tokens out. The path is left to be filled in.
func SpecBenchDefaults() SpecBenchOptions {
	return SpecBenchOptions{Common: Common{Prompts: 1000}, OutputLen: 256}
}

// Validate reports every problem with the options, without looking at the file.
func (o SpecBenchOptions) Validate() error {
	p := &problems{}
	p.path(o.Path, "the file of questions")
	p.positive("output length", o.OutputLen)
	return p.of("spec_bench")
}

type specBenchKind struct{ SpecBenchOptions }

func (k *specBenchKind) Name() string { return "spec_bench" }

func (k *specBenchKind) Define(group func(string) Flags) {
	f := group(filesHeading)
	f.IntVar(&k.OutputLen, "spec-bench-output-len", k.OutputLen, "spec_bench: output length in tokens")
	f.StringVar(&k.Category, "spec-bench-category", "", "spec_bench: take only questions of this category")
}

func (k *specBenchKind) Needs(c Common) Needs {
	return Needs{File: RequiredFile, Forms: AsText, Ends: true, AllRows: true, Counts: true, Template: true, OutputLen: c.outputLen(k.OutputLen)}
}

func (k *specBenchKind) options(c Common) SpecBenchOptions {
	return SpecBenchOptions{Common: c, Category: k.Category, OutputLen: c.outputLen(k.OutputLen)}
}

func (k *specBenchKind) Validate(c Common) error { return k.options(c).Validate() }

func (k *specBenchKind) Open(ctx context.Context, c Common, t Tools) (Source, error) {
	return NewSpecBench(ctx, k.options(c), t.Text(), t.Streams())
}

const specBenchForm = `an object like {"category": "math", "turns": ["first question", "second"]}`

// NewSpecBench reads the file and picks first turns of its questions, as vLLM picks them. It leaves the Python generator
// of s as vLLM's client would, and does not touch the other.
func NewSpecBench(ctx context.Context, o SpecBenchOptions, text Text, s *numpy.Streams) (*List, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	common := o.Common
	common.Seed, common.SkipChatTemplate, common.TemplateArgs = 0, false, nil
	custom := CustomOptions{Common: common, OutputLen: o.OutputLen}
	return custom.bench(ctx, "spec_bench", text, s, func(r io.Reader) ([]customRow, error) {
		return readBench(r, "turns", specBenchForm, o.Category, "--spec-bench-category", func(turn []byte) []byte { return turn })
	})
}

// bench makes a data set of the rows that read finds in the file at o.Path.
func (o CustomOptions) bench(ctx context.Context, dataset string, text Text, s *numpy.Streams, read func(io.Reader) ([]customRow, error)) (*List, error) {
	if text.Counter == nil {
		return nil, noCounter(dataset)
	}
	file, err := openFile(o.Path, "a file with an object on each line")
	if err != nil {
		return nil, inFile(dataset, o.Path, err)
	}
	defer file.Close()
	rows, err := read(file)
	if err != nil {
		return nil, inFile(dataset, o.Path, cause(err))
	}
	if text.Template == nil && !o.SkipChatTemplate {
		return nil, noTemplate(dataset, "")
	}
	list, err := o.sample(ctx, dataset, rows, func([]customRow) error { return nil }, text, s.Python)
	if err != nil {
		return nil, inFile(dataset, o.Path, err)
	}
	return list, nil
}

// readBench reads the questions of a category: what prompt finds in the first element of the array called field. A line
// that belongs to another category may be of any form.
func readBench(r io.Reader, field, form, category, flag string, prompt func(first []byte) []byte) ([]customRow, error) {
	var rows []customRow
	present := map[string]bool{}
	err := eachObject(r, form, func(object []byte, line int) error {
		var list, name []byte
		for key, value := range members(object) {
			switch key {
			case field:
				list = value
			case "category":
				name = value
			}
		}
		if category != "" {
			its := categoryName(name)
			if present[its] = true; its != category {
				return nil
			}
		}
		if len(list) == 0 {
			return fmt.Errorf("%q is missing; expected %s", field, form)
		}
		text, err := firstPrompt(field, list, prompt)
		rows = append(rows, customRow{prompt: text, line: line})
		return err
	})
	if err == nil && len(rows) == 0 {
		delete(present, "")
		err = fmt.Errorf("no question is of category %q; give %s one of: %s", category, flag,
			someOf(slices.Sorted(maps.Keys(present))))
	}
	return rows, err
}

// categoryName is the name of a category, "" for none.
func categoryName(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	return unquote(raw)
}

func firstPrompt(field string, list []byte, prompt func(first []byte) []byte) (string, error) {
	if list[0] != '[' {
		return "", fmt.Errorf("expected %q to be an array: got %s", field, jsonKind(list))
	}
	for first := range elements(list) {
		text := prompt(first)
		if len(text) == 0 || text[0] != '"' {
			return "", fmt.Errorf("expected the first of %q to hold a string: got %s", field, jsonKind(text))
		}
		return wholeText(text)
	}
	return "", fmt.Errorf("%q is empty", field)
}
