package imports

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"benchtop/internal/jsonscan"
)

// message is a chat message: its role and its text, in which parts that are no text stand as JSON.
type message struct{ role, text string }

// charactersPerToken is the estimate where there is no tokenizer.
const charactersPerToken = 4

// estimateTokens estimates the tokens of a text.
func estimateTokens(text string) (int, error) {
	return (utf8.RuneCountInString(text) + charactersPerToken - 1) / charactersPerToken, nil
}

// messagesOf reads chat messages: an array of them, the same as JSON in a string, or a text of the user's.
func messagesOf(raw []byte) (list []message) {
	switch {
	case absent(raw):
	case raw[0] == '[':
		for element := range jsonscan.Elements(raw) {
			list = append(list, messageOf(element))
		}
	case raw[0] == '{':
		fields := jsonscan.Fields(raw, "messages")
		if len(fields[0]) > 0 && fields[0][0] == '[' {
			return messagesOf(fields[0])
		}
		list = []message{messageOf(raw)}
	case jsonscan.IsString(raw):
		text := jsonscan.Text(raw)
		if inner := strings.TrimSpace(text); inner != "" && (inner[0] == '[' || inner[0] == '{') &&
			json.Valid([]byte(inner)) {
			return messagesOf([]byte(inner))
		}
		list = []message{{"user", text}}
	}
	return list
}

// messageOf reads one message.
func messageOf(raw []byte) message {
	if jsonscan.IsString(raw) {
		return message{"user", jsonscan.Text(raw)}
	}
	if raw[0] != '{' {
		return message{"user", string(raw)}
	}
	fields := jsonscan.Fields(raw, "role", "content", "parts", "tool_calls")
	m := message{role: "user"}
	if jsonscan.IsString(fields[0]) {
		m.role = jsonscan.Text(fields[0])
	}
	var text strings.Builder
	for _, value := range fields[1:3] {
		writeParts(&text, value)
	}
	if calls := fields[3]; !absent(calls) {
		text.Write(calls)
	}
	m.text = text.String()
	return m
}

// writeParts writes the text of a message's content: a string, or parts.
func writeParts(to *strings.Builder, raw []byte) {
	switch {
	case absent(raw):
	case jsonscan.IsString(raw):
		to.WriteString(jsonscan.Text(raw))
	case raw[0] == '[':
		for part := range jsonscan.Elements(raw) {
			writePart(to, part)
		}
	default:
		to.Write(raw)
	}
}

// writePart writes a part: its text, or what it is as JSON.
func writePart(to *strings.Builder, part []byte) {
	if jsonscan.IsString(part) {
		to.WriteString(jsonscan.Text(part))
		return
	}
	if part[0] == '{' {
		for _, value := range jsonscan.Fields(part, "text", "content") {
			if jsonscan.IsString(value) {
				to.WriteString(jsonscan.Text(value))
				return
			}
		}
	}
	to.Write(part)
}

// chat are messages as JSON.
func chat(list []message) json.RawMessage {
	out := []byte{'['}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = jsonscan.AppendQuoted(append(out, `{"role":`...), []byte(m.role))
		out = jsonscan.AppendQuoted(append(out, `,"content":`...), []byte(m.text))
		out = append(out, '}')
	}
	return append(out, ']')
}
