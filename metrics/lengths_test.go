package metrics_test

import (
	"strings"
	"testing"
	"time"

	. "benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

func answerOf(tokens, asked int, finish string, source TokenSource) Request {
	q := NewRequest(0)
	q.Sent, q.Done, q.OutputTokens, q.MaxTokens, q.Finish, q.OutputSource = 0, time.Second, tokens, asked, finish, source
	q.InputTokens = 100
	q.Add(Chunk{At: time.Millisecond, Tokens: 1})
	return q
}

// Remarks on lengths depend on the number, the direction and the finish reasons of the answers that differ.
func TestAnswerLengths(t *testing.T) {
	const usage = TokensFromUsage
	type part struct {
		n, tokens, asked int
		finish           string
		source           TokenSource
	}
	for _, c := range []struct {
		name  string
		plan  Plan
		parts []part
		want  string
	}{
		{"as asked", Plan{}, []part{{5, 400, 400, "length", usage}}, ""},
		{"few", Plan{}, []part{{96, 400, 400, "length", usage}, {4, 9, 400, "stop", usage}}, ""},
		{"the model ended them", Plan{}, []part{{23, 400, 400, "length", usage}, {37, 192, 400, "stop", usage}},
			"37 of 60 answers are shorter than requested (median 192 of 400 tokens): TPOT and tokens/s are those of shorter answers" +
				"; most have finish_reason stop; --ignore-eos requests the full length, if the server supports it"},
		{"in spite of ignore_eos", Plan{IgnoreEOS: true}, []part{{1, 4, 8, "stop", usage}, {1, 5, 8, "stop", TokensFromIDs}},
			"2 of 2 answers are shorter than requested (median 4.5 of 8 tokens): TPOT and tokens/s are those of shorter answers" +
				"; most have finish_reason stop in spite of ignore_eos"},
		{"a limit of the server's", Plan{}, []part{{4, 16, 64, "length", usage}, {1, 3, 64, "stop", usage}},
			"5 of 5 answers are shorter than requested (median 16 of 64 tokens): TPOT and tokens/s are those of shorter answers" +
				"; most have finish_reason length: the server has a limit of its own"},
		{"a limit below the context", Plan{Context: 4096},
			[]part{{4, 16, 64, "length", usage}, {1, 3, 64, "stop", usage}},
			"5 of 5 answers are shorter than requested (median 16 of 64 tokens): TPOT and tokens/s are those of shorter answers" +
				"; most have finish_reason length: the server has a limit of its own, below the model's context of 4096 tokens"},
		{"the context is full", Plan{Context: 116},
			[]part{{4, 16, 64, "length", usage}, {1, 3, 64, "stop", usage}},
			"5 of 5 answers are shorter than requested (median 16 of 64 tokens): TPOT and tokens/s are those of shorter answers" +
				"; most end where prompt and answer fill the model's context of 116 tokens"},
		{"no reason", Plan{}, []part{{1, 16, 64, "tool_calls", usage}},
			"1 of 1 answers are shorter than requested (median 16 of 64 tokens): TPOT and tokens/s are those of shorter answers"},
		{"longer", Plan{}, []part{{2, 1024, 8, "length", usage}}, "2 of 2 answers are longer than requested (median 1024 tokens, requested 8): the server seems to ignore max_tokens"},
		{"longer chat", Plan{Backend: "openai-chat"}, []part{{2, 1024, 8, "length", usage}},
			"2 of 2 answers are longer than requested (median 1024 tokens, requested 8): the server seems to ignore max_completion_tokens; --extra-body.max_tokens 8 sends the older name as well"},
		{"longer chat, that was done", Plan{Backend: "openai-chat", Command: []string{"serve", "--extra-body", `{"max_tokens":8}`}}, []part{{2, 1024, 8, "length", usage}},
			"2 of 2 answers are longer than requested (median 1024 tokens, requested 8): the server seems to ignore max_completion_tokens"},
		{"longer chat, of many lengths", Plan{Backend: "openai-chat"}, []part{{2, 1024, 8, "length", usage}, {2, 1024, 9, "length", usage}},
			"4 of 4 answers are longer than requested (median 1024 tokens, requested 8.5): the server seems to ignore max_completion_tokens"},
		{"counted by others", Plan{}, []part{{5, 3, 400, "stop", TokensFromChunks}, {5, 3, 400, "stop", TokensFromTokenizer}, {5, 3, 0, "stop", usage}}, ""},
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
		r := summarize(t, all, runOf(plan, 2*time.Second))
		if got := strings.Join(r.Lengths.Describe(&r.Plan), "\n"); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
		rec.Finish(&r)
		rec.Finish(&r)
		var logged []string
		for _, e := range rec.Snapshot().Log {
			logged = append(logged, e.Text)
		}
		if len(logged) != len(r.Lengths.Describe(&plan)) {
			t.Errorf("%s: the log has %q", c.name, logged)
		}
	}
}
