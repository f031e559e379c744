package loadgen

import (
	"errors"
	"strings"
	"testing"

	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// A text that is not all of the output is not counted, and marked as a part.
func TestPartOfTheOutput(t *testing.T) {
	words := func(text string) (int, error) { return len(strings.Fields(text)), nil }
	for _, c := range []struct {
		name, delta string
		part        bool
		source      metrics.TokenSource
	}{
		{"an answer", `{"content":"x y"}`, false, metrics.TokensFromTokenizer},
		{"reasoning", `{"reasoning_content":"hm"}`, true, metrics.TokensFromChunks},
		{"a call beside text", `{"content":"x","tool_calls":[{"index":0}]}`, true, metrics.TokensFromChunks},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := pieces(true, 0, stream(sseEvent(`{"choices":[{"delta":`+c.delta+`}]}`),
				sseEvent(`{"choices":[{"delta":{"content":"a b c"},"finish_reason":"stop"}]}`), done))
			q := load(t, newScripted(t, s), 1,
				func(o *Options) { o.Protocol, o.CountText, o.KeepText = protocol.Chat{}, words, true })[0]
			if q.TextPart != c.part || q.OutputSource != c.source {
				t.Errorf("part %v, %d tokens by %q (%s)", q.TextPart, q.OutputTokens, q.OutputSource, q.Error)
			}
		})
	}
}

// A tokenizer counts only the texts that the server did not count.
func TestCountText(t *testing.T) {
	words := func(text string) (int, error) { return len(strings.Fields(text)), nil }
	stop := sseEvent(finish)
	for _, c := range []struct {
		name   string
		script script
		count  func(string) (int, error)
		tokens int
		source metrics.TokenSource
	}{
		{"nobody else did", pieces(true, 0, stream(text("a b c "), text("d e"), stop, done)), words, 5,
			metrics.TokensFromTokenizer},
		{"no tokenizer", pieces(true, 0, stream(text("a b c "), text("d e"), stop, done)), nil, 2,
			metrics.TokensFromChunks},
		{"the server did", pieces(true, 0, stream(text("a b c"), stop, sseEvent(count), done)), words, 7,
			metrics.TokensFromUsage},
		{"nothing but a finish", pieces(true, 0, stream(stop, done)), words, 1, metrics.TokensFromChunks},
		{"it counts none", pieces(true, 0, stream(text(" "), stop, done)), words, 1, metrics.TokensFromChunks},
		{"it fails", pieces(true, 0, stream(text("a b"), stop, done)),
			func(string) (int, error) { return 9, errors.New("no") }, 1, metrics.TokensFromChunks},
	} {
		bubble(t, c.name, func(t *testing.T) {
			q := load(t, newScripted(t, c.script), 1, func(o *Options) { o.CountText = c.count })[0]
			if q.Failure != "" || q.OutputTokens != c.tokens || q.OutputSource != c.source {
				t.Errorf("got %d tokens by %q (%s %s), want %d by %q", q.OutputTokens, q.OutputSource, q.Failure,
					q.Error, c.tokens, c.source)
			}
		})
	}
}
