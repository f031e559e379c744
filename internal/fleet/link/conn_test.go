//go:build fleet

package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func listen(t *testing.T) (*Server, Join) {
	t.Helper()
	s, err := Listen("", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	j, err := s.Join("run-1")
	if err != nil {
		t.Fatal(err)
	}
	return s, j
}

func dial(t *testing.T, j Join, o Options) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), j, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// eventually waits for a condition as long as a busy machine needs.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not after 30 s: %s", what)
		}
	}
}

func TestMessages(t *testing.T) {
	s, j := listen(t)
	coordinator, worker := dial(t, j, Options{Server: s}), dial(t, j, Options{Name: "worker"})
	got := make(chan string, 10)
	stop, err := coordinator.Handle("worker.*.state", func(subject string, data []byte) []byte {
		got <- subject + " " + string(data)
		return []byte("to " + subject)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Publish("worker.3.state", []byte("ready")); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m != "worker.3.state ready" {
		t.Errorf("message %q", m)
	}
	answer, err := worker.Request(t.Context(), "worker.4.state", nil)
	if err != nil || string(answer) != "to worker.4.state" || <-got != "worker.4.state " {
		t.Errorf("answer %q, error %v", answer, err)
	}
	if _, err := worker.Request(t.Context(), "nobody", nil); !errors.Is(err, ErrNobody) {
		t.Errorf("error %v", err)
	}
	stop()
	eventually(t, "the subject is not handled any more", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := worker.Request(ctx, "worker.4.state", nil)
		return errors.Is(err, ErrNobody)
	})
	large := make([]byte, worker.MaxPayload()+1)
	if err := worker.Publish("large", large); err == nil || !strings.Contains(err.Error(), "8388581 bytes") {
		t.Errorf("error %v", err)
	}
	if _, err := worker.Request(t.Context(), "large", large); err == nil || errors.Is(err, ErrNobody) {
		t.Errorf("error %v", err)
	}
	if err := worker.Publish("large", large[1:]); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", ".", "a..b", "a b", "a.>", "a*", "a\r\nPUB x"} {
		if err := worker.Publish(bad, nil); err == nil {
			t.Errorf("%q is a subject", bad)
		}
	}
}

// Whoever has the same server but not the key can neither read, nor forge, nor move a message to another subject.
func TestSealed(t *testing.T) {
	_, j := listen(t)
	c := dial(t, j, Options{})
	other, err := nats.Connect("nats://"+j.Addresses[0], nats.Token(j.Login.Token), nats.Secure(j.pinning(time.Now)))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	seen, err := other.SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}
	taken := make(chan string, 10)
	for _, subject := range []string{"a", "b"} {
		if _, err := c.Handle(subject, func(_ string, data []byte) []byte {
			taken <- string(data)
			return []byte("the answer")
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Publish("a", []byte("the key of the API")); err != nil {
		t.Fatal(err)
	}
	if m := <-taken; m != "the key of the API" {
		t.Errorf("message %q", m)
	}
	m, err := seen.NextMsg(10 * time.Second)
	if err != nil || m.Subject != "benchtop.run-1.a" || bytes.Contains(m.Data, []byte("API")) {
		t.Errorf("message %q on %s, error %v", m.Data, m.Subject, err)
	}
	flipped := bytes.Clone(m.Data)
	flipped[20] ^= 1
	for subject, data := range map[string][]byte{"b": m.Data, "a": flipped} {
		if err := other.Publish("benchtop.run-1."+subject, data); err != nil {
			t.Fatal(err)
		}
	}
	for _, data := range [][]byte{nil, []byte("plain"), make([]byte, 100)} {
		if err := other.PublishRequest("benchtop.run-1.a", "elsewhere", data); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all five are dropped", func() bool { return c.Unopened() == 5 })
	j.Key[0] ^= 1
	stranger := dial(t, j, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := stranger.Request(ctx, "a", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v of a request with another key", err)
	}
	if len(taken) > 0 {
		t.Errorf("message %q is taken", <-taken)
	}
}

// proxy carries TCP to an address until it is cut, and again after it is mended.
type proxy struct {
	net.Listener
	to    string
	mu    sync.Mutex
	open  []net.Conn
	isCut bool
}

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to}
	t.Cleanup(func() { l.Close(); p.cut(true) })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", p.to)
			p.mu.Lock()
			if err != nil || p.isCut {
				in.Close()
				if out != nil {
					out.Close()
				}
			} else {
				p.open = append(p.open, in, out)
				for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
					go func() { _, _ = io.Copy(way[0], way[1]); way[0].Close() }()
				}
			}
			p.mu.Unlock()
		}
	}()
	return p
}

