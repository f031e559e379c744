package metronome

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	if got, err := readPace("/itl=5%C2%B5s/ttft=1ms/other=3/x"); err != nil || got != (pace{time.Millisecond, 5 * time.Microsecond}) {
		t.Errorf("got %v (%v)", got, err)
	}
}

// The head of any input is read or refused, and the bytes after it are left.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(ask("/ttft=50ms/itl=10ms/v1/completions", "x", 3)))
	f.Add([]byte("GET /log HTTP/1.1\r\nConnection: close\r\n\r\n"))
	f.Add([]byte("\r\nPOST /v1/chat/completions HTTP/1.1\nContent-Length: 2\nContent-Length: 2\n\n{}"))
	f.Add([]byte("GET / HTTP/1.1\r\n: \r\n\r\n"))
	f.Add([]byte("GET"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, size := range []int{headBuffer, 16} { // the least of bufio
			r := bufio.NewReaderSize(bytes.NewReader(data), size)
			q, err := readRequest(r)
			if err != nil {
				if refused := (*refusal)(nil); !errors.As(err, &refused) && err != io.EOF {
					t.Fatalf("error %v", err)
				}
				continue
			}
			if q.length < 0 || q.length > mostBody || len(q.id) > longestID || q.pace.ttft < 0 || q.pace.itl < 0 ||
				q.pace.ttft > slowest || q.pace.itl > slowest {
				t.Fatalf("request %+v", q)
			}
			rest, _ := io.ReadAll(r)
			if !bytes.HasSuffix(data, rest) || !bytes.HasSuffix(data[:len(data)-len(rest)], []byte("\n")) {
				t.Fatalf("the body begins at %q", rest)
			}
		}
	})
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
