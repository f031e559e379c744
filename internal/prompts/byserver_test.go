package prompts

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/hf/numpy"
	"benchtop/internal/server"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// tokenizing answers /tokenize and /detokenize of a server that works on one of them at a time, for as long each.
type tokenizing struct {
	each      time.Duration
	turn      chan struct{}
	now, most atomic.Int64 // calls in flight
}

func (s *tokenizing) RoundTrip(r *http.Request) (*http.Response, error) {
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	s.turn <- struct{}{}
	time.Sleep(s.each)
	<-s.turn
	var in struct {
		Prompt string
		Tokens []int
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	words := strings.Fields(in.Prompt)
	answer := map[string]any{"prompt": strings.Trim(fmt.Sprint(in.Tokens), "[]")}
	if r.URL.Path == "/tokenize" {
		ids := make([]int, len(words))
		for i, word := range words {
			if _, err := fmt.Sscan(word, &ids[i]); err != nil {
				ids[i] = 7
			}
		}
		answer = map[string]any{"count": len(ids), "tokens": ids}
	}
	if in.Prompt == "" && fmt.Sprint(in.Tokens) == "[7]" {
		answer["prompt"] = "ready?"
	}
	body, err := json.Marshal(answer)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(body)))}, err
}

// Prompts that the server's tokenizer makes are all made before the load, but for a load so light that it does not feel
// the making. They are the same either way.
func TestServerMakesPrompts(t *testing.T) {
	rate := func(r float64) shape.Shape {
		return shape.Rate{Bounds: shape.Bounds{Count: 2000, Asked: true}, PerSecond: metrics.Rate(r), Burstiness: 1}
	}
	var want []string
	for _, c := range []struct {
		name  string
		load  shape.Shape
		most  time.Duration // of waiting
		all   bool
		tells string
	}{
		{"a light load", rate(0.6), 18 * time.Second, false, ""},
		{"a rate that it could not follow", rate(0.8), 131 * time.Second, true, "and the load needs 0.8; all are made"},
		{"users", shape.Rate{Bounds: shape.Bounds{Count: 2000, Limit: 8, Asked: true},
			PerSecond: metrics.Rate(math.Inf(1))}, 131 * time.Second, true, "may need any number"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &tokenizing{each: 32500 * time.Microsecond, turn: make(chan struct{}, 1)}
			f := must(flagsOf(t, "http://127.0.0.1:1", "--backend openai-chat --random-input-len 3", c.load))(t)
			f.options.Prompts = 2000
			heard := &tells{}
			d := &Drawing{Options: &f.options, Server: &f.server, Client: &http.Client{Transport: s},
				Model: server.Model{ID: "m", Root: "m"}, AskServer: true, Patience: f.server.Patience(unheard{}),
				Draws: numpy.NewStreams(7), IDPrefix: "p", To: heard}
			began := time.Now()
			drawn := must(d.Draw(t.Context(), prefetchers(t), c.load, true, false))(t)
			took := time.Since(began)
			if _, all := drawn.ahead.drawn(); took > c.most || took < 10*time.Second || all != c.all {
				t.Errorf("%s: drawn after %s, all: %t", c.name, took, all)
			}
			if c.tells == "" != (heard.words == "") || !strings.Contains(heard.words, c.tells) {
				t.Errorf("%s: told %q", c.name, heard.words)
			}
			if notes := strings.Join(drawn.Notes, "\n"); strings.Contains(notes, "beside the load") == c.all {
				t.Errorf("%s: notes %q", c.name, notes)
			}
			time.Sleep(10 * time.Second) // for those that were begun
			s.most.Store(0)
			var got []string
			for range 1000 {
				prompt := must(drawn.Next())(t)
				got = append(got, prompt.Turns[0].Text)
				time.Sleep(100 * time.Millisecond)
			}
			if want == nil {
				want = got
			}
			same := strings.Join(got, "\n") == strings.Join(want, "\n")
			if most := s.most.Load(); most > 4 || !same {
				t.Errorf("%s: %d calls at once beside the load; the prompts are the same: %t", c.name, most, same)
			}
		})
	}
}

// tells hears what a person is told.
type tells struct {
	unheard
	words string
}

func (h *tells) Tell(words string) { h.words += words + "\n" }
