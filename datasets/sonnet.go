package datasets

import (
	"cmp"
	"context"
	_ "embed" // for the poem
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/chattemplate"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/parallel"
)

// sonnet is prompts put together from the lines of a poem. Lengths are in tokens.
type sonnet struct {
	Common    // its Path is a text, a verse on each line; "" takes the sonnets built in
	InputLen  int
	OutputLen int
	PrefixLen int // of the beginning of all prompts
}

func (o sonnet) check() error {
	p := &problems{}
	p.between("number of prompts", o.Prompts, 1, math.MaxInt32)
	p.between("input length", o.InputLen, 1, maxLen)
	p.between("output length", o.OutputLen, 1, maxLen)
	p.between("prefix length", o.PrefixLen, 0, maxLen)
	return p.of("sonnet")
}

func (o *sonnet) Define(group func(string) Flags) {
	f := group(filesHeading)
	f.IntVar(&o.InputLen, "sonnet-input-len", o.InputLen, "sonnet: maximum prompt length in tokens")
	f.IntVar(&o.OutputLen, "sonnet-output-len", o.OutputLen, "sonnet: output length in tokens")
	f.IntVar(&o.PrefixLen, "sonnet-prefix-len", o.PrefixLen,
		"sonnet: approximate length of the prefix that all prompts share, in tokens")
}

func (o sonnet) needs() Needs {
	return Needs{File: OptionalFile, Forms: AsText, Ends: true, Counts: true, Template: true, OutputLen: o.OutputLen,
		OutputFlag: "sonnet-output-len"}
}

// sonnetBase stands in front of the lines of a poem. Each letter is part of the workload.
const sonnetBase = "Pick as many lines as you can from these poem lines:\n"

const (
	// sonnetMisses is how many prompts in a row may come out too long. vLLM would go on for ever.
	sonnetMisses = 10_000
	// sonnetLines bounds the lines of a prompt, and with them its memory, where a poem's lines hold next to nothing.
	sonnetLines = 1 << 22
	// sonnetWindow bounds the bytes of prompts that are looked at together.
	sonnetWindow = 1 << 24
	// sonnetBytes bounds the bytes of a token, and with them the memory of a prompt, where a tokenizer reads a word of
	// any length as one token that it does not know.
	sonnetBytes = 1 << 10
)

// sonnetMaker puts prompts together.
type sonnetMaker struct {
	o     sonnet
	text  Text
	lines []string // of the poem
	base  string   // the beginning of all prompts
	drawn int      // lines drawn for each prompt
	size  int      // bytes of a prompt, on average
	// known are the prompts of one drawn line each, by that line: a line may be as long as the poem, so it is counted
	// once. Prompts that are too long have no text.
	known map[int]Turn
	py    *numpy.Python
}

// open makes prompts from the lines of a poem: the same first lines for all, then lines drawn at random, as vLLM draws
// them for the same token counts. It goes on with the Python generator as it is, and does not touch the other. It
// counts a prompt as the model's chat template renders it, so it needs a counter and a template.
func (o sonnet) open(ctx context.Context, tools Tools) (Flow, error) {
	tools.Note("vLLM 0.33 has no sonnet: the prompts are those of vLLM 0.31")
	t := tools.Text()
	if t.Counter == nil {
		return Flow{}, noCounter("sonnet")
	}
	lines, err := openPoem(o.Path)
	if err != nil {
		return Flow{}, inFile("sonnet", o.Path, err)
	}
	if t.Template == nil { // errors of the file come first
		return Flow{}, noTemplate("sonnet", "")
	}
	d := sonnetMaker{o: o, text: t, lines: lines, known: map[int]Turn{}, py: tools.Streams().Python}
	list, err := d.make(ctx)
	return list, inFile("sonnet", d.name(), err)
}

func openPoem(path string) ([]string, error) {
	if path == "" {
		return readPoem(strings.NewReader(sonnets))
	}
	return textfile.Read(path, "a text with a verse on each line", readPoem)
}

// name says which poem it is.
func (d *sonnetMaker) name() string { return cmp.Or(d.o.Path, "the sonnets built in") }

func (d *sonnetMaker) make(ctx context.Context) (Flow, error) {
	prefix, err := d.plan(ctx)
	if err != nil {
		return Flow{}, err
	}
	about := fmt.Sprintf("sonnet: %d prompts of up to %d tokens, %d lines of %s for all and %d drawn for each",
		d.o.Prompts, d.o.InputLen, prefix, d.name(), d.drawn)
	var all []Conversation
	for misses := 0; len(all) < d.o.Prompts; {
		// Never more than are still wanted: every one of them would be drawn by vLLM too.
		turns, err := d.draw(ctx, min(d.o.Prompts-len(all), 1024, max(1, sonnetWindow/d.size)))
		if err != nil {
			return Flow{}, err
		}
		for _, turn := range turns {
			if turn.InputTokens > d.o.InputLen {
				if misses++; misses == sonnetMisses || d.drawn == 0 {
					return Flow{}, d.neverFits(turn.InputTokens)
				}
				continue
			}
			misses = 0
			all = append(all, Conversation{ID: d.o.IDPrefix + strconv.Itoa(len(all)), Turns: []Turn{turn}})
		}
	}
	return ListOf(all, about), nil
}

