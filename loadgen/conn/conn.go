package conn

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/valyala/fasthttp"

	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// Conn is a connection ready for HTTP: the timed connection, TLS above it if used, and the reading state of the HTTP
// library, which lives as long as the connection. One goroutine at a time uses it.
type Conn struct {
	Answer fasthttp.Response // the last one

	raw      *timedConn
	conn     net.Conn // raw, or TLS over it
	reader   *bufio.Reader
	buffer   [bodyBuffer]byte
	dial     time.Duration // duration of the dial without TLS
	used     bool          // it has carried an answer
	pollable bool          // the system knows whether the server has closed it
	since    time.Time     // idle since

	total   int64      // bytes read from conn
	reads   [4]Arrival // the last ones from it
	next    int
	failure error  // of the last read; the HTTP library sometimes hides it
	unread  []byte // bytes of a reader that was too small
}

// Arrival is the time of the bytes that one read returned: that of the last byte, since the kernel keeps no other.
type Arrival struct {
	At    time.Duration
	Delay time.Duration // until the read returned; metrics.Never without a stamp of the kernel
	end   int64         // up to which byte of the connection
}

const (
	// headerBuffer is enough for the headers of most answers and for a chunk with a token. There is one for every
	// stream, so it starts small; an answer whose header does not fit gets more, up to headerMost.
	headerBuffer = 1024
	headerMost   = 64 << 10
	bodyBuffer   = 512
)

// rest is the time after an answer within which an immediate close by the server arrives.
func (c *Conn) rest() time.Duration { return max(5*time.Millisecond, 2*c.dial) }

// StaleWithin is the time after a write within which a connection fails if the server had closed it for being idle: the
// reset in answer to the first packet takes a round trip, about as long as the dial. It is negative for nil and for a
// connection that is not old enough to be stale. Servers wait longer for a first request than for the next, so a
// connection opened ahead has to be older.
func (c *Conn) StaleWithin() time.Duration {
	if c != nil {
		if idle := time.Since(c.since); c.used && idle >= idleLeast || idle >= idleLimit {
			return max(20*time.Millisecond, 2*c.dial)
		}
	}
	return -1
}

// Header is the request header of a run.
type Header struct {
	all   fasthttp.RequestHeader
	token *target.Token
}

// NewHeader returns benchtop's header with further fields, each a name and a value, and with the target's own in place
// of the same names.
func NewHeader(t *target.Target, endpoint, contentType string, further ...[2]string) *Header {
	h := Header{token: t.Token()}
	h.all.SetMethod(http.MethodPost)
	h.all.SetRequestURI(t.RequestTarget(endpoint))
	h.all.SetHost(t.Host())
	h.all.Set("Accept", "*/*")
	h.all.SetUserAgent("benchtop")
	h.all.SetContentType(contentType)
	for _, f := range further {
		h.all.Set(f[0], f[1])
	}
	for name, values := range t.Header() {
		h.all.Del(name)
		for _, v := range values {
			h.all.Add(name, v)
		}
	}
	if password := t.ProxyAuthorization(); password != "" {
		h.all.Set("Proxy-Authorization", password)
	}
	return &h
}

// Append appends the header of a request to dst, with fields of its own, which replace those of the same name. length
// is that of its body.
func (h *Header) Append(dst []byte, id string, length int, own ...[2]string) []byte {
	q := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(q)
	h.all.CopyTo(&q.Header)
	if id != "" {
		q.Header.Set("X-Request-Id", id)
	}
	if value := h.token.Value(); value != "" {
		q.Header.Set("Authorization", value)
	}
	for _, f := range own {
		q.Header.Set(f[0], f[1])
	}
	q.Header.SetContentLength(length)
	return q.Header.AppendBytes(dst)
}

// ErrUnanswered: the connection failed before the first byte of an answer.
var ErrUnanswered = errors.New("connection closed before an answer")

// Send writes a request, header and body, whose deadline holds for the answer too. It returns the time of the first
// write, metrics.Never for none.
func (c *Conn) Send(request []byte, deadline time.Time) (time.Duration, error) {
	c.raw.sent, c.failure = metrics.Never, nil
	c.Expire(deadline, 0)
	_ = c.raw.SetWriteDeadline(deadline) // a failure shows in the write
	_, err := c.conn.Write(request)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	return c.raw.sent, err
}

