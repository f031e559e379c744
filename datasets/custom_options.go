package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// OutputFromFile, as a number of output tokens, takes the one that the file gives for each prompt.
const OutputFromFile = -1

// CustomOptions says what to take from a file of prompts in JSON lines.
type CustomOptions struct {
	Path             string          `json:"path"`       // a .jsonl file
	Prompts          int             `json:"prompts"`    // how many prompts; 0 or less takes every row once
	OutputLen        int             `json:"output_len"` // tokens, or OutputFromFile
	DisableShuffle   bool            `json:"disable_shuffle"`
	NoOversample     bool            `json:"no_oversample"`      // make do with fewer prompts rather than repeat some
	SkipChatTemplate bool            `json:"skip_chat_template"` // send prompts as they stand in the file
	TemplateArgs     json.RawMessage `json:"chat_template_kwargs,omitempty"`
	IDPrefix         string          `json:"request_id_prefix"`
	Seed             int64           `json:"seed"`
}

// CustomDefaults are vLLM's: 1000 prompts, 256 tokens out. The path is left to be filled in.
func CustomDefaults() CustomOptions { return CustomOptions{Prompts: 1000, OutputLen: 256} }

// Validate reports every problem with the options, without looking at the file.
func (o CustomOptions) Validate() error {
	errs := []error{jsonLinesPath(o.Path)}
	if o.OutputLen != OutputFromFile && o.OutputLen < 1 {
		errs = append(errs, fmt.Errorf("output length %d must be at least 1, or %d to take each from the file", o.OutputLen, OutputFromFile))
	}
	errs = append(errs, templateArgs(o.TemplateArgs))
	return inDataset("custom", errors.Join(errs...))
}

func jsonLinesPath(path string) error {
	switch {
	case path == "":
		return errors.New("a path to a .jsonl file is required; give --dataset-path")
	case !strings.HasSuffix(path, ".jsonl"):
		return fmt.Errorf("%s does not end in .jsonl; give a file with an object on each line, under that name", path)
	}
	return nil
}

func templateArgs(args json.RawMessage) error {
	var object map[string]json.RawMessage
	if args != nil && (json.Unmarshal(args, &object) != nil || object == nil) {
		return fmt.Errorf("chat template arguments %s must be a JSON object", args)
	}
	return nil
}

// inDataset says which data set an error is about, if there is one.
func inDataset(dataset string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("dataset %s: %w", dataset, err)
}
