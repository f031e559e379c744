package datasets

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
	"benchtop/internal/jsonscan"
	"benchtop/internal/parallel"
)

// OutputFromFile, as a number of output tokens, takes the one that the file gives for each prompt.
const OutputFromFile = -1

// custom selects prompts from a file of prompts in JSON lines, whose name ends in .jsonl.
type custom struct {
	Common
	*customFlags
}

// customFlags are those that custom, custom_image and custom_audio share.
type customFlags struct {
	OutputLen int // tokens, or OutputFromFile
}

// length is the number of tokens asked for, which may be OutputFromFile.
func (o custom) length() int { return o.outputLen(o.OutputLen) }

func (o custom) check() error { return o.problems().of("custom") }

func (o custom) problems() *problems {
	p := &problems{}
	if !o.MultiTurn.On {
		p.jsonLines(o.Path)
	}
	if n := o.length(); n != OutputFromFile && n < 1 {
		p.add("output length %d must be at least 1, or %d to take each from the file", n, OutputFromFile)
	}
	p.templateArgs(o.TemplateArgs)
	return p
}

func (o custom) Define(group func(string) Flags) {
	group(filesHeading).IntVar(&o.OutputLen, "custom-output-len", o.OutputLen,
		"custom, custom_image, custom_audio: output length in tokens; -1 takes output_tokens from the file")
}

func (o custom) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsText, Ends: true, AllRows: true, Counts: true,
		Template:  !o.SkipChatTemplate && !o.MultiTurn.On,
		OutputLen: max(0, o.length()), Turns: true}
}

func (o custom) open(ctx context.Context, t Tools) (Flow, error) {
	if o.MultiTurn.On {
		return openConversations(ctx, "custom", o.Common, t, o.SharedOutputLen, max(1, o.OutputLen))
	}
	if t.Text().Counter == nil {
		t.Note("without a tokenizer custom asks for 1 token each, as with vLLM")
	}
	return o.make(ctx, t.Text(), t.Streams(), readTwice)
}

// vLLM reads these files with pandas. The rules that a user would notice hold here too: a row may lack a field, and is
// missed only if it is picked; and a number of tokens may be a string of digits or end in ".0". Two do not hold:
// columns of digits stay text where text is wanted (pandas would make them numbers, and the tokenizer fail on them),
// and one row without a number does not spoil the column.

// customRow is a prompt in a file.
type customRow struct {
	prompt string
	output int   // tokens; 0 where the file is not asked
	line   int   // in the file
	bad    error // why it cannot be used; told only to those who try
}

// answer is the number of tokens asked for in answer to a row.
func (o custom) answer(row customRow) int {
	if n := o.length(); n != OutputFromFile {
		return n
	}
	return row.output
}

const customForm = `an object like {"prompt": "text", "output_tokens": 100}`

// readTwice is from how many bytes on a file is read twice: first for its rows, and then for the prompts of those that
// are picked. So a file may be larger than memory.
const readTwice = 256 << 20

// make reads the file and picks the prompts, as vLLM picks them for the same seed. Without a counter they are sent
// as they are, taken for one token, and asked for one: this is how vLLM feeds models that take no tokens. It does not
// touch the legacy generator.
func (o custom) make(ctx context.Context, text Text, s *numpy.Streams, readTwice int64) (Flow, error) {
	needs := text.Counter != nil && text.Template == nil && !o.SkipChatTemplate
	list, err := o.draw(ctx, "custom", text, s.Python,
		func(file *os.File) (rows []customRow, fill func([]customRow) error, err error) {
			keep := func(int) bool { return true }
			if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() >= readTwice &&
				o.Prompts > 0 {
				keep, fill = func(int) bool { return false },
					func(picked []customRow) error { return o.fill(file, picked) }
			}
			if rows, err = o.read(file, keep); err == nil && needs {
				err = noTemplate("custom", ", or --skip-chat-template to send the prompts as they are")
			}
			return rows, fill, err
		})
	return list, inFile("custom", o.Path, err)
}

// draw shuffles the rows that read finds, has fill, unless it is nil, complete the first ones, makes requests of them
// and repeats some if there are too few.
func (o custom) draw(ctx context.Context, dataset string, text Text, py *numpy.Python,
	read func(*os.File) (rows []customRow, fill func([]customRow) error, err error)) (Flow, error) {
	file, err := textfile.Open(o.Path, "a file with an object on each line")
	if err != nil {
		return Flow{}, err
	}
	defer file.Close()
	rows, fill, err := read(file)
	if err != nil {
		return Flow{}, textfile.Cause(err)
	}
	picked, want := pick(rows, o.Common, py)
	if fill != nil {
		if err := fill(picked); err != nil {
			return Flow{}, err
		}
	}
	turns, err := o.turns(ctx, picked, text)
	if err != nil {
		return Flow{}, err
	}
	return o.list(dataset, turns, want, fmt.Sprintf("%d in %s", len(rows), o.Path), py)
}

// fill reads the file again, for the prompts of rows that were read without.
func (o custom) fill(file *os.File, picked []customRow) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return textfile.Cause(err)
	}
	at := make(map[int]int, len(picked))
	for i, row := range picked {
		at[row.line] = i
	}
	rows, err := o.read(file, func(line int) bool { _, wanted := at[line]; return wanted })
	if err != nil {
		return textfile.Cause(err)
	}
	found := 0
	for _, row := range rows {
		if i, wanted := at[row.line]; wanted {
			picked[i] = row
			found++
		}
	}
	if found < len(picked) {
		return errors.New("the file has changed while it was read; try again")
	}
	return nil
}

