package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
)

// SlicesOptions describes prompts cut from a text. Lengths are in tokens.
type SlicesOptions struct {
	Path      string     `json:"path"`    // a text, in UTF-8
	Prompts   int        `json:"prompts"` // how many prompts
	InputLen  int        `json:"input_len"`
	OutputLen int        `json:"output_len"` // output length asked for, at least 1 once drawn
	Ratio     RangeRatio `json:"range_ratio"`
	Seed      int64      `json:"seed"`
}

// SlicesDefaults are vLLM's: 1000 prompts of 1024 tokens, 128 tokens out, all alike in length. The path is left to be
// filled in.
func SlicesDefaults() SlicesOptions {
	return SlicesOptions{Prompts: 1000, InputLen: 1024, OutputLen: 128}
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
	if err := errors.Join(*p...); err != nil {
		return fmt.Errorf("text slices: %w", err)
	}
	return nil
}

// maxSlicesText is how large a text may be, in MiB. It is kept in memory together with its tokens, which take several
// times as much.
const maxSlicesText = 256

// WriteSlices cuts prompts out of a text and writes them as JSON lines that the custom data set reads, byte for byte
// those of vLLM's helper for the same seed and tokenizer. Each begins anywhere in the text; where the text ends it goes on
// from its beginning.
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
	ids, err := readTokens(o.Path, tok)
	if err != nil {
		return slicesError(o.Path, err)
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err := writeSlices(out, o, length, ids, tok); err != nil {
		return fmt.Errorf("text slices: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("text slices: %w", err)
	}
	return nil
}

// readTokens is the whole text in tokens.
func readTokens(path string, tok tokenizer.Tokenizer) ([]int, error) {
	file, err := openFile(path, "a text")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := readAllText(file, maxSlicesText)
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

// slicesError says which file an error is about.
func slicesError(path string, err error) error {
	if _, ok := errors.AsType[*lineError](err); ok {
		return fmt.Errorf("text slices: %s, %w", path, err)
	}
	return fmt.Errorf("text slices: %s: %w", path, err)
}

// writeSlices draws lengths as the random data set does, and where slices begin from a generator of their own.
func writeSlices(w *bufio.Writer, o SlicesOptions, length int, ids []int, tok tokenizer.Tokenizer) error {
	inLo, inHi := bounds(length, o.Ratio.Input)
	outLo, outHi := bounds(o.OutputLen, o.Ratio.Output)
	outputs := numpy.NewGenerator(uint64(o.Seed))
	inputs := *outputs // all input lengths are drawn before the first output length
	for range o.Prompts {
		outputs.Integers(int64(inLo), int64(inHi)+1)
	}
	starts := numpy.NewPython(o.Seed)
	var slice []int
	var line []byte
	for i := range o.Prompts {
		slice = cycle(slice[:0], ids, starts.Choice(len(ids)), int(inputs.Integers(int64(inLo), int64(inHi)+1)))
		text, err := tok.Decode(slice)
		if err != nil {
			return fmt.Errorf("prompt %d: %w", i, err)
		}
		line = appendSlice(line[:0], text, outputs.Integers(int64(max(1, outLo)), int64(max(1, outHi))+1))
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// cycle appends n ids from a place on, going on from the beginning where they end.
func cycle(dst, ids []int, at, n int) []int {
	for ; n > 0; at = 0 {
		run := min(n, len(ids)-at)
		dst = append(dst, ids[at:at+run]...)
		n -= run
	}
	return dst
}

// appendSlice appends the line for a prompt, byte for byte as vLLM's helper writes it: with the blanks of Python's json.
func appendSlice(line []byte, prompt string, outputTokens int64) []byte {
	line = append(line, `{"prompt": `...)
	line = appendPythonString(line, prompt)
	line = append(line, `, "output_tokens": `...)
	line = strconv.AppendInt(line, outputTokens, 10)
	return append(line, "}\n"...)
}

// appendPythonString appends a JSON string that keeps every character as it is where JSON allows that, as vLLM's helper has it.
func appendPythonString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ':
			dst = utf8.AppendRune(dst, r)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}
