package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/simulator/pipetest"
)

// lines is a writer that keeps each call.
type lines struct {
	mu    sync.Mutex // guards calls
	calls []string
	err   error
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, string(b))
	return len(b), l.err
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

// Lines stand in order of arrival, however requests end, each whole and in one write.
func TestRequestLog(t *testing.T) {
	var log lines
	p := round()
	const fast = `{"prompt":[1],"max_tokens":1,"ignore_eos":true,"stream":true}`
	bubble(t, p, func(c *client) {
		c.server.LogTo(&log)
		send := func(fault, body string, header ...string) {
			r, err := http.NewRequest("POST", "http://simulator/v1/completions?q=1", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set(FaultHeader, fault)
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			response, err := c.http.Do(r)
			if err == nil {
				var sink bytes.Buffer
				_, _ = sink.ReadFrom(response.Body)
				response.Body.Close()
			}
		}
		var clients sync.WaitGroup
		time.Sleep(1234567890 * time.Nanosecond)
		// The first takes the longest, so the others have to wait for it in the log.
		clients.Go(func() {
			send("slow-headers=10s", `{"prompt":"héllo <b>","max_tokens":3,"ignore_eos":true,"stream":true}`,
				"X-Request-Id", "bench-1", "X-Session-ID", "s-1", "Authorization", "Bearer s3cret", "X-Api-Key",
				"s3cret", "Cookie", "s3cret")
		})
		time.Sleep(time.Second)
		send("", fast)
		send("reset-header", fast)
		send("", "not JSON")
		send("", `{"prompt":[1,2,3],"max_tokens":2,"ignore_eos":true}`) // no stream
		c.do("GET", "/v1/models", "")                                   // no request for tokens
		assert.Equal(t, log.count(), 0, "lines before the first request is over")
		clients.Wait()
		synctest.Wait()
		assert.Equal(t, log.count(), 5, "lines after it")
	})
	want := []string{
		`{"arrival":1,"at_s":1.234567890,"client":"client-1","method":"POST","path":"/v1/completions?q=1",` +
			`"request_id":"bench-1","session":"s-1",` +
			`"headers":{"Accept-Encoding":"gzip","Content-Length":"70","Host":"simulator",` +
			`"User-Agent":"Go-http-client/1.1","X-Request-Id":"bench-1","X-Session-Id":"s-1",` +
			`"X-Simulate-Fault":"slow-headers=10s"},` +
			`"body":"{\"prompt\":\"héllo <b>\",\"max_tokens\":3,\"ignore_eos\":true,\"stream\":true}",` +
			`"status":200,"first_byte_s":11.234567890,"first_token_s":11.245367890,"last_byte_s":11.267384890,` +
			`"prompt_tokens":8,"cached_tokens":0,"output_tokens":3,"answer":" gov tap few","fault":"slow-headers=10s"}`,
		`{"arrival":2,"at_s":2.234567890,"client":"client-2",`,
		`{"arrival":3,`, `{"arrival":4,`, `{"arrival":5,`,
	}
	for i, call := range log.calls {
		if i < len(want) && !strings.HasPrefix(call, want[i]) {
			t.Errorf("line %d is\n%s, want\n%s", i+1, call, want[i])
		}
		if strings.Count(call, "\n") != 1 || !strings.HasSuffix(call, "}\n") || strings.Contains(call, "s3cret") {
			t.Errorf("line %d is not one line without secrets: %q", i+1, call)
		}
	}
	type line struct {
		Status    *int
		Fault     string
		First     *float64 `json:"first_byte_s"`
		Token     *float64 `json:"first_token_s"`
		Last      *float64 `json:"last_byte_s"`
		Prompt    int      `json:"prompt_tokens"`
		Output    int      `json:"output_tokens"`
		RequestID string   `json:"request_id"`
	}
	for i, want := range []string{
		"200 slow-headers=10s 3 tokens for 8", "200  1 tokens for 1", "none reset-header 0 tokens for 0",
		"400  0 tokens for 0", "200  2 tokens for 3",
	} {
		var v line
		assert.Fine(t, json.Unmarshal([]byte(log.calls[i]), &v))
		status := "none"
		if v.Status != nil {
			status = fmt.Sprint(*v.Status)
		}
		if got := fmt.Sprintf("%s %s %d tokens for %d", status, v.Fault, v.Output, v.Prompt); got != want {
			t.Errorf("line %d: %s, want %s", i+1, got, want)
		}
		if (v.First == nil) != (v.Status == nil) || (v.Token == nil) != (v.Output == 0 || i == 4) ||
			(v.Last == nil) != (v.Status == nil) {
			t.Errorf("line %d: moments do not fit: %s", i+1, log.calls[i])
		}
		if v.Token != nil && !(*v.First <= *v.Token && *v.Token <= *v.Last+1e-3) {
			t.Errorf("line %d: moments out of order: %s", i+1, log.calls[i])
		}
	}
}

// Lines that wait for a request without end are written when the server closes, and so is that of the request.
func TestRequestLogAtTheEnd(t *testing.T) {
	var log lines
	bubble(t, round(), func(c *client) {
		c.server.LogTo(&log)
		for range 2 {
			conn := mustDial(t, c.dial)
			go ask(t, conn, "/v1/completions", "stall=1h")
			time.Sleep(100 * time.Millisecond)
		}
		ask(t, mustDial(t, c.dial), "/v1/completions", "reset")
		if err := c.server.Close(); err != nil {
			t.Error(err)
		}
		if all := strings.Join(log.calls, ""); len(log.calls) != 3 ||
			!regexp.MustCompile(`(?s)^{"arrival":1,.*\n{"arrival":2,.*\n{"arrival":3,.*\n$`).MatchString(all) {
			t.Errorf("%d lines:\n%s", len(log.calls), all)
		}
	})
}

// Close returns the error of a line that cannot be written, and no request fails.
func TestRequestLogFails(t *testing.T) {
	full := errors.New("disk full")
	log := lines{err: full}
	synctest.Test(t, func(t *testing.T) {
		s := New(round())
		s.LogTo(&log)
		l, dial := pipetest.Pipe()
		web := s.HTTPServer()
		served := make(chan error)
		go func() { served <- web.Serve(l) }()
		for range 2 {
			if r := ask(t, mustDial(t, dial), "/v1/completions", ""); r.ends() != "whole" {
				t.Errorf("a request ends %s", r.ends())
			}
		}
		_ = web.Close()
		<-served
		if err := s.Close(); !errors.Is(err, full) || !strings.Contains(err.Error(), "request log") ||
			len(log.calls) != 2 {
			t.Errorf("close: %v after %d lines", err, len(log.calls))
		}
	})
}
