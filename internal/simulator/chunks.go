package simulator

// chunks is the dialect of completions, chats and transcriptions: each event is an object with a list of choices, and "[DONE]" is the
// last.
type chunks struct {
	prefix, object, chunk string // of ids, answers and events
	options               streamOptions
	// all describes the tokens of an answer, some those of one step, as a choice.
	all, some func(g *generation, tokens []token) any
	// role is the choice of an event that comes with the first token, nil for none.
	role any
	// noUsage is the usage of events without one, promptLogprobs that member of whole answers.
	noUsage, promptLogprobs any
}

// answer is the answer to a request for tokens, or one event of it. Members of type any are left out if nil, and null if absent.
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
	Metrics           *requestMetrics `json:"metrics,omitempty"` // beside the final usage
}

var absent = (*struct{})(nil)

func (g *generation) answer(object string, usage any, choices ...any) answer {
	return answer{ID: g.id, Object: object, Created: g.created, Model: g.model, Choices: append([]any{}, choices...), Usage: usage}
}

func (c *chunks) kind() string { return c.prefix }

func (c *chunks) open(*generation, *events) error { return nil }

// step writes one event. As in vLLM, the role has an event of its own with the first token.
func (c *chunks) step(g *generation, out *events, tokens []token) error {
	if c.role != nil && g.arrival.OutputTokens == 0 {
		if err := out.send("", g.answer(c.chunk, c.usage(g, 0), c.role)); err != nil {
			return err
		}
	}
	return out.send("", g.answer(c.chunk, c.usage(g, tokens[len(tokens)-1].index+1), c.some(g, tokens)))
}

// usage is that of an event after n tokens.
func (c *chunks) usage(g *generation, n int) any {
	if c.options.IncludeUsage && c.options.ContinuousUsageStats {
		return g.usage(n)
	}
	return c.noUsage
}

func (c *chunks) close(g *generation, out *events) error {
	if c.options.IncludeUsage && g.complete() && !g.suffers(FaultNoUsage) {
		last := g.answer(c.chunk, g.finalUsage())
		last.Metrics = g.requestMetrics()
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
	whole := g.answer(c.object, g.finalUsage(), c.all(g, tokens))
	whole.ServiceTier, whole.SystemFingerprint, whole.KVTransferParams, whole.PromptLogprobs = absent, absent, absent, c.promptLogprobs
	whole.Metrics = g.requestMetrics()
	return whole
}
