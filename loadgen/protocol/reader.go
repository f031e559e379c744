package protocol

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/valyala/fastjson"

	"benchtop/metrics"
)

// Message is the relevant content of a stream event, or of a whole answer. The byte slices are valid until the reader
// is released.
type Message struct {
	// Counts: the event is a chunk.
	Counts bool
	// Ours: vLLM does not count this chunk, since it ignores reasoning_content and refusals.
	Ours bool
	// End: the event is the end of a complete stream.
	End bool
	// Tokens is the number of ids or log probabilities, -1 without either.
	Tokens int
	// Answer is text of the visible answer, Reasoning the text before it; Output: there is output, if only a tool call.
	Answer, Reasoning []byte
	Output            bool
	// More: there is output beside the text of the answer.
	More bool
	// Finish is the finish reason, nil for none.
	Finish []byte
	// Choices is the number of choices in the message, Finished how many of them end with it. Both are 0 in protocols
	// without choices.
	Choices, Finished int
	Usage             Usage
	// Refusal: the answer is a refusal, as the server says.
	Refusal bool
	// Calls is the number of tool calls that begin in the message.
	Calls int
	// Failure is the server's report of an error, "" for none.
	Failure string
}

var (
	// ErrNotJSON is the error of an event or answer that is not JSON.
	ErrNotJSON = errors.New("not valid JSON")
	errNotText = errors.New("expected text")
)

const (
	done   = "[DONE]"                   // the last event of a stream
	ending = "finish_reason or " + done // the end of a stream of choices
)

// Reader reads the answer to one request, event by event. It allocates nothing for an event without an error. A reader
// is used by one goroutine at a time; Begin makes it ready for another answer.
type Reader struct {
	Clocks Clocks // of the answer so far
	// Binary: the answer is not text, as its content type says. Metadata is then the header that describes it, in JSON.
	Binary   bool
	Metadata []byte
	// Several: the request asks for more than one answer.
	Several bool
	// Tokens takes those of the answer, the first thousands; nil leaves them out.
	Tokens *[]metrics.OutputToken

	calls   int // tool calls of the answer so far
	parsers *Parsers
	parser  *fastjson.Parser // lent for an event, nil between two
	large   bool
	// template is empty until an event is one.
	template template
	// Whether the event contains the word. Looking up a member that most events lack costs more than searching for the
	// word.
	mentionsError, mentionsUsage bool
}

// Begin readies the reader for an answer.
func (r *Reader) Begin(lender *Parsers) {
	t := template{head: r.template.head[:0], tail: r.template.tail[:0]}
	*r = Reader{Clocks: UnknownClocks(), parsers: lender, template: t}
}

// parse reads a JSON object, whose tokens are unknown so far, and its error into m. It returns nil for an error object.
func (r *Reader) parse(m *Message, data []byte) (*fastjson.Value, error) {
	m.Tokens = -1
	if err := r.borrow(data); err != nil {
		return nil, err
	}
	v, err := r.parser.ParseBytes(data)
	if err != nil && bytes.Contains(data, []byte(infinity)) {
		v, err = r.parser.ParseBytes(replaceWords(data, map[string]string{infinity: "Inf"}))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNotJSON, Excerpt(data))
	}
	if r.mentionsError = bytes.Contains(data, []byte("error")); r.mentionsError {
		if m.Failure = failure(v); m.Failure != "" {
			return nil, nil
		}
	}
	if v.Type() != fastjson.TypeObject {
		return nil, fmt.Errorf("expected a JSON object: %s", Excerpt(data))
	}
	return v, nil
}

// object reads an object as parse does, and its usage and clocks into m.
func (r *Reader) object(m *Message, data []byte) (*fastjson.Value, error) {
	v, err := r.parse(m, data)
	if v == nil {
		return nil, err
	}
	if r.mentionsUsage = bytes.Contains(data, []byte("usage")); r.mentionsUsage {
		m.Usage = readUsage(v.Get("x_groq", "usage"), choicesUsage)
		m.Usage.Merge(readUsage(v.Get("usage"), choicesUsage))
	}
	r.Clocks.read(v)
	if timings := v.Get("timings"); timings != nil { // llama.cpp's
		m.Usage.draft(countOf(timings, "draft_n"), countOf(timings, "draft_n_accepted"))
	}
	return v, nil
}

