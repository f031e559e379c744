package metronome

import (
	"encoding/json"
	"fmt"
	"net"
	"syscall"
)

// stream is the answer in progress on a connection, which reuses it. Only one goroutine holds it at a time: the connection's own or,
// between play and a receive from back, the scheduler's.
type stream struct {
	conn net.Conn
	raw  syscall.RawConn // for writes that do not block; nil if the connection has none
	log  *serverLog
	back chan struct{} // signals that the scheduler returns the stream; capacity 1

	template *template
	pace     pace
	chunks   int
	next     int    // index of the chunk to write next
	due      int64  // the time of that chunk
	head     bool   // the header is written with the next chunk
	last     []byte // the last chunk and the end of the stream
	lead     []byte // scratch for the header and a chunk
	rest     []byte // of a chunk that was written in part
	err      error  // of a write
	done     answer // for the log
}

// begin prepares the stream for the answer to a request that ended at the time arrived.
func (s *stream) begin(template *template, p pace, chunks int, id string, arrived int64) {
	s.template, s.pace, s.chunks, s.next = template, p, chunks, 0
	s.due = arrived + int64(p.ttft)
	s.head, s.rest, s.err = true, nil, nil
	s.last = template.appendLast(s.last[:0], chunks)
	// A very long answer may end early, so its list starts small.
	s.done = answer{ID: id, Arrived: arrived, Writes: make([]int64, 0, min(chunks, 4096))}
}

func (s *stream) over() bool { return s.err != nil || s.next == s.chunks && len(s.rest) == 0 }

// advance records the write of the next chunk and returns its bytes. An answer is in the log before its end is written, so that a
// client that has seen the end finds it there.
func (s *stream) advance(now int64) []byte {
	s.done.Writes = append(s.done.Writes, now)
	s.next++
	s.due += int64(s.pace.itl)
	piece := s.template.chunk
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

// settle adds the answer to the log, once.
func (s *stream) settle() {
	if s.log != nil && s.done.Writes != nil {
		s.log.add(s.done)
	}
	s.done = answer{}
}

// write writes all of b.
func (s *stream) write(b []byte) {
	_, s.err = s.conn.Write(b)
}

// template has the bytes of all answers of an endpoint.
type template struct {
	chunk []byte // any but the last
	final []byte // the last
	usage string // the format of the usage, for the number of chunks and the total
}

// streamHead begins the answer of every stream.
const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func newTemplate(id, object, output string) *template {
	head := fmt.Sprintf(`data: {"id":%q,"object":%q,"created":0,"model":"metronome","choices":[`, id, object)
	choice := `{"index":0,` + output + `,"finish_reason":`
	return &template{
		chunk: httpChunk(nil, head+choice+"null}]}\n\n"),
		final: httpChunk(nil, head+choice+`"length"}]}`+"\n\n"),
		// The tokens of the prompt are not counted.
		usage: head + `],"usage":{"prompt_tokens":1,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n",
	}
}

// appendLast appends the last of n chunks and, for the same write, the end of the stream.
func (s *template) appendLast(to []byte, n int) []byte {
	to = append(to, s.final...)
	to = httpChunk(to, fmt.Sprintf(s.usage, n, n+1))
	to = httpChunk(to, "data: [DONE]\n\n")
	return append(to, "0\r\n\r\n"...)
}

func httpChunk(to []byte, data string) []byte {
	return fmt.Appendf(to, "%x\r\n%s\r\n", len(data), data)
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // cannot fail for a string
	return string(b)
}
