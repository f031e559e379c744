package protocol

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// stream is an answer by its events, as servers send them: TEXT is a token's.
type stream struct {
	name     string
	p        Protocol
	event    string
	template bool // the second event is read by the first
}

func (s *stream) with(text string) string { return strings.ReplaceAll(s.event, "TEXT", text) }

var streams = []stream{
	{"completions", Completions{}, `{"id":"a","choices":[{"index":0,"text":"TEXT","logprobs":null,` +
		`"finish_reason":null}],"usage":null}`, true},
	{"chat", Chat{}, `{"id":"a","choices":[{"delta":{"content":"TEXT"},"finish_reason":null,"token_ids":[3]}]}`, true},
	{"reasoning", Chat{}, `{"choices":[{"delta":{"reasoning_content":"TEXT"},"finish_reason":null}]}`, true},
	{"messages", Messages{}, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"TEXT"}}`, true},
	{"responses", Responses{}, `{"type":"response.output_text.delta","delta":"TEXT","logprobs":[]}`, true},
	{"text and reasoning", Chat{}, `{"choices":[{"delta":{"content":"TEXT","reasoning":"x"}}]}`, false},
	{"running usage", Completions{}, `{"choices":[{"text":"TEXT"}],"usage":{"completion_tokens":3}}`, false},
	{"end", Completions{}, `{"choices":[{"text":"TEXT","finish_reason":"stop"}]}`, false},
	{"clocks", Completions{}, `{"choices":[{"text":"TEXT"}],"metrics":{"queue_time_ms":3}}`, false},
	{"refusal", Chat{}, `{"choices":[{"delta":{"refusal":"TEXT"}}]}`, false},
	{"two choices", Completions{}, `{"choices":[{"text":"TEXT"},{"text":"b"}]}`, true},
	{"twice the text", Completions{}, `{"id":"TEXT","choices":[{"text":"TEXT"}]}`, false},
	{"the text in another member", Completions{}, `{"choices":[{"text":"TEXT"}],"model":"TEXT"}`, false},
	{"long", Completions{}, `{"choices":[{"text":"TEXT"}],"x":"` + strings.Repeat("x", templateMost) + `"}`, false},
}

// An event that is read by the one before it says what it would say alone, whatever its text is.
func TestEventByTemplate(t *testing.T) {
	for _, s := range streams {
		for _, first := range []string{" word", "a", "é", "text", `\n`} {
			for _, text := range []string{" other", "a", "", "世界", `\"`, `"`, `\\`, "\n", "\x01", "\xff",
				`","text":"x`, "error", "usage", "Infinity", strings.Repeat("x", 5000)} {
				compareRead(t, s.name, s.p, s.with(first), s.with(text))
			}
		}
		r := reader()
		for _, text := range []string{" word", " other"} {
			_, _ = r.Event(s.p, []byte(s.with(text)))
			r.Release()
		}
		if _, ok := r.template.read([]byte(s.with("third"))); ok != s.template {
			t.Errorf("%s: read by a template: %v", s.name, ok)
		}
	}
}

// compareRead reads events in turn and compares each with what it says alone.
func compareRead(t *testing.T, name string, p Protocol, events ...string) {
	t.Helper()
	r := reader()
	for _, e := range append(events, events...) {
		alone := reader()
		want, wantErr := p.Event(alone, []byte(e))
		got, err := r.Event(p, []byte(e))
		if fmt.Sprintf("%+v %v", got, err) != fmt.Sprintf("%+v %v", want, wantErr) || r.Clocks != alone.Clocks &&
			!strings.Contains(e, "metrics") {
			t.Errorf("%s: %q: %+v, %v; alone %+v, %v", name, e, got, err, want, wantErr)
		}
		r.Release()
		alone.Release()
	}
}

// A stream whose events are all different is not tried for ever.
func TestNoTemplate(t *testing.T) {
	r := reader()
	for i := range 10 {
		_, _ = r.Event(Completions{}, fmt.Appendf(nil, `{"number":%d,"choices":[{"text":"a"}]}`, i))
		r.Release()
	}
	head := bytes.Clone(r.template.head)
	_, _ = r.Event(Completions{}, []byte(`{"number":11,"choices":[{"text":"a"}]}`))
	if r.Release(); r.template.misses != missesMost || !bytes.Equal(head, r.template.head) {
		t.Errorf("%d misses, then another template", r.template.misses)
	}
}

// FuzzTemplate: any two events say one after the other what each says alone.
func FuzzTemplate(f *testing.F) {
	for i, s := range streams {
		f.Add([]byte(s.with(" a")), []byte(s.with("b")), byte(i))
	}
	for _, text := range []string{`model`, `\u0061`} {
		first := `{"choices":[{"text":"` + text + `"}],"x":"a","model":"model"}`
		f.Add([]byte(first), []byte(strings.Replace(first, `"a"`, `"b"`, 1)), byte(0))
	}
	f.Fuzz(func(t *testing.T, first, second []byte, protocol byte) {
		all := All()
		if p := all[int(protocol)%len(all)]; p.Traits().Streams && !bytes.Contains(first, []byte("metrics")) &&
			!bytes.Contains(first, []byte("timings")) {
			compareRead(t, p.Traits().Name, p, string(first), string(second))
		}
	})
}
