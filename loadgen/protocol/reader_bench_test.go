package protocol

import "testing"

// BenchmarkDecode reads a chunk as vLLM sends it, and the events that end a stream.
func BenchmarkDecode(b *testing.B) {
	const head = `{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1750000000,` +
		`"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[`
	for _, c := range []struct{ name, data string }{
		{"chunk", head + `{"index":0,"delta":{"content":" ` +
			`word"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`},
		{"finish", head + `{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"length",` +
			`"stop_reason":null}]}`},
		{"usage", head + `],"usage":{"prompt_tokens":1024,"total_tokens":1152,"completion_tokens":128,` +
			`"prompt_tokens_details":null}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, r := spoken(true), reader()
			data := []byte(c.data)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Event(p, data); err != nil {
					b.Fatal(err)
				}
				r.Release()
			}
		})
	}
}