func (p *proxy) cut(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = is
	for _, c := range p.open {
		c.Close()
	}
	p.open = nil
}

// A connection that is cut tells so, fails meanwhile, and comes back; a copy over it has every byte once.
func TestCut(t *testing.T) {
	s, j := listen(t)
	p := newProxy(t, j.Addresses[0])
	coordinator := dial(t, j, Options{Server: s})
	j.Addresses = []string{p.Addr().String()}
	states := make(chan error, 100)
	worker := dial(t, j, Options{State: func(err error) { states <- err }})
	c := newPair(t, coordinator, worker)
	ended := make(chan error, 1)
	go func() {
		for i := range 300 {
			io.WriteString(&c.file, strings.Repeat(strconv.Itoa(i), 1000)+"\n")
			c.source.Live([]byte{1, 2, 3, 4, 5, 6, 7, 8})
			time.Sleep(2 * time.Millisecond)
		}
		ended <- c.source.End(t.Context())
	}()
	for range 3 {
		have := c.replica.Progress().Have
		eventually(t, "bytes come", func() bool { p := c.replica.Progress(); return p.Have > have || p.Ended })
		p.cut(true)
		if err := <-states; err == nil {
			t.Error("a cut is told as a return")
		}
		if err := worker.Publish("state", nil); !errors.Is(err, ErrDisconnected) {
			t.Errorf("error %v", err)
		}
		if _, err := worker.Request(t.Context(), "state", nil); !errors.Is(err, ErrDisconnected) {
			t.Errorf("error %v", err)
		}
		p.cut(false)
		if err := <-states; err != nil {
			t.Errorf("a return is told as %v", err)
		}
	}
	if err := c.replica.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if c.file.String() != c.copy.String() {
		t.Errorf("%d bytes are copied as %d others", len(c.file.b), len(c.copy.b))
	}
}

// Each way not to get a connection is an error at once that says what to try, without a secret.
func TestRefusals(t *testing.T) {
	_, good := listen(t)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	go func() {
		for {
			c, err := plain.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			c.Close()
		}
	}()
	for want, change := range map[string]func(*Join){
		"refuses the token":                      func(j *Join) { j.Login.Token = "s3cret" },
		"refuses the user or the password":       func(j *Join) { j.Login = Login{User: "u", Password: "s3cret"} },
		"refuses the connection without a login": func(j *Join) { j.Login = Login{} },
		"another certificate":                    func(j *Join) { j.Pin[0] ^= 1 },
		"give the certificate's SHA-256":         func(j *Join) { j.Pin, j.TLS = [32]byte{}, true },
		"nothing listens there":                  func(j *Join) { j.Addresses = []string{"127.0.0.1:1"} },
		"no NATS server":                         func(j *Join) { j.Addresses = []string{plain.Addr().String()} },
		"no machine is known":                    func(j *Join) { j.Addresses = []string{"no-such-host.invalid:1"} },
		"127.0.0.1:2: nothing": func(j *Join) {
			j.Addresses = []string{"127.0.0.1:1", "127.0.0.1:2"}
		},
		"refuses the token: it may": func(j *Join) {
			j.Login.Token, j.Addresses = "s3cret", append(j.Addresses, "127.0.0.1:1")
		},
		"address 1 is not": func(j *Join) { j.Addresses = []string{"s3cret"} },
	} {
		j := good
		change(&j)
		start := time.Now()
		_, err := Dial(t.Context(), j, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error %v, want %q", err, want)
		}
		if took := time.Since(start); took > 9*time.Second {
			t.Errorf("%s: %v", want, took)
		}
	}
	good.Addresses = append([]string{"127.0.0.1:1"}, good.Addresses...)
	dial(t, good, Options{})
}

// An address that does not answer, and a context that ends, end the first connection.
func TestUnreachable(t *testing.T) {
	_, j := listen(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	j.Addresses = []string{silent.Addr().String()}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := Dial(ctx, j, Options{}); err == nil || !strings.Contains(err.Error(), "nothing answers") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > attempt/2 {
		t.Errorf("it took %v", took)
	}
}
