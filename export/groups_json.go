package export

import (
	"cmp"
	"slices"
	"time"

	"benchtop/metrics"
)

// groups are the figures of classes, turns and conversations, where requests have them.
func groups(r *metrics.Report) (o object) {
	if len(r.Classes) > 0 {
		o = append(o, Arg{"classes",
			each(r.Classes, func(g *metrics.Group) object { return group(r, g, Arg{"class", g.Class}) })})
	}
	if len(r.Turns) > 0 {
		o = append(o, Arg{"turns", each(r.Turns, func(g *metrics.Group) object {
			return group(r, g, Arg{"turn", g.First}, Arg{"last_turn", g.Last})
		})})
	}
	if len(r.Compared) > 0 {
		o = append(o, Arg{"compared", each(r.Compared, func(c *metrics.Comparison) object { return compared(r, c) })})
	}
	if r.Sessions != nil {
		o = append(o, Arg{"sessions", sessions(r.Sessions)})
	}
	return o
}

func group(r *metrics.Report, g *metrics.Group, name ...Arg) object {
	return slices.Concat(name, object{
		{"completed", g.Completed}, {"failed", g.Failed}, {"good", when(r.Plan.JudgesGroup(g, r.Objectives), g.Good)},
		{"input_tokens", g.InputTokens}, {"output_tokens", g.OutputTokens}, {"cached_tokens", g.Cached.Tokens},
		{"cached_share", finiteOrNull(g.Cached.Rate())},
		{"ideal_tokens", when(g.Ideal.Requests > 0, g.Ideal.Tokens)}, {"ideal_share", finiteOrNull(g.Ideal.Rate())},
		{"request_throughput", g.RequestThroughput(r.Duration)}, {"output_throughput", g.OutputThroughput(r.Duration)},
		{"judged", g.Judged}, {"correct", g.Correct},
		{"ttft_ms", statistic(&g.Statistics[metrics.TTFT], "")},
		{"tpot_ms", statistic(&g.Statistics[metrics.TPOT], "")},
		{"e2el_ms", statistic(&g.Statistics[metrics.E2EL], "")},
	}, columns(r, &g.Counts))
}

// compared are the places of an axis, with the slow ones by latency.
func compared(r *metrics.Report, c *metrics.Comparison) object {
	o := object{{"by", string(c.By)}, {"header", orNull(c.Header)}}
	if c.By == metrics.AxisEngine {
		o = append(o, Arg{"engines", each(c.Engines, func(e *metrics.Engine) object {
			return object{
				{"name", r.Plan.EngineName(e, c.Engines)}, {"role", orNull(r.Plan.PageOf(e).Role)},
				{"running", finiteOrNull(e.Running)},
				{"waiting", finiteOrNull(e.Waiting)}, {"kv_usage", finiteOrNull(e.KVUsage)},
				{"input_throughput", finiteOrNull(e.PromptTokens / e.Took.Seconds())},
				{"output_throughput", finiteOrNull(e.OutputTokens / e.Took.Seconds())},
				{"mean_ttft_ms", when(e.TTFT.N > 0, milliseconds(e.TTFT.Mean))},
			}
		})})
	} else {
		o = append(o, Arg{"places",
			each(c.Places, func(g *metrics.Group) object { return group(r, g, Arg{"place", g.Place}) })})
	}
	if f := c.Failures; f != nil {
		o = append(o, Arg{"failures", object{{"longer", orNull(f.Longer)},
			{"failing", each(f.Failing, func(p *metrics.FailingPlace) object {
				return object{{"place", p.Name}, {"share", p.Share}, {"others", p.Others}}
			})}}})
	}
	return append(o, Arg{"spread", each(c.Spreads, func(s *metrics.Spread) object {
		return object{
			{"metric", s.Latency.Key()}, {"slowest", orNull(s.Slowest)}, {"fastest", orNull(s.Fastest)},
			{"ratio", orNull(s.Ratio)}, {"places", s.Places}, {"pieces", s.Pieces},
			{"longer", when(s.Pieces == 0, s.Longer)},
			{"slow", each(s.Slow, func(p *metrics.SlowPlace) object {
				return object{{"place", p.Name}, {"ratio", p.Ratio}, {"input_ratio", orNull(p.Input)}}
			})},
		}
	})})
}

// serverShare is what one of several servers did.
func serverShare(r *metrics.Report, s *metrics.Group) object {
	wait, first := r.Plan.FirstWait().Key(), &s.Statistics[r.Plan.FirstWait()]
	return append(object{
		{"url", r.Plan.ServerURL(s.Server)}, {"completed", s.Completed}, {"failed", s.Failed},
		{"mean_in_flight", metrics.PerSecond(s.Busy, r.Duration)},
		{"request_throughput", s.RequestThroughput(r.Duration)}, {"output_throughput", s.OutputThroughput(r.Duration)},
		{"p50_" + wait + "_ms", finiteOrNull(percentileOf(first, 50))},
		{"p99_" + wait + "_ms", finiteOrNull(percentileOf(first, 99))},
	}, columns(r, &s.Counts)...)
}

// window is a second of the run.
func window(r *metrics.Report, w *metrics.Window) object {
	return slices.Concat(object{
		{"t_s", int(w.Start / time.Second)},
		{"due", w.Due}, {"sent", w.Sent}, {"done", w.Completed}, {"good", goodOrNull(r, w.Good)}, {"failed", w.Failed},
		{"cancelled", w.Cancelled},
	}, columns(r, &w.Counts), object{
		{"held", w.Held}, {"waiting", w.Waiting}, {"running", w.Running},
		{"input_tokens", w.TokensIn}, {"output_tokens", w.TokensOut},
	}, percentiles(w, inFull, 50, 90, 99), percentiles(w, func(l metrics.Latency) bool { return !inFull(l) }, 50, 99))
}

