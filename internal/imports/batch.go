package imports

import (
	"bytes"
	"fmt"
	"strings"

	"benchtop/datasets/agents"
	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// defaultOutput is the length of an answer in tokens where a line has no bound for it.
const defaultOutput = 256

// batch reads files of OpenAI's batch API: each line is a session, whose requests start together.
type batch struct {
	m        *importer
	prefixes *prefixes
	count    func(string) (int, error)
}

func newBatch(m *importer) *batch {
	b := &batch{m: m, prefixes: newPrefixes(), count: m.Count}
	if b.count == nil {
		b.count = estimateTokens
		m.summary.estimate(fmt.Sprintf("tokens of prompts, %d characters each; count them with --tokenizer",
			charactersPerToken))
	}
	m.summary.estimate("tokens that prompts share inside a message, in proportion to its text")
	return b
}

// take reads a line.
func (b *batch) take(object []byte) error {
	fields := jsonscan.Fields(object, "custom_id", "url", "body")
	var r reader
	s := &agents.Session{BlockSize: b.m.BlockSize, Shared: true, Name: r.name("custom_id", fields[0])}
	url := r.name("url", fields[1])
	if r.err != nil {
		return r.err
	}
	if url = strings.TrimRight(url, "/"); url != "" && !strings.HasSuffix(url, "/completions") &&
		!strings.HasSuffix(url, "/responses") {
		b.m.summary.skip("lines of other endpoints")
		return nil
	}
	if len(fields[2]) == 0 || fields[2][0] != '{' {
		return inKey("body", fmt.Errorf("expected an object: got %s", jsonscan.Kind(fields[2])))
	}
	if err := b.body(s, fields[2]); err != nil {
		return fmt.Errorf("request %s: %w", textfile.Quote(s.Name), err)
	}
	if len(s.Requests) == 0 {
		b.m.summary.skip("lines without a prompt")
		return nil
	}
	return b.m.each(s)
}

// body reads the prompts of a line.
func (b *batch) body(s *agents.Session, body []byte) error {
	fields := jsonscan.Fields(body, "messages", "prompt", "input", "instructions", "tools", "max_completion_tokens",
		"max_tokens", "max_output_tokens")
	output := -1
	for _, raw := range fields[5:] {
		if absent(raw) || output >= 0 {
			continue
		}
		n, err := tokens(raw)
		if err != nil {
			return fmt.Errorf("the bound of the answer: %w", err)
		}
		output = max(n, 1)
	}
	if output < 0 {
		output = defaultOutput
		b.m.summary.estimate(fmt.Sprintf("answers of %d tokens, where a line has no max_tokens", defaultOutput))
	}
	if !absent(fields[1]) && absent(fields[0]) {
		return b.prompts(s, fields[1], output)
	}
	list := messagesOf(fields[0])
	if absent(fields[0]) {
		list = messagesOf(fields[2])
	}
	if !absent(fields[3]) {
		list = append([]message{{"system", jsonscan.Text(fields[3])}}, list...)
	}
	if len(list) == 0 {
		return nil
	}
	return b.add(s, list, fields[0], string(fields[4]), output)
}

// prompts reads the prompts of a completion: a text or the ids of its tokens, or an array of those.
func (b *batch) prompts(s *agents.Session, raw []byte, output int) error {
	if raw[0] == '[' && bytes.ContainsAny(raw[1:], `"[`) {
		for element := range jsonscan.Elements(raw) {
			if len(s.Requests) == agents.MaxRequests {
				return fmt.Errorf("more than %d prompts", agents.MaxRequests)
			}
			if err := b.prompt(s, element, output); err != nil {
				return err
			}
		}
		return nil
	}
	return b.prompt(s, raw, output)
}

// prompt reads a text, or the ids of its tokens.
func (b *batch) prompt(s *agents.Session, raw []byte, output int) error {
	if raw[0] == '[' {
		ids := 0
		for range jsonscan.Elements(raw) {
			ids++
		}
		if ids > agents.MaxTokens {
			return fmt.Errorf("a prompt of %d tokens; expected at most %d", ids, agents.MaxTokens)
		}
		if ids > 0 {
			s.Requests = append(s.Requests,
				agents.Request{Input: ids, Output: output, Blocks: b.prefixes.fresh(nil, ids/s.BlockSize)})
		}
		return nil
	}
	if !jsonscan.IsString(raw) {
		return fmt.Errorf("\"prompt\": expected a text: got %s", jsonscan.Kind(raw))
	}
	return b.add(s, []message{{"user", jsonscan.Text(raw)}}, nil, "", output)
}

// add gives a session the request of some messages, if they have any tokens. Its text is kept as the line has it, where
// the line has messages.
func (b *batch) add(s *agents.Session, list []message, as []byte, tools string, output int) error {
	q, err := b.request(list, tools, output)
	if err != nil || q.Input == 0 {
		return err
	}
	if b.m.KeepText && !absent(as) {
		q.Messages = bytes.Clone(as)
	} else if b.m.KeepText {
		q.Messages = chat(list)
	}
	s.Requests = append(s.Requests, q)
	return nil
}

// request counts the tokens of messages, behind the tools that the prompt begins with.
func (b *batch) request(list []message, tools string, output int) (q agents.Request, err error) {
	if tools != "" {
		list = append([]message{{"tools", tools}}, list...)
	}
	d := newDigester(b.prefixes.seed)
	for _, m := range list {
		n, err := b.count(m.text)
		if err != nil {
			return q, err
		}
		if q.Input += n; q.Input > agents.MaxTokens {
			return q, fmt.Errorf("a prompt of more than %d tokens", agents.MaxTokens)
		}
		d.write(m.role + "\x00" + m.text + "\x00")
		d.mark(q.Input)
	}
	q.Output = output
	q.Blocks = b.prefixes.blocks(&d.digest, q.Input, b.m.BlockSize)
	if b.prefixes.full() {
		b.m.summary.estimate(tooManyTexts)
	}
	return q, nil
}
