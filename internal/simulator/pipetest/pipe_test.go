package pipetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// connected returns both ends of a connection made through Pipe.
func connected(t *testing.T) (client, server net.Conn, listener net.Listener) {
	t.Helper()
	listener, dial := Pipe()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := listener.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	client, err := dial(context.Background())
	assert.Fine(t, err)
	return client, <-accepted, listener
}

func TestPipeCarriesBytesBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server, _ := connected(t)
		data := bytes.Repeat([]byte("0123456789abcdef"), 5*pipeCapacity/16) // more than fits
		var both sync.WaitGroup
		for _, c := range []net.Conn{client, server} {
			both.Go(func() {
				assert.Equal(t, assert.Must(c.Write(data))(t), len(data), "wrote")
			})
			both.Go(func() {
				got := make([]byte, len(data))
				if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, data) {
					t.Errorf("read back wrongly: %v", err)
				}
			})
		}
		both.Wait()
		if client.LocalAddr().String() != server.RemoteAddr().String() ||
			client.RemoteAddr().String() != server.LocalAddr().String() {
			t.Error("the ends disagree about their addresses")
		}
		client.Close()
		server.Close()
	})
}

func TestPipeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server, _ := connected(t)
		assert.Must(server.Write([]byte("last words")))(t)
		server.Close()
		server.Close()
		assert.Equal(t, string(assert.Must(io.ReadAll(client))(t)), "last words", "after the other end closed")
		assert.Is(t, assert.Failure(client.Write([]byte("x"))), io.ErrClosedPipe)
		assert.Is(t, assert.Failure(server.Read(make([]byte, 1))), net.ErrClosed)
		assert.Is(t, assert.Failure(server.Write(nil)), net.ErrClosed)
		client.Close()
	})
}

func TestPipeCloseWakesBothEnds(t *testing.T) {
	tests := []struct {
		name string
		wait func(client, server net.Conn) (int, error)
		want error
	}{
		{"own read", func(client, _ net.Conn) (int, error) { return client.Read(make([]byte, 1)) }, net.ErrClosed},
		{"own write", func(client, _ net.Conn) (int, error) { return client.Write(make([]byte, 2*pipeCapacity)) },
			net.ErrClosed},
		{"other's read", func(_, server net.Conn) (int, error) { return server.Read(make([]byte, 1)) }, io.EOF},
		{"other's write", func(_, server net.Conn) (int, error) { return server.Write(make([]byte, 2*pipeCapacity)) },
			io.ErrClosedPipe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server, _ := connected(t)
				ended := make(chan error)
				go func() {
					_, err := tt.wait(client, server)
					ended <- err
				}()
				synctest.Wait()
				client.Close()
				assert.Is(t, <-ended, tt.want)
				server.Close()
			})
		})
	}
}

func TestPipeDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server, _ := connected(t)
		start := time.Now()
		buffer := make([]byte, 1)
		check := func(what string, err error, at time.Duration) {
			t.Helper()
			var timeout net.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() ||
				time.Since(start) != at {
				t.Errorf("%s: %v after %v, want a deadline exceeded after %v", what, err, time.Since(start), at)
			}
		}
		client.SetReadDeadline(start.Add(time.Second))
		_, err := client.Read(buffer)
		check("read", err, time.Second)
		_, err = client.Read(buffer)
		check("read again", err, time.Second)

		client.SetDeadline(start.Add(3 * time.Second)) // revives reading
		time.AfterFunc(time.Second, func() { server.Write([]byte("x")) })
		if _, err := client.Read(buffer); err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("read with a deadline ahead: %v after %v", err, time.Since(start))
		}
		_, err = client.Write(make([]byte, 2*pipeCapacity))
		check("write", err, 3*time.Second)

		client.SetReadDeadline(start) // in the past
		_, err = client.Read(buffer)
		check("read with a deadline past", err, 3*time.Second)

		client.SetReadDeadline(time.Time{})
		moved := time.AfterFunc(time.Second, func() { client.SetReadDeadline(time.Now().Add(time.Second)) })
		_, err = client.Read(buffer)
		check("read whose deadline was moved while waiting", err, 5*time.Second)
		moved.Stop()

		client.SetReadDeadline(start.Add(time.Hour)) // must not outlive the connection
		client.Close()
		server.Close()
	})
}

func TestPipeDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, dial := Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		assert.Is(t, assert.Failure(dial(ctx)), context.DeadlineExceeded)
		accept := make(chan error)
		go func() {
			_, err := listener.Accept()
			accept <- err
		}()
		synctest.Wait()
		listener.Close()
		listener.Close()
		assert.Is(t, <-accept, net.ErrClosed)
		assert.Is(t, assert.Failure(dial(context.Background())), net.ErrClosed)
	})
}

// A reset reaches the other end behind the data before it.
func TestPipeReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server, _ := connected(t)
		assert.Must(server.Write([]byte("last words")))(t)
		assert.Fine(t, errors.Join(server.(*pipeConn).SetLinger(0), server.Close()))
		r := bufio.NewReader(client)
		words, err := r.ReadString('!')
		if words != "last words" || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read %q and %v, want the words and a reset", words, err)
		}
		if _, err := client.Write([]byte("x")); err == nil {
			t.Error("a write after the reset succeeded")
		}
		client.Close()
	})
}
