package loadgen

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"benchtop/metrics"
)

// A tokenizer counts what the server left uncounted, and nothing else.
func TestCountText(t *testing.T) {
	words := func(text string) (int, error) { return len(strings.Fields(text)), nil }
	stop := event(finish)
	for _, c := range []struct {
		name   string
		script script
		count  func(string) (int, error)
		tokens int
		source metrics.TokenSource
	}{
		{"nobody else did", pieces(true, 0, stream(text("a b c "), text("d e"), stop, done)), words, 5, metrics.TokensFromTokenizer},
		{"no tokenizer", pieces(true, 0, stream(text("a b c "), text("d e"), stop, done)), nil, 2, metrics.TokensFromChunks},
		{"the server did", pieces(true, 0, stream(text("a b c"), stop, event(count), done)), words, 7, metrics.TokensFromUsage},
		{"nothing but a finish", pieces(true, 0, stream(stop, done)), words, 1, metrics.TokensFromChunks},
		{"it counts none", pieces(true, 0, stream(text(" "), stop, done)), words, 1, metrics.TokensFromChunks},
		{"it fails", pieces(true, 0, stream(text("a b"), stop, done)), func(string) (int, error) { return 9, errors.New("no") }, 1, metrics.TokensFromChunks},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := load(t, newScripted(t, c.script), 1, func(o *Options) { o.CountText = c.count })[0]
				if q.Failure != "" || q.OutputTokens != c.tokens || q.OutputSource != c.source {
					t.Errorf("got %d tokens by %q (%s %s), want %d by %q", q.OutputTokens, q.OutputSource, q.Failure, q.Error, c.tokens, c.source)
				}
			})
		})
	}
}
