package loadgen

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/valyala/fastjson"
)

// message is what one stream event says, as far as it matters here. The byte slices are valid until the next event.
type message struct {
	// counts: the event is a chunk, as vLLM 0.33 counts them; see decoder.
	counts bool
	// ours: vLLM would not count it, since it knows no reasoning_content.
	ours bool
	// tokens in it as far as ids or log probabilities tell, -1 if they do not.
	tokens int
	// answer is text of the visible answer, reasoning the text before it; output says that there is any output, be it only a
	// tool call.
	answer, reasoning []byte
	output            bool
	// more: there is output beside the text of the answer.
	more bool
	// finish is the finish reason, nil for none.
	finish []byte
	usage  usage
	// failure is the server's report of an error, "" for none.
	failure string
}

type usage struct {
	present               bool
	input, output, cached int // -1 where the server did not say
}

var (
	errNotJSON = errors.New("not valid JSON")
	errNotText = errors.New("expected text")
)

// decoder reads the events of one stream. It allocates nothing for an event without an error. The parser is lent to it for
// an event: one for each stream would be two kilobytes that do nothing between two tokens.
//
// A chunk is, as in vLLM 0.33, an event with a choice in completions. In chat the choice has a delta with output: content,
// reasoning, tool_calls or function_call that is not empty, or empty content without a role. So neither the event that names
// the role nor that of the finish reason is a chunk. Unlike vLLM, reasoning_content is read as reasoning is.
type decoder struct {
	parser *fastjson.Parser
	chat   bool
	clocks serverClocks // of the stream so far
}

func (d *decoder) decode(data []byte) (message, error) { return d.read(data, "delta") }

// decodeWhole reads an answer that is no stream but one piece of JSON.
func (d *decoder) decodeWhole(data []byte) (message, error) { return d.read(data, whole) }

// whole is the member of a choice that has the text of an answer that is no stream.
const whole = "message"

// read reads an object whose choice, in chat, has its text in the member part.
func (d *decoder) read(data []byte, part string) (message, error) {
	m := message{tokens: -1}
	v, err := d.parser.ParseBytes(data)
	if err != nil && bytes.Contains(data, []byte(infinity)) {
		v, err = d.parser.ParseBytes(shortInfinities(data))
	}
	if err != nil {
		return m, fmt.Errorf("%w: %s", errNotJSON, excerpt(data))
	}
	if v.Type() != fastjson.TypeObject {
		return m, fmt.Errorf("expected a JSON object: %s", excerpt(data))
	}
	if e := v.Get("error"); truthy(e) {
		m.failure = errorWords(e)
		return m, nil
	}
	m.usage = readUsage(v.Get("usage"))
	d.clocks.read(v)
	choices := v.GetArray("choices")
	if len(choices) == 0 {
		return m, nil
	}
	c := choices[0]
	if c.Type() != fastjson.TypeObject {
		return m, fmt.Errorf("expected a choice to be an object: %s", excerpt(data))
	}
	if f := c.GetStringBytes("finish_reason"); len(f) > 0 {
		m.finish = f
	}
	if ids := c.GetArray("token_ids"); ids != nil {
		m.tokens = len(ids)
	}
	logprobs := c.GetArray("logprobs", "content")
	if d.chat {
		if c.Get(part) == nil && c.Get("text") != nil {
			return m, fmt.Errorf("a choice of the completions protocol, without %s: %s", part, excerpt(data))
		}
		err = m.readDelta(c.Get(part))
		m.counts = m.counts || part == whole
	} else {
		m.counts = true
		m.answer, err = textOf(c.Get("text"))
		m.output = len(m.answer) > 0
		logprobs = c.GetArray("logprobs", "tokens")
	}
	if err != nil {
		return m, fmt.Errorf("%w: %s", err, excerpt(data))
	}
	if m.tokens < 0 && logprobs != nil {
		m.tokens = len(logprobs)
	}
	return m, nil
}