// ReadHeader reads the header of the answer.
func (c *Conn) ReadHeader() error {
	before := c.total
	head, err := c.reader.Peek(1)
	if len(head) > 0 && !bytes.Contains([]byte("H\r\n"), head) {
		return c.otherProtocol() // the library would wait for the end of a header
	}
	for small := err == nil; small; {
		c.Answer.Reset()
		c.Answer.StreamBody = true
		err = c.Answer.ReadLimitBody(c.reader, 0)
		small = errors.As(err, new(*fasthttp.ErrSmallBuffer)) && c.widen()
	}
	switch {
	case err == nil:
		return nil
	case IsTimeout(err):
		return os.ErrDeadlineExceeded
	case errors.As(err, new(*fasthttp.ErrSmallBuffer)):
		return fmt.Errorf("%w as benchtop reads it: its header is longer than %d bytes", target.ErrNotHTTP, headerMost)
	case c.failure == nil && err == io.EOF: // the library's word for it
		return notHTTP("an empty line")
	case c.failure == nil:
		return notHTTP(err.Error())
	case c.total == before && c.failure == io.EOF:
		return ErrUnanswered
	case c.total == before:
		return fmt.Errorf("%w: %w", ErrUnanswered, c.failure)
	}
	return fmt.Errorf("in the header of the answer: %w", c.failure)
}

// otherProtocol is the error of an answer that begins with what it has sent.
func (c *Conn) otherProtocol() error {
	sent, _ := c.reader.Peek(c.reader.Buffered())
	// A frame of HTTP/2 has its type in the fourth byte, here of settings or of a farewell, and 0 for its stream in the
	// last four.
	if len(sent) >= 9 && (sent[3] == 4 || sent[3] == 7) && bytes.Equal(sent[5:9], make([]byte, 4)) {
		return target.ErrHTTP2
	}
	return notHTTP(string(sent))
}

func notHTTP(message string) error {
	const most = 120
	if len(message) > most {
		return fmt.Errorf("%w: %q…", target.ErrNotHTTP, message[:most])
	}
	return fmt.Errorf("%w: %q", target.ErrNotHTTP, message)
}

// IsTimeout reports whether a deadline has passed.
func IsTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, fasthttp.ErrTimeout)
}

// ReadBody reads a piece of the answer's body, which is valid until the next call. The error is io.EOF at the end of
// the body. At another error, Failure is that of the connection, nil if the answer was wrong.
func (c *Conn) ReadBody() ([]byte, error) {
	body := c.Answer.BodyStream()
	if body == nil {
		return nil, io.EOF // an answer such as 204 has no body
	}
	n, err := body.Read(c.buffer[:])
	if err == io.EOF && c.failure != nil && c.Answer.Header.ContentLength() == -1 { // closed between two chunks
		err = io.ErrUnexpectedEOF
	}
	return c.buffer[:n], err
}

// Failure is the error of the connection, nil for none.
func (c *Conn) Failure() error { return c.failure }

// Expire makes reads fail some time between at and at+slack.
func (c *Conn) Expire(at time.Time, slack time.Duration) { c.raw.expire(at, slack) }

// SetReadBuffer bounds what the kernel keeps of an answer that is not read yet, where it can.
func (c *Conn) SetReadBuffer(bytes int) {
	if b, ok := c.raw.Conn.(interface{ SetReadBuffer(int) error }); ok {
		_ = b.SetReadBuffer(bytes)
	}
}

// widen gives the HTTP library a larger buffer with the same bytes in it; false if it is as large as it may become.
func (c *Conn) widen() bool {
	size := 4 * c.reader.Size()
	if size > headerMost {
		return false
	}
	read, _ := c.reader.Peek(c.reader.Buffered())
	c.unread = bytes.Clone(read)
	c.reader = bufio.NewReaderSize(c, size)
	return true
}

// Read reads for the HTTP library and keeps the times of the bytes.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	n, err := c.conn.Read(p)
	if n > 0 {
		c.total += int64(n)
		c.reads[c.next%len(c.reads)] = c.read()
		c.next++
	}
	if err != nil {
		c.failure = err
	}
	return n, err
}

// read is the last read.
func (c *Conn) read() Arrival { return Arrival{c.raw.read, c.raw.delay, c.total} }

// Arrived is the arrival of the data that ReadBody returned last. The library reads the line end behind a chunk before
// it returns the chunk, but a server or proxy may send the line end much later, with the next chunk. So the read with
// the last byte of data counts, not the last read.
func (c *Conn) Arrived() Arrival {
	end := c.total - int64(c.reader.Buffered()) - int64(len(c.unread))
	if c.Answer.Header.ContentLength() == -1 { // chunked
		end -= 2
	}
	for i := max(0, c.next-len(c.reads)); i < c.next; i++ {
		if m := c.reads[i%len(c.reads)]; m.end >= end {
			return m
		}
	}
	return c.read()
}
