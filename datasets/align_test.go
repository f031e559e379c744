package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/hf/tokenizer"

	"github.com/google/go-cmp/cmp"
)

// halves is a server whose tokens are half as long as the data set's: two for a letter, none for anything else. It
// fails on texts with "!".
type halves struct {
	mu               sync.Mutex
	encoded, decoded int
	busy, busiest    int
	wait             time.Duration
}

func (h *halves) enter() func() {
	h.mu.Lock()
	h.busy++
	h.busiest = max(h.busiest, h.busy)
	h.mu.Unlock()
	time.Sleep(h.wait)
	return func() {
		h.mu.Lock()
		h.busy--
		h.mu.Unlock()
	}
}

func (h *halves) EncodeContext(ctx context.Context, text string) ([]int, error) {
	defer h.enter()()
	h.mu.Lock()
	h.encoded++
	h.mu.Unlock()
	if strings.Contains(text, "!") {
		return nil, fmt.Errorf("cannot encode %s", text)
	}
	ids := []int{}
	for _, c := range text {
		if c >= 'a' && c <= 'z' {
			ids = append(ids, int(c), int(c))
		}
	}
	return ids, ctx.Err()
}

func (h *halves) DecodeContext(ctx context.Context, ids []int) (string, error) {
	defer h.enter()()
	h.mu.Lock()
	h.decoded++
	h.mu.Unlock()
	if slices.Contains(ids, 'z') {
		return "", errors.New("cannot decode z")
	}
	var text strings.Builder
	for i := 0; i+1 < len(ids); i += 2 {
		text.WriteByte(byte(ids[i]))
	}
	return text.String(), ctx.Err()
}

func prompt(text string, tokens int) Conversation {
	return Conversation{ID: text, Turns: []Turn{{Text: text, InputTokens: tokens, MaxTokens: 7}}}
}

func TestAlign(t *testing.T) {
	ids := Conversation{Turns: []Turn{{TokenIDs: []int{1}, InputTokens: 1}}}
	batch := Conversation{Turns: []Turn{{Batch: []Turn{{Text: "abc", InputTokens: 1}}}}}
	chat := Conversation{Turns: []Turn{{Text: "abc", Messages: json.RawMessage("[]"), InputTokens: 1}}}
	tests := []struct {
		name             string
		in               []Conversation
		texts            []string // after, where they change
		want             Alignment
		encoded, decoded int
		warned           []string // words of each line
	}{
		{"none", nil, nil, Alignment{}, 0, 0, nil},
		{"ids first", []Conversation{ids, prompt("abc", 1)}, nil, Alignment{}, 0, 0, nil},
		{"batch first", []Conversation{batch, prompt("abc", 1)}, nil, Alignment{}, 0, 0, nil},
		{"messages first", []Conversation{chat, prompt("abc", 1)}, nil, Alignment{}, 0, 0, nil},
		{"no turns first", []Conversation{{}, prompt("abc", 1)}, nil, Alignment{}, 0, 0, nil},
		{"the first is as meant", []Conversation{prompt("ab", 4), prompt("abc", 1)}, nil, Alignment{Prompts: 1}, 1, 0,
			nil},
		{"the first fails", []Conversation{prompt("a!", 4), prompt("abc", 1)}, nil, Alignment{Failed: 1}, 1, 0,
			[]string{"not aligned", "cannot encode a!"}},
		{"cut", []Conversation{prompt("abcd", 4), prompt("abcd", 6), prompt("ab", 4), prompt("ab", 5), ids, batch, chat,
			prompt("abcdef", 2)},
			[]string{"ab", "abc", "ab", "ab", "", "", "abc", "a"}, Alignment{Prompts: 5, Cut: 3, Short: 1}, 6, 3,
			[]string{"8 tokens for the first prompt instead of 4", "aligned 5 prompts, 3 cut, 1 shorter than wanted"}},
		{"the first is short", []Conversation{prompt("a", 4), prompt("abcd", 6)}, []string{"a", "abc"},
			Alignment{Prompts: 2, Cut: 1, Short: 1}, 3, 1,
			[]string{"2 tokens for the first prompt instead of 4"}},
		{"some fail", []Conversation{prompt("abcd", 4), prompt("b!", 1), prompt("zzz", 2), prompt("c!", 1)},
			[]string{"ab", "b!", "zzz", "c!"},
			Alignment{Prompts: 4, Cut: 1, Failed: 3}, 5, 2,
			[]string{"aligned 4 prompts, 1 cut, 0 shorter", "3 of 4 prompts could not be aligned", "cannot encode b!"}},
		{"no tokens wanted", []Conversation{prompt("ab", 0)}, []string{""}, Alignment{Prompts: 1, Cut: 1}, 2, 1,
			[]string{"instead of 0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			list := slices.Clone(test.in)
			var before []Conversation
			for _, c := range test.in {
				before = append(before, Conversation{ID: c.ID, Turns: slices.Clone(c.Turns)})
			}
			server := &halves{}
			var warned []string
			got := must(Align(t.Context(), list, server, func(line string) { warned = append(warned, line) }))(t)
			if (got.Failure != nil) != (got.Failed > 0) {
				t.Errorf("got %d failures, the first %v", got.Failed, got.Failure)
			}
			got.Failure = nil
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if server.encoded != test.encoded || server.decoded != test.decoded {
				t.Errorf("the server was asked %d times for tokens and %d for text, want %d and %d", server.encoded,
					server.decoded, test.encoded, test.decoded)
			}
			all := strings.Join(warned, "\n")
			for _, words := range test.warned {
				if !strings.Contains(all, words) {
					t.Errorf("got warnings %q, want %q in them", warned, words)
				}
			}
			if len(test.warned) == 0 && len(warned) > 0 {
				t.Errorf("got warnings %q", warned)
			}
			for i, text := range test.texts {
				before[i].Turns[0].Text = text
			}
			if diff := cmp.Diff(before, list); diff != "" {
				t.Error(diff)
			}
			if test.texts != nil && test.in[0].Turns[0].Text != test.in[0].ID {
				t.Error("a turn that others may share was changed")
			}
		})
	}
}