func (d *sonnetMaker) neverFits(tokens int) error {
	if d.drawn == 0 {
		return fmt.Errorf("the lines that all prompts begin with make %d tokens, more than the input length %d; "+
			"ask for more input tokens or a shorter prefix", tokens, d.o.InputLen)
	}
	return fmt.Errorf("%d prompts in a row came out longer than the input length %d, the last of %d tokens; "+
		"ask for more input tokens, or give a poem with shorter lines, more alike in length", sonnetMisses,
		d.o.InputLen, tokens)
}

// plan decides from the mean length of the lines how many make a prompt, and how many of them all prompts share.
func (d *sonnetMaker) plan(ctx context.Context) (prefix int, err error) {
	counts, err := d.text.count(ctx, d.lines)
	if err != nil {
		return 0, err
	}
	sum, size := 0, 0
	for i, n := range counts {
		sum += n
		size += len(d.lines[i])
	}
	if sum == 0 {
		return 0, errors.New("its lines hold no tokens; expected a text, a verse on each line")
	}
	base, err := d.turns(ctx, []string{sonnetBase})
	if err != nil {
		return 0, err
	}
	offset := base[0].InputTokens
	if d.o.InputLen <= offset {
		return 0, fmt.Errorf("input length %d must be above %d, the tokens of the words in front of the poem; "+
			"ask for more input tokens", d.o.InputLen, offset)
	}
	mean := float64(sum) / float64(len(d.lines))
	of := func(length int) float64 { return math.RoundToEven(float64(length-offset) / mean) }
	total, shared := max(1, of(d.o.InputLen)), max(0, of(d.o.PrefixLen))
	if total > sonnetLines {
		return 0, fmt.Errorf("its lines hold so little that a prompt takes %.0f of them, more than %d; "+
			"give a poem without empty lines", total, sonnetLines)
	}
	if size/sum > sonnetBytes {
		return 0, fmt.Errorf(
			"its %d bytes are only %d tokens to this tokenizer; give a text in a language that it knows", size, sum)
	}
	prefix = int(min(shared, float64(len(d.lines))))
	d.base = sonnetBase + strings.Join(d.lines[:prefix], "")
	d.drawn = int(max(0, total-shared)) // shared may be more than there are lines; vLLM draws no more for that
	d.size = len(d.base) + d.drawn*size/len(d.lines)
	return prefix, nil
}

// draw makes n prompts, whatever their length.
func (d *sonnetMaker) draw(ctx context.Context, n int) ([]Turn, error) {
	if d.drawn == 1 {
		return d.drawLine(ctx, n)
	}
	prompts := make([]string, n)
	for i := range prompts {
		var b strings.Builder
		b.WriteString(d.base)
		for _, line := range d.py.Choices(len(d.lines), d.drawn) {
			b.WriteString(d.lines[line])
		}
		prompts[i] = b.String()
	}
	return d.turns(ctx, prompts)
}

// drawLine makes n prompts of one drawn line each.
func (d *sonnetMaker) drawLine(ctx context.Context, n int) ([]Turn, error) {
	var prompts []string
	var fresh []int // the lines of prompts
	drawn := d.py.Choices(len(d.lines), n)
	for _, line := range drawn {
		if _, known := d.known[line]; !known {
			d.known[line] = Turn{}
			prompts, fresh = append(prompts, d.base+d.lines[line]), append(fresh, line)
		}
	}
	turns, err := d.turns(ctx, prompts)
	if err != nil {
		return nil, err
	}
	for i, line := range fresh {
		if turns[i].InputTokens > d.o.InputLen {
			turns[i].Text = ""
		}
		d.known[line] = turns[i]
	}
	all := make([]Turn, n)
	for i, line := range drawn {
		all[i] = d.known[line]
	}
	return all, nil
}

// turns counts prompts as the model will read them.
func (d *sonnetMaker) turns(ctx context.Context, prompts []string) ([]Turn, error) {
	rendered := make([]string, len(prompts))
	err := parallel.Each(ctx, atOnce, len(prompts), func(i int) (err error) {
		rendered[i], err = d.text.Template.Render(ctx, chattemplate.Input{Messages: userMessage(prompts[i])})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rendering a prompt: %w", err)
	}
	turns := make([]Turn, len(prompts))
	for i := range turns {
		turns[i] = Turn{Text: prompts[i], MaxTokens: d.o.OutputLen}
		if !d.o.Forms.Overlap(AsMessages) { // back ends that speak chat render it themselves
			turns[i].Text = rendered[i]
		}
	}
	return turns, d.text.countTurns(ctx, turns, rendered)
}

// sonnets are 42 of Shakespeare's, in today's spelling, a verse a line.
//
//go:embed poem.txt
var sonnets string

// maxPoem is how large a poem may be, in MiB. It is kept in memory.
const maxPoem = 64

// readPoem returns the lines of a text with their newlines, which only the last may lack.
func readPoem(r io.Reader) ([]string, error) {
	text, err := textfile.ReadAll(r, maxPoem)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the file is empty; expected a text, a verse on each line")
	}
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines, nil
}
