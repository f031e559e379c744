package protocol

import "github.com/valyala/fastjson"

// Usage is a server's count of tokens.
type Usage struct {
	Present               bool
	Input, Output, Cached int // -1 for unknown
	// Reasoning are output tokens before the visible answer, -1 for unknown.
	Reasoning int
	// Drafted are the tokens that speculative decoding proposed, Accepted those of them that the model took over; 0 for
	// unknown. They may come without the rest.
	Drafted, Accepted int
}

// mostTokens is more than any request holds. A larger count of a server is ignored.
const mostTokens = 1 << 31

// usageNames are the names of the counts in a protocol's usage.
type usageNames struct{ input, output, details, outputDetails string }

var (
	choicesUsage = usageNames{"prompt_tokens", "completion_tokens", "prompt_tokens_details",
		"completion_tokens_details"}
	responsesUsage = usageNames{"input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"}
	anthropicUsage = usageNames{"input_tokens", "output_tokens", "", ""}
)

func readUsage(v *fastjson.Value, of usageNames) Usage {
	if v == nil || v.Type() != fastjson.TypeObject || !truthy(v) {
		return Usage{}
	}
	u := Usage{Present: true, Input: countOf(v, of.input), Output: countOf(v, of.output), Cached: -1, Reasoning: -1}
	if of != anthropicUsage {
		if details := v.Get(of.details); details != nil {
			u.Cached = countOf(details, "cached_tokens")
		}
		if details := v.Get(of.outputDetails); details != nil {
			u.Reasoning = countOf(details, "reasoning_tokens")
			accepted := max(0, countOf(details, "accepted_prediction_tokens"))
			u.draft(accepted+max(0, countOf(details, "rejected_prediction_tokens")), accepted)
		}
		return u
	}
	u.Cached = countOf(v, "cache_read_input_tokens")
	if u.Input >= 0 { // the prompt beside the cached parts
		u.Input += max(0, u.Cached) + max(0, countOf(v, "cache_creation_input_tokens"))
	}
	return u
}

// draft takes the tokens that speculative decoding proposed, and those of them that were accepted.
func (u *Usage) draft(drafted, accepted int) {
	if drafted > 0 { // servers without drafts say 0
		u.Drafted, u.Accepted = drafted, max(0, min(accepted, drafted))
	}
}

// countOf is a member as a number of tokens, -1 where it is none.
func countOf(v *fastjson.Value, key string) int {
	if x := v.Get(key); x != nil {
		if n, err := x.Int(); err == nil && n >= 0 && n <= mostTokens {
			return n
		}
	}
	return -1
}

// Merge takes the counts of a later usage, field by field. A count of 0 or none, as of a usage that has other names or
// a price alone, leaves an earlier one as it is.
func (u *Usage) Merge(later Usage) {
	u.draft(later.Drafted, later.Accepted)
	later.Drafted, later.Accepted = u.Drafted, u.Accepted
	switch {
	case !later.Present:
		return
	case !u.Present:
		*u = later
		return
	}
	for _, c := range []struct {
		to   *int
		from int
	}{{&u.Input, later.Input}, {&u.Output, later.Output}, {&u.Cached, later.Cached},
		{&u.Reasoning, later.Reasoning}} {
		if c.from > 0 || *c.to < 0 {
			*c.to = c.from
		}
	}
}
