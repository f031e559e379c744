//go:build fleet

package link

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Server is a NATS server in this process, for a run that brings none. What it knows is in memory alone: its
// certificate, its token, the messages under way.
type Server struct {
	nats  *server.Server
	host  string // empty or unspecified: every address of this machine
	token string
	pin   [sha256.Size]byte
}

// maxPayload bounds a message through a server of ours, in bytes.
const maxPayload = 8 << 20

// Listen starts a server at a host, 127.0.0.1 if it is empty, and a port, any free one if it is 0. Close ends it.
func Listen(host string, port int) (*Server, error) {
	if host == "" {
		host = "127.0.0.1"
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	s := &Server{host: host, token: rand.Text(), pin: sha256.Sum256(certificate.Certificate[0])}
	s.nats, err = server.NewServer(&server.Options{
		Host: host, Port: port, NoLog: true, NoSigs: true, NoSystemAccount: true, MaxPayload: maxPayload,
		Authorization: s.token,
		TLS:           true, TLSTimeout: 10,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{certificate}},
	})
	if err != nil {
		return nil, fmt.Errorf("NATS server in this process: %w", err)
	}
	// Without a log the server says nothing of a port that is taken, but does not listen.
	probe, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(max(port, 0))))
	if err != nil {
		return nil, fmt.Errorf("NATS server in this process: %w; give another address or port", err)
	}
	probe.Close()
	s.nats.Start()
	if !s.nats.ReadyForConnections(10 * time.Second) {
		s.Close()
		return nil, fmt.Errorf("NATS server in this process: it does not listen at %s after 10 s;"+
			" give another address or port", host)
	}
	return s, nil
}

// Join is that of a run through this server, with a new key. Hosts are the names by which workers reach this machine;
// without any, they are the address at which the server listens, or all addresses of this machine if it listens at all.
func (s *Server) Join(run string, hosts ...string) (Join, error) {
	if len(hosts) == 0 {
		hosts = []string{s.host}
		if ip := net.ParseIP(s.host); ip != nil && ip.IsUnspecified() {
			hosts = addresses()
		}
	}
	j := Join{Run: run, Login: Login{Token: s.token}, Pin: s.pin}
	rand.Read(j.Key[:])
	for _, host := range hosts {
		j.Addresses = append(j.Addresses, net.JoinHostPort(host, strconv.Itoa(s.Port())))
	}
	return j, j.check()
}

// Port is where the server listens.
func (s *Server) Port() int { return s.nats.Addr().(*net.TCPAddr).Port }

// inside is the way to the server from this process.
func (s *Server) inside() nats.Option { return nats.InProcessServer(s.nats) }

// Close ends the server and waits until it has ended.
func (s *Server) Close() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// addresses are those by which others may reach this machine; the one of the loopback is last.
func addresses() (all []string) {
	found, _ := net.InterfaceAddrs() // none found: the loopback is left
	for _, a := range found {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && len(all) < mostAddresses-1 {
			all = append(all, n.IP.String())
		}
	}
	return append(all, "127.0.0.1")
}

// selfSigned makes a certificate that only its fingerprint proves. The clocks of workers may be a day off.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "benchtop"},
		NotBefore: time.Now().AddDate(0, 0, -1), NotAfter: time.Now().AddDate(1, 0, 0),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if err != nil {
		return tls.Certificate{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, errors.New("no certificate for the NATS server in this process: " + err.Error())
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
