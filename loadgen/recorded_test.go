package loadgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// recording holds the answers of a real server, as docs/compatibility/record_streams.py writes it.
type recording struct {
	Engine, Version, Command string
	Cases                    []recordedCase
}

// recordedCase is a request and its answer: the pieces that the reads of a socket returned, with their times in
// milliseconds, and the facts of the answer as the recorder read them.
type recordedCase struct {
	Name, Backend, Path string
	Body                *string // nil where it is too long to keep
	Encoding            string
	Pieces              [][2]any
	Closed              bool
	Want                struct {
		Status  int
		Chunks  int
		FirstMS int `json:"first_ms"`
		LastMS  int `json:"last_ms"`
		Text    string
		Finish  string
		Input   *int     `json:"input_tokens"`
		Output  *int     `json:"output_tokens"`
		Cached  *int     `json:"cached_tokens"`
		Queue   *float64 `json:"queue_ms"`
		Prefill *float64 `json:"prefill_ms"`
	}
}

// bytes are those of a piece.
func (c *recordedCase) bytes(i int) string {
	return (&streamCase{Encoding: c.Encoding}).bytes(c.Pieces[i][1].(string))
}

func (c *recordedCase) at(i int) time.Duration {
	return time.Duration(c.Pieces[i][0].(float64)) * time.Millisecond
}

// asRecorded sends each piece by itself at its time.
func (c *recordedCase) asRecorded(conn net.Conn) {
	start := time.Now()
	for i := range c.Pieces {
		time.Sleep(c.at(i) - time.Since(start))
		_, _ = conn.Write([]byte(c.bytes(i)))
	}
}

// split sends all bytes at once, n in a piece; 0 for all of them.
func (c *recordedCase) split(n int) func(net.Conn) {
	return func(conn net.Conn) {
		var all []byte
		for i := range c.Pieces {
			all = append(all, c.bytes(i)...)
		}
		n = cmp.Or(n, len(all))
		for len(all) > 0 {
			k := min(n, len(all))
			_, _ = conn.Write(all[:k])
			all = all[k:]
		}
	}
}

// request is the turn of the recorded request, and the fields that it has beside those of its protocol.
func (c *recordedCase) request(t *testing.T, p protocol.Protocol) (turn datasets.Turn, extra []protocol.Field) {
	t.Helper()
	if c.Body == nil {
		return protocol.Smallest(p, 8), nil
	}
	var body struct {
		Prompt, Input json.RawMessage
		Query         string
		Documents     []string
		Messages      []struct{ Content json.RawMessage }
		MaxTokens     int `json:"max_tokens"`
		MaxCompletion int `json:"max_completion_tokens"`
		MaxOutput     int `json:"max_output_tokens"`
	}
	decode(t, []byte(*c.Body), &body)
	turn.MaxTokens = max(body.MaxTokens, body.MaxCompletion, body.MaxOutput)
	for _, given := range []json.RawMessage{body.Prompt, body.Input} {
		prompt(&turn, given)
	}
	for _, m := range body.Messages {
		var parts []struct{ Text string }
		if json.Unmarshal(m.Content, &turn.Text) != nil {
			decode(t, m.Content, &parts)
			turn.Text = parts[0].Text
		}
	}
	if body.Documents != nil {
		turn.Batch = []datasets.Turn{{Text: body.Query}}
		for _, text := range body.Documents {
			turn.Batch = append(turn.Batch, datasets.Turn{Text: text})
		}
	}
	own, err := p.Body(nil, protocol.Ask{Model: "tiny", Turn: &turn})
	assert.Fine(t, err)
	var ours, theirs map[string]json.RawMessage
	decode(t, own, &ours)
	decode(t, []byte(*c.Body), &theirs)
	for _, name := range names(t, *c.Body) {
		if string(ours[name]) != string(theirs[name]) && name != "model" {
			extra = append(extra, protocol.Field{Name: name, JSON: string(theirs[name])})
		}
	}
	for _, name := range names(t, string(own)) {
		if theirs[name] == nil {
			extra = append(extra, protocol.Field{Name: name, JSON: "null"})
		}
	}
	return turn, extra
}

// prompt is a text, token ids, or several texts.
func prompt(turn *datasets.Turn, given json.RawMessage) {
	var texts []string
	switch {
	case given == nil:
	case json.Unmarshal(given, &turn.Text) == nil:
	case json.Unmarshal(given, &texts) == nil:
		for _, text := range texts {
			turn.Batch = append(turn.Batch, datasets.Turn{Text: text})
		}
	default:
		_ = json.Unmarshal(given, &turn.TokenIDs)
	}
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	assert.Fine(t, json.Unmarshal(data, into))
}

// names are those of the members of an object, in its order.
func names(t *testing.T, object string) (all []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(object))
	for depth := 0; ; {
		token, err := d.Token()
		switch token := token.(type) {
		case json.Delim:
			depth += map[json.Delim]int{'{': 1, '[': 1, '}': -1, ']': -1}[token]
			if depth == 0 {
				return all
			}
		case string:
			if depth == 1 {
				all = append(all, token)
				var value json.RawMessage
				err = d.Decode(&value)
			}
		}
		assert.Fine(t, err)
	}
}

