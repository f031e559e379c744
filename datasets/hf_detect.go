package datasets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
	"benchtop/internal/usage"
)

// Columns that data sets of any layout may have, the likeliest first, as in the Rust client of vLLM.
var (
	hfChats   = []string{"conversation", "conversations", "messages"}
	hfTexts   = []string{"prompt", "question", "problem", "input", "text", "content", "instruction"}
	hfAnswers = []string{"completion", "response", "answer", "output", "solution", "answers"}
)

// TextColumns are the columns that may hold prompts and answers as text, the likelier first.
func TextColumns() (prompts, answers []string) { return hfTexts, hfAnswers }

// hfOutput is the output length in tokens of a row without an answer, as in the Rust client.
const hfOutput = 128

// detect finds the prompts of a data set whose layout is not known: by its first row, as the Rust client does, unless a
// flag names the column. Prompts of fewer than minTokens tokens are left out.
func (d *hfSampler) detect(row hfValues, note func(string)) error {
	paths := []string{d.flags.column}
	if paths[0] == "" {
		paths = likelyPrompt(row)
	}
	if len(paths) == 0 {
		return fmt.Errorf("none of its columns (%s) is known to hold prompts; name one with --hf-text-column. %s",
			textfile.Names(d.named), hfKnown())
	}
	value, err := row.value(paths[0])
	if err != nil {
		return fmt.Errorf("--hf-text-column %s: %w; the columns are: %s", usage.Quote(paths[0]), err,
			textfile.Names(d.named))
	}
	class := &hfClass{name: "column " + strings.Join(paths, " and "), loose: true, accepted: true, text: firstText,
		reply: firstText, output: hfOutput,
		limits: hfLimits{most: math.MaxInt32, total: math.MaxInt, always: true, anyOutput: true}}
	if isChat(value) {
		class.text, class.reply, class.answer = said("user", "human"), said("assistant", "gpt"), paths[0]
	} else if at := slices.IndexFunc(hfAnswers,
		func(name string) bool { return name != paths[0] && jsonscan.Fields(row, name)[0] != nil }); at >= 0 {
		class.answer = hfAnswers[at]
	}
	for i, path := range paths {
		if i > 0 {
			d.pieces = append(d.pieces, hfPiece{text: "\n\n"})
		}
		d.pieces = append(d.pieces, hfPiece{path: path})
	}
	lengths := fmt.Sprintf("%d tokens", hfOutput)
	if class.answer != "" {
		lengths = "those of " + class.answer
	}
	if d.length > 0 {
		lengths = fmt.Sprintf("%d tokens", d.length)
	}
	note(fmt.Sprintf("the prompts are in %s, output lengths are %s; --hf-text-column names another column", class.name,
		lengths))
	d.class = class
	return nil
}

// first is the first row of the data set. It takes note of the columns.
func (d *hfSampler) first(ctx context.Context) (row hfValues, err error) {
	for shard := range d.tables.shards {
		t, err := d.tables.table(ctx, shard)
		if err != nil {
			return nil, err
		}
		if t.Len() == 0 {
			continue
		}
		d.named = t.Columns()
		err = t.Rows(ctx, []int{0}, nil, func(_ int, object []byte) error {
			row = slices.Clone(object)
			return nil
		})
		if err != nil {
			err = d.tables.in(shard, err)
		}
		return row, err
	}
	return nil, textfile.At(d.from.Path, errors.New("no rows"))
}

// likelyPrompt are the paths of the texts that make the prompt; none where that is not known.
func likelyPrompt(row hfValues) []string {
	for _, name := range hfChats {
		if isChat(jsonscan.Fields(row, name)[0]) {
			return []string{name}
		}
	}
	fields := jsonscan.Fields(row, "turns", "context", "input")
	if _, err := firstText(fields[0]); err == nil {
		return []string{"turns[0]"}
	}
	if fields[1] != nil && fields[2] != nil {
		return []string{"context", "input"}
	}
	for _, name := range hfTexts {
		if jsonscan.Fields(row, name)[0] != nil {
			return []string{name}
		}
	}
	return nil
}

// isChat reports whether a value is an array of messages, in one of two forms.
func isChat(value []byte) bool {
	if len(value) == 0 || value[0] != '[' {
		return false
	}
	n := 0
	for message := range jsonscan.Elements(value) {
		if _, _, ok := spoken(message); !ok {
			return false
		}
		n++
	}
	return n > 0
}

// spoken is the role and the content of a message.
func spoken(message []byte) (role, content []byte, ok bool) {
	if message[0] != '{' {
		return nil, nil, false
	}
	fields := jsonscan.Fields(message, "role", "content", "from", "value")
	if fields[0] != nil && fields[1] != nil {
		return fields[0], fields[1], true
	}
	return fields[2], fields[3], fields[2] != nil && fields[3] != nil
}

// said finds the first text of one of those roles; "" where there is none.
func said(roles ...string) func(chat []byte) (string, error) {
	return func(chat []byte) (string, error) {
		if chat[0] != '[' {
			return "", fmt.Errorf("expected an array of messages: got %s", jsonscan.Kind(chat))
		}
		for message := range jsonscan.Elements(chat) {
			role, content, ok := spoken(message)
			if ok && jsonscan.IsString(role) && jsonscan.IsString(content) &&
				slices.Contains(roles, jsonscan.Text(role)) {
				return jsonscan.WholeText(content)
			}
		}
		return "", nil
	}
}

// firstText is the text of a string, or that of the first of an array.
func firstText(value []byte) (string, error) {
	if len(value) > 0 && value[0] == '[' {
		for element := range jsonscan.Elements(value) {
			return jsonscan.WholeText(element)
		}
		return "", nil
	}
	return jsonscan.WholeText(value)
}

// hfKnown names the data sets whose layout is known.
func hfKnown() string {
	return "Data sets whose layout is known are " + strings.Join(HubNames(), ", ")
}