// choice reads an object as object does, and the members that choices of completions and chat have in common. It
// returns the first of them, nil for none; there is More where there are several.
func (r *Reader) choice(m *Message, data []byte) (*fastjson.Value, error) {
	v, err := r.object(m, data)
	if v == nil {
		return nil, err
	}
	choices := v.GetArray("choices")
	if len(choices) == 0 {
		m.Failure = foreign(v)
		return nil, nil
	}
	counted := 0
	for _, c := range choices {
		if c.Type() != fastjson.TypeObject {
			return nil, fmt.Errorf("expected a choice to be an object: %s", Excerpt(data))
		}
		finish := c.Get("finish_reason")
		reason := finish.GetStringBytes()
		if reason == nil { // SGLang's own are objects
			reason = finish.GetStringBytes("type")
		}
		m.end(reason, finish.GetStringBytes("message"))
		if r.mentionsError {
			m.Failure = cmp.Or(failure(c), m.Failure)
		}
		if r.mentionsUsage && !r.Several { // of several answers it would count one
			m.Usage.Merge(readUsage(c.Get("usage"), choicesUsage))
		}
		if ids := c.GetArray("token_ids"); ids != nil {
			m.Tokens = max(0, m.Tokens) + len(ids)
			counted++
		}
	}
	if m.Choices = len(choices); counted < m.Choices {
		m.Tokens = -1
	}
	m.More = m.Choices > 1
	return choices[0], nil
}

// count takes the number of log probabilities as that of the tokens, where there are no ids.
func (m *Message) count(logprobs []*fastjson.Value) {
	if m.Tokens < 0 && logprobs != nil && m.Choices < 2 {
		m.Tokens = len(logprobs)
	}
}

// tokensKept bounds the tokens that are kept of an answer.
const tokensKept = 1 << 12

// keep keeps the tokens of a choice, where they are wanted: ids, and texts with log probabilities as completions and
// chats have them.
func (r *Reader) keep(choice *fastjson.Value) {
	if r.Tokens == nil {
		return
	}
	ids, odds := choice.GetArray("token_ids"), choice.Get("logprobs")
	texts, all, content := odds.GetArray("tokens"), odds.GetArray("token_logprobs"), odds.GetArray("content")
	for i := range min(max(len(ids), len(texts), len(content)), tokensKept-len(*r.Tokens)) {
		t := metrics.OutputToken{ID: -1, Logprob: metrics.Unsaid()}
		if i < len(ids) {
			t.ID = ids[i].GetInt()
		}
		text, odd := (*fastjson.Value)(nil), (*fastjson.Value)(nil)
		switch {
		case i < len(content):
			text, odd = content[i].Get("token"), content[i].Get("logprob")
		case i < len(texts):
			text = texts[i]
			if i < len(all) {
				odd = all[i]
			}
		}
		t.Text = string(text.GetStringBytes())
		if odd != nil && odd.Type() == fastjson.TypeNumber {
			t.Logprob = odd.GetFloat64()
		}
		*r.Tokens = append(*r.Tokens, t)
	}
}

func excerpted(err error, data []byte) error { return fmt.Errorf("%w: %s", err, Excerpt(data)) }

// textOf is the text of a member; another value is an error unless it is falsy in Python.
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

// infinity is Python's spelling in JSON. fastjson reads Inf and NaN.
const infinity = "Infinity"

