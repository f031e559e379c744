package export

import (
	"slices"

	"benchtop/metrics"
)

// groups are the figures of classes, turns and conversations, where requests have them.
func groups(r *metrics.Report) (o object) {
	if len(r.Classes) > 0 {
		o = append(o, field{"classes", each(r.Classes, func(g *metrics.Group) object { return group(r, g, field{"class", g.Class}) })})
	}
	if len(r.Turns) > 0 {
		o = append(o, field{"turns", each(r.Turns, func(g *metrics.Group) object {
			return group(r, g, field{"turn", g.First}, field{"last_turn", g.Last})
		})})
	}
	if r.Sessions != nil {
		o = append(o, field{"sessions", sessions(r.Sessions)})
	}
	return o
}

func group(r *metrics.Report, g *metrics.Group, name ...field) object {
	return append(name, object{
		{"completed", g.Completed}, {"failed", g.Failed}, {"good", when(r.Plan.JudgesGroup(&g.GroupCounts, r.Objectives), g.Good)},
		{"input_tokens", g.InputTokens}, {"output_tokens", g.OutputTokens}, {"cached_tokens", g.Cached.Tokens},
		{"cached_share", finiteOrNull(g.Cached.Rate())},
		{"ideal_tokens", when(g.Ideal.Requests > 0, g.Ideal.Tokens)}, {"ideal_share", finiteOrNull(g.Ideal.Rate())},
		{"request_throughput", g.RequestThroughput}, {"output_throughput", g.OutputThroughput},
		{"judged", g.Judged}, {"correct", g.Correct},
		{"ttft_ms", statistic(&g.TTFT, "")}, {"tpot_ms", statistic(&g.TPOT, "")}, {"e2el_ms", statistic(&g.E2EL, "")},
	}...)
}

func sessions(s *metrics.Sessions) object {
	return object{
		{"conversations", s.Conversations}, {"completed", s.Completed}, {"failed", s.Failed}, {"unfinished", s.Unfinished},
		{"mean_turns_completed", s.Turns}, {"mean_turns_planned", s.Planned}, {"turns_not_sent", s.NotSent},
		{"makespan_ms", statistic(&s.Makespan, "")}, {"waiting_ms", statistic(&s.Waiting, "")}, {"cached_share", statistic(&s.CachedShare, "")},
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
		{"cached_tokens", when(r.Cached.Requests > 0, r.Cached.Tokens)}, {"cached_share", finiteOrNull(share)}, {"source", orNull(string(source))},
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
		n := c.Count
		if n == 0 {
			n = s.Conversations
		}
		active := c.Active
		for _, most := range []int{r.Plan.MaxConcurrency, n} {
			if active == 0 {
				active = most
			}
		}
		o = append(o, object{
			{"num_conversations", n}, {"turns_per_conversation", number(c.Turns)}, {"multi_turn_concurrency", active},
			{"inter_turn_delay_ms", number(milliseconds(c.Delay))},
		}...)
		if c.GlobalPrefix > 0 || c.ConversationPrefix > 0 {
			o = append(o, object{
				{"prefix_global_ratio", c.GlobalPrefix}, {"prefix_conversation_ratio", c.ConversationPrefix},
				{"prefix_unique_ratio", max(0, 1-(c.GlobalPrefix+c.ConversationPrefix))}, {"no_history_accumulation", true},
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
	input := metrics.PerSecond(float64(g.InputTokens), r.Duration)
	o := object{
		{"turn_index", g.First - 1}, {"num_samples", g.Completed + g.Failed}, {"completed", g.Completed}, {"failed", g.Failed},
		{"total_input_tokens", g.InputTokens}, {"total_output_tokens", g.OutputTokens}, {"request_throughput", g.RequestThroughput},
		{"input_throughput", input}, {"output_throughput", g.OutputThroughput}, {"total_token_throughput", input + g.OutputThroughput},
	}
	for _, f := range []struct {
		of metrics.Latency
		as *metrics.Statistic
	}{{metrics.TTFT, &g.TTFT}, {metrics.TPOT, &g.TPOT}, {metrics.E2EL, &g.E2EL}} {
		if slices.Contains(r.Plan.Metrics, f.of) {
			o = append(o, latencyKeys(f.of, f.as)...)
		}
	}
	return o
}
