package datasets

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"benchtop/datasets/constraint"
	"benchtop/datasets/textfile"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/jsonscan"
)

// hfPrompt is a row that may become a prompt.
type hfPrompt struct {
	at     hfRow
	number int // of the rows that were looked at

	text, system, answer string
	schema               string
	judge                Judge // by the schema, nil without one
	out                  bool  // the row is left out
	bad                  error // why it cannot be used; told only when its turn has come
}

// promptText is the text of a prompt from its row.
func (d *hfSampler) promptText(row hfValues) (string, error) {
	var text strings.Builder
	for _, piece := range d.pieces {
		part := piece.text
		if piece.path != "" {
			var err error
			if part, err = textAt(row, piece.path, d.class.text, d.class.loose); err != nil {
				return "", err
			}
		}
		text.WriteString(part)
	}
	return text.String(), nil
}

// read fills the prompt from its row. The answer is left out where its length does not count.
func (p *hfPrompt) read(row hfValues, d *hfSampler) (err error) {
	class := d.class
	if class.keep != nil {
		keep, err := class.keep(row, d.flags)
		if p.out = !keep; p.out || err != nil {
			return err
		}
	}
	if p.text, err = d.promptText(row); err != nil {
		return err
	}
	if class.system != "" {
		if p.system, err = textAt(row, class.system, nil, false); err != nil {
			return err
		}
	}
	if class.schema != "" {
		if p.schema, err = textAt(row, class.schema, nil, false); err != nil {
			return err
		}
		// vLLM leaves out those that its grammars cannot express
		if p.judge, err = constraint.JSON([]byte(p.schema)); err != nil {
			p.out = true
			return nil
		}
	}
	if class.answer != "" && d.length == 0 {
		if p.answer, err = textAt(row, class.answer, class.reply, class.loose); err != nil {
			return err
		}
	}
	return err
}

// textAt is the text of the value at a path, as show has it; nil for that of a string. Where it may be missing it is ""
// then.
func textAt(row hfValues, path string, show func([]byte) (string, error), loose bool) (string, error) {
	value, err := row.value(path)
	if loose && (errors.Is(err, errNoValue) || string(value) == "null") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if len(value) > textfile.MaxObject {
		return "", fmt.Errorf("%s is longer than %d MiB", textfile.Quote(path), textfile.MaxObject>>20)
	}
	if show == nil {
		show = jsonscan.WholeText
	}
	text, err := show(value)
	return text, within(textfile.Quote(path), err)
}

// mediaAt is a copy of the value at a path; nil for none, where that may be.
func mediaAt(row hfValues, path string, optional bool) ([]byte, error) {
	value, err := row.value(path)
	none := errors.Is(err, errNoValue) || string(value) == "null"
	switch {
	case none && optional:
		return nil, nil
	case err != nil:
		return nil, err
	case none:
		return nil, fmt.Errorf("%s is null", textfile.Quote(path))
	}
	return slices.Clone(value), nil
}

// withoutSpecial counts without the tokens that a tokenizer adds by itself, where it is known which these are.
func (t Text) withoutSpecial() Text {
	if t.Tokenizer != nil {
		t.Counter = plainCounter{t.Tokenizer}
	}
	return t
}

// plainCounter counts the tokens of a text alone.
type plainCounter struct{ tokenizer.Tokenizer }

// Count returns how many ids Encode gives.
func (c plainCounter) Count(text string) (int, error) {
	ids, err := c.Encode(text)
	return len(ids), err
}
