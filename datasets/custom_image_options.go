package datasets

import (
	"errors"
	"fmt"
)

// CustomImageOptions says what to take from a file of prompts with images in JSON lines.
type CustomImageOptions struct {
	Path           string `json:"path"`       // a .jsonl file
	Prompts        int    `json:"prompts"`    // how many prompts; 0 or less takes every row once
	OutputLen      int    `json:"output_len"` // tokens; 0 lets the server decide
	DisableShuffle bool   `json:"disable_shuffle"`
	NoOversample   bool   `json:"no_oversample"`   // make do with fewer prompts rather than repeat some
	MultimodalChat bool   `json:"multimodal_chat"` // send prompts as chat messages, with their images inside
	// ClientSideData loads images named by an address or a path here, and sends what they show instead of their name.
	ClientSideData bool   `json:"ensure_client_side_data"`
	IDPrefix       string `json:"request_id_prefix"`
	Seed           int64  `json:"seed"`
}

// CustomImageDefaults are vLLM's: 1000 prompts, 256 tokens out. The path is left to be filled in.
func CustomImageDefaults() CustomImageOptions {
	return CustomImageOptions{Prompts: 1000, OutputLen: 256}
}

// Validate reports every problem with the options, without looking at the file.
func (o CustomImageOptions) Validate() error {
	errs := []error{jsonLinesPath(o.Path)}
	if o.OutputLen < 0 {
		errs = append(errs, fmt.Errorf("output length %d must not be negative: this data set takes none from its file", o.OutputLen))
	}
	return inDataset("custom_image", errors.Join(errs...))
}
