package loadgen

import (
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// runaway sends so many chunks and then ends in order.
func runaway(chunks int) script {
	const atOnce = 1 << 10
	piece := chunk(strings.Repeat(text("a"), atOnce))
	var all []string
	for range chunks / atOnce {
		all = append(all, piece)
	}
	return pieces(false, 0, append(append([]string{streamHead}, all...), chunk(sseEvent(finish)), lastChunk)...)
}

// An endless stream fails when it has more chunks than its request allows.
func TestMostChunks(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, c := range []struct {
		name   string
		chunks int // before the one with the finish
		asked  string
		want   int
		fails  bool
	}{
		{"as many as fit", chunksLeast - 1<<10, "", chunksLeast - 1<<10 + 1, false},
		{"too many", chunksLeast + 1<<10, "", chunksLeast, true},
		{"more asked for", chunksLeast + 1<<10, "20000", chunksLeast + 1<<10 + 1, false},
		{"more than was asked for", chunksLeast + 1<<14, "20000", 80000, true},
	} {
		bubble(t, c.name, func(t *testing.T) {
			q := load(t, newScripted(t, runaway(c.chunks)), 1, func(o *Options) {
				if c.asked != "" {
					o.Extra = []protocol.Field{{Name: "max_tokens", JSON: c.asked}}
				}
			})[0]
			if len(q.Chunks) != c.want || (q.Failure == metrics.FailedMalformed) != c.fails ||
				c.fails != strings.Contains(q.Error, "chunks, which is the most") {
				t.Errorf("%d chunks, failure %q %q; want %d, failure %v", len(q.Chunks), q.Failure, q.Error, c.want,
					c.fails)
			}
		})
	}
}

// All streams of a run share a limit, and a stream that is over gives its share back.
func TestMostOfAllStreams(t *testing.T) {
	long := strings.Repeat("x", eventLeast-100)
	values := "\ndata: {\"x\": [" + strings.Repeat("0,", eventLeast/4) + "0]}\n"
	for _, c := range []struct {
		name    string
		taken   int64
		body    string
		kind    metrics.Failure
		message string
	}{
		{"a long event fits", 0, long, "", ""},
		{"no room for a long event", bufferedMost - 1<<19, long, metrics.FailedMalformed, "more than 256 MiB"},
		{"too many values", 0, "\ndata: {\"x\": " + strings.Repeat("[", eventLeast*9/10) + "\n",
			metrics.FailedMalformed, "an event of the stream has more than"},
		{"the values of an event fit", 0, values, "", ""},
		{"a short event has its own room", bufferedMost, "x", "", ""},
	} {
		bubble(t, c.name, func(t *testing.T) {
			var e *Engine
			s := newScripted(t, pieces(false, 0, stream(": "+c.body+"\n", sseEvent(finish))))
			q := loadFrom(t, s, &prompts{n: 1}, nil, func(made *Engine) { e = made; e.buffered.Store(c.taken) })[0]
			ends(t, &q, c.kind, c.message)
			assert.Equal(t, e.buffered.Load(), c.taken, "bytes taken after the run as before")
		})
	}
}

// An exchange that goes back to its pool keeps no buffer that a rare answer made large.
func TestLargeBuffersAreGivenUp(t *testing.T) {
	e := Engine{servers: &servers{all: []*server{{}}}}
	x := e.exchange(&metrics.Request{}, event.Discard)
	x.limit(8, 100)
	assert.Fine(t, x.parse([]byte("data: "+strings.Repeat("x", 1<<19)), false))
	x.text = make([]byte, 1<<19)
	if e.buffered.Load() == 0 {
		t.Error("a long event takes nothing of what all streams have together")
	}
	x.returnMemory()
	if held := x.sse.held() + cap(x.text) + cap(x.whole); held > 4*pooledMost || e.buffered.Load() != 0 {
		t.Errorf("%d bytes are held and %d taken", held, e.buffered.Load())
	}
}

// The requested length is that of the body, not of the data set: of two fields the protocol's own counts, and memory is
// bounded by the larger one.
func TestAskedLength(t *testing.T) {
	for _, c := range []struct {
		protocol     protocol.Protocol
		extra        []protocol.Field
		turn         datasets.Turn
		length, most int
	}{
		{protocol.Default(), nil, datasets.Turn{MaxTokens: 8}, 8, 8},
		{protocol.Default(), []protocol.Field{{Name: "max_completion_tokens", JSON: "50"},
			{Name: "min_tokens", JSON: "90"}}, datasets.Turn{MaxTokens: 8}, 8, 50},
		{protocol.Chat{}, []protocol.Field{{Name: "max_tokens", JSON: "50"}}, datasets.Turn{MaxTokens: 8}, 8, 50},
		{protocol.Chat{}, []protocol.Field{{Name: "max_completion_tokens", JSON: "null"},
			{Name: "max_tokens", JSON: "50"}}, datasets.Turn{MaxTokens: 8}, 50, 50},
		{protocol.Default(), []protocol.Field{{Name: "max_tokens", JSON: "4"}}, datasets.Turn{MaxTokens: 8}, 4, 4},
		{protocol.Default(), []protocol.Field{{Name: "max_tokens", JSON: "null"}}, datasets.Turn{MaxTokens: 8}, 0, 0},
		{protocol.Default(), nil, datasets.Turn{MaxTokens: 8, Overrides: []byte(`{"max_tokens": 70}`)}, 70, 70},
		{protocol.Default(), nil, datasets.Turn{Overrides: []byte(`{"max_tokens": null}`)}, 0, 0},
		{protocol.Default(), []protocol.Field{{Name: "max_tokens", JSON: `"many"`}},
			datasets.Turn{MaxTokens: 8, Overrides: []byte(`{"max_tokens": -3}`)}, 0, 0},
	} {
		e := newEncoder(&Options{Protocol: c.protocol, Extra: c.extra})
		if length, most := e.length(&c.turn); length != c.length || most != c.most {
			t.Errorf("%+v, extra %v: got %d, at most %d, want %d and %d", c.turn, c.extra, length, most, c.length,
				c.most)
		}
	}
}
