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
	if err != nil {
		c.t.Fatal(err)
	}
	return request
}

func (c *client) open(ctx context.Context, method, path, body string) *http.Response {
	c.t.Helper()
	response, err := c.http.Do(c.request(ctx, method, path, body))
	if err != nil {
		c.t.Fatal(err)
	}
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
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
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
	if kind := response.Header.Get("Content-Type"); response.StatusCode != 200 || kind != "text/event-stream; charset=utf-8" {
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
	if err := lines.Err(); err != nil {
		c.t.Fatal(err)
	}
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

// at walks v by a path of keys and indices and prints the value there as JSON, "absent" for none.
func at(v any, path ...any) string {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := v.(map[string]any)
			inner, ok := fields[step]
			if !ok {
				return "absent"
			}
			v = inner
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return "absent"
			}
			v = list[step]
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}
