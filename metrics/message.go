package metrics

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// ErrorMessage is the message in the body of an error, for a person; a body of another kind stays as it is. It knows
// OpenAI's {"error":{"message":…}}, vLLM's {"object":"error","message":…}, FastAPI's {"detail":…}, TGI's and Ollama's
// {"error":…}, and a body that was cut off. The body and the message are foreign text.
func ErrorMessage(body string) string {
	text := strings.TrimSpace(body)
	text = strings.TrimSpace(strings.TrimPrefix(text, "data:")) // a whole event
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return body
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err == nil {
		return cmp.Or(messageOf(v, mostNested), body)
	}
	if m := cutMessage.FindStringSubmatch(text); m != nil {
		var words string
		if json.Unmarshal([]byte(`"`+m[1]+`"`), &words) == nil && strings.TrimSpace(words) != "" {
			return strings.TrimSpace(words)
		}
	}
	return body
}

const (
	mostNested   = 4 // objects around a message
	mostMessages = 3 // of a list
)

// cutMessage finds a message in JSON that is cut off, which may end within it.
var cutMessage = regexp.MustCompile(`"(?:message|detail|msg|error)"\s*:\s*"((?:[^"\\]|\\.)+)`)

// messageOf finds the message in a value, "" for none.
func messageOf(v any, depth int) string {
	switch x := v.(type) {
	case string:
		return strings.TrimSpace(x)
	case []any:
		var all []string
		for _, e := range x[:min(len(x), mostMessages)] {
			if words := messageOf(e, depth-1); words != "" {
				all = append(all, words)
			}
		}
		return strings.Join(all, "; ")
	case map[string]any:
		if depth <= 0 {
			return ""
		}
		for _, key := range []string{"error", "message", "detail", "msg"} {
			words := messageOf(x[key], depth-1)
			if field := fieldOf(x["loc"]); words != "" && key == "msg" && field != "" {
				return field + ": " + words
			}
			if words != "" {
				return words
			}
		}
	}
	return ""
}

// fieldOf is the name of the field that FastAPI refuses, such as body.max_tokens; "" for none.
func fieldOf(loc any) string {
	var names []string
	path, _ := loc.([]any)
	for _, part := range path {
		if name, ok := part.(string); ok {
			names = append(names, name)
		}
	}
	return strings.Join(names, ".")
}

// ErrorShape is a message without what differs from request to request: words that hold a digit, such as numbers and
// ids.
func ErrorShape(message string) string {
	var b strings.Builder
	for len(message) > 0 {
		end := strings.IndexFunc(message, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(message)
		}
		if word := message[:end]; strings.ContainsFunc(word, unicode.IsDigit) {
			b.WriteByte('#')
		} else {
			b.WriteString(word)
		}
		message = message[end:]
		end = max(0, strings.IndexFunc(message, inWord))
		if end == 0 {
			b.WriteString(message)
			break
		}
		b.WriteString(message[:end])
		message = message[end:]
	}
	return b.String()
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' || r == '.'
}

// connectionErrors are parts of the texts by which systems report a connection, which differ in what comes before, and
// their words.
var connectionErrors = []struct{ part, words string }{
	{"connection refused", ConnectionRefused}, {"connection reset", "connection reset"},
	{"broken pipe", "connection reset"}, {"no such host", "unknown host"},
	{"no route to host", "no route to the host"}, {"unreachable", "network unreachable"},
}

// ConnectionRefused are the words for a port that nothing listens on.
const ConnectionRefused = "connection refused"

// ConnectionError describes in a few words how a connection failed; "" where that is not known.
func (r *Request) ConnectionError() string { return ConnectionError(r.Failure, r.Error) }

// ConnectionError describes in a few words a failure with such a text; "" where it is not one of a connection, or is
// not known.
func ConnectionError(kind Failure, text string) string {
	if kind == FailedConnect || kind == FailedReset {
		for _, x := range connectionErrors {
			if strings.Contains(text, x.part) {
				return x.words
			}
		}
	}
	return ""
}

// Message describes the failure of a request for a person: in the words of the server where it sent any, which are
// foreign text.
func (r *Request) Message() string { return cmp.Or(r.ConnectionError(), ErrorMessage(r.Error)) }
