package prompts

import (
	"errors"
	"fmt"

	"benchtop/datasets"
	"benchtop/internal/server"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// contextAdvice is for prompts that do not fit into the model's context.
const contextAdvice = "ask for shorter ones, or start the server with a longer context (--max-model-len with vLLM, --context-length with SGLang, --ctx-size with llama.cpp)"

// checkContext compares the prompts drawn so far with the model's context, as the server reports it, and returns warnings. Every
// server refuses a prompt that fills the context, and vLLM refuses an answer longer than it. It is an error if all prompts are
// refused, unless their lengths are estimates. An answer that fits only in part is cut short, or refused.
//
// Pooled answers have no tokens: they take no room, and each prompt of a request has the context for itself. vLLM cuts prompts
// that are too long for those.
func checkContext(m server.Model, prompts []datasets.Conversation, counted metrics.TokenSource, pooled bool) (odd []string, err error) {
	if m.Context <= 0 {
		return nil, nil
	}
	vllm := m.Owner == "vllm"
	var all, refused, cut, mostIn, mostOut, mostBoth int
	look := func(t *datasets.Turn) {
		all++
		switch {
		case pooled && t.InputTokens <= m.Context:
		case pooled, t.InputTokens >= m.Context, t.MaxTokens > m.Context && vllm:
			refused++
			mostIn, mostOut = max(mostIn, t.InputTokens), max(mostOut, t.MaxTokens)
		case t.InputTokens+t.MaxTokens > m.Context:
			cut++
			mostBoth = max(mostBoth, t.InputTokens+t.MaxTokens)
		}
	}
	for _, c := range prompts {
		for i := range c.Turns {
			each := c.Turns[i : i+1]
			if pooled && c.Turns[i].Batch != nil {
				each = c.Turns[i].Batch
			}
			for j := range each {
				look(&each[j])
			}
		}
	}
	by, answers := "", ""
	if counted == metrics.TokensFromEstimate {
		by = "estimated: "
	}
	if !pooled {
		answers = fmt.Sprintf(", answers of up to %d", mostOut)
	}
	words := fmt.Sprintf("%s%d of %d prompts exceed the model's context of %d tokens: prompts of up to %d%s; ", by, refused, all, m.Context, mostIn, answers)
	switch {
	case refused == 0:
	case pooled && vllm:
		odd = append(odd, words+"the server truncates them")
	case refused == all && by == "":
		return nil, usage.Wrap(errors.New(words + contextAdvice))
	default:
		odd = append(odd, words+contextAdvice+"; the server will reject them")
	}
	if cut > 0 {
		odd = append(odd, fmt.Sprintf("%s%d of %d prompts leave too little room for their answers: up to %d tokens in all, in a context of %d; "+
			"the server truncates such answers or rejects the request; %s", by, cut, all, mostBoth, m.Context, contextAdvice))
	}
	return odd, nil
}
