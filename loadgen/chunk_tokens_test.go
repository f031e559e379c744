package loadgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// The tokens of chunks are those that the server counts, and are known only as far as it does. Chunks come 60 ms apart.
func TestTokensOfChunks(t *testing.T) {
	const ms = time.Millisecond
	event := func(text, rest string) string {
		return sseEvent(fmt.Sprintf(`{"choices":[{"text":%q%s}`, text, rest))
	}
	ids := func(text string, n int) string {
		return event(text, `,"token_ids":[`+strings.TrimSuffix(strings.Repeat("7,", n), ",")+`]}]`)
	}
	running := func(text string, n int) string {
		return event(text, fmt.Sprintf(`}],"usage":{"prompt_tokens":5,"completion_tokens":%d}`, n))
	}
	logprobs := event("abc", `,"logprobs":{"tokens":["a","b","c"]}}]`)
	plain, stop, none := event("a", `}]`), sseEvent(finish), sseEvent(`{"choices":[{"text":""}]}`)
	type gap struct {
		each   time.Duration
		tokens int
	}
	for _, c := range []struct {
		name    string
		events  []string
		tokens  []int32
		counted int
		gaps    []gap
	}{
		{"ids", []string{ids("a", 1), ids("b", 3), ids("c", 2)}, []int32{1, 3, 2}, 3,
			[]gap{{20 * ms, 3}, {30 * ms, 2}}},
		{"several in the first chunk, which has no gap", []string{ids("a", 4), ids("b", 2)}, []int32{4, 2}, 2,
			[]gap{{30 * ms, 2}}},
		{"a chunk without tokens adds its gap to the next",
			[]string{none, ids("a", 1), ids("", 0), none, ids("b", 3), stop},
			[]int32{0, 1, 0, 0, 3, 0}, 5, []gap{{60 * ms, 3}}},
		{"log probabilities", []string{logprobs, logprobs}, []int32{3, 3}, 2, []gap{{20 * ms, 3}}},
		{"a running usage", []string{running("a", 2), running("b", 5), running("c", 6)}, []int32{2, 3, 1}, 3,
			[]gap{{20 * ms, 3}, {60 * ms, 1}}},
		{"a running usage behind a role", []string{none, running("a", 1), running("", 2), running("b", 4)},
			[]int32{0, 1, 1, 2}, 4, []gap{{60 * ms, 1}, {30 * ms, 2}}},
		{"ids before usage", []string{ids("a", 1), event("b", `,"token_ids":[1,2]}],"usage":{"completion_tokens":9}`)},
			[]int32{1, 2}, 2, []gap{{30 * ms, 2}}},
		{"unknown", []string{plain, plain, plain}, []int32{1, 1, 1}, 0, nil},
		{"usage at the end alone", []string{plain, plain, running("b", 9)}, []int32{1, 1, 1}, 0, nil},
		{"usage of 0 until the end", []string{running("a", 0), running("b", 0), running("c", 9)}, []int32{1, 1, 1}, 0,
			nil},
		{"a usage that falls", []string{running("a", 2), running("b", 4), running("c", 3), running("d", 9)},
			[]int32{2, 2, 1, 1}, 2, []gap{{30 * ms, 2}}},
		{"a usage beyond any answer", []string{running("a", 2), running("b", 1<<30)}, []int32{2, 1}, 1, nil},
		{"a usage without the output", []string{running("a", 2), event("b", `}],"usage":{"prompt_tokens":5}`),
			running("c", 9)}, []int32{2, 1, 1}, 1, nil},
		{"known no longer", []string{ids("a", 1), ids("b", 2), plain, ids("c", 2)}, []int32{1, 2, 1, 2}, 2,
			[]gap{{30 * ms, 2}}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			sent := []string{streamHead}
			for _, e := range c.events {
				sent = append(sent, chunk(e))
			}
			sent[len(sent)-1] += chunk(sseEvent("[DONE]")) + lastChunk
			q := load(t, newScripted(t, pieces(true, 60*ms, sent...)), 1,
				func(o *Options) { o.Protocol = protocol.Completions{Backend: "openai"} })[0]
			var tokens []int32
			var gaps []gap
			for i, k := range q.Chunks {
				tokens = append(tokens, k.Tokens)
				if each, n := q.TokenGap(i); n > 0 {
					gaps = append(gaps, gap{each, n})
				}
			}
			if q.Failure != "" || !slices.Equal(tokens, c.tokens) || q.CountedChunks != c.counted ||
				!slices.Equal(gaps, c.gaps) {
				t.Errorf("tokens %v, %d counted, gaps %v, want %v, %d, %v; %s", tokens, q.CountedChunks, gaps, c.tokens,
					c.counted, c.gaps, q.Error)
			}
		})
	}
}

// An answer tells of cached tokens if its usage has them, if only 0.
func TestCachedKnown(t *testing.T) {
	for usage, want := range map[string]metrics.Request{
		`{"prompt_tokens":9}`:                                                {},
		`{"prompt_tokens":9,"prompt_tokens_details":null}`:                   {},
		`{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":null}}`: {},
		`{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":0}}`:    {CachedKnown: true},
		`{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":7}}`: {CachedKnown: true,
			CachedTokens: 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := load(t, newScripted(t, pieces(true, 0,
				stream(text("a"), sseEvent(finish), sseEvent(`{"choices":[],"usage":`+usage+`}`), done))), 1, nil)[0]
			if q.CachedKnown != want.CachedKnown || q.CachedTokens != want.CachedTokens {
				t.Errorf("%s: %d, known %v", usage, q.CachedTokens, q.CachedKnown)
			}
		})
	}
}
