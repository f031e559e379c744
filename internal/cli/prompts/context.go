package prompts

import (
	"errors"
	"fmt"

	"benchtop/datasets"
	"benchtop/internal/cli/server"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// longer says what to do about prompts that the model's context has no room for.
const longer = "ask for shorter ones, or start the server with a longer context (--max-model-len with vLLM, --context-length with SGLang, --ctx-size with llama.cpp)"

// checkContext compares the prompts drawn so far with the context that the server says the model has, and returns what is odd
// about them. A prompt that fills it is refused by every server, and vLLM refuses an answer longer than it. Where that is so of
// all prompts it is an error, unless their lengths are estimates. An answer that only begins to fit is cut short, or refused.
func checkContext(m server.Model, prompts []datasets.Conversation, counted metrics.TokenSource) (odd []string, err error) {
	if m.Context <= 0 {
		return nil, nil
	}
	var all, refused, cut, mostIn, mostOut, mostBoth int
	for _, c := range prompts {
		for i := range c.Turns {
			t := &c.Turns[i]
			all++
			switch {
			case t.InputTokens >= m.Context, t.MaxTokens > m.Context && m.Owner == "vllm":
				refused++
				mostIn, mostOut = max(mostIn, t.InputTokens), max(mostOut, t.MaxTokens)
			case t.InputTokens+t.MaxTokens > m.Context:
				cut++
				mostBoth = max(mostBoth, t.InputTokens+t.MaxTokens)
			}
		}
	}
	by := ""
	if counted == metrics.TokensFromEstimate {
		by = "by estimate, "
	}
	if refused > 0 {
		words := fmt.Sprintf("%s%d of %d prompts do not fit into the model's context of %d tokens: prompts of up to %d, answers of up to %d; %s",
			by, refused, all, m.Context, mostIn, mostOut, longer)
		if refused == all && by == "" {
			return nil, usage.Wrap(errors.New(words))
		}
		odd = append(odd, words+"; the server will refuse them")
	}
	if cut > 0 {
		odd = append(odd, fmt.Sprintf("%s%d of %d prompts leave less room than their answers may take: up to %d tokens together, in a context of %d; the server cuts such answers short, or refuses the request; %s",
			by, cut, all, mostBoth, m.Context, longer))
	}
	return odd, nil
}

// checkPooled is checkContext for answers without tokens: they take no room, and each prompt of a request has the context for itself.
// vLLM does as it is asked and cuts prompts that are too long.
func checkPooled(m server.Model, prompts []datasets.Conversation, counted metrics.TokenSource) (odd []string, err error) {
	if m.Context <= 0 {
		return nil, nil
	}
	var all, long, most int
	for _, c := range prompts {
		for i := range c.Turns {
			each := c.Turns[i].Batch
			if each == nil {
				each = c.Turns[i : i+1]
			}
			for j := range each {
				all++
				if n := each[j].InputTokens; n > m.Context {
					long++
					most = max(most, n)
				}
			}
		}
	}
	if long == 0 {
		return nil, nil
	}
	by := ""
	if counted == metrics.TokensFromEstimate {
		by = "by estimate, "
	}
	words := fmt.Sprintf("%s%d of %d prompts do not fit into the model's context of %d tokens: prompts of up to %d; ", by, long, all, m.Context, most)
	switch {
	case m.Owner == "vllm":
		return []string{words + "the server cuts them"}, nil
	case long == all && by == "":
		return nil, usage.Wrap(errors.New(words + longer))
	}
	return []string{words + longer + "; the server will refuse them"}, nil
}
