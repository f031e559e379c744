package metronome

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fastjson"
)

func TestPaceInPath(t *testing.T) {
	for _, p := range []pace{
		{}, {ttft: time.Second}, {itl: 250 * time.Microsecond}, {1500 * time.Microsecond, 1}, {time.Hour, 90 * time.Second},
	} {
		base := Pace("http://127.0.0.1:1/", p.ttft, p.itl)
		if got, err := readPace(base); err != nil || got != p {
			t.Errorf("%s reads as %v (%v), want %v", base, got, err, p)
		}
		if strings.ContainsFunc(base, func(r rune) bool { return r >= 0x80 }) || strings.HasSuffix(base, "/") {
			t.Errorf("base URL %q", base)
		}
	}
	if got, err := readPace("/itl=5µs/ttft=1ms/other=3/x"); err != nil || got != (pace{time.Millisecond, 5 * time.Microsecond}) {
		t.Errorf("got %v (%v)", got, err)
	}
}

// The number of chunks agrees with that of encoding/json.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{"max_tokens":3}`, `{"a":{"max_tokens":3},"b":["}",{"c":"\\\""}],"max_completion_tokens":4}`, `{"max_tokens":null,"x":-1.5e7}`,
		` { } `, `{"x":tru`, `{"x":"\`, `{"x":[`, `[]`, ``,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var p fastjson.Parser
		got, err := chunksAsked(&p, body)
		if err == nil && (got < 1 || got > mostChunks) {
			t.Fatalf("%d chunks", got)
		}
		if refused := (*refusal)(nil); err != nil && !errors.As(err, &refused) {
			t.Fatalf("error %v", err)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(body, &members) != nil || members == nil || bytes.Contains(body, []byte(`\u`)) {
			return
		}
		if bytes.Count(body, []byte("max_")) > 1 {
			return // the same name twice is undefined
		}
		want, wrong := defaultChunks, false
		for _, name := range []string{"max_tokens", "max_completion_tokens"} {
			value, ok := members[name]
			if !ok || string(value) == "null" {
				continue
			}
			n := 0
			if json.Unmarshal(value, &n) != nil || n < 1 || n >= 1e15 {
				wrong = true
			}
			want = min(n, mostChunks)
		}
		if wrong != (err != nil) || !wrong && got != want {
			t.Fatalf("%d chunks, %v; want %d, refused %v", got, err, want, wrong)
		}
	})
}
