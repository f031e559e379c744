package metronome

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"syscall"
	"time"

	"github.com/valyala/fastjson"
)

// connection answers the requests of one connection, one after the other.
type connection struct {
	server *Server
	conn   net.Conn
	in     *bufio.Reader
	json   fastjson.Parser
	stream stream
}

func newConnection(s *Server, c net.Conn) *connection {
	k := &connection{server: s, conn: c, in: bufio.NewReaderSize(c, headBuffer)}
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
	q, err := readRequest(k.in)
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
		err = k.reply(http.StatusNotFound, failure("this server has no such endpoint"))
	}
	if err == nil && q.last {
		return errClose
	}
	return err
}

// readBody reads the body and returns the number of chunks requested and the time at the end of the body.
func (k *connection) readBody(q *request) (chunks int, arrived int64, err error) {
	var body []byte
	if q.length <= k.in.Size() {
		body, err = k.in.Peek(q.length)
		// The body is valid until the next read, which comes later.
		defer func() { _, _ = k.in.Discard(len(body)) }()
	} else {
		buffer := k.server.bodies.Get().(*bytes.Buffer)
		defer k.server.bodies.Put(buffer)
		buffer.Reset()
		_, err = io.CopyN(buffer, k.in, int64(q.length))
		body = buffer.Bytes()
	}
	arrived = k.server.clock.now()
	if err == io.EOF {
		return 0, 0, malformed("the connection ended within the body of a request")
	}
	if err == nil && q.template != nil {
		chunks, err = chunksAsked(&k.json, body)
	}
	return chunks, arrived, err
}

// play writes a stream. It writes the chunks that are due, the scheduler those of later. So a slow client delays only its own
// connection: as long as the client is behind, this goroutine waits for it.
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

// wait leaves the stream to the scheduler or, where there is none, waits until the next chunk is due. It returns false if the server
// was closed.
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

// refuse answers a bad request with the reason. Then it gives the client some time to read the answer, which would be lost if the
// socket were closed with unread bytes in it.
func (k *connection) refuse(r *refusal) {
	if err := k.reply(r.status, failure(r.message), "Connection: close\r\n"); err != nil {
		return
	}
	if half, ok := k.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = k.conn.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.CopyN(io.Discard, k.in, 2*mostBody)
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
