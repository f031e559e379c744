package metronome

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// said is an event as a client decodes it.
type said struct {
	ID, Object string
	Choices    []struct {
		Text         string
		Delta        struct{ Content string }
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
	}
}

// checkEvents checks a whole answer of n chunks.
func checkEvents(t *testing.T, chat bool, n int, all []event) {
	t.Helper()
	if len(all) != n+2 {
		t.Fatalf("%d HTTP chunks, want %d of output, usage and the end", len(all), n)
	}
	assert.Equal(t, all[n+1].data, "data: [DONE]\n\n", "the end")
	for i, e := range all[:n+1] {
		data, ok := strings.CutPrefix(e.data, "data: ")
		if !ok || strings.Count(data, "\n") != 2 || !strings.HasSuffix(data, "\n\n") {
			t.Fatalf("event %d is %q", i, e.data)
		}
		var s said
		if err := json.Unmarshal([]byte(data), &s); err != nil {
			t.Fatalf("event %d: %v: %s", i, err, data)
		}
		if object := map[bool]string{true: "chat.completion.chunk", false: "text_completion"}[chat]; s.Object !=
			object || s.ID == "" {
			t.Errorf("event %d: object %q, id %q", i, s.Object, s.ID)
		}
		if i == n {
			if s.Choices == nil || len(s.Choices) != 0 || s.Usage == nil || s.Usage.CompletionTokens != n ||
				s.Usage.TotalTokens != n+s.Usage.PromptTokens {
				t.Errorf("usage event %s", data)
			}
			continue
		}
		if len(s.Choices) != 1 || s.Usage != nil {
			t.Fatalf("event %d: %s", i, data)
		}
		c := s.Choices[0]
		assert.Equal(t, map[bool]string{true: c.Delta.Content, false: c.Text}[chat], " token", "event %d says", i)
		if last := c.FinishReason != nil && *c.FinishReason == "length"; last != (i == n-1) ||
			!last && c.FinishReason != nil {
			t.Errorf("event %d of %d: finish reason in %s", i, n, data)
		}
	}
}

// One connection serves all requests, at every pace and of every kind.
func TestAnswers(t *testing.T) {
	_, base := start(t)
	c := dial(t, base)
	paces := []struct{ ttft, itl time.Duration }{
		{}, {ttft: 3 * time.Millisecond}, {itl: time.Millisecond}, {3 * time.Millisecond, time.Millisecond},
		{0, 500 * time.Microsecond},
	}
	long := strings.Repeat(`"x\\", [1, {"max_tokens": 9}], `, 1000)
	bodies := []struct {
		body string
		want int
	}{
		{`{"max_tokens":1}`, 1},
		{`{"max_tokens":2}`, 2},
		{` { "prompt" : "a \"max_tokens\":9" , "max_tokens" : 7 } `, 7},
		{`{}`, 16},
		{`{"max_tokens":null}`, 16},
		{`{"max_completion_tokens":3,"max_tokens":5}`, 3},
		{`{"max_tokens":5,"max_completion_tokens":3}`, 3},
		{`{"nested":{"max_tokens":4}}`, 16},
		{`{"prompt":[` + long + `0],"max_tokens":4}`, 4},
	}
	asked := map[string]int{}
	for i, p := range paces {
		for j, b := range bodies {
			for _, chat := range []bool{false, true} {
				endpoint := map[bool]string{true: "/v1/chat/completions", false: "/v1/completions"}[chat]
				id := fmt.Sprintf("%d-%d-%v", i, j, chat)
				asked[id] = b.want
				c.send(post(path(p.ttft, p.itl, endpoint), id, b.body))
				all := c.events()
				checkEvents(t, chat, b.want, all)
			}
		}
	}
	log := fetch(t, base)
	assert.Equal(t, len(log), len(asked), "answers in the log")
	for _, e := range log {
		if n, ok := asked[e.ID]; !ok || n != len(e.Writes) {
			t.Errorf("answer %q: %d writes, want %d (%v)", e.ID, len(e.Writes), n, ok)
		}
		delete(asked, e.ID)
	}
	if again := fetch(t, base); len(again) != 0 {
		t.Errorf("%d answers in the log after it was taken", len(again))
	}
	c.send(ask("/v1/completions", "more", 1))
	c.events()
	if err := ClearLog(t.Context(), base); err != nil || len(fetch(t, base)) != 0 {
		t.Errorf("answers in the log after it was dropped, error %v", err)
	}
}

