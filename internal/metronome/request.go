package metronome

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"benchtop/internal/jsonscan"
)

// endpoint answers the requests of a method and path. The zero value is an unknown endpoint.
type endpoint struct {
	method, path string // the end of the path, after the pace
	// template of the stream that answers, or else the function that does.
	template func(*Server) *template
	answer   func(*connection) error
}

func endpoints() [7]endpoint {
	return [...]endpoint{
		{http.MethodPost, "/v1/completions", func(s *Server) *template { return s.completion }, nil},
		{http.MethodPost, "/v1/chat/completions", func(s *Server) *template { return s.chat }, nil},
		{http.MethodGet, "/v1/completions", nil, postOnly},
		{http.MethodGet, "/v1/chat/completions", nil, postOnly},
		{http.MethodGet, "/v1/models", nil, func(k *connection) error { return k.reply(http.StatusOK, modelList) }},
		{http.MethodGet, "/health", nil, func(k *connection) error { return k.reply(http.StatusOK, "{}") }},
		{http.MethodGet, "/log", nil, (*connection).sendLog},
	}
}

// postOnly tells a client that asks beforehand, as of a real server, that the path exists.
func postOnly(k *connection) error {
	return k.reply(http.StatusMethodNotAllowed, failure("use POST"), "Allow: POST\r\n")
}

// request has the relevant parts of a request.
type request struct {
	endpoint
	pace pace
	id   string
	body io.Reader
	last bool // the client wants the connection closed after the answer
}

// refusal is the answer to a bad request. It ends the connection, since the rest of the request may still be in
// transit.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

func malformed(format string, a ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, a...)}
}

const (
	mostHead  = 64 << 10
	mostBody  = 64 << 20
	longestID = 1024
)

// readRequest reads the head of the next request. It returns io.EOF if the connection ended before it began.
func (k *connection) readRequest() (q request, err error) {
	k.limit.N = mostHead
	if start, _ := k.in.Peek(2); string(start) == "\r\n" { // some clients send an extra line end after a body
		_, _ = k.in.Discard(len(start))
	}
	r, err := http.ReadRequest(k.in)
	switch {
	case err != nil && k.limit.N <= 0:
		return q, &refusal{http.StatusRequestHeaderFieldsTooLarge,
			fmt.Sprintf("the head is longer than %d bytes", mostHead)}
	case err == io.EOF:
		return q, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return q, malformed("the connection ended within the head of a request")
	case err != nil:
		return q, malformed("%s", err)
	case r.Proto != "HTTP/1.1":
		return q, &refusal{http.StatusHTTPVersionNotSupported, "this server speaks HTTP/1.1"}
	case r.ContentLength > mostBody:
		return q, &refusal{http.StatusRequestEntityTooLarge,
			fmt.Sprintf("the body has %d bytes, more than %d", r.ContentLength, mostBody)}
	}
	k.limit.N = mostBody
	q.body, q.id, q.last = r.Body, r.Header.Get("X-Request-Id"), r.Close
	if len(q.id) > longestID {
		return q, malformed("X-Request-Id is longer than %d bytes", longestID)
	}
	for _, e := range endpoints() {
		before, ok := strings.CutSuffix(r.URL.Path, e.path)
		if !ok || r.Method != e.method {
			continue
		}
		if q.endpoint = e; e.template != nil {
			if q.pace, err = readPace(before); err != nil {
				return q, malformed("%s", err)
			}
		}
	}
	return q, nil
}

// pace determines when the chunks of an answer are due. With an itl of 0 they come as fast as the client reads.
type pace struct{ ttft, itl time.Duration }

// slowest keeps due times of the longest answer within an int64.
const slowest = time.Hour

// Pace returns the base URL at which a metronome at base answers at a pace: the first chunk comes ttft after the end of
// the request, the others one itl apart. A time of 0 means no wait.
func Pace(base string, ttft, itl time.Duration) string {
	base = strings.TrimRight(base, "/")
	for _, p := range []struct {
		name string
		wait time.Duration
	}{{"ttft", ttft}, {"itl", itl}} {
		if p.wait > 0 {
			// URLs need microseconds in ASCII.
			base += "/" + p.name + "=" + strings.ReplaceAll(p.wait.String(), "µ", "u")
		}
	}
	return base
}

// readPace finds the pace among the segments of a path without escapes. It ignores other segments.
func readPace(path string) (pace, error) {
	var p pace
	waits := map[string]*time.Duration{"ttft": &p.ttft, "itl": &p.itl}
	for segment := range strings.SplitSeq(path, "/") {
		name, value, ok := strings.Cut(segment, "=")
		wait := waits[name]
		if !ok || wait == nil {
			continue
		}
		var err error
		if *wait, err = time.ParseDuration(value); err != nil || *wait < 0 || *wait > slowest {
			return pace{},
				fmt.Errorf("%s=%s in the path: expected a time such as 10ms, at most %s", name, value, slowest)
		}
	}
	return p, nil
}

const (
	defaultChunks = 16
	mostChunks    = 1_000_000
)

// chunksAsked is the number of tokens, here chunks, that the JSON of a request asks for. Other members are ignored: a
// parser would take some 400 bytes for each token id of a prompt.
func chunksAsked(body []byte) (int, error) {
	if jsonscan.Depth(body) > fastjson.MaxDepth {
		return 0, malformed("the body: more than %d objects and arrays inside each other", fastjson.MaxDepth)
	}
	if err := fastjson.ValidateBytes(body); err != nil {
		return 0, malformed("the body: expected a JSON object: %s", err)
	}
	if body = bytes.TrimSpace(body); body[0] != '{' {
		return 0, malformed("the body: expected a JSON object")
	}
	chunks, names := 0, []string{"max_tokens", "max_completion_tokens"} // the last one wins
	for i, value := range jsonscan.Fields(body, names...) {
		if value == nil || string(value) == "null" {
			continue
		}
		var err error
		if chunks, err = strconv.Atoi(string(value)); err != nil || chunks < 1 {
			return 0, malformed("%s is %.40q: expected a whole number from 1", names[i], value)
		}
	}
	return min(cmp.Or(chunks, defaultChunks), mostChunks), nil
}
