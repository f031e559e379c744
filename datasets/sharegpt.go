package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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

// entry is what sampling needs of one conversation in a ShareGPT file.
type entry struct {
	prompt, completion string          // the first two turns
	image, video       json.RawMessage // nil where there is none
	line               int             // where it begins in the file
	bad                error           // why it cannot be used; told only to those who try
}

const shareGPTForm = `expected an array of objects with "conversations"`

// readShareGPT reads the conversations of two turns or more, in the order of the file. It holds one of the file's
// objects at a time besides what it returns. Completions are left out if the caller has no use for them.
func readShareGPT(r io.Reader, keepCompletions bool) ([]entry, error) {
	text, err := newTextReader(r)
	if err != nil {
		return nil, err
	}
	f := jsonFile{text: text, dec: json.NewDecoder(text)}
	if err := f.openArray(); err != nil {
		return nil, err
	}
	var entries []entry
	var raw json.RawMessage // one buffer for all objects
	for f.dec.More() {
		if err := f.dec.Decode(&raw); err != nil {
			return nil, f.located(err)
		}
		e := entry{line: text.line(f.dec.InputOffset() - int64(len(raw)))}
		keep, err := e.read(raw, keepCompletions)
		if err != nil {
			return nil, &lineError{e.line, err}
		}
		if keep {
			entries = append(entries, e)
		}
	}
	return entries, f.closeArray()
}

// read fills the entry from its object and reports whether it is a conversation at all.
func (e *entry) read(raw []byte, keepCompletion bool) (bool, error) {
	if raw[0] != '{' {
		return false, fmt.Errorf("%s: got %s", shareGPTForm, jsonKind(raw))
	}
	var conversations []byte
	for key, value := range members(raw) {
		switch key {
		case "conversations":
			conversations = value
		case "image":
			e.image = keepMedia(value)
		case "video":
			e.video = keepMedia(value)
		}
	}
	if conversations == nil {
		return false, nil
	}
	if conversations[0] != '[' {
		return false, fmt.Errorf(`expected "conversations" to be an array: got %s`, jsonKind(conversations))
	}
	turns := 0
	for turn := range elements(conversations) {
		turns++
		if turns > 2 {
			break
		}
		value := e.value(turn, turns)
		if turns == 1 {
			e.prompt = value
		} else if keepCompletion {
			e.completion = value
		}
	}
	return turns >= 2, nil
}

// value is the text of a turn. A turn without one spoils the entry, not the file: it may never be picked.
func (e *entry) value(turn []byte, number int) string {
	found := turn // to be named in the error, unless it is an object
	if turn[0] == '{' {
		found = nil
		for key, value := range members(turn) {
			if key == "value" {
				found = value
			}
		}
	}
	if turn[0] != '{' || len(found) == 0 || found[0] != '"' {
		if e.bad == nil {
			e.bad = fmt.Errorf(`expected turn %d to be an object whose "value" is a string: got %s`, number, jsonKind(found))
		}
		return ""
	}
	text, err := wholeText(found)
	if err != nil && e.bad == nil {
		e.bad = fmt.Errorf("turn %d: %w", number, err)
	}
	return text
}

// keepMedia copies a media value out of the read buffer, unless it says that there is none.
func keepMedia(raw []byte) json.RawMessage {
	if !truthy(raw) {
		return nil
	}
	return append(json.RawMessage(nil), raw...)
}

// media is the content part beside the prompt: an image, else a video, else nil.
func (e *entry) media() (json.RawMessage, error) {
	switch {
	case e.image != nil:
		return imagePart(e.image)
	case e.video != nil:
		return videoPart(e.video)
	}
	return nil, nil
}

// jsonFile is a JSON array in a file, read element by element.
type jsonFile struct {
	text *textReader
	dec  *json.Decoder
}

func (f *jsonFile) openArray() error {
	token, err := f.dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the file is empty; %s", shareGPTForm)
	case err != nil:
		return f.located(err)
	case token != json.Delim('['):
		return &lineError{f.text.line(f.dec.InputOffset()), fmt.Errorf("%s: got %s", shareGPTForm, tokenKind(token))}
	}
	return nil
}

// closeArray makes sure that the array is complete and the last thing in the file.
func (f *jsonFile) closeArray() error {
	if _, err := f.dec.Token(); err != nil {
		return f.located(err)
	}
	_, err := f.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if _, ok := errors.AsType[*lineError](err); ok {
		return err
	}
	return &lineError{f.text.line(f.dec.InputOffset()), errors.New("the file goes on behind the end of the array")}
}

// located adds the line to an error of the decoder.
func (f *jsonFile) located(err error) error {
	if _, ok := errors.AsType[*lineError](err); ok {
		return err // of the text, which knows its line
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the file ends before its array does; is it complete?")
		return &lineError{f.text.line(f.text.offset), err}
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); !ok {
		return err // of the file system
	}
	return &lineError{f.text.line(f.dec.InputOffset() + syntaxOffset(f.dec.Buffered())), fmt.Errorf("not JSON: %w", err)}
}

// syntaxOffset is how far into the value that r begins with its JSON goes wrong. The decoder's own count of bytes leaves
// out what was read as tokens.
func syntaxOffset(r io.Reader) int64 {
	var value json.RawMessage
	syntax, ok := errors.AsType[*json.SyntaxError](json.NewDecoder(r).Decode(&value))
	if !ok {
		return 0
	}
	return max(0, syntax.Offset-1)
}

func tokenKind(token json.Token) string {
	raw, err := json.Marshal(token)
	if delim, ok := token.(json.Delim); ok {
		raw, err = []byte(delim.String()), nil
	}
	if err != nil {
		return "something else"
	}
	return jsonKind(raw)
}

// Bounds in tokens on what is taken from files: longer texts would not fit older models, shorter ones measure nothing.
const (
	minTokens    = 4    // of prompt and output each
	maxPrompt    = 1024 // of the prompt
	maxSequence  = 2048 // of both together
	lengthFilter = "4 to 1024 prompt tokens, 4 or more output tokens, 2048 together at most"
)

// fitsLength reports whether a prompt and its output are of a length to be taken. The minimum for the output holds
// only where the file decides its length.
func fitsLength(prompt, output int, outputForced bool) bool {
	return prompt >= minTokens && prompt <= maxPrompt &&
		(outputForced || output >= minTokens) && prompt+output <= maxSequence
}
