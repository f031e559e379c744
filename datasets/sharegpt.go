package datasets

import (
	"context"
	"fmt"

	"benchtop/datasets/numpy"
)

// ShareGPTOptions says what to take from a file of recorded conversations.
type ShareGPTOptions struct {
	Common

	OutputLen int `json:"output_len"` // tokens; 0 takes the length of the recorded answer
}

// ShareGPTDefaults are vLLM's: 1000 prompts with answers as long as the recorded ones. The path is left to be filled in.
func ShareGPTDefaults() ShareGPTOptions { return ShareGPTOptions{Common: Common{Prompts: 1000}} }

// Validate reports every problem with the options, without looking at the file.
func (o ShareGPTOptions) Validate() error {
	p := &problems{}
	p.path(o.Path, "the JSON file")
	p.positive("number of prompts", o.Prompts)
	if o.OutputLen < 0 {
		p.add("output length %d must not be negative", o.OutputLen)
	}
	return p.of("sharegpt")
}

type shareGPTKind struct{ ShareGPTOptions }

func (k *shareGPTKind) Name() string { return "sharegpt" }

func (k *shareGPTKind) Define(group func(string) Flags) {
	group(filesHeading).CountVar(&k.OutputLen, "sharegpt-output-len", "sharegpt: output length in tokens (default: the recorded answer's)")
}

func (k *shareGPTKind) Needs(c Common) Needs {
	return Needs{File: RequiredFile, Forms: AsText, Ends: true, Counts: true, MustCount: true, OutputLen: c.outputLen(k.OutputLen)}
}

func (k *shareGPTKind) options(c Common) ShareGPTOptions {
	return ShareGPTOptions{Common: c, OutputLen: c.outputLen(k.OutputLen)}
}

func (k *shareGPTKind) Validate(c Common) error { return k.options(c).Validate() }

func (k *shareGPTKind) Open(ctx context.Context, c Common, t Tools) (Source, error) {
	return NewShareGPT(ctx, k.options(c), t.Text(), t.Streams())
}

// shareGPT picks prompts from a file.
type shareGPT struct {
	o     ShareGPTOptions
	turns []Turn // picked so far
	total int    // conversations of two turns or more in the file
}

// NewShareGPT reads the file and picks first prompts of its conversations, as vLLM picks them for the same seed and
// token counts. It leaves the Python generator of s as vLLM's client would, and does not touch the other.
func NewShareGPT(ctx context.Context, o ShareGPTOptions, text Text, s *numpy.Streams) (*List, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if text.Counter == nil {
		return nil, noCounter("sharegpt")
	}
	entries, err := openShareGPT(o)
	if err != nil {
		return nil, inFile("sharegpt", o.Path, err)
	}
	d := &shareGPT{o: o, total: len(entries)}
	if err := d.pick(ctx, entries, text, s.Python); err != nil {
		return nil, inFile("sharegpt", o.Path, err)
	}
	kind := fmt.Sprintf("%d conversations in %s", d.total, o.Path)
	list, err := sampling{o.Prompts, o.NoOversample, o.Seed, o.IDPrefix}.list("sharegpt", d.turns, kind, s.Python)
	if err != nil {
		return nil, inFile("sharegpt", o.Path, err)
	}
	return list, nil
}

func openShareGPT(o ShareGPTOptions) ([]entry, error) {
	file, err := openFile(o.Path, "a JSON file in ShareGPT's format")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := readShareGPT(file, o.OutputLen == 0)
	if err != nil {
		return nil, cause(err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("no conversation has two turns or more; %s", shareGPTForm)
	}
	return entries, nil
}

// pick shuffles the entries and takes those of fitting length until there are enough.
func (d *shareGPT) pick(ctx context.Context, entries []entry, text Text, py *numpy.Python) error {
	py.Seed(d.o.Seed)
	if !d.o.DisableShuffle {
		py.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	}
	for len(entries) > 0 && len(d.turns) < d.o.Prompts {
		// At most as many as are still wanted: all of them would be looked at one by one as well, so counting them
		// together asks for nothing in vain and fails on nothing that would not have been reached.
		window := entries[:min(len(entries), d.o.Prompts-len(d.turns), 1024)]
		entries = entries[len(window):]
		if err := d.take(ctx, window, text); err != nil {
			return err
		}
	}
	if len(d.turns) == 0 {
		return fmt.Errorf("none of its %d conversations is of a length to be taken (%s)", d.total, lengthFilter)
	}
	return nil
}

// take appends those of the window whose length fits.
func (d *shareGPT) take(ctx context.Context, window []entry, text Text) error {
	prompts, outputs, err := d.count(ctx, window, text)
	if err != nil {
		return err
	}
	for i, e := range window {
		if !fitsLength(prompts[i], outputs[i], d.o.OutputLen > 0) {
			continue
		}
		turn := Turn{Text: e.prompt, InputTokens: prompts[i], MaxTokens: outputs[i]}
		if turn.Media, err = e.media(); err != nil {
			return &lineError{e.line, err}
		}
		if d.o.MultimodalChat {
			turn.Messages = chatMessages(turn.Text, turn.Media)
		}
		d.turns = append(d.turns, turn)
	}
	return nil
}

// count returns the tokens of each prompt and of each answer.
func (d *shareGPT) count(ctx context.Context, window []entry, text Text) (prompts, outputs []int, err error) {
	var texts []string
	for _, e := range window {
		if e.bad != nil {
			return nil, nil, &lineError{e.line, e.bad}
		}
		texts = append(texts, e.prompt)
		if d.o.OutputLen == 0 {
			texts = append(texts, e.completion)
		}
	}
	counts, err := text.count(ctx, texts)
	if err != nil {
		return nil, nil, fmt.Errorf("counting tokens: %w", err)
	}
	per := len(texts) / len(window)
	for i := range window {
		output := d.o.OutputLen
		if per == 2 {
			output = counts[2*i+1]
		}
		prompts, outputs = append(prompts, counts[per*i]), append(outputs, output)
	}
	return prompts, outputs, nil
}
