package loadgen

import (
	"fmt"
	"net"
	"net/http"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/loadgen/protocol"
	"benchtop/metrics"
)

// A request with a list of prompts is complete when each of them has its answer.
func TestListOfPrompts(t *testing.T) {
	piece := func(index int, finish string) string {
		return sseEvent(fmt.Sprintf(`{"choices":[{"index":%d,"text":"x","token_ids":[1,2],"finish_reason":%s}]}`, index,
			finish))
	}
	usage := `"usage":{"prompt_tokens":5,"completion_tokens":8}`
	end := sseEvent(`{"choices":[],` + usage + `}`)
	one, two, both := `{"text":"a","finish_reason":"length","token_ids":[1]}`,
		`{"text":"b","finish_reason":"stop","token_ids":[2,3]}`, `"length"`
	for _, c := range []struct {
		name, answer  string
		whole         bool // the answer is asked for in one piece
		n             string
		failure       metrics.Failure
		words         string
		chunks, token int
	}{
		{name: "streamed", answer: stream(piece(0, "null"), piece(1, "null"), piece(0, both), piece(1, both), end,
			done), chunks: 4, token: 8},
		{name: "two answers each", n: "2", answer: stream(piece(0, both), piece(1, both), piece(2, both),
			piece(3, both), end, done), chunks: 4, token: 8},
		{name: "n is ignored", n: "2", answer: stream(piece(0, both), piece(1, both), end, done), chunks: 2, token: 8},
		{name: "one is missing", answer: stream(piece(0, "null"), piece(1, "null"), piece(0, both), end, done),
			failure: metrics.FailedTruncated, words: "the answers to 1 of 2 prompts", chunks: 3},
		{name: "whole", whole: true, answer: plainAnswer("200 OK", "application/json",
			`{"choices":[`+one+","+two+"],"+usage+"}"), chunks: 1, token: 8},
		{name: "whole without usage", whole: true,
			answer: plainAnswer("200 OK", "application/json", `{"choices":[`+one+","+two+"]}"), chunks: 1, token: 3},
		{name: "whole, one is missing", whole: true,
			answer:  plainAnswer("200 OK", "application/json", `{"choices":[`+one+"],"+usage+"}"),
			failure: metrics.FailedTruncated, words: "1 choices for 2 prompts", chunks: 1},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newScripted(t, func(conn net.Conn, r *http.Request, body []byte) bool {
				assert.Has(t, string(body), `"prompt": [[1, 2, 3], "hi"]`)
				return pieces(true, 0, c.answer)(conn, r, body)
			})
			o := Defaults()
			o.Target, o.Model = s.target(), "m"
			if c.whole {
				o.Extra = append(o.Extra, protocol.Field{Name: "stream", JSON: "false"})
			}
			if c.n != "" {
				o.Extra = append(o.Extra, protocol.Field{Name: "n", JSON: c.n})
			}
			list := datasets.Turn{Batch: []datasets.Turn{{TokenIDs: []int{1, 2, 3}}, {Text: "hi"}}, InputTokens: 4,
				MaxTokens: 4}
			q := Try(t.Context(), o, []datasets.Turn{list}, 0)[0]
			ends(t, &q, c.failure, c.words)
			if q.Inputs != 2 || len(q.Chunks) != c.chunks || q.OutputTokens != c.token {
				t.Errorf("%d prompts, %d chunks, %d tokens; want 2, %d, %d", q.Inputs, len(q.Chunks), q.OutputTokens,
					c.chunks, c.token)
			}
		})
	}
}
