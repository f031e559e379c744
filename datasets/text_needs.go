package datasets

import (
	"errors"
	"fmt"
)

// noCounter is the error of a data set that has to count tokens and has no counter.
func noCounter(dataset string) error {
	return fmt.Errorf("dataset %s: needs a tokenizer to count its prompts; give --tokenizer with the model's directory or name, or leave out --skip-tokenizer-init", dataset)
}

// ErrNoTemplate is what a data set that renders chats fails with where there is no chat template.
var ErrNoTemplate = errors.New("needs the model's chat template")

// noTemplate is the error of a data set that has to render chats for a model without a chat template. way is what else
// the user can do.
func noTemplate(dataset, way string) error {
	return fmt.Errorf("dataset %s: %w; give --tokenizer with a directory or name that has one%s", dataset, ErrNoTemplate, way)
}
