package loadgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/loadgen/protocol"
)

// events parses a stream given in pieces.
func events(pieces ...string) []string {
	var p sseParser
	var got []string
	for _, piece := range pieces {
		_ = p.feed([]byte(piece), func(name, data []byte) error {
			got = append(got, fmt.Sprintf("%s|%s", name, data))
			return nil
		})
	}
	return got
}

func TestSSE(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"one", "data: a\n\n", []string{"|a"}},
		{"without blank", "data:a\n\n", []string{"|a"}},
		{"only one blank is taken", "data:  a\n\n", []string{"| a"}},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed ends", "data: a\r\n\ndata: b\n\r\n", []string{"|a", "|b"}},
		{"several lines", "data: a\ndata: b\n\n", []string{"|a\nb"}},
		{"comment", ": ping\n\ndata: a\n: pong\n\n", []string{"|a"}},
		{"named", "event: error\ndata: x\n\ndata: y\n\n", []string{"error|x", "|y"}},
		{"other fields", "id: 1\nretry: 5\nfoo\ndata: a\n\n", []string{"|a"}},
		{"empty data", "data\n\ndata:\n\n", []string{"|", "|"}},
		{"name without data", "event: x\n\ndata: a\n\n", []string{"|a"}},
		{"byte order mark", "\ufeffdata: a\n\n", []string{"|a"}},
		{"cut off at the end", "data: a\n\ndata: b\n", []string{"|a"}},
		{"field error", "data: a\nerror: {}\ndata: b\n\n", []string{"|a", "error|{}", "|b"}},
		{"error without data", "event: error\n\nerror\n\n", []string{"error|", "error|"}},
		{"JSON outside of fields", "{\"a\":\n \"b\"}\ndata: a\n{\n\n \n {x\nfoo\n",
			[]string{"\n|{\"a\":\n \"b\"}\n", "\n|{\n", "|a"}},
		{"many blank lines", "\n\n\ndata: a\n\n\n\n", []string{"|a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.EqualAll(t, events(c.stream), c.want, "events")
			for i := range c.stream {
				for j := i; j <= len(c.stream); j++ {
					if got := events(c.stream[:i], c.stream[i:j], c.stream[j:]); !slices.Equal(got, c.want) {
						t.Fatalf("split at %d and %d: got %q, want %q", i, j, got, c.want)
					}
				}
			}
		})
	}
}

// The length of an event is limited by its request, in one line or in many.
func TestSSELimit(t *testing.T) {
	for _, c := range []struct{ maxTokens, body, want int }{
		{0, 0, 1 << 20}, {-5, 100, 1 << 20}, {1000, 1000, 1 << 20}, {1 << 15, 1 << 10, 1<<21 + 1<<12},
		{0, 1 << 20, 1 << 22},
	} {
		var x exchange
		x.limit(c.maxTokens, c.body)
		p := sseParser{most: x.sse.most}
		feed := func(text string) error {
			return p.feed([]byte(text), func(_, _ []byte) error { return nil })
		}
		if err := feed(strings.Repeat("x", c.want)); err != nil {
			t.Errorf("max_tokens %d, body %d: a line of %d bytes gave %v", c.maxTokens, c.body, c.want, err)
		}
		if err := feed("x"); !errors.Is(err, errEventTooLong) || !strings.Contains(err.Error(), fmt.Sprint(c.want)) {
			t.Errorf("max_tokens %d, body %d: one byte more gave %v", c.maxTokens, c.body, err)
		}
		p = sseParser{most: x.sse.most}
		line := "data:" + strings.Repeat("x", c.want/2) + "\n"
		if err := feed(line + line); err != nil {
			t.Errorf("max_tokens %d, body %d: two lines gave %v", c.maxTokens, c.body, err)
		}
		if err := feed(line); !errors.Is(err, errEventTooLong) {
			t.Errorf("max_tokens %d, body %d: an endless event gave %v", c.maxTokens, c.body, err)
		}
	}
}

// reference is the parser in the words of the standard, without regard to speed: the stream whole, normalised, in
// lines. What is emitted beyond the standard is told apart by a name.
func reference(stream string) []string {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var got, data, stray []string
	name := ""
	outside := func() {
		if stray != nil {
			got = append(got, "\n|"+strings.Join(stray, "\n")+"\n")
		}
		stray = nil
	}
	end := func() {
		outside()
		if data != nil || name == "error" {
			got = append(got, name+"|"+strings.Join(data, "\n"))
		}
		data, name = nil, ""
	}
	for _, line := range lines[:len(lines)-1] { // an incomplete line is dropped
		if line == "" {
			end()
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
		case "event":
			name = value
		case "error":
			end()
			got = append(got, "error|"+value)
		case "", "id", "retry":
		default:
			if line[0] == '{' {
				outside()
			}
			if stray != nil || strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(line), "["), "{") {
				stray = append(stray, line)
			}
		}
	}
	return got
}

// Any split of the bytes gives the events of the standard.
func FuzzSSE(f *testing.F) {
	f.Add("event: e\r\ndata: a\r\n: c\r\n\r\ndata:b\rdata\r\r\n", []byte{3, 9})
	f.Add("\ufeffdata: \ufeff\n\n\r\n\rdata: é\n\ndata: cut off\n", []byte{0, 1, 0, 2})
	f.Add("data:  two blanks\rdata\n\nevent\ndata::\n\ndata : no field\n\n", []byte{1})
	f.Add("{\r\n \"a\"\r\n\r\nevent: error\n\ndata: a\nerror: b\r{}\n {\nid\n:\n\n", []byte{5, 1})
	f.Add("[{\n}]\n\n[1]\n [ {\n\n", []byte{2})
	f.Fuzz(func(t *testing.T, stream string, cuts []byte) {
		want := reference(stream)
		assert.EqualAll(t, events(stream), want, "in one piece")
		var pieces, bytes []string
		rest := stream
		for _, n := range cuts {
			at := min(int(n), len(rest))
			pieces, rest = append(pieces, rest[:at]), rest[at:]
		}
		pieces = append(pieces, rest)
		for i := range len(stream) {
			bytes = append(bytes, stream[i:i+1])
		}
		assert.EqualAll(t, events(pieces...), want, "in the pieces %q", pieces)
		assert.EqualAll(t, events(bytes...), want, "byte by byte")
	})
}

func BenchmarkSSE(b *testing.B) {
	var p sseParser
	piece := []byte(`data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,` +
		`"text":" word","logprobs":null,"finish_reason":null}]}` + "\n\n")
	var r protocol.Reader
	r.Begin(new(protocol.Parsers))
	emit := func(_, data []byte) error {
		_, err := protocol.Default().Event(&r, data)
		r.Release()
		return err
	}
	b.ReportAllocs()
	for b.Loop() {
		assert.Fine(b, p.feed(piece, emit))
	}
}
