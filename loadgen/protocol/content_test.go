package protocol

import (
	"testing"

	"benchtop/internal/assert"
)

// Tool calls are counted once each, whatever parts they come in, and the usage tells of reasoning and drafts.
func TestContent(t *testing.T) {
	for name, c := range map[string]struct {
		protocol Protocol
		events   []string
		whole    bool
		calls    int
		usage    Usage
	}{
		"chat": {protocol: Chat{}, calls: 2, events: []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"f"}}]}}]}`,
			`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9,"completion_tokens_details":` +
				`{"reasoning_tokens":4,"accepted_prediction_tokens":2,"rejected_prediction_tokens":1}}}`,
		}, usage: Usage{Present: true, Input: 3, Output: 9, Cached: -1, Reasoning: 4, Drafted: 3, Accepted: 2}},
		"chat in one piece": {protocol: Chat{}, whole: true, calls: 2, events: []string{
			`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a"},{"id":"b"}]}}]}`}},
		"absurd indexes": {protocol: Chat{}, events: []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":99999999},{"index":-1},{"index":"x"}]}}]}`}, calls: 1},
		"llama.cpp": {protocol: Completions{"llama.cpp"}, events: []string{
			`{"choices":[{"text":"a"}],"timings":{"draft_n":8,"draft_n_accepted":5}}`,
			`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		}, usage: Usage{Present: true, Input: 1, Output: 2, Cached: -1, Reasoning: -1, Drafted: 8, Accepted: 5}},
		"responses": {protocol: Responses{}, calls: 2, events: []string{
			`{"type":"response.output_item.added","item":{"type":"message"}}`,
			`{"type":"response.output_item.added","item":{"type":"function_call","name":"f"}}`,
			`{"type":"response.function_call_arguments.delta","delta":"{}"}`,
			`{"type":"response.output_item.added","item":{"type":"web_search_call"}}`,
			`{"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":7,` +
				`"output_tokens_details":{"reasoning_tokens":0}}}}`,
		}, usage: Usage{Present: true, Input: 1, Output: 7, Cached: -1}},
		"responses without the item": {protocol: Responses{}, calls: 1, events: []string{
			`{"type":"response.function_call_arguments.delta","delta":"{"}`,
			`{"type":"response.function_call_arguments.delta","delta":"}"}`}},
		"responses in one piece": {protocol: Responses{}, whole: true, calls: 1, events: []string{
			`{"output":[{"type":"reasoning","content":[]},{"type":"function_call","arguments":"{}"}]}`}},
		"messages": {protocol: Messages{}, calls: 1, events: []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"f"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`}},
		"messages in one piece": {protocol: Messages{}, whole: true, calls: 1, events: []string{
			`{"content":[{"type":"text","text":"a"},{"type":"tool_use","input":{}}]}`}},
	} {
		r, calls, usage := reader(), 0, Usage{}
		read := c.protocol.Event
		if c.whole {
			read = c.protocol.Whole
		}
		for _, event := range c.events {
			m, err := read(r, []byte(event))
			assert.Fine(t, err)
			calls += m.Calls
			usage.Merge(m.Usage)
			r.Release()
		}
		if calls != c.calls || usage != c.usage {
			t.Errorf("%s: %d calls, want %d; usage %+v, want %+v", name, calls, c.calls, usage, c.usage)
		}
	}
}