// Of two streams the chunk that is due first leaves first.
func TestStreamsTakeTurns(t *testing.T) {
	_, base := start(t)
	many, two := dial(t, base), dial(t, base)
	for {
		many.send(ask(path(0, 5*time.Millisecond, "/v1/completions"), "many", 100))
		two.send(ask(path(50*time.Millisecond, 800*time.Millisecond, "/v1/completions"), "two", 2))
		many.events()
		two.events()
		log := fetch(t, base)
		slices.SortFunc(log, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
		if log[1].Arrived.Sub(log[0].Arrived).Abs() > 200*time.Millisecond {
			continue // the machine is busy
		}
		// due after 50, 495 and 850 ms
		first, last, second := log[1].Writes[0], log[0].Writes[99], log[1].Writes[1]
		if !first.Before(last) || !last.Before(second) {
			t.Errorf("written %s and %s after the chunk before", last.Sub(first), second.Sub(last))
		}
		return
	}
}

// No chunk of many streams leaves before it is due, and none arrives before it was written.
func TestLogAgainstWhatArrived(t *testing.T) {
	s, base := start(t)
	const streams, chunks = 400, 20
	pace := func(i int) (ttft, itl time.Duration) {
		return time.Duration(i%7) * 3 * time.Millisecond, time.Duration(1+i%5) * time.Millisecond
	}
	type result struct {
		sent   time.Time
		events []event
	}
	got := make([]result, streams)
	var clients sync.WaitGroup
	for i := range streams {
		c := dial(t, base)
		clients.Go(func() {
			ttft, itl := pace(i)
			got[i].sent = time.Now()
			c.send(ask(path(ttft, itl, "/v1/completions"), fmt.Sprint(i), chunks))
			got[i].events = c.events()
		})
	}
	clients.Wait()
	log := fetch(t, base)
	assert.Need(t, len(log), streams, "answers in the log")
	// onServer is a moment of this process on the server's clock, by the shared monotonic one.
	onServer := func(at time.Time) time.Time { return time.Unix(0, s.clock.wall+int64(at.Sub(s.clock.base))) }
	for _, e := range log {
		i := 0
		assert.Must(fmt.Sscan(e.ID, &i))(t)
		r := got[i]
		checkEvents(t, false, chunks, r.events)
		if sent := onServer(r.sent); e.Arrived.Before(sent) || len(e.Writes) != chunks {
			t.Fatalf("request %d arrived %s before it was sent; %d writes", i, sent.Sub(e.Arrived), len(e.Writes))
		}
		ttft, itl := pace(i)
		for k, w := range e.Writes {
			if due := e.Arrived.Add(ttft + time.Duration(k)*itl); w.Before(due) {
				t.Errorf("request %d: chunk %d left %s too early", i, k, due.Sub(w))
			}
			if at := onServer(r.events[k].at); at.Before(w) {
				t.Errorf("request %d: chunk %d came %s before it was written", i, k, w.Sub(at))
			}
		}
	}
}

// A client that does not read delays no other, and gets all of its answer once it does.
func TestSlowReader(t *testing.T) {
	for _, itl := range []time.Duration{0, 50 * time.Microsecond} {
		t.Run(itl.String(), func(t *testing.T) {
			const many, size = 3000, 8 << 10 // more than the sockets take
			_, base := startWith(t, strings.Repeat("x", size))
			slow := dial(t, base)
			slow.send(ask(path(time.Millisecond, itl, "/v1/completions"), "slow", many))
			for range 30 {
				c := dial(t, base)
				c.send(ask(path(time.Millisecond, time.Millisecond, "/v1/completions"), "quick", 20))
				assert.Equal(t, len(c.events()), 22, "HTTP chunks")
			}
			for _, e := range fetch(t, base) {
				assert.Equal(t, e.ID, "quick", "is over though its client has read nothing")
			}
			all := slow.events()
			assert.Equal(t, len(all), many+2, "HTTP chunks")
			for i, e := range all[:many] {
				if n := strings.Count(e.data, "x"); n < size || n > size+10 {
					t.Fatalf("chunk %d of %d has %d bytes of text", i, many, n)
				}
			}
			if log := fetch(t, base); len(log) != 1 || len(log[0].Writes) != many {
				t.Errorf("%d answers in the log", len(log))
			}
		})
	}
}

// A client that disconnects ends its own stream; the log keeps the writes so far.
func TestDisconnect(t *testing.T) {
	_, base := start(t)
	for i, itl := range []time.Duration{0, 200 * time.Microsecond} {
		other := dial(t, base)
		other.send(ask(path(time.Millisecond, time.Millisecond, "/v1/completions"), "other", 100))
		c := dial(t, base)
		id := fmt.Sprint("gone", i)
		c.send(ask(path(0, itl, "/v1/completions"), id, mostChunks))
		assert.Must(c.r.ReadString('\n'))(t)
		_ = c.conn.Close()
		checkEvents(t, false, 100, other.events())
		for found := false; !found; time.Sleep(time.Millisecond) {
			for _, e := range fetch(t, base) {
				if e.ID != id {
					continue
				}
				if found = true; len(e.Writes) == 0 || len(e.Writes) == mostChunks {
					t.Errorf("%d writes to a client that went away", len(e.Writes))
				}
			}
			if t.Context().Err() != nil {
				t.Fatal("the answer never came into the log")
			}
		}
	}
}
