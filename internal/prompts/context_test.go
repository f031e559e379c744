package prompts

import (
	"slices"
	"strings"
	"testing"

	"benchtop/datasets"
	"benchtop/internal/assert"
	"benchtop/internal/server"
	"benchtop/metrics"
)

// Prompts that do not fit into the model's context are reported before the load; it is an error if none can be
// answered.
func TestContextIsCheckedBeforeTheLoad(t *testing.T) {
	prompts := func(lengths ...int) (all []datasets.Conversation) {
		for i := 0; i < len(lengths); i += 2 {
			all = append(all, oneTurn(datasets.Turn{InputTokens: lengths[i], MaxTokens: lengths[i+1]}))
		}
		return all
	}
	vllm, llama := server.Model{Context: 4096, Owner: "vllm"}, server.Model{Context: 4096, Owner: "llamacpp"}
	for _, c := range []struct {
		name    string
		model   server.Model
		prompts []datasets.Conversation
		counted metrics.TokenSource
		odd     string // "" for nothing, several joined by " | "
		err     string
	}{
		{"fit", vllm, prompts(4000, 96, 1, 1), metrics.TokensFromServer, "", ""},
		{"not known", server.Model{}, prompts(1e6, 1e6), metrics.TokensFromServer, "", ""},
		{"some too long", vllm, prompts(4096, 10, 5000, 20, 7, 7), metrics.TokensFromServer,
			"2 of 3 prompts exceed the model's context of 4096 tokens: prompts of up to 5000, answers of up to 20; ",
			""},
		{"some with little room", llama, prompts(4090, 20, 7, 7), metrics.TokensFromServer,
			"1 of 2 prompts leave too little room for their answers: up to 4110 tokens in all, in a context of 4096; ",
			""},
		{"both", llama, prompts(4090, 20, 4096, 1, 7, 5000), metrics.TokensFromServer,
			"1 of 3 prompts exceed the | 2 of 3 prompts leave too little room", ""},
		{"all too long", llama, prompts(5000, 1, 6000, 1), metrics.TokensFromServer, "", "2 of 2 prompts exceed the"},
		{"all too long by estimate", llama, prompts(5000, 1, 6000, 1), metrics.TokensFromEstimate,
			"estimated: 2 of 2 prompts exceed the", ""},
		{"answers longer than the context", vllm, prompts(5, 5000), metrics.TokensFromIDs, "",
			"1 of 1 prompts exceed the"},
		{"which others cut", llama, prompts(5, 5000), metrics.TokensFromIDs, "1 of 1 prompts leave too little room",
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			odd, err := checkContext(c.model, slices.Values(c.prompts), c.counted, false)
			wants := strings.Split(c.odd, " | ")
			if c.odd == "" {
				wants = nil
			}
			if len(odd) != len(wants) || (err != nil) != (c.err != "") ||
				err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("got %q, error %v", odd, err)
			}
			for i, want := range wants {
				assert.Has(t, odd[i], want)
			}
		})
	}
}

// Prompts of a batch do not share a context, and embeddings take no room for an answer.
func TestContextOfPooling(t *testing.T) {
	batch := func(lengths ...int) datasets.Conversation {
		var turn datasets.Turn
		for _, n := range lengths {
			turn.Batch = append(turn.Batch, datasets.Turn{InputTokens: n})
			turn.InputTokens += n
		}
		return oneTurn(turn)
	}
	single := oneTurn(datasets.Turn{InputTokens: 4096, MaxTokens: 128})
	long := oneTurn(datasets.Turn{InputTokens: 4097})
	for _, c := range []struct {
		name    string
		owner   string
		prompts []datasets.Conversation
		counted metrics.TokenSource
		odd     string
		err     string
	}{
		{"fit", "vllm", []datasets.Conversation{batch(4096, 4096), single}, metrics.TokensFromServer, "", ""},
		{"cut", "vllm", []datasets.Conversation{long}, metrics.TokensFromServer,
			"1 of 1 prompts exceed the model's context of 4096 tokens: prompts of up to 4097; the server truncates " +
				"them", ""},
		{"one refused", "", []datasets.Conversation{batch(9, 5000)}, metrics.TokensFromServer,
			"1 of 2 prompts exceed the", ""},
		{"all refused", "", []datasets.Conversation{batch(5000, 5000)}, metrics.TokensFromServer, "",
			"2 of 2 prompts exceed the"},
		{"by estimate", "", []datasets.Conversation{long}, metrics.TokensFromEstimate,
			"estimated: 1 of 1 prompts exceed the", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			model := server.Model{Context: 4096, Owner: c.owner}
			odd, err := checkContext(model, slices.Values(c.prompts), c.counted, true)
			if got := strings.Join(odd, " | "); !strings.HasPrefix(got, c.odd) || (got == "") != (c.odd == "") {
				t.Errorf("got %q, want %q", got, c.odd)
			}
			if (err != nil) != (c.err != "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("got error %v, want %q", err, c.err)
			}
		})
	}
}
