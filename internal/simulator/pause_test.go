package simulator

import (
	"context"
	"strings"
	"testing"
	"time"
)

func (c *client) mustDo(method, path, want string) {
	c.t.Helper()
	if status, body := c.do(method, path, ""); status != 200 || strings.TrimSpace(body) != want {
		c.t.Errorf("%s: %d %s, want %s", path, status, body, want)
	}
}

const tenTokens = `{"prompt":[1],"max_tokens":10,"ignore_eos":true,"stream":true}`

// A pause that waits lets requests in flight end. New ones wait until the engine is resumed, and then take as long as
// ever.
func TestPauseWaits(t *testing.T) {
	bubble(t, cached(), func(c *client) {
		c.completion(run(0, 100), "")
		first := make(chan []event)
		go func() { _, events := c.stream("/v1/completions", tenTokens); first <- events }()
		time.Sleep(15 * time.Millisecond)
		c.mustDo("GET", "/is_paused", `{"is_paused":false}`)
		paused := make(chan time.Duration)
		go func() {
			c.mustDo("POST", "/pause?mode=wait", `{"status":"paused"}`)
			paused <- time.Since(c.start)
		}()
		events := <-first
		if end := <-paused; len(events) != 11 || end != events[9].at {
			t.Errorf("paused at %v after %d events, the last at %v", end, len(events), events[9].at)
		}
		c.mustDo("GET", "/is_paused", `{"is_paused":true}`)
		c.mustDo("POST", "/sleep?level=0&mode=keep", `{"status":"paused"}`)
		go func() {
			time.Sleep(time.Minute)
			c.mustDo("POST", "/resume", `{"status":"resumed"}`)
		}()
		begun := time.Since(c.start)
		// the cache is empty
		if got, want := c.completion(run(0, 100), ""), (completionResult{time.Minute + prefill(100, 0), "0"}); got !=
			want {
			t.Errorf("a request from %v: %+v, want %+v", begun, got, want)
		}
		c.mustDo("GET", "/is_paused", `{"is_paused":false}`)
		c.mustDo("POST", "/resume", `{"status":"resumed"}`)
	})
}

// A pause that keeps requests stops them between two steps.
func TestPauseKeeps(t *testing.T) {
	bubble(t, cached(), func(c *client) {
		answer := make(chan []event)
		go func() { _, events := c.stream("/v1/completions", tenTokens); answer <- events }()
		time.Sleep(25 * time.Millisecond)
		c.mustDo("POST", "/pause?mode=keep", `{"status":"paused"}`)
		time.Sleep(100 * time.Millisecond) // less than a delay that is made up for
		c.mustDo("POST", "/resume", `{"status":"resumed"}`)
		long := 0
		events := <-answer
		for i, e := range events[1:] {
			if gap := e.at - events[i].at; gap > 50*time.Millisecond {
				long++
			} else if gap > 0 && gap < 10*time.Millisecond {
				t.Errorf("tokens %d and %d are %v apart: the pause is made up for", i, i+1, gap)
			}
		}
		if long != 1 || len(events) != 11 {
			t.Errorf("%d long gaps in %v", long, events)
		}
	})
}

// A pause that aborts ends requests in flight, those that wait included.
func TestPauseAborts(t *testing.T) {
	p := cached()
	p.MaxSequences = 1
	bubble(t, p, func(c *client) {
		answers := make(chan []event)
		for range 2 {
			go func() { _, events := c.stream("/v1/completions", tenTokens); answers <- events }()
		}
		time.Sleep(25 * time.Millisecond)
		c.mustDo("POST", "/pause", `{"status":"paused"}`)
		for range 2 {
			events := <-answers
			if n := len(events); n < 2 || n > 5 || !strings.Contains(events[n-2].data, "aborted by a pause") ||
				events[n-1].data != "[DONE]" {
				t.Errorf("an aborted answer: %v", events)
			}
		}
		if s := c.server.engine.snapshot(); s.ends["abort"] != 2 || s.cacheUsage != 0 {
			t.Errorf("%d aborts, %v of the cache", s.ends["abort"], s.cacheUsage)
		}
		c.mustDo("POST", "/pause?mode=wait", `{"status":"paused"}`) // again
		c.mustDo("POST", "/resume", `{"status":"resumed"}`)
		if _, events := c.stream("/v1/completions", tenTokens); len(events) != 11 {
			t.Errorf("after it: %v", events)
		}
		if status, body := c.do("POST", "/pause?mode=sleep", ""); status != 400 ||
			!strings.Contains(body, "mode must be") {
			t.Errorf("an unknown mode: %d %s", status, body)
		}
	})
}

// A client that leaves while it waits for a pause, and a server that closes in one, leave nothing behind.
func TestPauseIsLeft(t *testing.T) {
	bubble(t, cached(), func(c *client) {
		go c.stream("/v1/completions", `{"prompt":[1],"max_tokens":1000,"ignore_eos":true,"stream":true}`)
		time.Sleep(15 * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := c.http.Do(c.request(ctx, "POST", "/pause?mode=wait", "")); err == nil {
			t.Error("paused while a request goes on")
		}
		late := make(chan []event)
		go func() { _, events := c.stream("/v1/completions", tenTokens); late <- events }()
		time.Sleep(time.Second)
		if err := c.server.Close(); err != nil {
			t.Error(err)
		}
		if events := <-late; len(events) != 2 || !strings.Contains(events[0].data, "the engine has stopped") {
			t.Errorf("a request that waited: %v", events)
		}
	})
}
