package protocol

import (
	"benchtop/datasets"
)

// Completions is the completions protocol, by one of the two names that vLLM has for it, vllm and openai, or by that of
// another engine that speaks it.
type Completions struct{ Backend string }

// Traits are those of completions.
func (c Completions) Traits() Traits {
	return Traits{Name: c.Backend, Path: "/v1/completions", Suffixes: []string{"completions"},
		ContentType: "application/json",
		Streams:     true, Chunk: "an event with a choice", Ending: ending, Member: "choices", LengthField: maxTokens,
		FullLength: true, Finishes: true,
		Forms: datasets.AsText | datasets.AsTokenIDs | datasets.AsBatch, Logprobs: true,
		Tokens:       []Field{{"seed", "0"}, {"return_token_ids", "true"}, {"logprobs", "1"}},
		RunningUsage: runningUsage}
}

// Body appends a completions request.
func (c Completions) Body(dst []byte, a Ask) ([]byte, error) {
	fields := append([]bodyField{a.model(), {name: "prompt", turn: appendPrompts},
		{name: "repetition_penalty", json: "1.0"},
		a.limit(maxTokens), {name: "logprobs", json: "null"}}, streamed()...)
	return a.object(dst, c.Traits(), fields)
}

// Event reads an event of a stream. As with vLLM, one with a choice is a chunk.
func (c Completions) Event(r *Reader, data []byte) (Message, error) {
	if string(data) == done {
		return Message{End: true}, nil
	}
	return c.Whole(r, data)
}

// Whole reads an answer that is not a stream, which is written like an event.
func (Completions) Whole(r *Reader, body []byte) (m Message, err error) {
	choice, err := r.choice(&m, body)
	if choice == nil {
		return m, err
	}
	m.Counts = true
	if m.Answer, err = textOf(choice.Get("text")); err != nil {
		return m, excerpted(err, body)
	}
	m.Output = len(m.Answer) > 0
	m.count(choice.GetArray("logprobs", "tokens"))
	r.keep(choice)
	return m, nil
}
