package metronome

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLogHasAnEnd(t *testing.T) {
	j := journal{times: mostTimes - 3}
	j.add(answer{id: "a", writes: make([]int64, 2)})
	j.add(answer{id: "b", writes: make([]int64, 2)})
	j.add(answer{id: "c", writes: make([]int64, 1)})
	answers, missing := j.take()
	if len(answers) != 2 || missing != 1 {
		t.Errorf("%d answers, %d missing; want 2 and 1", len(answers), missing)
	}
	if j.add(answer{writes: make([]int64, 2)}); j.times != 2 {
		t.Errorf("%d times after it was taken", j.times)
	}
}

// A log is read back as it was written; anything else is an error, not a panic or a heap of memory.
func FuzzLog(f *testing.F) {
	encode := func(missing int, answers ...answer) []byte {
		b := appendLogHead(nil, len(answers), missing)
		for i := range answers {
			b = answers[i].appendTo(b)
		}
		return b
	}
	f.Add(encode(0))
	f.Add(encode(1, answer{id: "x", arrived: 5}))
	f.Add(encode(0, answer{id: "x", arrived: 5, writes: []int64{5, 7, 1 << 62}}, answer{arrived: 1 << 61, writes: []int64{1 << 61}}))
	f.Add([]byte(logMagic + "\x00\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := readLog(bufio.NewReader(bytes.NewReader(data)))
		if entries == nil {
			if err == nil {
				t.Fatal("neither a log nor an error")
			}
			return
		}
		answers := make([]answer, len(entries))
		for i, e := range entries {
			answers[i] = answer{id: e.ID, arrived: e.Arrived.UnixNano()}
			for _, w := range e.Writes {
				answers[i].writes = append(answers[i].writes, w.UnixNano())
			}
		}
		again, err := readLog(bufio.NewReader(bytes.NewReader(encode(0, answers...))))
		if err != nil || len(again) != len(entries) {
			t.Fatalf("written again: %d answers, %v", len(again), err)
		}
		for i, e := range again {
			if e.ID != entries[i].ID || !e.Arrived.Equal(entries[i].Arrived) || !slices.EqualFunc(e.Writes, entries[i].Writes, time.Time.Equal) {
				t.Fatalf("answer %d: %+v, written again %+v", i, entries[i], e)
			}
		}
	})
}

// Whoever takes the log, each answer is in it once.
func TestConcurrentLog(t *testing.T) {
	_, base := start(t)
	const streams, requests, chunks = 8, 20, 10
	taken := make(chan []Entry)
	stop := make(chan struct{})
	var takers, users sync.WaitGroup
	for range 3 {
		takers.Go(func() {
			for {
				entries, err := FetchLog(context.Background(), base)
				if err != nil {
					t.Error(err)
				}
				taken <- entries
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range streams {
		c := dial(t, base)
		users.Go(func() {
			for j := range requests {
				c.send(ask(path(0, time.Duration(i%2)*time.Millisecond, "/v1/completions"), fmt.Sprint(i, j), chunks))
				c.events()
			}
		})
	}
	go func() {
		users.Wait()
		close(stop)
		takers.Wait()
		close(taken)
	}()
	seen := map[string]bool{}
	for entries := range taken {
		for _, e := range entries {
			if seen[e.ID] || len(e.Writes) != chunks {
				t.Errorf("answer %q: %d writes, seen before %v", e.ID, len(e.Writes), seen[e.ID])
			}
			seen[e.ID] = true
		}
	}
	for _, e := range fetch(t, base) {
		seen[e.ID] = true
	}
	if len(seen) != streams*requests {
		t.Errorf("%d answers in the log, want %d", len(seen), streams*requests)
	}
}

func TestFetchLogFailures(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		words      string
	}{
		{"another server", "not found", 404, "is it a metronome?"},
		{"another log", "12:00 started", 200, "does not begin"},
		{"empty", "", 200, "does not begin"},
		{"cut off", logMagic + "\x00\x02\x01x\x05\x00", 200, "cannot be read"},
		{"cut off in a write", logMagic + "\x00\x01\x01x\x05\x02\x01", 200, "cannot be read"},
		{"something behind", logMagic + "\x00\x00\x00", 200, "something follows"},
		{"a long id", logMagic + "\x00\x01\xff\x7f", 200, "too large"},
		{"many writes", logMagic + "\x00\x01\x01x\x05\xff\xff\xff\xff\x0f", 200, "too large"},
		{"a number of 80 bits", logMagic + strings.Repeat("\xff", 12), 200, "cannot be read"},
		{"incomplete", logMagic + "\x03\x00", 200, "3 answers are missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer s.Close()
			if _, err := FetchLog(t.Context(), s.URL+"/"); err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("error %v, want one with %q", err, c.words)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FetchLog(ctx, "http://127.0.0.1:1"); err == nil {
		t.Error("no error from a cancelled call")
	}
	if _, err := FetchLog(t.Context(), "http://[::1"); err == nil {
		t.Error("no error for a base that is no URL")
	}
}
