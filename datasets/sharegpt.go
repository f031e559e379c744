package datasets

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"benchtop/datasets/textfile"
	"benchtop/internal/hf/media"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/jsonscan"
)

// shareGPT selects prompts from a file of recorded conversations.
type shareGPT struct {
	Common
	OutputLen int // tokens; 0 takes the length of the recorded answer
}

func (o *shareGPT) Define(group func(string) Flags) {
	group(filesHeading).CountVar(&o.OutputLen, "sharegpt-output-len",
		"sharegpt: output length in tokens (default: the recorded answer's)")
}

func (o shareGPT) needs() Needs {
	return Needs{File: RequiredFile, Forms: AsText, Ends: true, Counts: true, MustCount: true,
		OutputLen: o.outputLen(o.OutputLen), Turns: true}
}

func (o shareGPT) check() error {
	p := &problems{}
	p.positive("number of prompts", o.Prompts)
	return p.of("sharegpt")
}

// open reads the file and picks first prompts of its conversations, as vLLM picks them for the same seed and token
// counts. It does not touch the legacy generator.
func (o shareGPT) open(ctx context.Context, t Tools) (Flow, error) {
	o.OutputLen = o.outputLen(o.OutputLen)
	text := t.Text()
	if text.Counter == nil {
		return Flow{}, noCounter("sharegpt")
	}
	if o.MultiTurn.On {
		return openConversations(ctx, "sharegpt", o.Common, t, o.OutputLen, 1)
	}
	list, err := o.draw(ctx, text, t.Streams().Python)
	return list, inFile("sharegpt", o.Path, err)
}

func (o shareGPT) draw(ctx context.Context, text Text, py *numpy.Python) (Flow, error) {
	entries, err := textfile.Read(o.Path, "a JSON file in ShareGPT's format",
		func(r io.Reader) ([]entry, error) { return readShareGPT(r, o.OutputLen == 0) })
	if err != nil {
		return Flow{}, err
	}
	if len(entries) == 0 {
		return Flow{}, fmt.Errorf("no conversation has two turns or more; expected %s", shareGPTForm)
	}
	py.Seed(o.Seed)
	shuffle(entries, o.Common, py)
	var turns []Turn
	for left := entries; len(left) > 0 && len(turns) < o.Prompts; {
		// At most as many as are still wanted: all of them would be looked at one by one as well, so counting them
		// together asks for nothing in vain and fails on nothing that would not have been reached.
		window := left[:min(len(left), o.Prompts-len(turns), 1024)]
		left = left[len(window):]
		if turns, err = o.take(ctx, turns, window, text); err != nil {
			return Flow{}, err
		}
	}
	if len(turns) == 0 {
		return Flow{},
			fmt.Errorf("none of its %d conversations is of a length to be taken (%s)", len(entries), lengthFilter)
	}
	return o.list("sharegpt", turns, o.Prompts, fmt.Sprintf("%d conversations in %s", len(entries), o.Path), py)
}

// take appends those of the window whose length fits.
func (o shareGPT) take(ctx context.Context, turns []Turn, window []entry, text Text) ([]Turn, error) {
	prompts, outputs, err := o.count(ctx, window, text)
	if err != nil {
		return nil, err
	}
	for i, e := range window {
		if !fitsLength(prompts[i], outputs[i], o.OutputLen > 0) {
			continue
		}
		turn := Turn{Text: e.prompt, InputTokens: prompts[i], MaxTokens: outputs[i]}
		if turn.Media, err = e.media(); err != nil {
			return nil, textfile.AtLine(e.line, err)
		}
		if o.asMessages() {
			turn.Messages = chatMessages(turn.Text, turn.Media)
		}
		turns = append(turns, turn)
	}
	return turns, nil
}

// count returns the tokens of each prompt and of each answer.
func (o shareGPT) count(ctx context.Context, window []entry, text Text) (prompts, outputs []int, err error) {
	var texts []string
	for _, e := range window {
		if e.bad != nil {
			return nil, nil, textfile.AtLine(e.line, e.bad)
		}
		texts = append(texts, e.prompt)
	}
	if o.OutputLen > 0 {
		prompts, err = text.count(ctx, texts)
		return prompts, slices.Repeat([]int{o.OutputLen}, len(window)), err
	}
	for _, e := range window {
		texts = append(texts, e.completion)
	}
	counts, err := text.count(ctx, texts)
	if err != nil {
		return nil, nil, err
	}
	return counts[:len(window)], counts[len(window):], nil
}

// entry is what sampling needs of one conversation in a ShareGPT file.
type entry struct {
	prompt, completion string          // the first two turns
	image, video       json.RawMessage // nil where there is none
	line               int             // where it begins in the file
	bad                error           // why it cannot be used; told only to those who try
}

const shareGPTForm = `an array of objects with "conversations"`

// readShareGPT reads the conversations of two turns or more, in the order of the file. Completions are left out if the
// caller has no use for them.
func readShareGPT(r io.Reader, keepCompletions bool) (entries []entry, err error) {
	err = textfile.EachElement(r, shareGPTForm, func(object []byte, line int) error {
		e := entry{line: line}
		keep, err := e.read(object, keepCompletions)
		if keep {
			entries = append(entries, e)
		}
		return err
	})
	return entries, err
}

// read fills the entry from its object and reports whether it is a conversation at all.
func (e *entry) read(raw []byte, keepCompletion bool) (bool, error) {
	fields := jsonscan.Fields(raw, "conversations", "image", "video")
	conversations := fields[0]
	e.image, e.video = keepMedia(fields[1]), keepMedia(fields[2])
	if conversations == nil {
		return false, nil
	}
	if conversations[0] != '[' {
		return false, fmt.Errorf(`expected "conversations" to be an array: got %s`, jsonscan.Kind(conversations))
	}
	turns := 0
	for turn := range jsonscan.Elements(conversations) {
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
	found := turn // is named in the error, unless it is an object
	if turn[0] == '{' {
		found = jsonscan.Fields(turn, "value")[0]
	}
	if turn[0] != '{' || !jsonscan.IsString(found) {
		e.bad = cmp.Or(e.bad, fmt.Errorf(`expected turn %d to be an object whose "value" is a string: got %s`, number,
			jsonscan.Kind(found)))
		return ""
	}
	text, err := jsonscan.WholeText(found)
	e.bad = cmp.Or(e.bad, within(fmt.Sprintf("turn %d", number), err))
	return text
}

// keepMedia copies a media value out of the read buffer, unless it says that there is none.
func keepMedia(raw []byte) json.RawMessage {
	if !jsonscan.Truthy(raw) {
		return nil
	}
	return slices.Clone(raw)
}

// media is the content part beside the prompt: an image, else a video, else nil.
func (e *entry) media() (json.RawMessage, error) {
	switch {
	case e.image != nil:
		return media.Image(e.image)
	case e.video != nil:
		return media.Video(e.video)
	}
	return nil, nil
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
