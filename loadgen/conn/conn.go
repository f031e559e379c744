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

// Conn is a connection ready for HTTP: the timed connection, TLS above it where there is any, and the reading state of
// the HTTP library, which lives as long as the connection. One goroutine at a time uses it.
type Conn struct {
	Answer fasthttp.Response // the last one

	raw      *timedConn
	conn     net.Conn // raw, or TLS over it
	reader   *bufio.Reader
	buffer   [bodyBuffer]byte
	dial     time.Duration // what the dial took, TLS not included
	used     bool          // it has carried a request
	pollable bool          // the system can be asked whether the server has closed it
	since    time.Time     // idle since

	total   int64      // bytes read from conn
	reads   [4]Arrival // the last ones from it
	next    int
	failure error  // of the last read; the HTTP library does not always pass it on
	unread  []byte // read already, but for a reader that was too small
}

// Arrival says when bytes came. What one read returned has one time, that of its last byte: the kernel keeps no other.
type Arrival struct {
	At    time.Duration
	Delay time.Duration // until the read returned; metrics.Never if we stamped it ourselves
	end   int64         // up to which byte of the connection
}

const (
	// headerBuffer is enough for the headers of most answers and for a chunk with a token. There is one for every stream, so
	// it starts small; an answer whose header does not fit gets more, up to headerMost.
	headerBuffer = 1024
	headerMost   = 64 << 10
	bodyBuffer   = 512
)

// rest is how long after an answer the end of the connection is known here if the server closes it at once.
func (c *Conn) rest() time.Duration { return max(5*time.Millisecond, 2*c.dial) }

// StaleWithin is how soon after the write a connection has failed at the latest that the server had closed for being idle: the reset
// that the first packet meets takes a round trip, about as long as the dial took. It is negative for one that is not old enough, or
// nil. Servers wait longer for a first request than for a next one, so one that was opened ahead has to be older.
func (c *Conn) StaleWithin() time.Duration {
	if c != nil {
		if idle := time.Since(c.since); c.used && idle >= idleLeast || idle >= idleLimit {
			return max(20*time.Millisecond, 2*c.dial)
		}
	}
	return -1
}

// Header is that of all requests of a run.
type Header struct{ all fasthttp.RequestHeader }

// NewHeader has the target's own headers replace ours.
func NewHeader(t *target.Target, endpoint, contentType string) *Header {
	var h Header
	h.all.SetMethod(http.MethodPost)
	h.all.SetRequestURI(t.Path(endpoint))
	h.all.SetHost(t.Host())
	h.all.Set("Accept", "*/*")
	h.all.SetUserAgent("benchtop")
	h.all.SetContentType(contentType)
	for name, values := range t.Header() {
		h.all.Del(name)
		for _, v := range values {
			h.all.Add(name, v)
		}
	}
	return &h
}

// Append appends the header of a request with a body of a length to dst.
func (h *Header) Append(dst []byte, id string, length int) []byte {
	q := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(q)
	h.all.CopyTo(&q.Header)
	if id != "" {
		q.Header.Set("X-Request-Id", id)
	}
	q.Header.SetContentLength(length)
	return q.Header.AppendBytes(dst)
}

// ErrUnanswered: the connection failed before the first byte of an answer. ErrNotHTTP: something else came.
var (
	ErrUnanswered = errors.New("connection closed before an answer")
	ErrNotHTTP    = errors.New("the answer is not HTTP")
)

// Send writes a request, header and body, whose deadline holds for the answer too. It returns when the first byte went out, metrics.Never
// if none did.
func (c *Conn) Send(request []byte, deadline time.Time) (time.Duration, error) {
	c.raw.sent, c.failure = metrics.Never, nil
	c.Expire(deadline, 0)
	_ = c.raw.SetWriteDeadline(deadline) // as with Expire, the write will tell
	_, err := c.conn.Write(request)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	return c.raw.sent, err
}

// ReadHeader reads the header of the answer.
func (c *Conn) ReadHeader() error {
	before := c.total
	var err error
	for small := true; small; {
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
		return fmt.Errorf("%w as benchtop reads it: its header is longer than %d bytes", ErrNotHTTP, headerMost)
	case c.failure == nil:
		return notHTTP(err.Error())
	case c.total == before && c.failure == io.EOF:
		return ErrUnanswered
	case c.total == before:
		return fmt.Errorf("%w: %w", ErrUnanswered, c.failure)
	}
	return fmt.Errorf("in the header of the answer: %w", c.failure)
}

func notHTTP(message string) error {
	const most = 120
	if len(message) > most {
		return fmt.Errorf("%w: %q…", ErrNotHTTP, message[:most])
	}
	return fmt.Errorf("%w: %q", ErrNotHTTP, message)
}

// IsTimeout reports whether a deadline has passed.
func IsTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, fasthttp.ErrTimeout)
}

// ReadBody reads a piece of the answer's body, which is valid until the next call. io.EOF says that it ended in order; at another error
// Failure has that of the connection itself, if it was that.
func (c *Conn) ReadBody() ([]byte, error) {
	body := c.Answer.BodyStream()
	if body == nil {
		return nil, io.EOF // some kinds of answers, such as 204, have none
	}
	n, err := body.Read(c.buffer[:])
	return c.buffer[:n], err
}

// Failure is how the connection failed, nil for not at all.
func (c *Conn) Failure() error { return c.failure }

// Expire makes reads fail some time between at and at+slack.
func (c *Conn) Expire(at time.Time, slack time.Duration) { c.raw.expire(at, slack) }

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

// Read reads for the HTTP library and remembers which bytes came when.
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

// read is the last one.
func (c *Conn) read() Arrival { return Arrival{c.raw.read, c.raw.delay, c.total} }

// Arrived is when the data that ReadBody returned last was complete. The library reads the line end behind a
// chunk before it returns the chunk; a server or proxy may send that line end much later, together with the next chunk.
// So not the last read counts but the one that brought the last byte of data.
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
