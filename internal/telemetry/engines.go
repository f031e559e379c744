package telemetry

// figure is something that servers say of themselves on their metrics pages.
type figure uint8

// Levels come first, and of these, those that are a mean of a server's engines rather than their sum come last. The others only
// grow while a server lives.
const (
	running figure = iota
	waiting
	kvUsage
	hitRate
	acceptLength // tokens for each step of a server that drafts, its own token included
	acceptRate   // accepted of the tokens drafted, from 0 to 1
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
	figures // how many there are
)

func (f figure) counted() bool  { return f > acceptRate }
func (f figure) averaged() bool { return f >= kvUsage && !f.counted() }

// source is a series that gives a figure. Of several that do, a page's lowest rank counts: servers write old names beside
// new ones.
type source struct {
	figure figure
	rank   uint8
	// method, unless "", is the value that the label of that name must have.
	method string
	// rises: a gauge of which only the rises count.
	rises bool
	// atEnd: it moves only when a request ends.
	atEnd bool
}

// engine is a kind of server: its name for a person, how the names of its series begin, and which of them say what. The
// names stand there without that beginning, the colon or underscore behind it and a final "_total".
type engine struct {
	kind, prefix string
	names        map[string][]source
}

func is(f figure) []source    { return []source{{figure: f}} }
func older(f figure) []source { return []source{{figure: f, rank: 1}} }
func atEnd(f figure) []source { return []source{{figure: f, atEnd: true}} }
func ofMethod(f figure, m string) []source {
	return []source{{figure: f, method: m}}
}

// engines are the kinds of servers we know. When in the life of a request a figure moves cannot be seen on the page: it is what
// their sources say.
func engines() []engine {
	return []engine{
		{"vLLM", "vllm", map[string][]source{
			"num_requests_running":               is(running),
			"num_requests_waiting":               is(waiting),
			"kv_cache_usage_perc":                is(kvUsage), // a share, whatever it is called
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
		{"SGLang", "sglang", map[string][]source{
			"num_running_reqs":       is(running),
			"num_queue_reqs":         is(waiting),
			"token_usage":            is(kvUsage),
			"num_retracted_requests": is(preemptions),
			// How many were sent back to the queue when the server last looked.
			"num_retracted_reqs": {{figure: preemptions, rank: 1, rises: true}},
			"cache_hit_rate":     is(hitRate),
			"cached_tokens":      atEnd(prefixHits),
			// Every prompt is looked up.
			"prompt_tokens":                     {{figure: promptTokens, atEnd: true}, {figure: prefixQueries, atEnd: true}},
			"generation_tokens":                 atEnd(outputTokens),
			"spec_accept_length":                is(acceptLength),
			"spec_accept_rate":                  is(acceptRate),
			"time_to_first_token_seconds_sum":   is(ttftSum),
			"time_to_first_token_seconds_count": is(ttftCount),
			"queue_time_seconds_sum":            is(queueSum),
			"queue_time_seconds_count":          is(queueCount),
		}},
		// It counts the seconds of prefill but not the requests that they went to, so there is no mean.
		{"llama.cpp", "llamacpp", map[string][]source{
			"requests_processing":  is(running),
			"requests_deferred":    is(waiting),
			"kv_cache_usage_ratio": is(kvUsage), // older ones
			// Prompt tokens are those computed. With those cached they are all, and every one was looked up.
			"prompt_tokens":                   {{figure: promptTokens}, {figure: prefixQueries}},
			"prompt_tokens_cached":            {{figure: promptTokens}, {figure: prefixQueries}, {figure: prefixHits}},
			"tokens_predicted":                atEnd(outputTokens),
			"spec_decode_num_draft_tokens":    atEnd(draftTokens),
			"spec_decode_num_accepted_tokens": atEnd(acceptedTokens),
		}},
		{"TGI", "tgi", map[string][]source{
			"batch_current_size":           is(running),
			"queue_size":                   is(waiting),
			"request_input_length_sum":     is(promptTokens),
			"request_generated_tokens_sum": atEnd(outputTokens),
			"request_queue_duration_sum":   atEnd(queueSum),
			"request_queue_duration_count": atEnd(queueCount),
			// Of whole batches: a request's prompt takes as long as those it is computed with.
			"batch_inference_duration_sum":   ofMethod(prefillSum, "prefill"),
			"batch_inference_duration_count": ofMethod(prefillCount, "prefill"),
		}},
	}
}
