package simulator

// chunks is the dialect of completions, chats and transcriptions: each event is an object with a list of choices, and
// "[DONE]" is the last.
type chunks struct {
	prefix, object, chunk string // of ids, answers and events
	options               streamOptions
	// all describes the tokens of an answer, some those of one step, as a choice.
	all, some func(g *generation, tokens []token) any
	// role is the choice of an event that comes with the first token, nil for none. It has the tokens of the prompt if
	// they are asked for.
	role         any
	promptTokens bool
	// promptLogprobs is that member of whole answers, details completion_tokens_details of the usage in each event.
	promptLogprobs, details any
}

// answer is the answer to a request for tokens, or one event of it. Members of type any are left out if nil, and null
// if absent.
type answer struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           int64           `json:"created"`
	Model             string          `json:"model"`
	Choices           any             `json:"choices,omitempty"`
	Data              any             `json:"data,omitempty"`
	ServiceTier       any             `json:"service_tier,omitempty"`
	SystemFingerprint any             `json:"system_fingerprint,omitempty"`
	Usage             any             `json:"usage,omitempty"`
	PromptLogprobs    any             `json:"prompt_logprobs,omitempty"`
	KVTransferParams  any             `json:"kv_transfer_params,omitempty"`
	PromptTokenIDs    any             `json:"prompt_token_ids,omitempty"`
	PromptText        any             `json:"prompt_text,omitempty"`
	Metrics           *requestMetrics `json:"metrics,omitempty"` // beside the final usage
}

var absent = (*struct{})(nil)

// systemFingerprint has the form of vLLM's.
const systemFingerprint = "simulator-" + simulatedVersion

func (g *generation) answer(object string, usage any, choices ...any) answer {
	return answer{ID: g.id, Object: object, Created: g.created, Model: g.model, Choices: append([]any{}, choices...),
		Usage: usage}
}

func (c *chunks) kind() string { return c.prefix }

func (c *chunks) open(*generation, *events) error { return nil }

// step writes one event. As in vLLM, the role has an event of its own with the first token.
func (c *chunks) step(g *generation, out *events, tokens []token) error {
	if c.role != nil && g.arrival.OutputTokens == 0 {
		first := g.answer(c.chunk, c.usage(g, 0), c.role)
		first.PromptTokenIDs, first.PromptText = absent, absent
		if c.promptTokens {
			first.PromptTokenIDs = g.prompt
		}
		if err := out.send("", first); err != nil {
			return err
		}
	}
	last := tokens[len(tokens)-1]
	event := g.answer(c.chunk, c.usage(g, last.index+1), c.some(g, tokens))
	if last.finish != nil && !c.options.IncludeUsage {
		event.SystemFingerprint = c.fingerprint()
	}
	return out.send("", event)
}

// usage is that of an event after n tokens, nil for none.
func (c *chunks) usage(g *generation, n int) any {
	if !c.options.IncludeUsage || !c.options.ContinuousUsageStats {
		return nil
	}
	u := g.usage(n)
	u.CompletionDetails = c.details
	return u
}

// finalUsage is that of the whole answer, with the tokens that came from the prefix cache, as of a vLLM with
// --enable-prompt-tokens-details.
func (c *chunks) finalUsage(g *generation) usage {
	u := g.usage(g.seq.limit)
	if !g.profile.PrefixCache {
		return u
	}
	details := map[string]int{"cached_tokens": g.cached()}
	if c.role != nil {
		details["created_cache_tokens"] = 0
	}
	u.PromptDetails = details
	return u
}

// fingerprint is that of the last event with tokens or usage. Transcriptions have none.
func (c *chunks) fingerprint() any {
	if c.all == nil {
		return nil
	}
	return systemFingerprint
}

func (c *chunks) close(g *generation, out *events) error {
	if c.options.IncludeUsage && g.complete() && !g.suffers(FaultNoUsage) {
		last := g.answer(c.chunk, c.finalUsage(g))
		last.Metrics, last.SystemFingerprint = g.requestMetrics(), c.fingerprint()
		if err := out.send("", last); err != nil {
			return err
		}
	}
	return c.done(g, out)
}

func (c *chunks) fail(g *generation, out *events, problem *apiError) error {
	if err := out.send("", problem.body()); err != nil {
		return err
	}
	return c.done(g, out)
}

// done writes the end marker.
func (c *chunks) done(g *generation, out *events) error {
	if g.suffers(FaultNoDone) {
		return nil
	}
	return out.write("data: [DONE]\n\n")
}

func (c *chunks) whole(g *generation, tokens []token) any {
	usage := c.finalUsage(g)
	if usage.CompletionDetails = absent; usage.PromptDetails == nil {
		usage.PromptDetails = absent
	}
	whole := g.answer(c.object, usage, c.all(g, tokens))
	whole.SystemFingerprint = systemFingerprint
	whole.ServiceTier, whole.KVTransferParams, whole.PromptLogprobs = absent, absent, c.promptLogprobs
	whole.Metrics = g.requestMetrics()
	return whole
}
