package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"benchtop/internal/text"
	"benchtop/loadgen/target"
)

// distrust explains why the server cannot be spoken with, for TLS or for another protocol, and what to try; nil where
// the error is of another kind.
func distrust(t *target.Target, err error) error {
	var (
		invalid  x509.CertificateInvalidError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		record   tls.RecordHeaderError
	)
	const orAny = "; --insecure accepts any certificate"
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return fmt.Errorf("the certificate of %s is valid only from %s; is this machine's clock right?", t,
			target.Day(invalid.Cert.NotBefore))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("the certificate of %s expired on %s%s", t, target.Day(invalid.Cert.NotAfter), orAny)
	case errors.As(err, &hostname):
		return fmt.Errorf("the certificate of %s is of another host: %w; use a name that it has%s", t, hostname, orAny)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is signed by an authority that is not trusted here; give the "+
			"authority's certificate with --ca-file%s", t, orAny)
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return fmt.Errorf("the certificate of %s cannot be trusted: %w%s", t, err, orAny)
	case errors.Is(err, target.ErrNotHTTP):
		// without the URL a second time
		return fmt.Errorf("%s: %s", t, text.Clean(t.Hide(errors.Unwrap(err).Error())))
	case errors.As(err, &record):
		return fmt.Errorf("%s does not speak TLS; is it http:// rather than https://?", t)
	}
	return refusedTLS(t, err)
}

// speaksTLS reports whether a server that was asked without TLS wants it.
func speaksTLS(ctx context.Context, t *target.Target) bool {
	if t.Secured() || t.Proxy() != "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, tlsPatience)
	defer cancel()
	raw, err := t.Dial(ctx)
	if err != nil {
		return false
	}
	defer raw.Close()
	err = tls.Client(raw, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	return err == nil || strings.Contains(err.Error(), "remote error: tls: ")
}

// tlsPatience is how long a server may take to show that it speaks TLS.
const tlsPatience = 2 * time.Second

// refusedTLS explains an error that the server sent in place of TLS. With TLS 1.3 it comes when the handshake seems
// over.
func refusedTLS(t *target.Target, err error) error {
	_, alert, ok := strings.Cut(err.Error(), "remote error: tls: ")
	switch {
	case !ok:
		return nil
	case strings.Contains(alert, "certificate") && !t.Certified():
		return fmt.Errorf("%s wants a certificate of the client: %s; give it with --cert-file and --key-file", t, alert)
	case strings.Contains(alert, "certificate"):
		return fmt.Errorf("%s does not accept the certificate of --cert-file: %s", t, alert)
	}
	return fmt.Errorf("%s refuses TLS: %s", t, alert)
}
