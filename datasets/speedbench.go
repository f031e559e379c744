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

// speedBench selects prompts from a directory of SPEED-Bench, as NVIDIA's script prepares it. The seed does not
// count: vLLM shuffles this data set with seed 0.
type speedBench struct {
	Common           // its Path is a directory with a file for each subset
	Subset    string // one of speedBenchSubsets
	Category  string // only prompts of it; "" takes all
	OutputLen int    // tokens
}

// speedBenchSubsets are the files that the data set has.
var speedBenchSubsets = []string{"qualitative", "throughput_1k", "throughput_2k", "throughput_8k", "throughput_16k",
	"throughput_32k"}

func (o *speedBench) Define(group func(string) Flags) {
	f := group(filesHeading)
	f.StringVar(&o.Subset, "speed-bench-dataset-subset", o.Subset,
		"speed_bench: subset: "+strings.Join(speedBenchSubsets, ", "))
	f.IntVar(&o.OutputLen, "speed-bench-output-len", o.OutputLen, "speed_bench: output length in tokens")
	f.StringVar(&o.Category, "speed-bench-category", "", "speed_bench: only prompts of this category")
}

func (o speedBench) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsText, Ends: true, AllRows: true, Counts: true,
		Template: !o.SkipChatTemplate, OutputLen: o.OutputLen,
		OutputFlag: "speed-bench-output-len"}
}

func (o speedBench) check() error {
	p := &problems{}
	if !slices.Contains(speedBenchSubsets, o.Subset) {
		p.add("unknown subset %q; give one of %s", o.Subset, strings.Join(speedBenchSubsets, ", "))
	}
	p.positive("output length", o.OutputLen)
	p.templateArgs(o.TemplateArgs)
	return p.of("speed_bench")
}

const speedBenchForm = `an object like {"category": "math", "messages": [{"role": "user", "content": "text"}]}`

// open reads the subset's file and picks first messages, as vLLM picks them. It does not touch the legacy generator.
func (o speedBench) open(ctx context.Context, t Tools) (Flow, error) {
	path, err := o.file()
	if err != nil {
		return Flow{}, inFile("speed_bench", o.Path, err)
	}
	o.Path, o.Seed = path, 0
	b := bench{"speed_bench", o.Category, "--speed-bench-category", "messages", speedBenchForm, content}
	return b.open(ctx, t, o.Common, o.OutputLen)
}

// file is the path of the subset's file.
func (o speedBench) file() (string, error) {
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
	present := slices.DeleteFunc(slices.Clone(speedBenchSubsets), func(subset string) bool {
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
