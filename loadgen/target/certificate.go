package target

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"time"
)

// mostPEM is more than any bundle of certificates has.
const mostPEM = 16 << 20

// readPEM reads a file of PEM blocks. what is what it should have.
func readPEM(file, what string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a directory; give the file with the %s", file, what)
	case info.Size() > mostPEM:
		return nil, fmt.Errorf("%s: it has %d MiB, too many for a %s", file, info.Size()>>20, what)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if block, _ := pem.Decode(data); block == nil {
		return nil, fmt.Errorf("%s: no %s in PEM form (-----BEGIN …); convert it with 'openssl x509 -inform der' or "+
			"'openssl pkey'", file, what)
	}
	return data, nil
}

// Roots reads the certificates that may sign the server's, in PEM form.
func Roots(file string) (*x509.CertPool, error) {
	data, err := readPEM(file, "certificate")
	if err != nil {
		return nil, err
	}
	roots, n := x509.NewCertPool(), 0
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: its certificate %d is damaged: %w", file, n+1, err)
		}
		roots.AddCert(c)
		n++
	}
	if n == 0 {
		return nil, fmt.Errorf("%s: no certificate in it; give the one of the authority that signed the server's", file)
	}
	return roots, nil
}

// Certificate reads the client's certificate and its key, in PEM form; both may be in one file.
func Certificate(certFile, keyFile string) (*tls.Certificate, error) {
	certificate, err := readPEM(certFile, "certificate")
	if err != nil {
		return nil, err
	}
	key := certificate
	if keyFile != certFile {
		if key, err = readPEM(keyFile, "key"); err != nil {
			return nil, err
		}
	}
	pair, err := tls.X509KeyPair(certificate, key)
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "does not match"):
		return nil, fmt.Errorf("the key in %s is not the key of the certificate in %s", keyFile, certFile)
	case encrypted(key):
		return nil, fmt.Errorf("%s: the key is encrypted; decrypt it with 'openssl pkey -in %[1]s -out KEY'", keyFile)
	case !strings.Contains(string(key), "PRIVATE KEY-----"):
		return nil, fmt.Errorf("%s: no private key in it; give it with --key-file", keyFile)
	case !strings.Contains(string(certificate), "BEGIN CERTIFICATE-----"):
		return nil, fmt.Errorf("%s: no certificate in it", certFile)
	default:
		return nil, fmt.Errorf("%s and %s: %w", certFile, keyFile, err)
	}
	if now, until := time.Now(), pair.Leaf.NotAfter; now.After(until) {
		return nil, fmt.Errorf("%s: the certificate expired on %s; get a new one", certFile, Day(until))
	}
	return &pair, nil
}

func encrypted(key []byte) bool {
	for block, rest := pem.Decode(key); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return true
		}
	}
	return false
}

// Day writes a moment of a certificate.
func Day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
