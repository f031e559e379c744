package metronome

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

// endpoint answers the requests of a method and path. The zero value is an unknown endpoint.
type endpoint struct {
	method, path string // the end of the path, after the pace
	// template of the stream that answers, or else the function that does.
	template func(*Server) *template
	answer   func(*connection) error
}

func endpoints() [5]endpoint {
	return [...]endpoint{
		{http.MethodPost, "/v1/completions", func(s *Server) *template { return s.completion }, nil},
		{http.MethodPost, "/v1/chat/completions", func(s *Server) *template { return s.chat }, nil},
		{http.MethodGet, "/v1/models", nil, func(k *connection) error { return k.reply(http.StatusOK, modelList) }},
		{http.MethodGet, "/health", nil, func(k *connection) error { return k.reply(http.StatusOK, "{}") }},
		{http.MethodGet, "/log", nil, (*connection).sendLog},
	}
}

// request has the relevant fields of the head of a request.
type request struct {
	endpoint
	pace   pace
	id     string
	length int  // of the body
	last   bool // the client wants the connection closed after the answer
}

// refusal is the answer to a bad request. It ends the connection, since the rest of the request may still be in transit.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

func malformed(format string, a ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, a...)}
}

const (
	headBuffer = 4096 // the longest line of a head
	mostLines  = 128
	mostBody   = 64 << 20
	longestID  = 1024
)

// readRequest reads the head of the next request. It returns io.EOF if the connection ended before it began.
func readRequest(r *bufio.Reader) (request, error) {
	var q request
	line, err := readLine(r)
	if err == nil && len(line) == 0 { // some clients send an extra line end after a body
		line, err = readLine(r)
	}
	if err != nil {
		return q, err
	}
	if err := q.readFirst(line); err != nil {
		return q, err
	}
	seen := false // the Content-Length
	for range mostLines {
		line, err := readLine(r)
		switch {
		case err == io.EOF:
			return q, malformed("the connection ended within the head of a request")
		case err != nil:
			return q, err
		case len(line) == 0:
			return q, nil
		}
		if err := q.readField(line, &seen); err != nil {
			return q, err
		}
	}
	return q, &refusal{http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("the head has more than %d lines", mostLines)}
}

// readLine returns a line of a head without its line end. It is valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case err == bufio.ErrBufferFull:
		return nil, &refusal{http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("a line of the head is longer than %d bytes", headBuffer)}
	case err == io.EOF && len(line) > 0:
		return nil, malformed("the connection ended within the head of a request")
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// readFirst reads the first line.
func (q *request) readFirst(line []byte) error {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	path, version, ok := bytes.Cut(rest, []byte(" "))
	if !ok || len(method) == 0 || len(path) == 0 || path[0] != '/' || !bytes.HasPrefix(version, []byte("HTTP/")) {
		return malformed("bad request line: expected HTTP/1.1")
	}
	if string(version) != "HTTP/1.1" {
		return &refusal{http.StatusHTTPVersionNotSupported, "this server speaks HTTP/1.1"}
	}
	path, _, _ = bytes.Cut(path, []byte("?"))
	for _, e := range endpoints() {
		before, ok := bytes.CutSuffix(path, []byte(e.path))
		if !ok || string(method) != e.method {
			continue
		}
		q.endpoint = e
		if e.template == nil {
			break
		}
		var err error
		if q.pace, err = readPace(string(before)); err != nil {
			return malformed("%s", err)
		}
	}
	return nil
}

// readField reads one field of the head. seen reports whether there was a Content-Length before.
func (q *request) readField(line []byte, seen *bool) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 || bytes.ContainsAny(name, " \t") {
		return malformed("a line of the head has no name and colon")
	}
	value = bytes.Trim(value, " \t")
	switch {
	case is(name, "Content-Length"):
		count, err := strconv.ParseUint(string(value), 10, 50)
		n := int(count)
		if err != nil || *seen && n != q.length {
			return malformed("Content-Length %.40q: expected one number", value)
		}
		if n > mostBody {
			return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has %d bytes, more than %d", n, mostBody)}
		}
		q.length, *seen = n, true
	case is(name, "Transfer-Encoding"):
		return malformed("Transfer-Encoding: this server takes bodies with a Content-Length alone")
	case is(name, "X-Request-Id"):
		if len(value) > longestID {
			return malformed("X-Request-Id is longer than %d bytes", longestID)
		}
		q.id = string(value)
	case is(name, "Connection"):
		q.last = q.last || is(value, "close")
	}
	return nil
}

func is(name []byte, want string) bool {
	return len(name) == len(want) && bytes.EqualFold(name, []byte(want))
}

// pace determines when the chunks of an answer are due. With an itl of 0 they come as fast as the client reads.
type pace struct{ ttft, itl time.Duration }

// slowest keeps due times of the longest answer within an int64.
const slowest = time.Hour

// Pace returns the base URL at which a metronome at base answers at a pace: the first chunk comes ttft after the end of the request,
// the others one itl apart. A time of 0 means no wait.
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

// readPace finds the pace among the segments of a path. It ignores other segments.
func readPace(path string) (pace, error) {
	var p pace
	waits := map[string]*time.Duration{"ttft": &p.ttft, "itl": &p.itl}
	for segment := range strings.SplitSeq(path, "/") {
		name, value, ok := strings.Cut(segment, "=")
		wait := waits[name]
		if !ok || wait == nil {
			continue
		}
		plain, err := url.PathUnescape(value)
		if err == nil {
			*wait, err = time.ParseDuration(plain)
		}
		if err != nil || *wait < 0 || *wait > slowest {
			return pace{}, fmt.Errorf("%s=%s in the path: expected a time such as 10ms, at most %s", name, value, slowest)
		}
	}
	return p, nil
}

const (
	defaultChunks = 16
	mostChunks    = 1_000_000
)

// chunksAsked is the number of tokens, here chunks, that the JSON of a request asks for. Other members are ignored.
func chunksAsked(p *fastjson.Parser, body []byte) (int, error) {
	asked, err := p.ParseBytes(body)
	if err != nil {
		return 0, malformed("the body: expected a JSON object: %s", err)
	}
	if asked.Type() != fastjson.TypeObject {
		return 0, malformed("the body: expected a JSON object")
	}
	chunks := 0
	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // the last one wins
		value := asked.Get(name)
		if value == nil || value.Type() == fastjson.TypeNull {
			continue
		}
		if chunks, err = value.Int(); err != nil || chunks < 1 {
			return 0, malformed("%s is %.40q: expected a whole number from 1", name, value.String())
		}
	}
	return min(cmp.Or(chunks, defaultChunks), mostChunks), nil
}
