package conn

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// served is a pool whose server answers each request with the next of some pieces, and closes the connection after the
// last.
func served(t *testing.T, answers ...string) *Pool {
	t.Helper()
	return NewPool(dialled(t, func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			in := bufio.NewReader(server)
			for _, a := range answers {
				if r, err := http.ReadRequest(in); err != nil || r.Header.Get("X-Request-Id") != "r-0" {
					return
				}
				_, _ = io.WriteString(server, a)
			}
		}()
		return client, nil
	}), metrics.UserStamps)
}

// exchange sends a request without a body and reads the answer to its end.
func exchange(c *Conn, header *Header) (sent time.Duration, body string, err error) {
	sent, err = c.Send(header.Append(nil, "r-0", 0), time.Now().Add(time.Second))
	if err == nil {
		err = c.ReadHeader()
	}
	for err == nil {
		var piece []byte
		piece, err = c.ReadBody()
		body += string(piece)
	}
	return sent, body, err
}

// An answer is read whole or fails with an error that says how, and only a whole one leaves the connection for another
// request.
func TestAnswers(t *testing.T) {
	const plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, c := range []struct {
		name, answer, body string
		err                error
		words              string
		reused             bool
	}{
		{"whole", plain, "ok", io.EOF, "", true},
		{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "ok", io.EOF, "",
			true},
		{"without a body", "HTTP/1.1 204 No Content\r\n\r\n", "", io.EOF, "", true},
		{"a header longer than the first buffer",
			"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 4*headerBuffer) + plain[15:], "ok", io.EOF, "", true},
		{"the server closes", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "ok", io.EOF, "",
			false},
		{"more than the answer", plain + "more", "ok", io.EOF, "", false},
		{"nothing", "", "", ErrUnanswered, "connection closed before an answer", false},
		{"a part of the header", "HTTP/1.1 200", "", io.EOF, "in the header of the answer", false},
		{"a part of the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", "ok", io.ErrUnexpectedEOF, "", false},
		{"a header without end", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", headerMost), "", target.ErrNotHTTP,
			"longer than 65536 bytes", false},
		{"not HTTP", "SSH-2.0-a_server\r\n\r\n", "", target.ErrNotHTTP, `SSH-2.0`, false},
		{"not HTTP at length", strings.Repeat("x", 300) + "\r\n\r\n", "", target.ErrNotHTTP, `…`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := served(t, c.answer)
				defer pool.Close()
				k, err := pool.Dial(t.Context())
				assert.Fine(t, err)
				sent, body, err := exchange(k, NewHeader(pool.target, "/v1", "text/plain"))
				if body != c.body || !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.words) ||
					sent == metrics.Never {
					t.Errorf("%q, %v, sent %s; want %q, %v, %q", body, err, sent, c.body, c.err, c.words)
				}
				if errors.Is(err, ErrUnanswered) {
					pool.Failed(k, err)
				} else {
					pool.Release(k, err)
				}
				if open := pool.Stats().Open; (open == 1) != c.reused {
					t.Errorf("%d connections are open", open)
				}
			})
		})
	}
}

// The second answer on a connection shows that the server keeps connections open.
func TestReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
		pool := served(t, answer, answer)
		header := NewHeader(pool.target, "/v1", "text/plain")
		pool.SetClock(Clock{Start: time.Now()})
		k, err := pool.Dial(t.Context())
		assert.Fine(t, err)
		for range 2 {
			time.Sleep(time.Second)
			if k.used && k.StaleWithin() < 0 {
				t.Error("a connection that idled for a second cannot be stale")
			}
			sent, _, err := exchange(k, header)
			if at := k.Arrived(); err != io.EOF || k.Failure() != nil || at.At != sent || at.Delay != metrics.Never {
				t.Errorf("%v, sent %s, arrived %+v", err, sent, at)
			}
			pool.Answered(k)
			pool.Release(k, io.EOF)
			if again := pool.Take(); again != k {
				t.Fatalf("took %p, want %p", again, k)
			}
		}
		if pool.habit != keepsOpen || pool.Peak() != 1 || pool.Peak() != 1 {
			t.Errorf("habit %d", pool.habit)
		}
		pool.Release(k, io.EOF)
		time.Sleep(idleLimit)
		if pool.Take() != nil || pool.Stats().Open != 0 {
			t.Error("a connection is used after it idled for too long")
		}
		pool.Close()
	})
}

// A silent server is a time-out, and a request that cannot be written is unanswered.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer server.Close()
		pool := NewPool(dialled(t, func(context.Context, string, string) (net.Conn, error) { return client, nil }),
			metrics.UserStamps)
		k, err := pool.Dial(t.Context())
		assert.Fine(t, err)
		go func() { _, _ = io.Copy(io.Discard, server) }()
		if _, _, err := exchange(k, NewHeader(pool.target, "/v1", "")); !IsTimeout(err) {
			t.Errorf("%v, want a time-out", err)
		}
		pool.Close()
		assert.Is(t, assert.Failure(k.Send([]byte("x"), time.Time{})), ErrUnanswered)
		if _, err := pool.Dial(t.Context()); err == nil {
			t.Error("a pool that is closed dials")
		}
	})
}

// A connection whose handshake fails is closed, and so is one that was dialled while the pool was closed.
func TestHandshakeFails(t *testing.T) {
	g, err := target.New(target.Options{BaseURL: "https://model.test",
		Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			_ = server.Close()
			return client, nil
		}})
	assert.Fine(t, err)
	pool := NewPool(g, metrics.UserStamps)
	if _, err := pool.Dial(t.Context()); err == nil || errors.Is(err, os.ErrDeadlineExceeded) ||
		pool.Stats() != (Stats{Dialled: 1}) {
		t.Errorf("%v, %+v", err, pool.Stats())
	}
}

// A connection that ends soon after its answer shows that the server closes connections at once: none is kept from then
// on.
func TestClosesAtOnce(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	pool := served(t, answer)
	defer pool.Close()
	k, err := pool.Dial(t.Context())
	assert.Fine(t, err)
	_, _, err = exchange(k, NewHeader(pool.target, "/v1", ""))
	pool.Release(k, err)
	k = pool.Take()
	k.pollable = true // as a socket is
	pool.Failed(k, ErrUnanswered)
	assert.Equal(t, pool.habit, closesAtOnce, "habit %d after a close", pool.habit)
	if k, err = pool.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err = exchange(k, NewHeader(pool.target, "/v1", ""))
	if pool.Release(k, err); pool.Stats().Open != 0 {
		t.Error("a connection is kept")
	}
}