// readDelta reads the delta of a chat choice, or the message of an answer that is no stream. A choice without one says nothing.
func (m *message) readDelta(delta *fastjson.Value) error {
	if delta == nil || delta.Type() != fastjson.TypeObject {
		return nil
	}
	var err error
	content := delta.Get("content")
	if m.answer, err = textOf(content); err != nil {
		return err
	}
	known := truthy(delta.Get("reasoning"))
	if m.reasoning = delta.GetStringBytes("reasoning"); len(m.reasoning) == 0 {
		m.reasoning = delta.GetStringBytes("reasoning_content")
	}
	called := truthy(delta.Get("tool_calls")) || truthy(delta.Get("function_call"))
	m.more = len(m.reasoning) > 0 || called
	m.output = len(m.answer) > 0 || m.more
	empty := content != nil && content.Type() == fastjson.TypeString && len(m.answer) == 0
	counted := len(m.answer) > 0 || known || called || empty && delta.Get("role") == nil
	m.counts = counted || len(m.reasoning) > 0
	m.ours = !counted && m.counts
	return nil
}

// textOf is the text of a member; anything else is an error unless it is empty in Python's sense.
func textOf(v *fastjson.Value) ([]byte, error) {
	switch {
	case v == nil:
		return nil, nil
	case v.Type() == fastjson.TypeString:
		return v.GetStringBytes(), nil
	case truthy(v):
		return nil, errNotText
	}
	return nil, nil
}

// infinity is how Python's json module writes and reads it. fastjson knows it as Inf alone, and NaN as NaN.
const infinity = "Infinity"

// shortInfinities is JSON with Inf for every Infinity that is no part of a text.
func shortInfinities(data []byte) []byte {
	short := make([]byte, 0, len(data))
	for text := false; len(data) > 0; {
		n := 1
		switch {
		case text && data[0] == '\\' && len(data) > 1:
			n = 2
		case data[0] == '"':
			text = !text
		case !text && bytes.HasPrefix(data, []byte(infinity)):
			short, data = append(short, "Inf"...), data[len(infinity):]
			continue
		}
		short, data = append(short, data[:n]...), data[n:]
	}
	return short
}

// mostTokens is more than any request holds. A server that says more is not believed.
const mostTokens = 1 << 31

func readUsage(v *fastjson.Value) usage {
	if v == nil || v.Type() != fastjson.TypeObject || !truthy(v) {
		return usage{}
	}
	count := func(v *fastjson.Value, key string) int {
		if x := v.Get(key); x != nil {
			if n, err := x.Int(); err == nil && n >= 0 && n <= mostTokens {
				return n
			}
		}
		return -1
	}
	u := usage{present: true, input: count(v, "prompt_tokens"), output: count(v, "completion_tokens"), cached: -1}
	if details := v.Get("prompt_tokens_details"); details != nil {
		u.cached = count(details, "cached_tokens")
	}
	return u
}

// truthy is Python's idea of it: an error of null, false, 0, "" or {} is none.
func truthy(v *fastjson.Value) bool {
	if v == nil {
		return false
	}
	switch v.Type() {
	case fastjson.TypeNull, fastjson.TypeFalse:
		return false
	case fastjson.TypeString:
		return len(v.GetStringBytes()) > 0
	case fastjson.TypeNumber:
		return v.GetFloat64() != 0
	case fastjson.TypeObject:
		return v.GetObject().Len() > 0
	case fastjson.TypeArray:
		return len(v.GetArray()) > 0
	}
	return true
}

// errorWords is the message of an error object, or its JSON.
func errorWords(v *fastjson.Value) string {
	if text := v.GetStringBytes("message"); len(text) > 0 {
		return clip(string(text))
	}
	if v.Type() == fastjson.TypeString {
		return clip(string(v.GetStringBytes()))
	}
	return clip(v.String())
}

// maxWords is how much of a server's own words is kept with a failed request.
const maxWords = 2048

func clip(s string) string {
	if len(s) > maxWords {
		return s[:maxWords]
	}
	return s
}

// excerpt is the beginning of what could not be read.
func excerpt(data []byte) string {
	const most = 120
	if len(data) > most {
		return fmt.Sprintf("%q…", data[:most])
	}
	return fmt.Sprintf("%q", data)
}
