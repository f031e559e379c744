//go:build fleet

package link

import (
	"crypto/sha256"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A server of others, without TLS and with a login and a limit of its own, carries a run as well.
func TestExternalServer(t *testing.T) {
	other, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true,
		Username: "u/", Password: "p@", MaxPayload: 4096})
	if err != nil {
		t.Fatal(err)
	}
	other.Start()
	t.Cleanup(other.Shutdown)
	if !other.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	j, err := External("r", "nats://u%2F:p%40@"+other.Addr().String(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), Join{Addresses: j.Addresses, Run: "r", TLS: true}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "has no TLS") {
		t.Errorf("error %v", err)
	}
	p := newPair(t, dial(t, j, Options{}), dial(t, j, Options{}))
	for range 5 {
		io.WriteString(&p.file, strings.Repeat("x", 9999)+"\n")
	}
	p.finish(t)
}

// A certificate is refused before and after its time.
func TestExpiry(t *testing.T) {
	certificate, err := selfSigned()
	if err != nil {
		t.Fatal(err)
	}
	_, j := listen(t)
	server := &tls.Config{Certificates: []tls.Certificate{certificate}}
	j.Pin = sha256.Sum256(certificate.Certificate[0])
	for day, ok := range map[int]bool{-2: false, 0: true, 364: true, 367: false} {
		here, there := net.Pipe()
		go func() { _ = tls.Server(there, server).Handshake(); there.Close() }()
		err := tls.Client(here, j.pinning(func() time.Time { return time.Now().AddDate(0, 0, day) })).Handshake()
		if (err == nil) != ok {
			t.Errorf("day %d: error %v", day, err)
		}
		if err != nil && !strings.Contains(explain("h:1", j, err).Error(), "set the clock of this machine") {
			t.Errorf("day %d: error %v", day, explain("h:1", j, err))
		}
	}
}

func TestListen(t *testing.T) {
	s, _ := listen(t)
	if _, err := Listen("127.0.0.1", s.Port()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("error %v", err)
	}
	if _, err := Listen("no-such-host.invalid", 0); err == nil {
		t.Error("a server at no host")
	}
	if j, err := s.Join("r", "10.1.2.3", "::1"); err != nil || j.Addresses[1] != "[::1]:"+strconv.Itoa(s.Port()) {
		t.Errorf("%v, error %v", j.Addresses, err)
	}
	open, err := Listen("0.0.0.0", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if j, err := open.Join("r"); err != nil || !strings.HasPrefix(j.Addresses[len(j.Addresses)-1], "127.0.0.1:") {
		t.Errorf("%v, error %v", j.Addresses, err)
	}
	one, _ := open.Join("r")
	if two, _ := open.Join("r"); one.Key == two.Key {
		t.Error("two runs with one key")
	}
}
