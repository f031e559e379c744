package link

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats.go"
)

var errOther = errors.New("another certificate")

// pinning accepts the one certificate that the join names, while it is valid.
func (j Join) pinning(now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, // the fingerprint proves more than an authority
		VerifyConnection: func(s tls.ConnectionState) error {
			leaf := s.PeerCertificates[0]
			if sha256.Sum256(leaf.Raw) != j.Pin {
				return errOther
			}
			if t := now(); t.Before(leaf.NotBefore) || t.After(leaf.NotAfter) {
				return x509.CertificateInvalidError{Cert: leaf, Reason: x509.Expired, Detail: fmt.Sprintf(
					"from %s until %s, and here it is %s", leaf.NotBefore.Format(time.RFC3339),
					leaf.NotAfter.Format(time.RFC3339), t.UTC().Format(time.RFC3339))}
			}
			return nil
		},
	}
}

// explain says why an address gave no connection, and what to try.
func explain(address string, j Join, err error) error {
	var (
		invalid   x509.CertificateInvalidError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		name      *net.DNSError
		network   net.Error
	)
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	why := err.Error()
	switch {
	case is(nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired):
		why = "the server refuses the " + j.Login.kind() +
			": it may be that of another run; take the join string of this one"
	case is(errOther):
		why = "the server has another certificate than the join string says: a server of another run, or something" +
			" between that reads along; take the join string of this run"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		why = "the certificate is not valid now (" + invalid.Detail +
			"); set the clock of this machine, or give the server a new one"
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		why += "; give the certificate's SHA-256 fingerprint (--nats-pin), or the address by the name in the" +
			" certificate"
	case is(nats.ErrSecureConnWanted):
		why = "the server has no TLS, which the join string asks for; use its address with nats://, or set up its TLS"
	case is(nats.ErrNoInfoReceived):
		why = "what listens there is no NATS server; check the port"
	case errors.As(err, &name):
		why = "no machine is known by that name; check it, or give an IP address"
	case is(context.Canceled):
		why = "no connection was made in time: interrupted"
	case is(nats.ErrTimeout, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		why = "nothing answers; check the address, the firewall and the network between"
	case is(nats.ErrNoServers):
		why = "nothing listens there; check that the run is on, the address and the port"
	}
	return fmt.Errorf("NATS server at %s: %s", address, why)
}

// kind names what proves who we are.
func (l Login) kind() string {
	switch {
	case l.Token != "":
		return "token"
	case l.User != "":
		return "user or the password"
	case l.Credentials != "":
		return "credentials"
	}
	return "connection without a login"
}
