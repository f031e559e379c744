package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

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
	f.StringVar(&k.Subset, "speed-bench-dataset-subset", k.Subset, "speed_bench: subset: "+strings.Join(SpeedBenchSubsets(), ", "))
	f.IntVar(&k.OutputLen, "speed-bench-output-len", k.OutputLen, "speed_bench: output length in tokens")
	f.StringVar(&k.Category, "speed-bench-category", "", "speed_bench: only prompts of this category")
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
func (k *speedBenchKind) Open(ctx context.Context, c Common, t Tools) (Flow, error) {
	o := k.options(c)
	path, err := o.file()
	if err != nil {
		return Flow{}, inFile("speed_bench", o.Path, err)
	}
	custom := CustomOptions{Common: o.Common, OutputLen: o.OutputLen}
	custom.Path, custom.Seed = path, 0
	return custom.bench(ctx, t, bench{"speed_bench", o.Category, "--speed-bench-category", "messages", speedBenchForm, content})
}

// file is the path of the subset's file.
func (o SpeedBenchOptions) file() (string, error) {
	if info, err := os.Stat(o.Path); err != nil {
		return "", fmt.Errorf("%w; give the directory that holds %s.jsonl", textfile.Cause(err), o.Subset)
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
