package target

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// signed is a certificate that signs itself, and its key, in PEM form.
func signed(t *testing.T, until time.Time) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.Fine(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-24 * time.Hour), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	assert.Fine(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	assert.Fine(t, err)
	return block("CERTIFICATE", der), block("PRIVATE KEY", secret)
}

func block(kind string, data []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
}

// Files that cannot be used are refused with their name, the reason, and a way out.
func TestCertificateFiles(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	certificate, key := signed(t, soon)
	_, otherKey := signed(t, soon)
	old, oldKey := signed(t, time.Date(2020, 5, 1, 0, 0, 0, 0, time.UTC))
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		assert.Fine(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	absent := filepath.Join(folder, "absent.pem")
	for _, c := range []struct {
		name, certificate, key, words string
	}{
		{"a pair", file("a.pem", certificate), file("a.key", key), ""},
		{"in one file", file("both.pem", key+certificate), "", ""},
		{"no file", absent, file("a.key", key), absent},
		{"no file of the key", file("a.pem", certificate), absent, absent},
		{"a folder", folder, "", "is a directory"},
		{"not PEM", file("der", "0\x82"), "", "no certificate in PEM form"},
		{"another's key", file("a.pem", certificate), file("b.key", otherKey),
			"b.key is not the key of the certificate in"},
		{"encrypted", file("a.pem", certificate), file("c.key", block("ENCRYPTED PRIVATE KEY", []byte("x"))),
			"openssl pkey -in"},
		{"no key", file("a.pem", certificate), "", "no private key in it; give it with --key-file"},
		{"no certificate", file("a.key", key), "", "no certificate in it"},
		{"damaged", file("d.pem", block("CERTIFICATE", []byte("x"))), file("a.key", key), "d.pem"},
		{"expired", file("old.pem", old), file("old.key", oldKey), "expired on 2020-05-01 00:00 UTC"},
	} {
		c.key = cmp.Or(c.key, c.certificate)
		_, err := Certificate(c.certificate, c.key)
		assert.Fails(t, c.name, err, c.words)
	}
	for _, c := range []struct{ name, file, words string }{
		{"one", file("a.pem", certificate), ""},
		{"two and a key", file("ab.pem", certificate+key+old), ""},
		{"none", absent, absent},
		{"empty", file("empty", ""), "no certificate in PEM form"},
		{"a key", file("a.key", key), "no certificate in it"},
		{"damaged", file("d.pem", certificate+block("CERTIFICATE", []byte("x"))), "its certificate 2 is damaged"},
		{"large", file("large", strings.Repeat(" ", mostPEM+1)), "too many"},
	} {
		_, err := Roots(c.file)
		assert.Fails(t, "roots, "+c.name, err, c.words)
	}
}
