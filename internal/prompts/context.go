package prompts

import (
	"errors"
	"fmt"
	"iter"

	"benchtop/datasets"
	"benchtop/internal/server"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// contextAdvice is for prompts that do not fit into the model's context.
const contextAdvice = "ask for shorter ones, or start the server with a longer context (--max-model-len with vLLM, " +
	"--context-length with SGLang, --ctx-size with llama.cpp)"

// contextFit counts the prompts that fit into a context, and those that do not.
type contextFit struct {
	context           int
	vllm, pooled      bool
	all, refused, cut int
	mostIn, mostOut   int // tokens of those that are refused
	mostBoth          int // tokens of those whose answers are cut
}

// add counts the prompts of a request.
func (f *contextFit) add(t *datasets.Turn) {
	if !f.pooled || t.Batch == nil {
		f.addPrompt(t)
		return
	}
	for i := range t.Batch {
		f.addPrompt(&t.Batch[i])
	}
}

func (f *contextFit) addPrompt(t *datasets.Turn) {
	f.all++
	switch {
	case f.pooled && t.InputTokens <= f.context:
	case f.pooled, t.InputTokens >= f.context, t.MaxTokens > f.context && f.vllm:
		f.refused++
		f.mostIn, f.mostOut = max(f.mostIn, t.InputTokens), max(f.mostOut, t.MaxTokens)
	case t.InputTokens+t.MaxTokens > f.context:
		f.cut++
		f.mostBoth = max(f.mostBoth, t.InputTokens+t.MaxTokens)
	}
}

// checkContext compares the prompts drawn so far with the model's context, as the server reports it, and returns
// warnings. Every server refuses a prompt that fills the context, and vLLM refuses an answer longer than it. It is an
// error if all prompts are refused, unless their lengths are estimates. An answer that fits only in part is cut short,
// or refused.
//
// Pooled answers have no tokens: they take no room, and each prompt of a request has the context for itself. vLLM cuts
// prompts that are too long for those.
func checkContext(m server.Model, prompts iter.Seq[datasets.Conversation], counted metrics.TokenSource,
	pooled bool) (odd []string, err error) {
	if m.Context <= 0 {
		return nil, nil
	}
	vllm := m.Owner == "vllm"
	fit := contextFit{context: m.Context, vllm: vllm, pooled: pooled}
	for c := range prompts {
		for i := range c.Turns {
			fit.add(&c.Turns[i])
		}
	}
	by, answers := "", ""
	if counted == metrics.TokensFromEstimate {
		by = "estimated: "
	}
	if !pooled {
		answers = fmt.Sprintf(", answers of up to %d", fit.mostOut)
	}
	words := fmt.Sprintf("%s%d of %d prompts exceed the model's context of %d tokens: prompts of up to %d%s; ",
		by, fit.refused, fit.all, m.Context, fit.mostIn, answers)
	switch {
	case fit.refused == 0:
	case pooled && vllm:
		odd = append(odd, words+"the server truncates them")
	case fit.refused == fit.all && by == "":
		return nil, usage.Wrap(errors.New(words + contextAdvice))
	default:
		odd = append(odd, words+contextAdvice+"; the server will reject them")
	}
	if fit.cut > 0 {
		odd = append(odd,
			fmt.Sprintf("%s%d of %d prompts leave too little room for their answers: up to %d tokens in all, in a "+
				"context of %d; "+
				"the server truncates such answers or rejects the request; %s", by, fit.cut, fit.all, fit.mostBoth,
				m.Context, contextAdvice))
	}
	return odd, nil
}
