package metronome

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"syscall"
	"time"
)

// connection answers the requests of one connection, one after the other.
type connection struct {
	server *Server
	conn   net.Conn
	limit  *io.LimitedReader // of conn
	in     *bufio.Reader     // of limit
	stream stream
}

func newConnection(s *Server, c net.Conn) *connection {
	limit := &io.LimitedReader{R: c}
	k := &connection{server: s, conn: c, limit: limit, in: bufio.NewReader(limit)}
	k.stream = stream{conn: c, log: &s.log, back: make(chan struct{}, 1)}
	if socket, ok := c.(syscall.Conn); ok {
		k.stream.raw, _ = socket.SyscallConn()
	}
	return k
}

// errClose ends a connection normally.
var errClose = errors.New("closed")

// run answers requests until the connection ends.
func (k *connection) run() {
	for {
		err := k.answerNext()
		if err == nil {
			continue
		}
		if r := (*refusal)(nil); errors.As(err, &r) {
			k.refuse(r)
		}
		return
	}
}

// answerNext reads a request and answers it. An error ends the connection.
func (k *connection) answerNext() error {
	q, err := k.readRequest()
	if err != nil {
		return err
	}
	chunks, arrived, err := k.readBody(&q)
	if err != nil {
		return err
	}
	switch {
	case q.template != nil:
		err = k.play(q.template(k.server), &q, chunks, arrived)
	case q.answer != nil:
		err = q.answer(k)
	default:
		err = k.reply(http.StatusNotFound, failure("unknown endpoint"))
	}
	if err == nil && q.last {
		return errClose
	}
	return err
}

// readBody reads the body and returns the number of chunks requested and the time at the end of the body.
func (k *connection) readBody(q *request) (chunks int, arrived int64, err error) {
	body := k.server.bodies.Get().(*bytes.Buffer)
	defer k.server.bodies.Put(body)
	body.Reset()
	_, err = io.Copy(body, q.body)
	arrived = k.server.clock.now()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = malformed("the connection ended within the body of a request")
	case err != nil:
		err = malformed("%s", err)
	case q.template != nil:
		chunks, err = chunksAsked(body.Bytes())
	}
	return chunks, arrived, err
}

// play writes a stream. It writes the chunks that are due, the scheduler those of later. So a slow client delays only
// its own connection: as long as the client is behind, this goroutine waits for it.
func (k *connection) play(template *template, q *request, chunks int, arrived int64) error {
	t := &k.stream
	t.begin(template, q.pace, chunks, q.id, arrived)
	defer t.settle()
	if q.pace.ttft > 0 {
		t.head = false
		t.write(k.server.streamHead)
	}
	for !t.over() {
		now := k.server.clock.now()
		switch {
		case len(t.rest) > 0:
			rest := t.rest
			t.rest = nil
			t.write(rest)
		case t.due <= now:
			t.write(t.advance(now))
		case !k.wait(time.Duration(t.due - now)):
			return errClose
		}
	}
	return t.err
}

// wait leaves the stream to the scheduler or, where there is none, waits until the next chunk is due. It returns false
// if the server was closed.
func (k *connection) wait(d time.Duration) bool {
	if k.stream.raw != nil {
		if s := k.server.pacing(); s != nil {
			return s.play(&k.stream)
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-k.server.closing:
		return false
	}
}

const modelList = `{"object":"list","data":[{"id":"metronome","object":"model","created":0,"owned_by":"benchtop"}]}`

func failure(message string) string { return `{"error":{"message":` + quoted(message) + `}}` }

// reply writes a short answer, with additional header lines.
func (k *connection) reply(status int, body string, head ...string) error {
	_, err := fmt.Fprintf(k.conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), strings.Join(head, ""), len(body), body)
	return err
}

// refuse answers a bad request with the reason. Then it gives the client some time to read the answer, which would be
// lost if the socket were closed with unread bytes in it.
func (k *connection) refuse(r *refusal) {
	if err := k.reply(r.status, failure(r.message), "Connection: close\r\n"); err != nil {
		return
	}
	if half, ok := k.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = k.conn.SetReadDeadline(time.Now().Add(time.Second))
		k.limit.N = 2 * mostBody
		_, _ = io.Copy(io.Discard, k.in)
	}
}

// sendLog takes the log and sends it. If the client disconnects, that part of the log is lost.
func (k *connection) sendLog() error {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	if _, err := io.WriteString(k.conn, head); err != nil {
		return err
	}
	chunked := httputil.NewChunkedWriter(k.conn)
	b := bufio.NewWriterSize(chunked, 64<<10)
	answers, missing := k.server.log.take()
	err := errors.Join(writeLog(b, answers, missing), b.Flush(), chunked.Close())
	if err == nil {
		_, err = io.WriteString(k.conn, "\r\n")
	}
	return err
}

// stream is the answer in progress on a connection, which reuses it. Only one goroutine holds it at a time: the
// connection's own or, between play and a receive from back, the scheduler's.
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

// advance records the write of the next chunk and returns its bytes. An answer is in the log before its end is written,
// so that a client that has seen the end finds it there.
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
