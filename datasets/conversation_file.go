package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/datasets/agents"
	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// fileConversation is a conversation of a file.
type fileConversation struct {
	turns []recordedTurn // without their numbers of tokens, which are those of the file or 0
	line  int
}

const conversationForm = `an array, or lines, of objects with "messages" of "role" and "content", or with ` +
	`"conversations" of "from" and "value"`

// conversationFile holds the conversations of a file, and counts those that cannot be read.
type conversationFile struct {
	all   []fileConversation
	tools bool // a message calls tools, or is of one
	bad   int
	err   error // of the first bad one
}

// readConversations reads the conversations of a file in which a prompt follows an answer, in the order of the file.
// One that cannot be read spoils no other.
func readConversations(r io.Reader) (f conversationFile, err error) {
	err = textfile.EachRow(r, conversationForm, func(object []byte, line int) error {
		turns, err := recordedTurns(object)
		switch {
		case err != nil && f.bad > 0:
			f.bad++
		case err != nil:
			f.bad, f.err = 1, textfile.AtLine(line, err)
		case len(turns) > 0:
			f.all = append(f.all, fileConversation{turns, line})
			f.tools = f.tools || slices.ContainsFunc(turns, func(t recordedTurn) bool { return t.tools })
		}
		return nil
	})
	switch {
	case err != nil || len(f.all) > 0:
		return f, err
	case f.err != nil:
		return f, f.err
	}
	return f, errors.New("no conversation has a prompt; expected " + conversationForm)
}

// recordedTurns are those of an object. The messages between two answers are one prompt.
func recordedTurns(object []byte) ([]recordedTurn, error) {
	fields := jsonscan.Fields(object, "messages", "conversations")
	list := fields[0]
	if list == nil {
		list = fields[1]
	}
	if list == nil || list[0] != '[' {
		return nil, fmt.Errorf("expected %s", conversationForm)
	}
	var turns []recordedTurn
	next, number := newPrompt(), 0
	for raw := range jsonscan.Elements(list) {
		number++
		m, err := readMessage(raw)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", number, err)
		}
		switch {
		case number > mostMessages:
			return nil, fmt.Errorf("more than %d messages", mostMessages)
		case m.role != "assistant":
			next.add(m)
		case len(next.prompt) > 0 && len(turns) == mostTurns:
			return nil, fmt.Errorf("more than %d turns", mostTurns)
		case len(next.prompt) > 0:
			turns = append(turns, next.turn(m))
			next = newPrompt()
		case len(turns) > 0: // another answer to the same prompt
			last := &turns[len(turns)-1]
			last.reply, last.answer, last.fixed = last.reply+","+m.json, last.answer+"\n"+m.text, true
		}
	}
	if len(next.prompt) > 0 {
		turns = append(turns, next.turn(recordedMessage{}))
	}
	return turns, nil
}

// mostMessages bounds the messages of a conversation.
const mostMessages = 4 * mostTurns

// recordedPrompt is the messages between two answers, which are one prompt.
type recordedPrompt struct {
	prompt, text []string
	tools        bool
	output       int
	delay, at    time.Duration
}

func newPrompt() recordedPrompt { return recordedPrompt{delay: -1, at: -1} }

// add adds a message to the prompt.
func (p *recordedPrompt) add(m recordedMessage) {
	p.prompt, p.text, p.tools = append(p.prompt, m.json), append(p.text, m.text), p.tools || m.role == "tool"
	p.delay, p.at, p.output = max(p.delay, m.delay), max(p.at, m.at), cmp.Or(m.output, p.output)
}

// turn is the prompt with its recorded answer; one without a role for none.
func (p *recordedPrompt) turn(answer recordedMessage) recordedTurn {
	return recordedTurn{
		messages: strings.Join(p.prompt, ","), text: strings.Join(p.text, "\n"), delay: p.delay, at: p.at,
		reply: answer.json, answer: answer.text, fixed: answer.calls, tools: p.tools || answer.calls,
		output: cmp.Or(answer.output, p.output),
	}
}

// recordedMessage is one message of a file.
type recordedMessage struct {
	role, text string
	json       string // as it is sent
	calls      bool   // it calls tools
	output     int    // tokens of the answer; 0 where it does not say
	delay, at  time.Duration
}

// roles are the names of roles in files, and those that are sent.
var roles = map[string]string{
	"user": "user", "human": "user", "assistant": "assistant", "gpt": "assistant", "chatgpt": "assistant",
	"bing": "assistant", "bard": "assistant",
	"model": "assistant", "system": "system", "developer": "developer", "tool": "tool", "function": "tool",
}

// ownMembers are those that say something to benchtop and are not sent.
var ownMembers = []string{"delay_ms", "at_ms", "output_tokens"}

// readMessage reads a message of either form.
func readMessage(raw []byte) (m recordedMessage, err error) {
	if raw[0] != '{' {
		return m, fmt.Errorf("expected an object: got %s", jsonscan.Kind(raw))
	}
	fields := jsonscan.Fields(raw, "role", "content", "from", "value", "tool_calls", "delay_ms", "at_ms",
		"output_tokens")
	role, content := fields[0], fields[1]
	plain := role == nil
	if plain {
		role, content = fields[2], fields[3]
	}
	if !jsonscan.IsString(role) {
		return m, errors.New(`expected "role" or "from" to be a string`)
	}
	if m.role = roles[jsonscan.Text(role)]; m.role == "" {
		return m, fmt.Errorf("unknown role %s; use user, assistant, system or tool", textfile.Value(role))
	}
	m.calls = jsonscan.Truthy(fields[4])
	if m.text, err = contentText(content, m.calls); err != nil {
		return m, err
	}
	if m.delay, err = milliseconds(fields[5], "delay_ms"); err != nil {
		return m, err
	}
	if m.at, err = milliseconds(fields[6], "at_ms"); err != nil {
		return m, err
	}
	if fields[7] != nil {
		if m.output, err = outputTokens(fields[7]); err != nil {
			return m, err
		}
	}
	if m.json = message(m.role, m.text); !plain {
		m.json = sentMessage(raw, m.role)
	}
	return m, nil
}

// sentMessage is a message without the members that are not sent, with the name of its role that servers know.
func sentMessage(raw []byte, role string) string {
	var b strings.Builder
	for name, value := range jsonscan.Members(raw) {
		if slices.Contains(ownMembers, jsonscan.Text(name)) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		if jsonscan.Text(name) == "role" {
			value = jsonscan.Quote(role)
		}
		b.Write(value)
	}
	return "{" + b.String() + "}"
}

// contentText is the text of a message: a string, or the texts among its parts. A message that calls tools may have
// none.
func contentText(raw []byte, calls bool) (string, error) {
	switch {
	case jsonscan.IsString(raw):
		return jsonscan.WholeText(raw)
	case len(raw) > 0 && raw[0] == '[':
		var texts []string
		for part := range jsonscan.Elements(raw) {
			if part[0] != '{' {
				continue
			}
			if text := jsonscan.Fields(part, "text")[0]; jsonscan.IsString(text) {
				t, err := jsonscan.WholeText(text)
				if err != nil {
					return "", err
				}
				texts = append(texts, t)
			}
		}
		return strings.Join(texts, "\n"), nil
	case calls:
		return "", nil
	}
	return "", fmt.Errorf("expected the content to be a string or an array: got %s", jsonscan.Kind(raw))
}

// milliseconds reads a time, -1 where there is none.
func milliseconds(raw []byte, name string) (time.Duration, error) {
	if raw == nil {
		return -1, nil
	}
	d, err := agents.Milliseconds(raw)
	return d, within(strconv.Quote(name), err)
}