// answers counts what there is of refusals, tool calls, reasoning, drafts, and answers that were judged.
func answers(r *metrics.Report) object {
	o := counts(r)
	if r.Calls > 0 {
		o = append(o, Arg{"tool_calls", object{{"answers", r.Calling}, {"calls", r.Calls},
			{"first_ms", statistic(&r.FirstCalls, "")}}})
	}
	if n := r.Reasoning; n.Requests > 0 {
		o = append(o, Arg{"reasoning", object{{"requests", n.Requests}, {"tokens", n.Tokens},
			{"share", finiteOrNull(n.Rate())}}})
	}
	if n := r.Accepted; n.Requests > 0 {
		o = append(o, Arg{"drafts", object{{"requests", n.Requests}, {"tokens", n.Of}, {"accepted", n.Tokens},
			{"accepted_share", statistic(&r.Acceptance, "")}}})
	}
	if r.Judged == 0 {
		return o
	}
	return append(o, Arg{"answers", object{
		{"judged", r.Judged}, {"correct", r.Correct}, {"correct_rate", metrics.Share(r.Correct, r.Judged)},
		{"vllm_correct_rate", metrics.Share(r.Lenient, r.Judged)},
		{"wrong", wrongList(r.Wrong)},
	}})
}

func wrongList(all []metrics.WrongAnswers) list {
	return each(all, func(x *metrics.WrongAnswers) object {
		return object{{"reason", x.Reason}, {"count", x.Count}, {"index", x.Index}, {"detail", x.Detail}}
	})
}

func sessions(s *metrics.Sessions) object {
	return object{
		{"conversations", s.Conversations}, {"completed", s.Completed}, {"failed", s.Failed},
		{"unfinished", s.Unfinished},
		{"mean_turns_completed", s.Turns}, {"mean_turns_planned", s.Planned}, {"turns_not_sent", s.NotSent},
		{"makespan_ms", statistic(&s.Makespan, "")}, {"waiting_ms", statistic(&s.Waiting, "")},
		{"cached_share", statistic(&s.CachedShare, "")},
	}
}

// prefixCache compares the server's prefix cache with an ideal one, where that was counted.
func prefixCache(r *metrics.Report) object {
	if r.Ideal.Requests == 0 {
		return nil
	}
	share, source := r.CachedShare()
	return object{{"prefix_cache", object{
		{"ideal_tokens", r.Ideal.Tokens}, {"ideal_share", finiteOrNull(r.Ideal.Rate())},
		{"cached_tokens", when(r.Cached.Requests > 0, r.Cached.Tokens)}, {"cached_share", finiteOrNull(share)},
		{"source", orNull(string(source))},
	}}}
}

// conversationKeys are those of vLLM's Rust client for a run of conversations with several turns.
func conversationKeys(r *metrics.Report) object {
	s := r.Sessions
	if s == nil {
		return nil
	}
	o := object{{"mode", "multi_turn"}}
	if c := r.Plan.Conversations; c != nil {
		n := cmp.Or(c.Count, s.Conversations)
		active := c.Active
		for _, most := range []int{r.Plan.MaxConcurrency, n} {
			active = cmp.Or(active, most)
		}
		o = append(o, object{
			{"num_conversations", n}, {"turns_per_conversation", number(c.Turns)}, {"multi_turn_concurrency", active},
			{"inter_turn_delay_ms", number(milliseconds(c.Delay))},
		}...)
		if c.GlobalPrefix > 0 || c.ConversationPrefix > 0 {
			o = append(o, object{
				{"prefix_global_ratio", c.GlobalPrefix}, {"prefix_conversation_ratio", c.ConversationPrefix},
				{"prefix_unique_ratio", max(0, 1-(c.GlobalPrefix+c.ConversationPrefix))},
				{"no_history_accumulation", true},
			}...)
		}
	}
	return append(o, object{
		{"conversations_completed", s.Completed}, {"conversations_failed", s.Failed},
		{"avg_turns_completed", s.Turns}, {"avg_conversation_duration_ms", s.Makespan.Mean},
		{"per_turn_metrics", each(single(r.Turns), func(g *metrics.Group) object { return perTurn(r, g) })},
	}...)
}

// single are the groups of one turn each: vLLM has no others.
func single(turns []metrics.Group) []metrics.Group {
	return slices.DeleteFunc(slices.Clone(turns), func(g metrics.Group) bool { return g.First != g.Last })
}

func perTurn(r *metrics.Report, g *metrics.Group) object {
	input, output := metrics.PerSecond(float64(g.InputTokens), r.Duration), g.OutputThroughput(r.Duration)
	o := object{
		{"turn_index", g.First - 1}, {"num_samples", g.Completed + g.Failed}, {"completed", g.Completed},
		{"failed", g.Failed},
		{"total_input_tokens", g.InputTokens}, {"total_output_tokens", g.OutputTokens},
		{"request_throughput", g.RequestThroughput(r.Duration)},
		{"input_throughput", input}, {"output_throughput", output}, {"total_token_throughput", input + output},
	}
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.E2EL} {
		if slices.Contains(r.Plan.Metrics, l) {
			o = append(o, latencyKeys(l, &g.Statistics[l])...)
		}
	}
	return o
}
