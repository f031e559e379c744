package imports

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"benchtop/datasets/textfile"
	"benchtop/internal/jsonscan"
)

// spanKind is what a span says of an agent.
type spanKind uint8

const (
	otherSpan spanKind = iota
	modelSpan          // a call of a model
	toolSpan           // a tool at work
	agentSpan          // an agent at work
)

// span is a span without its texts.
type span struct {
	trace, id, parent   string
	kind                spanKind
	start, end          int64 // nanoseconds since 1970
	input, output       int   // tokens, -1 for none
	conversation, agent string
	prompt              *digest // nil where the text was not recorded
	messages            json.RawMessage
}

// kinds are the names of operations.
var kinds = map[string]spanKind{"chat": modelSpan, "text_completion": modelSpan, "generate_content": modelSpan,
	"completion":   modelSpan,
	"execute_tool": toolSpan, "invoke_agent": agentSpan, "create_agent": agentSpan}

// parse reads a span. Names are those of OTLP/JSON, of protocol buffers, and of the Python SDK's console exporter.
func (t *spans) parse(object []byte) (s span, err error) {
	fields := jsonscan.Fields(object, "traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id",
		"parent_id",
		"startTimeUnixNano", "start_time_unix_nano", "start_time", "endTimeUnixNano", "end_time_unix_nano", "end_time",
		"attributes", "events", "context")
	if context := fields[15]; len(context) > 0 && context[0] == '{' {
		ids := jsonscan.Fields(context, "trace_id", "span_id")
		fields[1], fields[3] = some(fields[1], ids[0]), some(fields[3], ids[1])
	}
	var r reader
	s.trace, s.id = r.name("traceId", some(fields[0:2]...)), r.name("spanId", some(fields[2:4]...))
	s.parent = r.name("parentSpanId", some(fields[4:7]...))
	if r.err != nil || s.id == "" || s.trace == "" {
		return s, r.err
	}
	s.start = read(&r, "startTimeUnixNano", some(fields[7:10]...), nanoseconds)
	s.end = max(s.start, read(&r, "endTimeUnixNano", some(fields[10:13]...), nanoseconds))
	if r.err != nil {
		return s, r.err
	}
	a := &attributes{map[string][]byte{}, map[int]*message{}}
	a.read(fields[13])
	if events := fields[14]; len(events) > 0 && events[0] == '[' {
		for event := range jsonscan.Elements(events) {
			if event[0] == '{' {
				a.read(jsonscan.Fields(event, "attributes")[0])
			}
		}
	}
	return s, t.describe(&s, a)
}

// describe fills in what the attributes of a span say.
func (t *spans) describe(s *span, a *attributes) error {
	s.input, s.output = -1, -1
	s.kind = kinds[a.text("gen_ai.operation.name", "llm.request.type")]
	s.conversation = a.text("gen_ai.conversation.id")
	s.agent = a.text("gen_ai.agent.name")
	input, output := a.value("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
		a.value("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
	if s.kind == otherSpan && input != nil && a.text("gen_ai.operation.name") == "" &&
		a.value("gen_ai.request.model", "gen_ai.response.model") != nil {
		s.kind = modelSpan
	}
	if s.kind != modelSpan {
		return nil
	}
	var r reader
	if input != nil {
		s.input = r.tokens("gen_ai.usage.input_tokens", input)
	}
	if output != nil {
		s.output = r.tokens("gen_ai.usage.output_tokens", output)
	}
	if list := a.messages(); r.err == nil && len(list) > 0 && s.input > 0 && s.output >= 0 {
		t.text(s, a, list)
	}
	return r.err
}

// text takes the beginnings of a prompt, and the prompt itself where texts are kept.
func (t *spans) text(s *span, a *attributes, list []message) {
	if t.m.KeepText {
		s.messages = chat(list)
		t.texts += len(s.messages)
	}
	if t.beginnings > mostBeginnings {
		return
	}
	d := newDigester(t.prefixes.seed)
	if tools := a.value("gen_ai.tool.definitions"); tools != nil {
		d.write(string(tools))
	}
	for _, m := range list {
		d.write(m.role + "\x00" + m.text + "\x00")
	}
	d.mark(s.input)
	s.prompt = &d.digest
	t.beginnings += len(s.prompt.beginnings)
}

// some is the first of the values that is there.
func some(values ...[]byte) []byte {
	for _, raw := range values {
		if !absent(raw) {
			return raw
		}
	}
	return nil
}

// nanoseconds reads a time since 1970: nanoseconds, also in a string, or a date.
func nanoseconds(raw []byte) (int64, error) {
	text := string(raw[:min(len(raw), 60)])
	if jsonscan.IsString(raw) {
		text = jsonscan.Text(raw[:min(len(raw), 60)])
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Year() >= 1970 && at.Year() < 2262 {
		return at.UnixNano(), nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f >= 0 && f < math.MaxInt64 {
		return int64(f), nil
	}
	return 0, fmt.Errorf("expected nanoseconds since 1970: got %s", textfile.Value(raw))
}
