package simulator

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

var promptBodies = []string{
	`{"prompt":[1,2,3],"max_tokens":2}`,
	` { "max_tokens" : 2 , "prompt" : [ 1 , 20 ,
	300 ] , "stream" : true } `,
	`{"model":"a\"prompt\":[1]","prompt":[[1,2],[3]],"n":2}`,
	`{"stop":["]","{"],"extra":{"prompt":[9],"deep":[[{"a":"\\"}]]},"prompt":[0,10],"min_tokens":null}`,
	`{"prompt":"a text"}`, `{"prompt":["a","b"]}`, `{"prompt":[]}`, `{"prompt":[[]]}`, `{"prompt":[[1],[]]}`,
	`{"prompt":null}`, `{}`, `{"n":1}`,
	`{"prompt":[1,2],"prompt":[3]}`, `{"prompt":[1,2],"Prompt":[3]}`, `{"\u0070rompt":[3],"prompt":[1]}`,
	`{"prompt":[1],"\u0070rompt":[3]}`,
	`{"prompt":[1.5]}`, `{"prompt":[1.0]}`, `{"prompt":[1e2]}`, `{"prompt":[-1]}`, `{"prompt":[1,-2]}`,
	`{"prompt":[012]}`, `{"prompt":[00]}`,
	`{"prompt":[999999999,1234567890123,99999999999999999999]}`, `{"prompt":[1,]}`, `{"prompt":[,1]}`,
	`{"prompt":[1 2]}`, `{"prompt":[1`, `{"prompt":[`,
	`{"prompt":[1],}`, `{"prompt":[1]`, `{"prompt":[1]}}`, `{"prompt":[1]} x`, `{"prompt" [1]}`, `{prompt:[1]}`,
	`["prompt",[1]]`, `"prompt"`, ``, ` `, `{`, `{"`,
	`{"prompt":[[1],[2]`, `{"prompt":[[1][2]]}`, `{"prompt":[[1],2]}`, `{"prompt":[1,[2]]}`, `{"a":"\`, `{"a":]}`, `}`,
	`{"prompt":[1],"max_tokens":"x"}`,
}

// Prompts of ids that are read before the rest of the request give the same request, and the same errors, as the
// general decoder.
func TestCutPrompt(t *testing.T) {
	for _, body := range promptBodies {
		sameAsDecoded(t, body)
	}
	fast := 0
	for _, body := range promptBodies[:4] {
		if _, ids := cutPrompt([]byte(body)); ids != nil {
			fast++
		}
	}
	assert.Equal(t, fast, 4, "of 4 usual requests are read fast")
}

func FuzzCutPrompt(f *testing.F) {
	for _, body := range promptBodies {
		f.Add(body)
	}
	f.Fuzz(sameAsDecoded)
}

func sameAsDecoded(t *testing.T, body string) {
	t.Helper()
	var want completionRequest
	wantErr := json.Unmarshal([]byte(body), &want)
	s := New(Defaults())
	defer s.Close()
	var got completionRequest
	r := httptest.NewRequest("POST", "/v1/completions", nil)
	r.Body = receivedBody{nil, []byte(body)}
	problem := s.readCompletion(nil, r, &got)
	if wantErr == nil {
		if problem == nil {
			problem = s.checkModel("")
		}
		if known := s.checkModel(want.Model) == nil; known && (problem != nil || !reflect.DeepEqual(got, want)) {
			t.Errorf("%q: got %+v, %v, want %+v", body, got, problem, want)
		}
	} else if problem == nil {
		t.Errorf("%q is taken, want %v", body, wantErr)
	}
}

// longPrompt is a request with so many token ids of a usual vocabulary.
func longPrompt(tokens int, seed uint64) string {
	draws := rand.New(rand.NewPCG(seed, 0))
	var body strings.Builder
	body.WriteString(`{"model":"sim-8b","prompt":[`)
	for i := range tokens {
		if i > 0 {
			body.WriteString(", ")
		}
		body.WriteString(strconv.Itoa(draws.IntN(128_000)))
	}
	body.WriteString(`],"max_tokens":1,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`)
	return body.String()
}

// long is a server of long prompts that takes hardly any time for a step.
func long() Profile {
	p := Defaults()
	p.MaxModelLen, p.Blocks, p.MaxBatchedTokens, p.Speed = 1_000_000, 0, 1_000_000, 1000
	p.PrefillToken = 0
	return p
}

// BenchmarkLongPrompt is the whole cost of a request with a long prompt, from its body to the end of its answer. The
// bytes are those of the body.
func BenchmarkLongPrompt(b *testing.B) {
	for _, tokens := range []int{1_000, 100_000, 900_000} {
		for _, bodies := range []LoggedBodies{"", PrefixBodies, FullBodies} {
			name := strconv.Itoa(tokens)
			if bodies != "" {
				name += "-log-" + string(bodies)
			}
			b.Run(name, func(b *testing.B) {
				s := New(long())
				defer s.Close()
				if bodies != "" {
					s.LogTo(new(discardLog))
					s.LogBodies(bodies)
				}
				body := longPrompt(tokens, 1)
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					w := httptest.NewRecorder()
					s.Handler().ServeHTTP(w,
						httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(body)))
					if w.Code != http.StatusOK ||
						!strings.Contains(w.Body.String(), `"prompt_tokens":`+strconv.Itoa(tokens)) {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		}
	}
}

// discardLog takes a log and forgets it.
type discardLog struct{}

func (*discardLog) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkWaitingLongPrompt is a step of a server with a large, full cache while a prompt of 900,000 tokens, of which
// it has all but the end, waits for room.
func BenchmarkWaitingLongPrompt(b *testing.B) {
	p := Defaults()
	p.MaxModelLen, p.Blocks, p.MaxBatchedTokens = 1_000_000, 62_600, 1_000_000
	s := newScheduler(p)
	admit := func(tokens int, limit int) *sequence {
		seq := newSequence(tokens, limit, "length", 0)
		seq.names = newBlockNames(p.BlockSize, strconv.Itoa(limit), randomPrompt(tokens, 1), randomAnswer(1))
		seq.arrived = time.Now()
		s.queue([]*sequence{seq})
		return seq
	}
	step := func() {
		for _, sh := range s.plan().shares {
			sh.seq.advance(sh.tokens, 0)
		}
		s.drop((*sequence).done)
	}
	admit(900_000, 1)
	step()
	admit(200_000, 100) // leaves the first most of its blocks
	step()
	waits := admit(900_000, 1)
	b.ReportAllocs()
	for b.Loop() {
		if s.plan(); len(waits.blocks) > 0 {
			b.Fatal("nothing waits any more")
		}
	}
}
