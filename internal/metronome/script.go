package metronome

import (
	"encoding/json"
	"fmt"
)

// script holds the bytes of an answer, made once.
type script struct {
	chunk []byte // any but the last
	final []byte // the last
	usage string // the format of what ends the stream: number of chunks, and again
}

// streamHead begins the answer of every stream.
const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func completionScript(text string) *script {
	return newScript("cmpl-metronome", "text_completion", `"text":`+quoted(text))
}

func chatScript(text string) *script {
	return newScript("chatcmpl-metronome", "chat.completion.chunk", `"delta":{"content":`+quoted(text)+`}`)
}

func newScript(id, object, output string) *script {
	head := fmt.Sprintf(`data: {"id":%q,"object":%q,"created":0,"model":"metronome","choices":[`, id, object)
	choice := `{"index":0,` + output + `,"finish_reason":`
	return &script{
		chunk: httpChunk(nil, head+choice+"null}]}\n\n"),
		final: httpChunk(nil, head+choice+`"length"}]}`+"\n\n"),
		// Nobody counts the prompt's tokens.
		usage: head + `],"usage":{"prompt_tokens":1,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n",
	}
}

// appendLast appends the last of n chunks and, for the same write, all that comes behind it.
func (s *script) appendLast(to []byte, n int) []byte {
	to = append(to, s.final...)
	to = httpChunk(to, fmt.Sprintf(s.usage, n, n+1))
	to = httpChunk(to, "data: [DONE]\n\n")
	return append(to, "0\r\n\r\n"...)
}

func httpChunk(to []byte, data string) []byte {
	return fmt.Appendf(to, "%x\r\n%s\r\n", len(data), data)
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string always can
	return string(b)
}
