package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// conversations is a run of three conversations, one of which fails in its second turn.
func conversations(t *testing.T) metrics.Report {
	run := metrics.Run{
		Plan: metrics.Plan{Rate: 1, Metrics: []metrics.Latency{metrics.TTFT}, Percentiles: []float64{99},
			MaxConcurrency: 8,
			Conversations:  &metrics.Conversations{Count: 3, Turns: 2, Delay: 500 * ms, GlobalPrefix: 0.25}},
		End: metrics.End{Ended: 10 * time.Second},
	}
	var qs []metrics.Request
	for c := range 3 {
		for turn := range 2 {
			at := time.Duration(c+4*turn) * time.Second
			q := sampleRequest(len(qs), 100*(turn+1), 4, at, at, time.Duration(400-300*turn)*ms, 100*ms, 100*ms, 100*ms)
			if c == 2 && turn == 0 {
				q = refused(len(qs), 100, at, at, "no")
			}
			q.Conversation, q.Turn, q.Turns, q.Class = c, turn, 2, "chat"
			q.CachedTokens, q.CachedKnown = 80*turn, true
			q.IdealTokens, q.IdealKnown = 96*turn, true
			if c == 2 && turn == 1 {
				continue
			}
			qs = append(qs, q)
		}
	}
	return summarize(t, run, qs)
}

func TestConversations(t *testing.T) {
	r := conversations(t)
	want := `
Requests by class, latencies in ms
class  done  failed  req/s  tok/s  TTFT p50     p99  TPOT p50     p99  good  cached  ideal
chat      4       1   0.40   1.60    250.00  400.00    100.00  100.00     -    27 %   32 %

Requests by turn, latencies in ms
turn  done  failed  tokens in  TTFT p50     p99  TPOT p50  cached  ideal
1        2       1        100    400.00  400.00    100.00     0 %    0 %
2        2       0        200    100.00  100.00    100.00    40 %   48 %

Conversations: 2 completed, 1 failed, 0 unfinished; 1.3 of 2.0 turns on average
  makespan               mean 4.40 s, p50 4.40 s, p99 4.40 s
  waiting for the model  mean 1.10 s, p50 1.10 s, p99 1.10 s
  cached share           mean 26.6 %, p50 26.6 %, p99 26.6 %
`
	assert.Equal(t, Groups(r), want, "Groups")
	const words = "1 turn was not sent because an earlier one failed, in 1 conversation"
	if got := Remarks(r); !strings.Contains(strings.Join(strings.Fields(got), " "), words) {
		t.Errorf("%s lacks %s", got, words)
	}
	result := resultJSON(t, r)
	assert.Has(t, result,
		`"mode": "multi_turn", "num_conversations": 3, "turns_per_conversation": 2, "multi_turn_concurrency": 8, `+
			`"inter_turn_delay_ms": 500, "prefix_global_ratio": 0.25, `+
			`"prefix_conversation_ratio": 0.0, "prefix_unique_ratio": 0.75, "no_history_accumulation": true, `+
			`"conversations_completed": 2, "conversations_failed": 1, `+
			`"avg_turns_completed": 1.3333333333333333, "avg_conversation_duration_ms": 4400.0, "per_turn_metrics": `+
			`[{"turn_index": 0, "num_samples": 3, "completed": 2, "failed": 1, `+
			`"total_input_tokens": 200,`,
		`"median_ttft_ms": 100.0, "std_ttft_ms": 0.0, "p99_ttft_ms": 100.0}], "benchtop": {`,
		`"prefix_cache": {"ideal_tokens": 192, "ideal_share": 0.32, "cached_tokens": 160, "cached_share": `+
			`0.26666666666666666, "source": "usage"}`,
		`{"turn": 2, "last_turn": 2, "completed": 2, "failed": 0, "good": null, "input_tokens": 400, `+
			`"output_tokens": `+
			`8, "cached_tokens": 160, "cached_share": 0.4, "ideal_tokens": 192, "ideal_share": 0.48,`,
		`"sessions": {"conversations": 3, "completed": 2, "failed": 1, "unfinished": 0, "mean_turns_completed": `+
			`1.3333333333333333, "mean_turns_planned": 2.0, "turns_not_sent": 1, "makespan_ms": {"n": 2,`)
}

// A run of single requests has none of it.
func TestNoConversations(t *testing.T) {
	run, qs := sampleRun()
	result := resultJSON(t, summarize(t, run, qs))
	assert.Lacks(t, result, `"mode"`, `"turns"`, `"sessions"`, `"per_turn_metrics"`, `"prefix_cache"`,
		`"num_conversations"`)
}
