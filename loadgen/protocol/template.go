package protocol

import (
	"bytes"
	"reflect"
)

// template is an event of a stream that another one may repeat with another text: most of the events of an answer do,
// byte for byte. What was read of the one then holds for the other, at a fraction of the cost.
type template struct {
	head, tail []byte // of the event, around the text
	message    Message
	reasoning  bool // the text is that of Reasoning, else of Answer
	misses     int  // events in a row that could not be read by it
}

const (
	// templateMost is the longest event that becomes a template, in bytes: there is one for every stream.
	templateMost = 1 << 10
	// missesMost is the number of misses after which a stream, whose events are numbered for instance, is read without.
	missesMost = 4
	// probe is a text that no event has.
	probe = "\x7fprobe\x7f"
)

// Event reads an event of a stream by a protocol, of which all events of the answer are.
func (r *Reader) Event(p Protocol, data []byte) (Message, error) {
	if r.Tokens != nil {
		return p.Event(r, data) // which a template does not have
	}
	t := &r.template
	if m, ok := t.read(data); ok {
		return m, nil
	}
	m, err := p.Event(r, data)
	if err == nil && t.misses < missesMost {
		t.misses++
		if t.learn(&m, data) && !t.holds(r, p) {
			t.head = t.head[:0]
		}
	}
	return m, err
}

// read reads an event that differs from the template in its text alone. A text without quotes, escapes and control
// characters stands in JSON as it is, and ends where the tail begins.
func (t *template) read(data []byte) (m Message, ok bool) {
	length := len(data) - len(t.head) - len(t.tail)
	if len(t.head) == 0 || length <= 0 || !bytes.HasPrefix(data, t.head) || !bytes.HasSuffix(data, t.tail) {
		return m, false
	}
	text := data[len(t.head) : len(t.head)+length]
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return m, false
		}
	}
	t.misses = 0
	return t.with(text), true
}

// with is the message with a text.
func (t *template) with(text []byte) Message {
	m := t.message
	if t.reasoning {
		m.Reasoning = text
	} else {
		m.Answer = text
	}
	return m
}

// learn takes an event as template if it has one text and nothing that happens once.
func (t *template) learn(m *Message, data []byte) bool {
	text, reasoning := m.Answer, len(m.Answer) == 0
	if reasoning {
		text = m.Reasoning
	}
	if len(text) == 0 || len(m.Answer)*len(m.Reasoning) > 0 || len(data) > templateMost || m.Finish != nil || m.End ||
		m.Usage.Present || m.Refusal || m.Failure != "" {
		return false
	}
	at := quoted(data, text)
	if at < 0 || bytes.Contains(data, []byte("metrics")) || bytes.Contains(data, []byte("timings")) { // Clocks changes
		return false
	}
	t.head, t.tail = append(t.head[:0], data[:at]...), append(t.tail[:0], data[at+len(text):]...)
	t.message, t.reasoning = *m, reasoning
	t.message.Answer, t.message.Reasoning = nil, nil
	return true
}

// quoted is where a text stands in JSON for the last time, negative for nowhere, as where it is escaped.
func quoted(data, text []byte) int {
	for end := len(data); ; {
		at := bytes.LastIndex(data[:end], text)
		if at <= 0 || data[at-1] == '"' && bytes.HasPrefix(data[at+len(text):], []byte{'"'}) {
			return at
		}
		end = at + len(text) - 1
	}
}

// holds reports whether the protocol reads another text where the template has it, and all else as before: the text
// that was found in the event may be that of another member.
func (t *template) holds(r *Reader, p Protocol) bool {
	other := *r
	other.parser, other.large = nil, false
	defer other.Release()
	data := append(append(append([]byte(nil), t.head...), probe...), t.tail...)
	m, err := p.Event(&other, data)
	want := t.with([]byte(probe))
	same := bytes.Equal(m.Answer, want.Answer) && bytes.Equal(m.Reasoning, want.Reasoning)
	m.Answer, m.Reasoning = nil, nil
	return err == nil && same && reflect.DeepEqual(m, t.message)
}
