package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	. "benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

func answerOf(tokens, asked int, finish string, source TokenSource) Request {
	q := NewRequest(0)
	q.Sent, q.Done, q.OutputTokens, q.MaxTokens, q.Finish, q.OutputSource = 0, second, tokens, asked, finish, source
	q.InputTokens = 100
	q.Add(Chunk{At: ms, Tokens: 1})
	return q
}

// Remarks on lengths depend on the number, the direction and the finish reasons of the answers that differ.
func TestAnswerLengths(t *testing.T) {
	type part struct {
		n, tokens, asked int
		finish           string
		source           TokenSource
	}
	of := func(n, tokens, asked int, finish string) part { return part{n, tokens, asked, finish, TokensFromUsage} }
	const shorter = " answers are shorter than requested (median %s tokens): TPOT and tokens/s are those of shorter " +
		"answers"
	const longer = " answers are longer than requested (median 1024 tokens, requested %s): the server seems to ignore "
	fewer := func(count, median, rest string) string { return count + fmt.Sprintf(shorter, median) + rest }
	more := func(count, asked, rest string) string { return count + fmt.Sprintf(longer, asked) + rest }
	chat := Plan{Backend: "openai-chat"}
	both := Plan{Backend: "openai-chat", Command: []string{"serve", "--extra-body", `{"max_tokens":8}`}}
	limited := []part{of(4, 16, 64, "length"), of(1, 3, 64, "stop")}
	for _, c := range []struct {
		name  string
		plan  Plan
		parts []part
		want  string
	}{
		{"as asked", Plan{}, []part{of(5, 400, 400, "length")}, ""},
		{"few", Plan{}, []part{of(96, 400, 400, "length"), of(4, 9, 400, "stop")}, ""},
		{"the model ended them", Plan{}, []part{of(23, 400, 400, "length"), of(37, 192, 400, "stop")},
			fewer("37 of 60", "192 of 400",
				"; most have finish_reason stop; --ignore-eos requests the full length, if the server supports it")},
		{"in spite of ignore_eos", Plan{IgnoreEOS: true}, []part{of(1, 4, 8, "stop"), {1, 5, 8, "stop", TokensFromIDs}},
			fewer("2 of 2", "4.5 of 8", "; most have finish_reason stop in spite of ignore_eos")},
		{"a limit of the server's", Plan{}, limited,
			fewer("5 of 5", "16 of 64", "; most have finish_reason length: the server has a limit of its own")},
		{"a limit below the context", Plan{Context: 4096}, limited, fewer("5 of 5", "16 of 64",
			"; most have finish_reason length: the server has a limit of its own, below the model's context of 4096 "+
				"tokens")},
		{"the context is full", Plan{Context: 116}, limited,
			fewer("5 of 5", "16 of 64", "; most end where prompt and answer fill the model's context of 116 tokens")},
		{"no reason", Plan{}, []part{of(1, 16, 64, "tool_calls")}, fewer("1 of 1", "16 of 64", "")},
		{"longer", Plan{}, []part{of(2, 1024, 8, "length")}, more("2 of 2", "8", "max_tokens")},
		{"longer chat", chat, []part{of(2, 1024, 8, "length")},
			more("2 of 2", "8", "max_completion_tokens; --extra-body.max_tokens 8 sends the older name as well")},
		{"longer chat, that was done", both, []part{of(2, 1024, 8, "length")},
			more("2 of 2", "8", "max_completion_tokens")},
		{"longer chat, of many lengths", chat, []part{of(2, 1024, 8, "length"), of(2, 1024, 9, "length")},
			more("4 of 4", "8.5", "max_completion_tokens")},
		{"counted by others", Plan{}, []part{{5, 3, 400, "stop", TokensFromChunks},
			{5, 3, 400, "stop", TokensFromTokenizer}, of(5, 3, 0, "stop")}, ""},
	} {
		var all []Request
		plan := c.plan
		rec := live.NewView(time.Now(), &plan)
		for _, p := range c.parts {
			for range p.n {
				q := answerOf(p.tokens, p.asked, p.finish, p.source)
				shown := q
				eventtest.Step(rec, event.Due, &shown)
				eventtest.Step(rec, event.Done, &shown)
				all = append(all, q)
			}
		}
		r := summarize(t, all, runOf(plan, 2*second))
		assert.Equal(t, strings.Join(r.Lengths.Describe(&r.Plan), "\n"), c.want, "%s", c.name)
		rec.Finish(&r)
		rec.Finish(&r)
		logged := Each(rec.Snapshot().Log, func(e LogEntry) string { return e.Text })
		assert.Equal(t, len(logged), len(r.Lengths.Describe(&plan)), "%s: the log has %q", c.name, logged)
	}
}