// replaceWords replaces words outside of strings in JSON.
func replaceWords(data []byte, words map[string]string) []byte {
	out := make([]byte, 0, len(data))
	for text := false; len(data) > 0; {
		n := 1
		switch {
		case text && data[0] == '\\' && len(data) > 1:
			n = 2
		case data[0] == '"':
			text = !text
		case !text && (data[0] == 'I' || data[0] == 'N'):
			for word, instead := range words {
				if bytes.HasPrefix(data, []byte(word)) {
					out, data, n = append(out, instead...), data[len(word):], 0
					break
				}
			}
		}
		out, data = append(out, data[:n]...), data[n:]
	}
	return out
}

// truthy reports whether a value is true in Python: an error of null, false, 0, "" or {} is none.
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

// MaxMessage is the longest message that is kept with a failed request, in bytes.
const MaxMessage = 2048

// Clip cuts a message to MaxMessage.
func Clip(s string) string { return s[:min(len(s), MaxMessage)] }

// Excerpt is the beginning of unreadable data, quoted.
func Excerpt(data []byte) string {
	const most = 120
	if len(data) > most {
		return fmt.Sprintf("%q…", data[:most])
	}
	return fmt.Sprintf("%q", data)
}

// Clocks are a server's own times of a request until its first token; metrics.Never where it reports none.
type Clocks struct{ Queue, Prefill time.Duration }

// UnknownClocks are those of a server without reports.
func UnknownClocks() Clocks { return Clocks{metrics.Never, metrics.Never} }

// read takes the clocks of an event or a whole answer: vLLM's metrics, whose time to the first token counts from the
// end of the queue, or llama.cpp's timings. The last metrics replace all of the earlier ones.
func (c *Clocks) read(v *fastjson.Value) {
	if timing := v.Get("metrics"); timing != nil && timing.Type() == fastjson.TypeObject {
		c.Queue = milliseconds(timing.Get("queue_time_ms"))
		c.Prefill = milliseconds(timing.Get("time_to_first_token_ms"))
	}
	if timing := v.Get("timings"); timing != nil {
		if prefill := milliseconds(timing.Get("prompt_ms")); prefill != metrics.Never {
			c.Prefill = prefill
		}
	}
}

func milliseconds(v *fastjson.Value) time.Duration {
	if v == nil {
		return metrics.Never
	}
	ms, err := v.Float64()
	if err != nil {
		return metrics.Never
	}
	return Milliseconds(ms)
}

// Milliseconds is a server's time in milliseconds, rounded to the microsecond. An impossible time is metrics.Never.
func Milliseconds(ms float64) time.Duration {
	const most = float64(24 * time.Hour / time.Millisecond)
	if !(ms >= 0 && ms <= most) {
		return metrics.Never
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}

const (
	// parsedValue is the approximate memory of a parsed JSON value.
	parsedValue = int(unsafe.Sizeof(fastjson.Value{})) + 24
	// parsedMost is the largest memory for the values of an event.
	parsedMost = 64 << 20
	// pooledMost is the largest event with a parser of its own.
	pooledMost = 64 << 10
)

// Parsers are lent to the readers of a run for an event: one for each stream would be two kilobytes that are idle
// between two tokens. The values of a large event take many times its bytes, so large events share one parser. The zero
// value is ready.
type Parsers struct {
	pool        fastjson.ParserPool
	large       sync.Mutex      // held while a large event is read
	largeParser fastjson.Parser // for those, guarded by large
}

// borrow takes a parser for an event.
func (r *Reader) borrow(data []byte) error {
	if len(data) <= pooledMost {
		r.parser = r.parsers.pool.Get()
		return nil
	}
	values := 1 + bytes.Count(data, []byte{','}) + bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	if values*parsedValue > parsedMost {
		return fmt.Errorf("an event of the stream has more than %d values", parsedMost/parsedValue)
	}
	r.parsers.large.Lock()
	r.parser, r.large = &r.parsers.largeParser, true
	return nil
}

// Release gives the parser back, after which the last message is invalid.
func (r *Reader) Release() {
	switch {
	case r.parser == nil:
		return
	case r.large:
		r.parsers.large.Unlock()
	default:
		r.parsers.pool.Put(r.parser)
	}
	r.parser, r.large = nil, false
}
