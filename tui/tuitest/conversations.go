package tuitest

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"benchtop/metrics"
	liveview "benchtop/metrics/live"
	"benchtop/metrics/report"
)

// TalkPlan is of a mixture of conversations, whose prompts grow from turn to turn, and of single long prompts.
func TalkPlan() *metrics.Plan {
	return &metrics.Plan{
		BaseURL: "http://127.0.0.1:8000", Backend: "openai-chat", ModelID: "Qwen/Qwen3-32B",
		Dataset: "mix of chat and rag",
		Load:    "2 conversations/s", Duration: 2 * time.Minute, Rate: 2, Percentiles: []float64{90, 95, 99},
		Goodput:       metrics.SLO{{Metric: metrics.TTFT, LimitMS: 300}},
		Conversations: &metrics.Conversations{Turns: 6, Replies: "model"},
		Workloads: []metrics.Workload{
			{Name: "chat", Share: 0.7},
			{Name: "rag", Share: 0.3, Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1500}}},
		},
	}
}

// TalkRequests are the requests of such a run that are due before the end. With cached, the server keeps most of a
// conversation in its prefix cache; else it computes the whole prompt again at each turn.
func TalkRequests(end time.Duration, cached bool) []*metrics.Request {
	rnd := rand.New(rand.NewPCG(4, 2))
	var out []*metrics.Request
	conversation := 0
	for at := time.Duration(0); at < end; at += time.Duration(rnd.ExpFloat64() * float64(time.Second/2)).Round(
		time.Microsecond) {
		turns, class, history := 6, "chat", 0
		if rnd.IntN(10) < 3 {
			turns, class = 1, "rag"
		}
		due := at
		for turn := range turns {
			q := metrics.NewRequest(len(out))
			q.Conversation, q.Turn, q.Turns, q.Class = conversation, turn, turns, class
			if turns == 1 {
				q.Turns = 0 // of its own
			}
			q.Scheduled, q.Due, q.Admitted, q.Sent = due, due, due, due+time.Millisecond
			q.InputTokens, q.InputSource = history+50+rnd.IntN(200), metrics.TokensFromUsage
			if turn == 0 {
				q.InputTokens += 1200 // the system prompt
			}
			if class == "rag" {
				q.InputTokens = 4000 + rnd.IntN(2000)
			}
			q.IdealTokens, q.IdealKnown, q.CachedKnown = history, true, true
			if cached && history > 0 {
				q.CachedTokens = history * (80 + rnd.IntN(20)) / 100
			}
			prefill := 20 + 0.25*float64(q.InputTokens-q.CachedTokens)
			now := q.Sent + time.Duration(prefill*math.Exp(0.2*rnd.NormFloat64())*float64(time.Millisecond)).Round(
				time.Microsecond)
			n := 20 + rnd.IntN(60)
			for range n {
				q.Add(metrics.Chunk{At: now, Tokens: 1, Answer: true})
				now += time.Duration(15+rnd.IntN(8)) * time.Millisecond
			}
			q.Done, q.OutputTokens, q.OutputSource = q.LastChunk, n, metrics.TokensFromUsage
			q.Finish = "stop"
			broken := rnd.IntN(150) == 0
			if broken {
				q.Failure, q.Error = metrics.FailedTruncated, "stream ended without [DONE]"
			}
			if due < end {
				out = append(out, &q)
			}
			if broken {
				break
			}
			history = q.InputTokens + n
			due = q.Done + time.Duration(1000+rnd.IntN(4000))*time.Millisecond
		}
		conversation++
	}
	slices.SortStableFunc(out, func(a, b *metrics.Request) int { return int(a.Due - b.Due) })
	for i, q := range out {
		q.Index = i
	}
	return out
}

// Talk is such a run at a moment.
func Talk(at time.Duration, cached bool) metrics.Snapshot {
	view := talk(TalkRequests(at, cached), at)
	return Sampled(view.SnapshotAt(at), nil, nil)
}

// TalkDone is such a run when it is over.
func TalkDone(cached bool) metrics.Snapshot {
	const end = time.Minute
	all := slices.DeleteFunc(TalkRequests(end, cached), func(q *metrics.Request) bool { return q.Done >= end })
	view := talk(all, end)
	report, err := report.Summarize(each(all), metrics.Run{Plan: *TalkPlan(), End: metrics.End{Ended: end}})
	if err != nil {
		panic(err)
	}
	view.Finish(&report)
	return Sampled(view.SnapshotAt(end), nil, nil)
}

// talk plays requests until a moment.
func talk(all []*metrics.Request, until time.Duration) *liveview.View {
	view := liveview.NewView(time.Now().Add(-until), TalkPlan())
	Play(view, all, until)
	return view
}
