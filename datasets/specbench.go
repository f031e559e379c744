package datasets

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// specBench selects prompts from a file of Spec-Bench's questions. The seed does not count: vLLM shuffles this data set
// with seed 0.
type specBench struct {
	Common
	Category  string // only questions of it; "" takes all
	OutputLen int    // tokens
}

func (o *specBench) Define(group func(string) Flags) {
	f := group(filesHeading)
	f.IntVar(&o.OutputLen, "spec-bench-output-len", o.OutputLen, "spec_bench: output length in tokens")
	f.StringVar(&o.Category, "spec-bench-category", "", "spec_bench: only questions of this category")
}

func (o specBench) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsText, Ends: true, AllRows: true, Counts: true, Template: true,
		OutputLen: o.outputLen(o.OutputLen)}
}

func (o specBench) check() error {
	p := &problems{}
	p.positive("output length", o.outputLen(o.OutputLen))
	return p.of("spec_bench")
}

const specBenchForm = `an object like {"category": "math", "turns": ["first question", "second"]}`

// open reads the file and picks first turns of its questions, as vLLM picks them. It does not touch the legacy
// generator.
func (o specBench) open(ctx context.Context, t Tools) (Flow, error) {
	o.Seed, o.SkipChatTemplate, o.TemplateArgs = 0, false, nil
	b := bench{"spec_bench", o.Category, "--spec-bench-category", "turns", specBenchForm,
		func(turn []byte) []byte { return turn }}
	return b.open(ctx, t, o.Common, o.outputLen(o.OutputLen))
}

// bench is a data set of questions, each with a category and an array of turns.
type bench struct {
	dataset, category string // category is the one wanted, "" for all
	flag              string // that names the category
	field, form       string // field is the name of the array, form what a line should be
	prompt            func(first []byte) []byte
}

// open makes a data set of the questions in the file at c.Path, with answers of so many tokens.
func (b bench) open(ctx context.Context, t Tools, c Common, outputLen int) (Flow, error) {
	c.SharedOutputLen = 0 // it counts already where it counts
	text, o := t.Text(), custom{c, &customFlags{outputLen}}
	if text.Counter == nil {
		return Flow{}, noCounter(b.dataset)
	}
	list, err := o.draw(ctx, b.dataset, text, t.Streams().Python,
		func(file *os.File) (rows []customRow, fill func([]customRow) error, err error) {
			if rows, err = b.read(file); err == nil && text.Template == nil && !o.SkipChatTemplate {
				err = noTemplate(b.dataset, "")
			}
			return rows, nil, err
		})
	return list, inFile(b.dataset, o.Path, err)
}

// read reads the questions of the category: prompt finds them in the first element of each array. A line that belongs
// to another category may be of any form.
func (b bench) read(r io.Reader) ([]customRow, error) {
	var rows []customRow
	present := map[string]bool{}
	err := textfile.EachObject(r, b.form, func(object []byte, line int) error {
		fields := jsonscan.Fields(object, b.field, "category")
		if b.category != "" {
			name := ""
			if jsonscan.IsString(fields[1]) {
				name = jsonscan.Text(fields[1])
			}
			if present[name] = true; name != b.category {
				return nil
			}
		}
		text, err := b.firstPrompt(fields[0])
		rows = append(rows, customRow{prompt: text, line: line})
		return err
	})
	if err == nil && len(rows) == 0 {
		delete(present, "")
		err = fmt.Errorf("no question is of category %q; give %s one of: %s", b.category, b.flag,
			someOf(slices.Sorted(maps.Keys(present))))
	}
	return rows, err
}

func (b bench) firstPrompt(list []byte) (string, error) {
	switch {
	case len(list) == 0:
		return "", fmt.Errorf("%q is missing; expected %s", b.field, b.form)
	case list[0] != '[':
		return "", fmt.Errorf("expected %q to be an array: got %s", b.field, jsonscan.Kind(list))
	}
	for first := range jsonscan.Elements(list) {
		text := b.prompt(first)
		if !jsonscan.IsString(text) {
			return "", fmt.Errorf("expected the first of %q to hold a string: got %s", b.field, jsonscan.Kind(text))
		}
		return jsonscan.WholeText(text)
	}
	return "", fmt.Errorf("%q is empty", b.field)
}
