package tokenizer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
)

// letters answers like one of the servers: its tokens are the bytes of a text, behind a start marker 1 where special
// tokens are wanted. It writes down what it is asked.
type letters struct {
	form       form
	model      string           // it knows no other; "" knows all
	detokenize http.HandlerFunc // what it does instead where ids are to become text

	mu    sync.Mutex
	asked []string
}

func (l *letters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.detokenize != nil && r.URL.Path == "/detokenize" {
		l.detokenize(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.asked = append(l.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
	l.mu.Unlock()
	var in struct {
		Model            string
		Prompt, Content  *string
		AddSpecialTokens bool  `json:"add_special_tokens"`
		AddSpecial       bool  `json:"add_special"`
		Skip             *bool `json:"skip_special_tokens"`
		Tokens           []int
	}
	json.Unmarshal(body, &in)
	answer := map[string]any{}
	switch {
	case r.URL.Path == "/v1/models" && l.form == llamaCPP:
		io.WriteString(w, `{"data":[{"id":"other","meta":{"n_vocab":9}},{"id":"m","meta":{"n_vocab":300}}]}`)
		return
	case r.URL.Path == "/tokenizer_info" && l.model == "told":
		io.WriteString(w, `{"tokenizer_class":"x","vocab_size":400}`)
		return
	case r.Method != http.MethodPost, r.URL.Path != "/tokenize" && r.URL.Path != "/detokenize":
		http.NotFound(w, r)
		return
	case l.model != "" && l.form != llamaCPP && in.Model != l.model:
		http.Error(w, `{"error":{"message":"The model does not exist."}}`, http.StatusNotFound)
		return
	case r.URL.Path == "/detokenize":
		var text []byte
		for _, id := range in.Tokens {
			if id == 1 && l.form == sgLang && (in.Skip == nil || *in.Skip) {
				continue
			}
			text = append(text, byte(id))
		}
		answer[l.form.decoded()] = string(text)
	default:
		text := in.Prompt
		if l.form == llamaCPP {
			text = in.Content
		} else if text == nil {
			http.Error(w, `{"error":{"message":"prompt: Field required"}}`, http.StatusBadRequest)
			return
		}
		tokens := []int{}
		if text != nil {
			if in.AddSpecialTokens || in.AddSpecial {
				tokens = append(tokens, 1)
			}
			for i := range len(*text) {
				tokens = append(tokens, int((*text)[i]))
			}
		}
		answer["tokens"] = tokens
		if l.form != llamaCPP {
			answer["count"], answer["max_model_len"] = len(tokens), 4096
		}
	}
	json.NewEncoder(w).Encode(answer)
}

// serve starts a server for the length of a test.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// counter is a server that is found to tokenize, whether or not its address ends in a slash.
func counter(t *testing.T, server *httptest.Server, models ...string) *Server {
	t.Helper()
	s := assert.Must(ProbeServer(t.Context(), server.Client(), server.URL+"/", models...))(t)
	return s
}

func TestProbeServer(t *testing.T) {
	const (
		vllmAsks  = `POST /tokenize {"model":"m","prompt":"ready?","add_special_tokens":true}`
		detok     = `POST /detokenize {"model":"m","tokens":[1,114,101,97,100,121,63]}`
		llamaAsks = `POST /tokenize {"content":"ready?","add_special":true}`
	)
	tests := []struct {
		name   string
		form   form
		model  string // the only one that it knows
		models []string
		asked  []string
		decode string // body of a later Decode
	}{
		{"vLLM", vLLM, "m", []string{"m"}, []string{vllmAsks, detok}, `{"model":"m","tokens":[1,97]}`},
		{"vLLM under another name", vLLM, "m", []string{"", "served", "served", "m"},
			[]string{strings.Replace(vllmAsks, `"m"`, `"served"`, 1), vllmAsks, detok},
			`{"model":"m","tokens":[1,97]}`},
		{"SGLang", sgLang, "", []string{"m"}, []string{vllmAsks, detok},
			`{"model":"m","tokens":[1,97],"skip_special_tokens":false}`},
		{"llama.cpp", llamaCPP, "", []string{"m"}, []string{vllmAsks, llamaAsks}, `{"tokens":[1,97]}`},
		{"no name", llamaCPP, "", nil, []string{strings.Replace(vllmAsks, `"m"`, `""`, 1), llamaAsks},
			`{"tokens":[1,97]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := &letters{form: test.form, model: test.model}
			s := counter(t, serve(t, h), test.models...)
			if diff := cmp.Diff(test.asked, h.asked); diff != "" {
				t.Error(diff)
			}
			assert.Equal(t, s.form, h.form, "form")
			assert.Equal(t, assert.Must(s.Count("ab"))(t), 3, "count")
			if ids, err := s.EncodeContext(t.Context(), "ab"); !cmp.Equal(ids, []int{'a', 'b'}) || err != nil {
				t.Errorf("got ids %v, error %v", ids, err)
			}
			assert.Equal(t, len(assert.Must(s.EncodeContext(t.Context(), ""))(t)), 0, "ids")
			assert.Equal(t, assert.Must(s.DecodeContext(t.Context(), []int{1, 'a'}))(t), "\x01a", "text")
			assert.Equal(t, assert.Must(s.DecodeContext(t.Context(), nil))(t), "", "text")
			for _, ids := range []string{"[1,97]", "[]"} {
				if want := "POST /detokenize " + strings.Replace(test.decode, "[1,97]", ids, 1); !slices.Contains(
					h.asked, want) {
					t.Errorf("got requests %q, want %q among them", h.asked, want)
				}
			}
		})
	}
}

// says answers every request alike.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestProbeServerFindsNone(t *testing.T) {
	both := []string{"in vLLM's form", "in llama.cpp's form", "/detokenize at its root"}
	tests := []struct {
		name  string
		says  http.HandlerFunc
		asked int
		want  []string
	}{
		{"not found", says(404, "no"), 3, append(both, "404 Not Found", `for model "a"`, `for model "b"`)},
		{"web page", says(200, "<html>"), 3, append(both, "<html>")},
		{"another JSON", says(200, `{"ok":true}`), 3, append(both, `no "tokens"`)},
		{"tokens with pieces", says(200, `{"tokens":[{"id":1}]}`), 3, append(both, "not the JSON expected")},
		{"counts that differ", says(200, `{"tokens":[],"count":4}`), 3, both},
		{"no key", says(401, ""), 1, []string{"401", "API key"}},
		{"busy", says(503, ""), 1, []string{"503", "try again later"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				test.says(w, r)
			}))
			_, err := ProbeServer(t.Context(), server.Client(), server.URL, "a", "b")
			complains(t, err, append(test.want, server.URL)...)
			assert.Equal(t, asked, test.asked, "requests")
			if strings.Count(err.Error(), advice) > 1 {
				t.Errorf("the advice comes more than once: %v", err)
			}
		})
	}
	server := httptest.NewServer(nil)
	server.Close()
	_, err := ProbeServer(t.Context(), http.DefaultClient, server.URL, "a", "b")
	complains(t, err, "cannot reach", "is the server up?")
}

func TestProbeServerWithoutDetokenize(t *testing.T) {
	s := counter(t, serve(t, &letters{form: vLLM, detokenize: http.NotFound}), "m")
	assert.Equal(t, assert.Must(s.CountContext(t.Context(), "ab"))(t), 3, "count")
	_, err := s.DecodeContext(t.Context(), []int{1})
	complains(t, err, "/detokenize", "404")
	_, err = NewServerTokenizer(t.Context(), s, 0, nil)
	complains(t, err, "counts tokens but does not turn them into text", "404")
}

func TestProbeServerStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := &letters{form: vLLM, detokenize: func(http.ResponseWriter, *http.Request) { cancel() }}
	server := serve(t, h)
	assert.Is(t, assert.Failure(ProbeServer(ctx, server.Client(), server.URL, "m")), context.Canceled)
	if len(h.asked) != 1 {
		t.Errorf("got requests %q after the end", h.asked)
	}
}

// A server that was found to tokenize may be busy for a moment.
func TestProbedServerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []int{200, 200, 503, 200} // to the two questions of the probe, and to those behind it
		client := &http.Client{Transport: transport(func() (int, string) {
			status := answers[0]
			answers = answers[1:]
			return status, `{"count":1,"tokens":[1],"prompt":"x"}`
		})}
		s := assert.Must(ProbeServer(t.Context(), client, "http://server", "m"))(t)
		if n, err := s.Count("x"); n != 1 || err != nil || len(answers) > 0 {
			t.Errorf("got count %d, error %v, answers left %v", n, err, answers)
		}
	})
}

func TestVocabSize(t *testing.T) {
	tests := []struct {
		name  string
		form  form
		h     http.Handler
		model string
		want  int
	}{
		{"llama.cpp", llamaCPP, &letters{form: llamaCPP}, "m", 300},
		{"llama.cpp under another name", llamaCPP, &letters{form: llamaCPP}, "x", 9},
		{"vLLM that tells", vLLM, &letters{form: vLLM, model: "told"}, "told", 400},
		{"vLLM", vLLM, &letters{form: vLLM}, "m", 0},
		{"no models", llamaCPP, says(200, `{"data":[]}`), "m", 0},
		{"no vocabulary", llamaCPP, says(200, `{"data":[{"id":"m","meta":null}]}`), "m", 0},
		{"below zero", llamaCPP, says(200, `{"data":[{"id":"m","meta":{"n_vocab":-5}}]}`), "m", 0},
		{"beyond reason", vLLM, says(200, `{"vocab_size":9000000000}`), "m", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := serve(t, test.h)
			s := NewServer(server.Client(), server.URL, test.model)
			s.form = test.form
			assert.Equal(t, s.VocabSize(t.Context()), test.want, "ids")
		})
	}
}

// A server whose texts are not those of its tokens makes no prompts; blanks and special tokens that a tokenizer loses
// or adds do not count.
func TestServerTokenizerOfAnotherText(t *testing.T) {
	for _, c := range []struct {
		name, text string // the text that comes back
		fine       bool
	}{
		{"the same", "ready?", true},
		{"blanks around and between", " ready ?\n", true},
		{"capitals", "READY?", true},
		{"special tokens around", "[CLS] ready? [SEP]", true},
		{"a start marker", "<s>ready?", true},
		{"ids", "[114 101 97 100 121 63]", false},
		{"nothing", "", false},
		{"blanks", "   ", false},
		{"one unknown token", "<unk>", false},
		{"a letter less", "read?", false},
		{"a letter between", "reaxdy?", false},
		{"much", strings.Repeat("wörd ", 2000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := json.Marshal(map[string]any{"count": 1, "tokens": []int{5}, "prompt": c.text})
			assert.Fine(t, err)
			server := serve(t, says(200, string(answer)))
			_, err = NewServerTokenizer(t.Context(), NewServer(server.Client(), server.URL, "m"), 0, nil)
			if c.fine {
				if err != nil {
					t.Errorf("got error %v", err)
				}
				return
			}
			complains(t, err, server.URL, `"ready?"`, "comes back", "--tokenizer DIRECTORY",
				fmt.Sprintf("%.80q", c.text))
			if len(err.Error()) > 500 {
				t.Errorf("got an error of %d bytes: %v", len(err.Error()), err)
			}
		})
	}
}

func TestServerTokenizer(t *testing.T) {
	tests := []struct {
		name    string
		form    form
		size    int
		special []int
		want    int
		avoided []int
	}{
		{"given", vLLM, 50, []int{3}, 50, []int{3}},
		{"told", llamaCPP, 0, nil, 300, nil},
		{"not known", vLLM, 0, nil, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := counter(t, serve(t, &letters{form: test.form}), "m")
			got := assert.Must(NewServerTokenizer(t.Context(), s, test.size, test.special))(t)
			var tok Tokenizer = got
			if tok.VocabSize() != test.want || len(tok.IDs()) != test.want ||
				test.want > 0 && tok.IDs()[test.want-1] != test.want-1 {
				t.Errorf("got %d ids, size %d, want %d", len(tok.IDs()), tok.VocabSize(), test.want)
			}
			if !cmp.Equal(tok.SpecialIDs(), test.avoided) || tok.SpecialTokensToAdd() != 1 || got.Concurrency() != 64 {
				t.Errorf("got special ids %v, %d added, %d at once, want %v, the start marker and 64", tok.SpecialIDs(),
					tok.SpecialTokensToAdd(), got.Concurrency(), test.avoided)
			}
			if ids, err := tok.Encode("a"); !cmp.Equal(ids, []int{'a'}) || err != nil {
				t.Errorf("got ids %v, error %v", ids, err)
			}
			assert.Equal(t, assert.Must(tok.Decode([]int{'a'}))(t), "a", "text")
			if counts, err := CountAll(t.Context(), got, []string{"", "ab"}); !cmp.Equal(counts, []int{1, 3}) ||
				err != nil {
				t.Errorf("got counts %v, error %v", counts, err)
			}
		})
	}
	for _, size := range []int{-1, 1 << 30} {
		_, err := NewServerTokenizer(t.Context(), NewServer(http.DefaultClient, "http://127.0.0.1:1", "m"), size, nil)
		complains(t, err, "vocabulary size")
	}
}

// transport is a server without a network.
type transport func() (status int, answer string)

func (f transport) RoundTrip(*http.Request) (*http.Response, error) {
	status, answer := f()
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func FuzzServerAnswer(f *testing.F) {
	for _, seed := range []string{`{"count":1,"tokens":[1],"prompt":"x"}`, `{"tokens":[1],"content":"x"}`,
		`{"tokens":null,"text":""}`,
		`{"count":-1}`, `{"data":[{"id":"m","meta":{"n_vocab":3}}],"vocab_size":4}`, `[`, `{"tokens":[1e99]}`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		client := &http.Client{Transport: transport(func() (int, string) { return 200, string(answer) })}
		s, err := ProbeServer(t.Context(), client, "http://server", "m")
		if err != nil {
			if s != nil || len(err.Error()) > 20000 {
				t.Errorf("got a server with error %v", err)
			}
			return
		}
		if n, err := s.Count("x"); err == nil && n < 1 {
			t.Errorf("got %d tokens of a server that was found to count", n)
		}
		if ids, err := s.EncodeContext(t.Context(), "x"); err != nil || len(ids) == 0 {
			t.Errorf("got ids %v, error %v", ids, err)
		}
		if n := s.VocabSize(t.Context()); n < 0 || n > maxVocabulary {
			t.Errorf("got a vocabulary of %d", n)
		}
		s.DecodeContext(t.Context(), []int{1})
	})
}

// Ids are what package json reads, or its error.
func FuzzIDs(f *testing.F) {
	for _, list := range []string{"[1,2]", "[ 0 ,\n67108863, 67108864,99999999999 ]", "[]", "null", "[[1],2]", "[-1]",
		"[1e3]", `["1"]`, "[1,null]", "{}", "7"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		var got ids
		var want []int
		err, wanted := json.Unmarshal([]byte(list), &got), json.Unmarshal([]byte(list), &want)
		if (err == nil) != (wanted == nil) || err == nil && !cmp.Equal([]int(got), want) {
			t.Errorf("%q: %v %v, want %v %v", list, got, err, want, wanted)
		}
	})
}
