package simulator

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/simulator/pipetest"
)

// client talks to a simulator over Pipe, in virtual time.
type client struct {
	t      *testing.T
	server *Server
	http   *http.Client
	dial   func(context.Context) (net.Conn, error)
	start  time.Time
}

// bubble runs f with a client of a fresh server, and fails if anything of the server is left running afterwards.
func bubble(t *testing.T, p Profile, f func(*client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := New(p)
		listener, dial := pipetest.Pipe()
		transport := &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		}
		end := serve(t, s, listener)
		f(&client{t: t, server: s, http: &http.Client{Transport: transport}, dial: dial, start: time.Now()})
		transport.CloseIdleConnections()
		end()
	})
}

// serve serves s on a listener until end, which closes s.
func serve(t *testing.T, s *Server, l net.Listener) (end func()) {
	t.Helper()
	web := s.HTTPServer()
	done := make(chan error, 1)
	go func() { done <- web.Serve(l) }()
	return func() {
		if err := web.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != http.ErrServerClosed {
			t.Errorf("serve: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (c *client) request(ctx context.Context, method, path, body string) *http.Request {
	c.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, "http://simulator"+path, strings.NewReader(body))
	assert.Fine(c.t, err)
	return request
}

func (c *client) open(ctx context.Context, method, path, body string) *http.Response {
	c.t.Helper()
	response := assert.Must(c.http.Do(c.request(ctx, method, path, body)))(c.t)
	return response
}

// send is do for a goroutine beside the test's own: it checks only the status of the answer.
func (c *client) send(path, body string) {
	response, err := c.http.Post("http://simulator"+path, "application/json", strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		c.t.Errorf("%s: status %d, %v", path, response.StatusCode, err)
	}
}

// do returns status and body of an answer that is not a stream.
func (c *client) do(method, path, body string) (int, string) {
	c.t.Helper()
	response := c.open(context.Background(), method, path, body)
	defer response.Body.Close()
	text := assert.Must(io.ReadAll(response.Body))(c.t)
	return response.StatusCode, string(text)
}

// event is the data of one event, with its name ("" for none) and its time.
type event struct {
	at   time.Duration
	data string
	name string
}

// stream posts and returns when the headers came and the events of the answer.
func (c *client) stream(path, body string) (headers time.Duration, got []event) {
	c.t.Helper()
	return c.events(c.open(context.Background(), http.MethodPost, path, body))
}

// events reads a stream to its end.
func (c *client) events(response *http.Response) (headers time.Duration, got []event) {
	c.t.Helper()
	defer response.Body.Close()
	headers = time.Since(c.start)
	if kind := response.Header.Get("Content-Type"); response.StatusCode != 200 ||
		kind != "text/event-stream; charset=utf-8" {
		c.t.Fatalf("status %d, content type %q", response.StatusCode, kind)
	}
	lines, named := bufio.NewScanner(response.Body), ""
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			named = name
		} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			got, named = append(got, event{time.Since(c.start), data, named}), ""
		} else if lines.Text() != "" {
			c.t.Fatalf("a line that is no data: %q", lines.Text())
		}
	}
	assert.Fine(c.t, lines.Err())
	return headers, got
}

// parse reads JSON into plain maps, so that no struct of the server's is on both sides.
func (c *client) parse(text string) map[string]any {
	c.t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		c.t.Fatalf("%v in %s", err, text)
	}
	return v
}

// answer posts a request that has to be a good one, and parses its answer.
func (c *client) answer(path, body string) map[string]any {
	c.t.Helper()
	status, text := c.do(http.MethodPost, path, body)
	if status != http.StatusOK {
		c.t.Fatalf("%s %s: status %d %s", path, body, status, text)
	}
	return c.parse(text)
}

// refuses posts bodies that are no good requests, each with words of its answer.
func (c *client) refuses(path string, bodies map[string]string) {
	c.t.Helper()
	for body, words := range bodies {
		if status, text := c.do(http.MethodPost, path, body); status != http.StatusBadRequest ||
			!strings.Contains(text, words) {
			c.t.Errorf("%s %s: %d %s, want %q", path, body, status, text, words)
		}
	}
}

// shows looks for lines on the metrics page.
func (c *client) shows(when string, lines ...string) {
	c.t.Helper()
	_, page := c.do("GET", "/metrics", "")
	for _, line := range lines {
		if !strings.Contains(page, "\n"+line+"\n") {
			c.t.Errorf("%s: no line %s in\n%s", when, line, page)
		}
	}
}

// field walks v by a path of keys and indices.
func field(v any, path ...any) (inner any, there bool) {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := v.(map[string]any)
			if v, there = fields[step]; !there {
				return nil, false
			}
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil, false
			}
			v = list[step]
		}
	}
	return v, true
}

// at prints the value at a path as JSON, "absent" for none.
func at(v any, path ...any) string {
	v, there := field(v, path...)
	if !there {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// textAt is the text at a path, "" for none.
func textAt(v any, path ...any) string {
	v, _ = field(v, path...)
	text, _ := v.(string)
	return text
}
