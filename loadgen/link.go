package loadgen

import (
	"bufio"
	"bytes"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// link is a connection ready for HTTP: the stamped connection, TLS above it where there is any, and the reading state of
// the HTTP library, which lives as long as the connection.
type link struct {
	raw    *stampedConn
	conn   net.Conn // raw, or TLS over it
	reader *bufio.Reader
	answer fasthttp.Response
	buffer [bodyBuffer]byte
	dial   time.Duration // what the dial took, TLS not included
	used   bool          // it has carried a request
	asked  bool          // the system can be asked whether the server has closed it
	since  time.Time     // idle since

	total   int64   // bytes read from conn
	marks   [4]mark // the last reads from it
	next    int
	failure error  // of the last read; the HTTP library does not always pass it on
	again   []byte // read already, but for a reader that was too small
}

// mark says up to which byte a read went and when those bytes came. What one read returned has one time, that of its last
// byte: the kernel keeps no other.
type mark struct {
	end   int64
	at    time.Duration
	delay time.Duration // until the read returned; metrics.Never if we stamped it ourselves
}

// mayBeStale reports whether an idle connection is so old that the server may have closed it for being idle. Servers wait
// longer for a first request than for a next one, so one that was opened ahead has to be older.
func (k *link) mayBeStale() bool {
	idle := time.Since(k.since)
	return k.used && idle >= idleLeast || idle >= idleLimit
}

// rest is how long after an answer the end of the connection is known here if the server closes it at once.
func (k *link) rest() time.Duration { return max(5*time.Millisecond, 2*k.dial) }

// staleWithin is how soon after the write a stale connection has failed at the latest: the reset that the first packet meets
// takes a round trip, about as long as the dial took.
func (k *link) staleWithin() time.Duration { return max(20*time.Millisecond, 2*k.dial) }

const (
	// headerBuffer is enough for the headers of most answers and for a chunk with a token. There is one for every stream, so
	// it starts small; an answer whose header does not fit gets more, up to headerMost.
	headerBuffer = 1024
	headerMost   = 64 << 10
	bodyBuffer   = 512
)

// widen gives the HTTP library a larger buffer with the same bytes in it; false if it is as large as it may become.
func (k *link) widen() bool {
	size := 4 * k.reader.Size()
	if size > headerMost {
		return false
	}
	read, _ := k.reader.Peek(k.reader.Buffered())
	k.again = bytes.Clone(read)
	k.reader = bufio.NewReaderSize(k, size)
	return true
}

// Read reads for the HTTP library and remembers which bytes came when.
func (k *link) Read(p []byte) (int, error) {
	if len(k.again) > 0 {
		n := copy(p, k.again)
		k.again = k.again[n:]
		return n, nil
	}
	n, err := k.conn.Read(p)
	if n > 0 {
		k.total += int64(n)
		k.marks[k.next%len(k.marks)] = mark{k.total, k.raw.read, k.raw.delay}
		k.next++
	}
	if err != nil {
		k.failure = err
	}
	return n, err
}

// arrived is when the data that the HTTP library returned last was complete. The library reads the line end behind a
// chunk before it returns the chunk; a server or proxy may send that line end much later, together with the next chunk.
// So not the last read counts but the one that brought the last byte of data.
func (k *link) arrived(chunked bool) mark {
	end := k.total - int64(k.reader.Buffered()) - int64(len(k.again))
	if chunked {
		end -= 2
	}
	for i := max(0, k.next-len(k.marks)); i < k.next; i++ {
		if m := k.marks[i%len(k.marks)]; m.end >= end {
			return m
		}
	}
	return mark{k.total, k.raw.read, k.raw.delay}
}
