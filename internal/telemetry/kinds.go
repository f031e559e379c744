package telemetry

// figure is a quantity on the metrics pages of servers.
type figure uint8

// Levels come first; the last of them, from kvUsage on, are averaged over a server's engines rather than summed. The
// others are counters, which only rise while a server lives.
const (
	running figure = iota
	waiting
	kvUsage
	hitRate
	acceptLength // tokens per step of a server that drafts, its own token included
	acceptRate   // share of the drafted tokens that is accepted, from 0 to 1
	preemptions
	prefixQueries
	prefixHits
	promptTokens
	outputTokens
	draftTokens
	acceptedTokens
	ttftSum
	ttftCount
	queueSum
	queueCount
	prefillSum
	prefillCount
	figures // the number of figures
)

func (f figure) counted() bool  { return f > acceptRate }
func (f figure) averaged() bool { return f >= kvUsage && !f.counted() }

// source is a series that gives a figure. Of several on a page, the one with the lowest rank counts: servers write old
// names next to new ones.
type source struct {
	figure figure
	rank   uint8
	// method is the required value of the label of that name, "" for any.
	method string
	// rises: only the rises of this gauge count.
	rises bool
	// atEnd: it moves only when a request ends.
	atEnd bool
}

// kind is a kind of server: its name for users, the prefix of its series, and their sources by name. The names lack the
// prefix, the colon or underscore after it and a final "_total". label is the one by which the engines of a server
// differ, "" for none.
type kind struct {
	name, prefix, label string
	names               map[string][]source
}

func is(f figure) []source    { return []source{{figure: f}} }
func older(f figure) []source { return []source{{figure: f, rank: 1}} }
func atEnd(f figure) []source { return []source{{figure: f, atEnd: true}} }

// kinds are the known kinds of servers. The page does not show at which moment of a request a figure moves: that is
// taken from their source code.
func kinds() []kind {
	return []kind{
		{"vLLM", "vllm", "engine", map[string][]source{
			"num_requests_running":               is(running),
			"num_requests_waiting":               is(waiting),
			"kv_cache_usage_perc":                is(kvUsage), // a share, in spite of its name
			"gpu_cache_usage_perc":               older(kvUsage),
			"num_preemptions":                    is(preemptions),
			"prefix_cache_queries":               is(prefixQueries),
			"prefix_cache_hits":                  is(prefixHits),
			"gpu_prefix_cache_queries":           older(prefixQueries),
			"gpu_prefix_cache_hits":              older(prefixHits),
			"gpu_prefix_cache_hit_rate":          is(hitRate),
			"prompt_tokens":                      is(promptTokens),
			"generation_tokens":                  is(outputTokens),
			"spec_decode_num_draft_tokens":       is(draftTokens),
			"spec_decode_num_accepted_tokens":    is(acceptedTokens),
			"time_to_first_token_seconds_sum":    is(ttftSum),
			"time_to_first_token_seconds_count":  is(ttftCount),
			"request_queue_time_seconds_sum":     atEnd(queueSum),
			"request_queue_time_seconds_count":   atEnd(queueCount),
			"request_prefill_time_seconds_sum":   atEnd(prefillSum),
			"request_prefill_time_seconds_count": atEnd(prefillCount),
		}},
		{"SGLang", "sglang", "dp_rank", map[string][]source{
			"num_running_reqs":       is(running),
			"num_queue_reqs":         is(waiting),
			"token_usage":            is(kvUsage),
			"num_retracted_requests": is(preemptions),
			// Requests sent back to the queue in the server's last step.
			"num_retracted_reqs": {{figure: preemptions, rank: 1, rises: true}},
			"cache_hit_rate":     is(hitRate),
			"cached_tokens":      atEnd(prefixHits),
			// Every prompt token is looked up in the cache.
			"prompt_tokens": {{figure: promptTokens, atEnd: true},
				{figure: prefixQueries, atEnd: true}},
			"generation_tokens":                 atEnd(outputTokens),
			"spec_accept_length":                is(acceptLength),
			"spec_accept_rate":                  is(acceptRate),
			"time_to_first_token_seconds_sum":   is(ttftSum),
			"time_to_first_token_seconds_count": is(ttftCount),
			"queue_time_seconds_sum":            is(queueSum),
			"queue_time_seconds_count":          is(queueCount),
		}},
		// It counts the seconds of prefill but not the requests, so there is no mean.
		{"llama.cpp", "llamacpp", "", map[string][]source{
			"requests_processing":  is(running),
			"requests_deferred":    is(waiting),
			"kv_cache_usage_ratio": is(kvUsage), // of older versions
			// Prompt tokens are the computed ones. Together with the cached ones they are all, and each was looked up
			// in the cache.
			"prompt_tokens":                   {{figure: promptTokens}, {figure: prefixQueries}},
			"prompt_tokens_cached":            {{figure: promptTokens}, {figure: prefixQueries}, {figure: prefixHits}},
			"tokens_predicted":                atEnd(outputTokens),
			"spec_decode_num_draft_tokens":    atEnd(draftTokens),
			"spec_decode_num_accepted_tokens": atEnd(acceptedTokens),
		}},
		{"TGI", "tgi", "", map[string][]source{
			"batch_current_size":           is(running),
			"queue_size":                   is(waiting),
			"request_input_length_sum":     is(promptTokens),
			"request_generated_tokens_sum": atEnd(outputTokens),
			"request_queue_duration_sum":   atEnd(queueSum),
			"request_queue_duration_count": atEnd(queueCount),
			// Of whole batches: a prompt takes as long as those computed with it.
			"batch_inference_duration_sum":   {{figure: prefillSum, method: "prefill"}},
			"batch_inference_duration_count": {{figure: prefillCount, method: "prefill"}},
		}},
	}
}
