package export

import "benchtop/metrics"

// poolingKeys are vLLM's for a run whose answers hold no tokens, in its order. It has none for goodput there: request_goodput is in
// its usual place where there are objectives.
func poolingKeys(r *metrics.Report) object {
	o := object{
		{"duration", r.Duration},
		{"completed", r.Completed},
		{"total_input_tokens", r.InputTokens},
		{"total_input_sequences", r.Inputs},
		{"request_throughput", r.RequestThroughput},
	}
	if r.Goodput != nil {
		o = append(o, field{"request_goodput", *r.Goodput})
	}
	o = append(o, field{"input_sequence_throughput", r.InputThroughput}, field{"total_token_throughput", r.TotalThroughput})
	if r.Plan.Detailed {
		o = append(o, field{"input_lens", each(r.Details, func(q *metrics.Request) any {
			if !q.OK() {
				return 0
			}
			return q.InputTokens
		})})
	}
	o = append(o, field{"latencies", each(r.Rows, func(row *metrics.Row) any { return row.Latency })},
		field{"queue_times", each(r.Rows, func(row *metrics.Row) any { return row.SlotWait })})
	if r.Plan.Detailed {
		o = append(o, field{"errors", each(r.Details, func(q *metrics.Request) any { return failureText(q) })})
		o = append(o, serverClockKeys(r.Details)...)
	}
	return o
}

// poolingTotals are the lines of such a run between the input tokens and the latencies.
func (t textReport) poolingTotals(r *metrics.Report) {
	t.float("Request throughput (req/s):", r.RequestThroughput)
	t.float("Input throughput (inputs/s):", r.InputThroughput)
	if r.Goodput != nil {
		t.float("Request goodput (req/s):", *r.Goodput)
	}
	if !r.Plan.SkipTokenizer {
		t.float("Total token throughput (tok/s):", r.TotalThroughput)
	}
}