// read reads the rows, with the prompts of those lines that keep wants.
func (o custom) read(r io.Reader, keep func(line int) bool) ([]customRow, error) {
	prompts := false
	rows, err := textfile.Rows(r, customForm, func(object []byte, line int) (customRow, error) {
		row := customRow{line: line}
		fields := jsonscan.Fields(object, "prompt", "output_tokens")
		prompts = prompts || fields[0] != nil
		if row.prompt, row.bad = promptText(fields[0]); row.bad == nil && o.length() == OutputFromFile {
			row.output, row.bad = outputTokens(fields[1])
		}
		if !keep(line) {
			row.prompt = ""
		}
		return row, nil
	})
	if err == nil && !prompts {
		err = fmt.Errorf(`no line has a "prompt"; expected %s on each line`, customForm)
	}
	return rows, err
}

func promptText(raw []byte) (string, error) {
	switch {
	case len(raw) == 0:
		return "", errors.New(`"prompt" is missing`)
	case raw[0] != '"':
		return "", fmt.Errorf(`expected "prompt" to be a string: got %s; other prompts cannot be sent`,
			jsonscan.Kind(raw))
	}
	return jsonscan.WholeText(raw)
}

func outputTokens(raw []byte) (int, error) {
	if len(raw) == 0 {
		return 0, errors.New(
			`"output_tokens" is missing; give it, or an output length for all with --custom-output-len`)
	}
	digits := string(raw)
	if raw[0] == '"' {
		digits = strings.TrimSpace(jsonscan.Text(raw))
	}
	if whole, zeros, found := strings.Cut(digits, "."); found && strings.Trim(zeros, "0") == "" {
		digits = whole
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return 0, fmt.Errorf(`expected "output_tokens" to be a whole number from 1 to %d: got %s`, math.MaxInt32,
			shortened(string(raw)))
	}
	return n, nil
}

func (o custom) turns(ctx context.Context, rows []customRow, text Text) ([]Turn, error) {
	prompts := make([]string, len(rows))
	for i, row := range rows {
		if row.bad != nil {
			return nil, textfile.AtLine(row.line, row.bad)
		}
		prompts[i] = row.prompt
	}
	turns := make([]Turn, len(rows))
	if text.Counter == nil {
		for i, prompt := range prompts {
			turns[i] = Turn{Text: prompt, InputTokens: 1, MaxTokens: 1}
		}
		return turns, nil
	}
	if err := o.render(ctx, rows, prompts, text); err != nil {
		return nil, err
	}
	for i, prompt := range prompts {
		turns[i] = Turn{Text: prompt, MaxTokens: o.answer(rows[i])}
	}
	return turns, text.countTurns(ctx, turns, prompts)
}

// render puts the prompts into the chat template, unless it is to be skipped.
func (o custom) render(ctx context.Context, rows []customRow, prompts []string, text Text) error {
	if o.SkipChatTemplate {
		return nil
	}
	return parallel.Each(ctx, atOnce, len(rows), func(i int) (err error) {
		prompts[i], err = text.Template.Render(ctx,
			chattemplate.Input{Messages: userMessage(prompts[i]), Arguments: o.TemplateArgs})
		if err != nil {
			return textfile.AtLine(rows[i].line, fmt.Errorf("rendering the chat template: %w", err))
		}
		return nil
	})
}

// SlicesOptions describes prompts cut from a text. Lengths are in tokens.
type SlicesOptions struct {
	Common // its Path is a text, in UTF-8

	InputLen  int
	OutputLen int // output length asked for, at least 1 once drawn
	Ratio     RangeRatio
}

// SlicesDefaults are vLLM's: 1000 prompts of 1024 tokens, 128 tokens out, all alike in length. The path is left to be
// filled in.
func SlicesDefaults() SlicesOptions {
	return SlicesOptions{Common: Common{Prompts: 1000}, InputLen: 1024, OutputLen: 128}
}

// Validate reports every problem with the options, without looking at the file.
func (o SlicesOptions) Validate() error {
	p := &problems{}
	if o.Path == "" {
		p.add("a path to the text is required")
	}
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
// those of vLLM's helper for the same seed and tokenizer. Each begins at a random place; at the end of the text it goes
// on from the beginning.
func WriteSlices(w io.Writer, o SlicesOptions, tok tokenizer.Tokenizer) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if tok == nil {
		return errors.New("text slices: need a tokenizer; give --tokenizer with a model's name or directory")
	}
	length := o.InputLen - tok.SpecialTokensToAdd()
	if length < 1 {
		return fmt.Errorf(
			"text slices: input length %d is no more than the %d special tokens of a prompt; ask for more input tokens",
			o.InputLen, tok.SpecialTokensToAdd())
	}
	ids, err := textfile.Read(o.Path, "a text", func(r io.Reader) ([]int, error) { return readTokens(r, tok) })
	if err != nil {
		return within(textSlices, textfile.At(o.Path, err))
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err = writeSlices(out, o, length, ids, tok); err == nil {
		err = out.Flush()
	}
	return within(textSlices, err)
}

// readTokens is the whole text in tokens.
func readTokens(r io.Reader, tok tokenizer.Tokenizer) ([]int, error) {
	text, err := textfile.ReadAll(r, maxSlicesText)
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

// appendSlice appends the line for a prompt, byte for byte as vLLM's helper writes it: with the blanks of Python's
// json.
func appendSlice(line []byte, prompt string, outputTokens int) []byte {
	// each byte that is no UTF-8 is U+FFFD
	line = jsonscan.AppendQuoted(append(line, `{"prompt": `...), []byte(string([]rune(prompt))))
	return fmt.Appendf(line, ", \"output_tokens\": %d}\n", outputTokens)
}
