package metronome

import (
	"encoding/json"
	"fmt"
	"net"
	"syscall"
)

// stream is the answer under way on a connection. It is used again for the next one. Only one goroutine holds it at a
// time: the connection's own or, between play and a receive from back, the scheduler's.
type stream struct {
	conn net.Conn
	raw  syscall.RawConn // for writes that do not wait; nil if the connection has none
	log  *serverLog
	back chan struct{} // the scheduler gives the stream back; capacity 1

	script *script
	pace   pace
	chunks int
	next   int    // index of the chunk to write next
	due    int64  // when it is due
	head   bool   // the header is not yet written: it goes with the next chunk
	last   []byte // the last chunk and the end of the stream
	lead   []byte // room for a chunk behind the header
	rest   []byte // of a chunk that went out in part
	err    error  // of a write
	done   answer // for the log
}

// begin makes the stream ready for an answer to a request that was read whole at that time.
func (s *stream) begin(script *script, p pace, chunks int, id string, arrived int64) {
	s.script, s.pace, s.chunks, s.next = script, p, chunks, 0
	s.due = arrived + int64(p.ttft)
	s.head, s.rest, s.err = true, nil, nil
	s.last = script.appendLast(s.last[:0], chunks)
	// A very long answer may end early, so its list grows.
	s.done = answer{ID: id, Arrived: arrived, Writes: make([]int64, 0, min(chunks, 4096))}
}

func (s *stream) over() bool { return s.err != nil || s.next == s.chunks && len(s.rest) == 0 }

// advance notes that the next chunk is about to be written and returns its bytes. An answer is in the log before its end
// leaves, so that a client that has seen the end finds it there.
func (s *stream) advance(now int64) []byte {
	s.done.Writes = append(s.done.Writes, now)
	s.next++
	s.due += int64(s.pace.itl)
	piece := s.script.chunk
	if s.next == s.chunks {
		piece = s.last
		s.settle()
	}
	if s.head {
		s.head = false
		s.lead = append(append(s.lead[:0], streamHead...), piece...)
		piece = s.lead
	}
	return piece
}

// settle puts the answer into the log, once.
func (s *stream) settle() {
	if s.log != nil && s.done.Writes != nil {
		s.log.add(s.done)
	}
	s.done = answer{}
}

// write writes and waits until all is written.
func (s *stream) write(b []byte) {
	_, s.err = s.conn.Write(b)
}

// script holds the bytes of an answer, made once.
type script struct {
	chunk []byte // any but the last
	final []byte // the last
	usage string // the format of what ends the stream: number of chunks, and again
}

// streamHead begins the answer of every stream.
const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

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
