package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"benchtop/datasets/jsonscan"
)

// SpecBenchOptions selects prompts from a file of Spec-Bench's questions. The seed does not count: vLLM
// shuffles this data set with seed 0.
type SpecBenchOptions struct {
	Common

	Category  string `json:"category,omitempty"` // only questions of it; "" takes all
	OutputLen int    `json:"output_len"`         // tokens
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

const specBenchForm = `an object like {"category": "math", "turns": ["first question", "second"]}`

// Open reads the file and picks first turns of its questions, as vLLM picks them. It does not touch the legacy generator.
func (k *specBenchKind) Open(ctx context.Context, c Common, t Tools) (Source, error) {
	o := k.options(c)
	custom := CustomOptions{Common: o.Common, OutputLen: o.OutputLen}
	custom.Seed, custom.SkipChatTemplate, custom.TemplateArgs = 0, false, nil
	return custom.bench(ctx, t, bench{"spec_bench", o.Category, "--spec-bench-category", "turns", specBenchForm, func(turn []byte) []byte { return turn }})
}

// bench is a data set of questions, each with a category and an array of turns.
type bench struct {
	dataset, category string // category is the one wanted, "" for all
	flag              string // that names the category
	field, form       string // field is the name of the array, form what a line should be
	prompt            func(first []byte) []byte
}

// bench makes a data set of the questions in the file at o.Path.
func (o CustomOptions) bench(ctx context.Context, t Tools, b bench) (Source, error) {
	text := t.Text()
	if text.Counter == nil {
		return nil, noCounter(b.dataset)
	}
	list, err := o.draw(ctx, b.dataset, text, t.Streams().Python, func(file *os.File) (rows []customRow, fill func([]customRow) error, err error) {
		if rows, err = b.read(file); err == nil && text.Template == nil && !o.SkipChatTemplate {
			err = noTemplate(b.dataset, "")
		}
		return rows, nil, err
	})
	return list, inFile(b.dataset, o.Path, err)
}

// read reads the questions of the category: prompt finds them in the first element of each array. A line that belongs to another
// category may be of any form.
func (b bench) read(r io.Reader) ([]customRow, error) {
	var rows []customRow
	present := map[string]bool{}
	err := eachObject(r, b.form, func(object []byte, line int) error {
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
		err = fmt.Errorf("no question is of category %q; give %s one of: %s", b.category, b.flag, someOf(slices.Sorted(maps.Keys(present))))
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
		return wholeText(text)
	}
	return "", fmt.Errorf("%q is empty", b.field)
}

// SpeedBenchOptions selects prompts from a directory of SPEED-Bench, as NVIDIA's script prepares it. The seed does not
// count: vLLM shuffles this data set with seed 0.
type SpeedBenchOptions struct {
	Common // its Path is a directory with a file for each subset

	Subset    string `json:"subset"`             // one of SpeedBenchSubsets
	Category  string `json:"category,omitempty"` // only prompts of it; "" takes all
	OutputLen int    `json:"output_len"`         // tokens
}

// SpeedBenchSubsets are the files that the data set has.
func SpeedBenchSubsets() []string {
	return []string{"qualitative", "throughput_1k", "throughput_2k", "throughput_8k", "throughput_16k", "throughput_32k"}
}

// Validate reports every problem with the options, without looking at the directory.
func (o SpeedBenchOptions) Validate() error {
	p := &problems{}
	p.path(o.Path, "the prepared directory")
	if !slices.Contains(SpeedBenchSubsets(), o.Subset) {
		p.add("unknown subset %q; give one of %s", o.Subset, strings.Join(SpeedBenchSubsets(), ", "))
	}
	p.positive("output length", o.OutputLen)
	p.templateArgs(o.TemplateArgs)
	return p.of("speed_bench")
}

type speedBenchKind struct{ SpeedBenchOptions }

func (k *speedBenchKind) Name() string { return "speed_bench" }

func (k *speedBenchKind) Define(group func(string) Flags) {
	f := group(filesHeading)
	f.StringVar(&k.Subset, "speed-bench-dataset-subset", k.Subset, "speed_bench: "+strings.Join(SpeedBenchSubsets(), ", "))
	f.IntVar(&k.OutputLen, "speed-bench-output-len", k.OutputLen, "speed_bench: output length in tokens")
	f.StringVar(&k.Category, "speed-bench-category", "", "speed_bench: take only prompts of this category")
}

func (k *speedBenchKind) Needs(c Common) Needs {
	return Needs{File: RequiredFile, Forms: AsText, Ends: true, AllRows: true, Counts: true, Template: !c.SkipChatTemplate, OutputLen: k.OutputLen,
		OutputFlag: "speed-bench-output-len"}
}

func (k *speedBenchKind) options(c Common) SpeedBenchOptions {
	o := k.SpeedBenchOptions
	o.Common = c
	return o
}

func (k *speedBenchKind) Validate(c Common) error { return k.options(c).Validate() }

const speedBenchForm = `an object like {"category": "math", "messages": [{"role": "user", "content": "text"}]}`

// Open reads the subset's file and picks first messages, as vLLM picks them. It does not touch the legacy generator.
func (k *speedBenchKind) Open(ctx context.Context, c Common, t Tools) (Source, error) {
	o := k.options(c)
	path, err := o.file()
	if err != nil {
		return nil, inFile("speed_bench", o.Path, err)
	}
	custom := CustomOptions{Common: o.Common, OutputLen: o.OutputLen}
	custom.Path, custom.Seed = path, 0
	return custom.bench(ctx, t, bench{"speed_bench", o.Category, "--speed-bench-category", "messages", speedBenchForm, content})
}

// file is the path of the subset's file.
func (o SpeedBenchOptions) file() (string, error) {
	if info, err := os.Stat(o.Path); err != nil {
		return "", fmt.Errorf("%w; give the directory that holds %s.jsonl", cause(err), o.Subset)
	} else if !info.IsDir() {
		return "", fmt.Errorf("this is not a directory; give the one that holds %s.jsonl", o.Subset)
	}
	path := filepath.Join(o.Path, o.Subset+".jsonl")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("this directory has no %s.jsonl; %s", o.Subset, subsetsIn(o.Path))
	}
	return path, nil
}

// subsetsIn names the subsets that a directory has.
func subsetsIn(dir string) string {
	present := slices.DeleteFunc(SpeedBenchSubsets(), func(subset string) bool {
		_, err := os.Stat(filepath.Join(dir, subset+".jsonl"))
		return err != nil
	})
	if len(present) == 0 {
		return "give the one that SPEED-Bench was prepared in"
	}
	return "give --speed-bench-dataset-subset one of those it has: " + strings.Join(present, ", ")
}

// content is the content of a chat message; nil where it has none.
func content(message []byte) []byte {
	if message[0] != '{' {
		return nil
	}
	return jsonscan.Fields(message, "content")[0]
}