func TestAlignHas64InFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []Conversation
		for range 640 {
			all = append(all, prompt("abcd", 4))
		}
		server, start := &halves{wait: time.Second}, time.Now()
		a, err := Align(t.Context(), all, server, func(string) {})
		if err != nil || a.Cut != 640 || server.busiest != 64 {
			t.Errorf("got %+v, %d in flight, error %v", a, server.busiest, err)
		}
		if took := time.Since(start); took != 21*time.Second { // the first alone, then ten rounds of two calls
			t.Errorf("it took %v", took)
		}
	})
}

func TestAlignStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int64
	all := make([]Conversation, 1000)
	for i := range all {
		all[i] = prompt("abcd", 4)
	}
	server := cancelTokenizer{&halves{}, func() {
		if asked.Add(1) == 100 {
			cancel()
		}
	}}
	assert.Is(t, failure(Align(ctx, all, server, func(line string) { t.Errorf("warned: %s", line) })), context.Canceled)
	if n := asked.Load(); n > 300 {
		t.Errorf("asked %d times", n)
	}
	cancelled := cancelTokenizer{&halves{}, func() {}}
	if _, err := Align(ctx, all, cancelled, func(line string) { t.Errorf("warned: %s", line) }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

// cancelTokenizer calls a function before every call.
type cancelTokenizer struct {
	*halves
	call func()
}

func (c cancelTokenizer) EncodeContext(ctx context.Context, text string) ([]int, error) {
	c.call()
	return c.halves.EncodeContext(ctx, text)
}

// TestAlignAsksAsVLLMDoes holds the bodies that go over the wire against those of vLLM's client.
func TestAlignAsksAsVLLMDoes(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		json.NewDecoder(r.Body).Decode(&body)
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
		mu.Unlock()
		if r.URL.Path == "/tokenize" {
			w.Write([]byte(`{"count":3,"tokens":[5,6,7],"max_model_len":10}`))
			return
		}
		w.Write([]byte(`{"prompt":"a b"}`))
	}))
	defer server.Close()
	all := []Conversation{prompt("a b c", 2)}
	a, err := Align(t.Context(), all, tokenizer.NewServer(server.Client(), server.URL, "m"), func(string) {})
	if err != nil || a.Cut != 1 || all[0].Turns[0].Text != "a b" || all[0].Turns[0].InputTokens != 2 {
		t.Errorf("got %+v, %+v, error %v", a, all, err)
	}
	want := []string{
		`POST /tokenize {"model":"m","prompt":"a b c","add_special_tokens":false}`,
		`POST /tokenize {"model":"m","prompt":"a b c","add_special_tokens":false}`,
		`POST /detokenize {"model":"m","tokens":[5,6]}`,
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}
