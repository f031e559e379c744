package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
)

// SlicesOptions describes prompts cut from a text. Lengths are in tokens.
type SlicesOptions struct {
	Common // its Path is a text, in UTF-8

	InputLen  int        `json:"input_len"`
	OutputLen int        `json:"output_len"` // output length asked for, at least 1 once drawn
	Ratio     RangeRatio `json:"range_ratio"`
}

// SlicesDefaults are vLLM's: 1000 prompts of 1024 tokens, 128 tokens out, all alike in length. The path is left to be
// filled in.
func SlicesDefaults() SlicesOptions {
	return SlicesOptions{Common: Common{Prompts: 1000}, InputLen: 1024, OutputLen: 128}
}

// Validate reports every problem with the options, without looking at the file.
func (o SlicesOptions) Validate() error {
	p := &problems{}
	p.path(o.Path, "the text")
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("input length", o.InputLen, 1, maxLen)
	p.between("output length", o.OutputLen, 0, maxLen)
	p.seed(o.Seed, math.MaxInt64)
	p.ratio(o.Ratio)
	return within(textSlices, errors.Join(*p...))
}

const textSlices = "text slices"

// maxSlicesText is how large a text may be, in MiB. It is kept in memory together with its tokens, which take several
// times as much.
const maxSlicesText = 256

// WriteSlices cuts prompts out of a text and writes them as JSON lines that the custom data set reads, byte for byte
// those of vLLM's helper for the same seed and tokenizer. Each begins at a random place; at the end of the text it goes on from the
// beginning.
func WriteSlices(w io.Writer, o SlicesOptions, tok tokenizer.Tokenizer) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if tok == nil {
		return errors.New("text slices: need a tokenizer; give --tokenizer with a model's name or directory")
	}
	length := o.InputLen - tok.SpecialTokensToAdd()
	if length < 1 {
		return fmt.Errorf("text slices: input length %d is no more than the %d special tokens of a prompt; ask for more input tokens",
			o.InputLen, tok.SpecialTokensToAdd())
	}
	ids, err := readFile(o.Path, "a text", func(r io.Reader) ([]int, error) { return readTokens(r, tok) })
	if err != nil {
		return within(textSlices, atPath(o.Path, err))
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err = writeSlices(out, o, length, ids, tok); err == nil {
		err = out.Flush()
	}
	return within(textSlices, err)
}

// readTokens is the whole text in tokens.
func readTokens(r io.Reader, tok tokenizer.Tokenizer) ([]int, error) {
	text, err := readAllText(r, maxSlicesText)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, errors.New("the file is empty; expected a text")
	}
	ids, err := tok.Encode(text)
	if err != nil {
		return nil, fmt.Errorf("encoding the text: %w", err)
	}
	if len(ids) == 0 {
		return nil, errors.New("the text has no tokens")
	}
	return ids, nil
}

// writeSlices draws lengths as the random data set does, and where slices begin from a generator of their own.
func writeSlices(w *bufio.Writer, o SlicesOptions, length int, ids []int, tok tokenizer.Tokenizer) error {
	gen := numpy.NewGenerator(uint64(o.Seed))
	inputs, outputs := drawLengths(gen, length, o.OutputLen, o.Ratio, o.Prompts)
	starts := numpy.NewPython(o.Seed)
	var slice []int
	var line []byte
	for i := range o.Prompts {
		slice = appendRun(slice[:0], ids, starts.Choice(len(ids)), inputs.next())
		text, err := tok.Decode(slice)
		if err != nil {
			return fmt.Errorf("prompt %d: %w", i, err)
		}
		line = appendSlice(line[:0], text, outputs.next())
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// appendSlice appends the line for a prompt, byte for byte as vLLM's helper writes it: with the blanks of Python's json.
func appendSlice(line []byte, prompt string, outputTokens int) []byte {
	line = appendPythonString(append(line, `{"prompt": `...), prompt)
	return fmt.Appendf(line, ", \"output_tokens\": %d}\n", outputTokens)
}

// appendPythonString appends a JSON string that keeps every character as it is where JSON allows that, as vLLM's helper has it.
func appendPythonString(dst []byte, text string) []byte {
	const named, letters = "\"\\\n\r\t\b\f", `"\nrtbf`
	dst = append(dst, '"')
	for _, r := range text {
		i := strings.IndexRune(named, r)
		switch {
		case i >= 0:
			dst = append(dst, '\\', letters[i])
		case r >= ' ':
			dst = utf8.AppendRune(dst, r)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}
