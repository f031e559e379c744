package datasets

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// BFCLRepository is the name of the Berkeley Function Calling Leaderboard on the Hugging Face hub.
const BFCLRepository = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"

// BFCLOptions says what to take from the Berkeley Function Calling Leaderboard: questions with tools to answer them. Only
// chat back ends can send them.
type BFCLOptions struct {
	// Path is a directory with the files BFCL_v3_<category>.json, the hub's cache, or BFCLRepository if Fetch is there.
	Path           string   `json:"path"`
	Categories     []string `json:"categories"` // of questions, taken in turn
	Prompts        int      `json:"prompts"`    // how many prompts
	OutputLen      int      `json:"output_len"` // tokens
	DisableShuffle bool     `json:"disable_shuffle"`
	NoOversample   bool     `json:"no_oversample"` // make do with fewer prompts rather than repeat some
	IDPrefix       string   `json:"request_id_prefix"`
	Seed           int64    `json:"seed"`

	// Fetch gets a file of the repository and returns where it lies, or an error that is fs.ErrNotExist when the repository
	// has no such file. It is asked only if Path is no directory; nil for no means to fetch.
	Fetch func(ctx context.Context, name string) (path string, err error) `json:"-"`
}

// BFCLDefaults are vLLM's: 1000 prompts of the categories simple, live_simple and multiple, 512 tokens out.
func BFCLDefaults() BFCLOptions {
	return BFCLOptions{Path: BFCLRepository, Categories: []string{"simple", "live_simple", "multiple"}, Prompts: 1000, OutputLen: 512}
}

// Validate reports every problem with the options, without looking at the files.
func (o BFCLOptions) Validate() error {
	var errs []error
	if o.Path == "" {
		errs = append(errs, errors.New("a path to the directory of its files is required; give --dataset-path"))
	}
	if len(o.Categories) == 0 {
		errs = append(errs, errors.New("no category is given; give --bfcl-categories, such as simple,multiple"))
	}
	for _, category := range o.Categories {
		if category == "" || filepath.Base(category) != category || !filepath.IsLocal(category) {
			errs = append(errs, fmt.Errorf("%q is no name of a category; give --bfcl-categories, such as simple,multiple", category))
		}
	}
	if o.Prompts < 1 {
		errs = append(errs, fmt.Errorf("number of prompts %d must be at least 1", o.Prompts))
	}
	if o.OutputLen < 1 {
		errs = append(errs, fmt.Errorf("output length %d must be at least 1", o.OutputLen))
	}
	return inDataset("bfcl", errors.Join(errs...))
}
