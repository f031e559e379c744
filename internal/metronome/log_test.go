package metronome

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func TestLogHasAnEnd(t *testing.T) {
	j := serverLog{times: mostTimes - 3}
	j.add(answer{ID: "a", Writes: make([]int64, 2)})
	j.add(answer{ID: "b", Writes: make([]int64, 2)})
	j.add(answer{ID: "c", Writes: make([]int64, 1)})
	answers, missing := j.take()
	if len(answers) != 2 || missing != 1 {
		t.Errorf("%d answers, %d missing; want 2 and 1", len(answers), missing)
	}
	if j.add(answer{Writes: make([]int64, 2)}); j.times != 2 {
		t.Errorf("%d times after it was taken", j.times)
	}
}

// Each answer is in the log once, also if several clients take it.
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
	assert.Equal(t, len(seen), streams*requests, "answers in the log")
}

// encoded is a log whose head announces so many answers.
func encoded(missing, promised int, answers ...answer) string {
	var b bytes.Buffer
	e := gob.NewEncoder(&b)
	_ = e.Encode(logHead{logMagic, promised, missing})
	for _, a := range answers {
		_ = e.Encode(a)
	}
	return b.String()
}

func TestFetchLogFailures(t *testing.T) {
	whole := encoded(0, 2, answer{ID: "x", Arrived: 5}, answer{ID: "y", Arrived: 5, Writes: []int64{7, 8}})
	for _, c := range []struct {
		name, body string
		status     int
		words      string
	}{
		{"another server", "not found", 404, "is it a metronome?"},
		{"another log", "12:00 started", 200, "bad header"},
		{"empty", "", 200, "bad header"},
		{"cut off", whole[:len(whole)-1], 200, "damaged metronome log: unexpected EOF (answer 2 of 2)"},
		{"cut off between answers", encoded(0, 3, answer{ID: "x", Arrived: 5}), 200,
			"damaged metronome log: EOF (answer 2 of 3)"},
		{"incomplete", encoded(3, 0), 200, "3 answers are missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer s.Close()
			assert.Complains(t, assert.Failure(FetchLog(t.Context(), s.URL+"/")), c.words)
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

// A log is read back as it was written; other data is an error and causes neither a panic nor large allocations.
func FuzzLog(f *testing.F) {
	f.Add([]byte(encoded(0, 0)))
	f.Add([]byte(encoded(1, 1, answer{ID: "x", Arrived: 5})))
	f.Add([]byte(encoded(0, 2, answer{ID: "x", Arrived: 5, Writes: []int64{5, 7, 1 << 62}},
		answer{Arrived: 1 << 61, Writes: []int64{1 << 61}})))
	f.Add([]byte(encoded(0, 1<<40)[:20]))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := readLog(bytes.NewReader(data))
		if entries == nil {
			if err == nil {
				t.Fatal("neither a log nor an error")
			}
			return
		}
		answers := make([]answer, len(entries))
		for i, e := range entries {
			answers[i] = answer{ID: e.ID, Arrived: e.Arrived.UnixNano()}
			for _, w := range e.Writes {
				answers[i].Writes = append(answers[i].Writes, w.UnixNano())
			}
		}
		var b bytes.Buffer
		assert.Fine(t, writeLog(&b, slices.Clone(answers), 0))
		again, err := readLog(&b)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("written again: %d answers, %v", len(again), err)
		}
		for i, e := range again {
			if e.ID != entries[i].ID || !e.Arrived.Equal(entries[i].Arrived) ||
				!slices.EqualFunc(e.Writes, entries[i].Writes, time.Time.Equal) {
				t.Fatalf("answer %d: %+v, written again %+v", i, entries[i], e)
			}
		}
	})
}
