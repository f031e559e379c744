package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"benchtop/datasets/numpy"
	"benchtop/datasets/tokenizer"
)

// ShareGPTOptions says what to take from a file of recorded conversations.
type ShareGPTOptions struct {
	Path           string `json:"path"`
	Prompts        int    `json:"prompts"`         // how many prompts
	OutputLen      int    `json:"output_len"`      // tokens; 0 takes the length of the recorded answer
	DisableShuffle bool   `json:"disable_shuffle"` // keep the order of the file
	NoOversample   bool   `json:"no_oversample"`   // make do with fewer prompts rather than repeat some
	MultimodalChat bool   `json:"multimodal_chat"` // send prompts as chat messages, with their media inside
	IDPrefix       string `json:"request_id_prefix"`
	Seed           int64  `json:"seed"`
}

// ShareGPTDefaults are vLLM's: 1000 prompts with answers as long as the recorded ones. The path is left to be filled in.
func ShareGPTDefaults() ShareGPTOptions { return ShareGPTOptions{Prompts: 1000} }

// Validate reports every problem with the options, without looking at the file.
func (o ShareGPTOptions) Validate() error {
	var errs []error
	if o.Path == "" {
		errs = append(errs, errors.New("a path to the JSON file is required"))
	}
	if o.Prompts < 1 {
		errs = append(errs, fmt.Errorf("number of prompts %d must be at least 1", o.Prompts))
	}
	if o.OutputLen < 0 {
		errs = append(errs, fmt.Errorf("output length %d must not be negative", o.OutputLen))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("dataset sharegpt: %w", err)
	}
	return nil
}

// ShareGPT is a source of the first prompts of recorded conversations, picked as vLLM picks them for the same seed and
// token counts.
type ShareGPT struct {
	o     ShareGPTOptions
	list  []Conversation
	next  int
	fit   int // conversations taken; more prompts than that are repetitions
	total int // conversations of two turns or more in the file
}

// Len is how many prompts there are in all.
func (s *ShareGPT) Len() int { return len(s.list) }

// NewShareGPT reads the file and picks the prompts, counting tokens with c, several at once if that is a server. It
// leaves the Python generator of s as vLLM's client would, and does not touch the other.
func NewShareGPT(ctx context.Context, o ShareGPTOptions, c tokenizer.Counter, s *numpy.Streams) (*ShareGPT, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	entries, err := openShareGPT(o)
	if err != nil {
		return nil, inFile("sharegpt", o.Path, err)
	}
	d := &ShareGPT{o: o, total: len(entries)}
	if err := d.pick(ctx, entries, c, s.Python); err != nil {
		return nil, inFile("sharegpt", o.Path, err)
	}
	return d, nil
}

func openShareGPT(o ShareGPTOptions) ([]entry, error) {
	file, err := os.Open(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; give the path of a JSON file in ShareGPT's format", fs.ErrNotExist)
	}
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("this is a directory; give the JSON file in it")
	}
	entries, err := readShareGPT(file, o.OutputLen == 0)
	if err != nil {
		return nil, cause(err)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("no conversation has two turns or more; %s", shareGPTForm)
	}
	return entries, nil
}

// cause drops the path from an error of the file system; the caller names it.
func cause(err error) error {
	if outer, ok := errors.AsType[*fs.PathError](err); ok {
		return outer.Err
	}
	return err
}

// pick shuffles the entries, takes those of fitting length until there are enough, and repeats some if there are not.
func (d *ShareGPT) pick(ctx context.Context, entries []entry, c tokenizer.Counter, py *numpy.Python) error {
	py.Seed(d.o.Seed)
	if !d.o.DisableShuffle {
		py.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	}
	for len(entries) > 0 && len(d.list) < d.o.Prompts {
		// At most as many as are still wanted: all of them would be looked at one by one as well, so counting them
		// together asks for nothing in vain and fails on nothing that would not have been reached.
		window := entries[:min(len(entries), d.o.Prompts-len(d.list), 1024)]
		entries = entries[len(window):]
		if err := d.take(ctx, window, c); err != nil {
			return err
		}
	}
	d.fit = len(d.list)
	if d.fit == 0 {
		return fmt.Errorf("none of its %d conversations is of a length to be taken (%s)", d.total, lengthFilter)
	}
	if d.o.NoOversample {
		return nil
	}
	var err error
	d.list, err = oversample(d.list, d.o.Prompts, d.o.Seed, d.o.IDPrefix, py)
	return err
}

// take appends those of the window whose length fits.
func (d *ShareGPT) take(ctx context.Context, window []entry, c tokenizer.Counter) error {
	prompts, outputs, err := d.count(ctx, window, c)
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
		d.list = append(d.list, Conversation{ID: d.o.IDPrefix + strconv.Itoa(len(d.list)), Turns: []Turn{turn}})
	}
	return nil
}

// count returns the tokens of each prompt and of each answer.
func (d *ShareGPT) count(ctx context.Context, window []entry, c tokenizer.Counter) (prompts, outputs []int, err error) {
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
	counts, err := tokenizer.CountAll(ctx, c, texts)
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

// Next returns the next prompt.
func (d *ShareGPT) Next() (Conversation, error) {
	if d.next == len(d.list) {
		return Conversation{}, io.EOF
	}
	d.next++
	return d.list[d.next-1], nil
}

// Description says in a line what the prompts are, for the head of a report.
func (d *ShareGPT) Description() string {
	s := fmt.Sprintf("sharegpt: %d prompts of %d conversations in %s", d.fit, d.total, d.o.Path)
	if repeated := len(d.list) - d.fit; repeated > 0 {
		s += fmt.Sprintf(", %d of them repeated", repeated)
	}
	return s
}