// syntheticBackends are those without a recording: their answers in tests are written by hand or by the simulated
// server. openai is the same as vllm.
var syntheticBackends = []string{"openai", "openai-embeddings-clip", "openai-embeddings-vlm2vec", "infinity-embeddings",
	"infinity-embeddings-clip",
	"sglang", "lmdeploy", "llama.cpp", "tgi"}

// Answers of real servers have the facts that the recorder read from them, however their bytes are split, and requests
// have the bodies that it sent.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	recorded := map[string]bool{}
	for _, file := range files {
		var all recording
		readGolden(t, strings.TrimPrefix(file, "testdata/"), &all)
		for _, c := range all.Cases {
			recorded[c.Backend] = true
			if protocol.Named(c.Backend) == nil {
				t.Errorf("%s: no backend %s", filepath.Base(file), c.Backend)
				continue
			}
			for how, send := range map[string]func(net.Conn){"as recorded": c.asRecorded, "byte by byte": c.split(1),
				"at once": c.split(0)} {
				bubble(t, fmt.Sprintf("%s/%s/%s", filepath.Base(file), c.Name, how),
					func(t *testing.T) { c.play(t, send, how == "as recorded") })
			}
		}
	}
	for _, name := range protocol.List() {
		if synthetic := slices.Contains(syntheticBackends, name); synthetic == recorded[name] {
			t.Errorf("backend %s: recorded %t, synthetic %t", name, recorded[name], synthetic)
		}
	}
}

// play sends a request and answers it with the recorded bytes.
func (c *recordedCase) play(t *testing.T, send func(net.Conn), timed bool) {
	p := protocol.Named(c.Backend)
	turn, extra := c.request(t, p)
	s := newScripted(t, func(conn net.Conn, r *http.Request, body []byte) bool {
		if c.Body != nil && string(body) != *c.Body {
			t.Errorf("got the request\n%s\nwant\n%s", body, *c.Body)
		}
		if r.URL.Path != c.Path && c.Name != "unknown path" {
			t.Errorf("got the path %s, want %s", r.URL.Path, c.Path)
		}
		send(conn)
		return !c.Closed
	})
	q := loadFrom(t, s, &prompts{n: 1, turn: &turn}, func(o *Options) {
		o.Protocol, o.Model, o.Extra, o.KeepText = p, c.model(t), extra, true
	}, nil)[0]
	w := &c.Want
	if q.Status != w.Status || q.OK() != (w.Status == http.StatusOK) {
		t.Fatalf("status %d, failure %q %s; want status %d", q.Status, q.Failure, q.Error, w.Status)
	}
	if !q.OK() {
		if q.Failure != metrics.FailedStatus || q.Error == "" {
			t.Errorf("failure %q, error %q", q.Failure, q.Error)
		}
		return
	}
	// The ends of all protocols have the words of completions.
	finish := cmp.Or(map[string]string{"completed": "stop", "end_turn": "stop", "incomplete": "length",
		"max_tokens": "length"}[w.Finish], w.Finish)
	if q.Text != w.Text || q.Finish != finish {
		t.Errorf("text %q, finish %q; want %q, %q", q.Text, q.Finish, w.Text, finish)
	}
	if p.Traits().Streams && len(q.Chunks) != w.Chunks {
		t.Errorf("%d chunks, want %d", len(q.Chunks), w.Chunks)
	}
	first, last := q.FirstChunk-q.Sent, q.LastChunk-q.Sent
	if ms := time.Millisecond; timed && p.Traits().Streams &&
		(first != time.Duration(w.FirstMS)*ms || last != time.Duration(w.LastMS)*ms) {
		t.Errorf("first chunk at %s, last at %s; want %d and %d ms", first, last, w.FirstMS, w.LastMS)
	}
	c.checkTokens(t, &q)
	if got, want := [2]time.Duration{q.ServerQueue, q.ServerPrefill},
		[2]time.Duration{clock(w.Queue), clock(w.Prefill)}; got != want {
		t.Errorf("the server's clocks %s, want %s", got, want)
	}
}

// clock is a time of the server's, Never for none.
func clock(ms *float64) time.Duration {
	if ms == nil {
		return metrics.Never
	}
	return protocol.Milliseconds(*ms)
}

// model is that of the request.
func (c *recordedCase) model(t *testing.T) string {
	if c.Body == nil {
		return "tiny"
	}
	var body struct{ Model string }
	decode(t, []byte(*c.Body), &body)
	return body.Model
}

// checkTokens compares the counts that the server sent. Those of a recording's frames are not read, as with vLLM.
func (c *recordedCase) checkTokens(t *testing.T, q *metrics.Request) {
	w := &c.Want
	if w.Input != nil && c.Backend != "openai-audio" &&
		(q.InputTokens != *w.Input || q.InputSource != metrics.TokensFromUsage) {
		t.Errorf("%d input tokens by %q, want %d", q.InputTokens, q.InputSource, *w.Input)
	}
	if w.Output != nil && (q.OutputTokens != *w.Output || q.OutputSource != metrics.TokensFromUsage) {
		t.Errorf("%d output tokens by %q, want %d", q.OutputTokens, q.OutputSource, *w.Output)
	}
	if w.Cached != nil && q.CachedTokens != *w.Cached {
		t.Errorf("%d cached tokens, want %d", q.CachedTokens, *w.Cached)
	}
}
