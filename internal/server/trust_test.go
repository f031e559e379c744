package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// signed is a certificate for hosts, from one moment to another, that signs itself.
func signed(t *testing.T, from, until time.Time, hosts ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.Fine(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, DNSNames: hosts,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true}
	if len(hosts) > 0 {
		about.IPAddresses = nil
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	assert.Fine(t, err)
	leaf, err := x509.ParseCertificate(der)
	assert.Fine(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// Each way in which TLS fails is explained in one sentence with a way out, before the run, and whether or not the model
// is given.
func TestTLSTrouble(t *testing.T) {
	now := time.Now()
	hour := time.Hour
	good := signed(t, now.Add(-hour), now.Add(hour))
	strangers := signed(t, now.Add(-hour), now.Add(hour))
	for _, c := range []struct {
		name   string
		server *tls.Certificate // nil for plain HTTP
		own    *tls.Certificate
		wants  bool // the server wants a certificate
		known  bool // the server's certificate is
		words  string
	}{
		{name: "good", server: &good, known: true},
		{name: "unknown authority", server: &good,
			words: "is signed by an authority that is not trusted here; give the authority's certificate with " +
				"--ca-file"},
		{name: "expired", server: new(signed(t, now.Add(-2*hour), now.Add(-hour))), known: true, words: "expired on "},
		{name: "not yet valid", server: new(signed(t, now.Add(hour), now.Add(2*hour))), known: true,
			words: "is this machine's clock right?"},
		{name: "another host", server: new(signed(t, now.Add(-hour), now.Add(hour), "other.test")), known: true,
			words: "is of another host"},
		{name: "no TLS", words: "does not speak TLS; is it http:// rather than https://?"},
		{name: "a certificate is wanted", server: &good, known: true, wants: true,
			words: "wants a certificate of the client: certificate required; give it with --cert-file and --key-file"},
		{name: "another one is wanted", server: &good, known: true, wants: true, own: &strangers,
			words: "does not accept the certificate of --cert-file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"data": [{"id": "m"}]}`)
			}))
			web.Config.ErrorLog = log.New(io.Discard, "", 0)
			roots := x509.NewCertPool()
			if c.server == nil {
				web.Start()
			} else {
				web.TLS = &tls.Config{Certificates: []tls.Certificate{*c.server}}
				if c.wants {
					web.TLS.ClientAuth, web.TLS.ClientCAs = tls.RequireAndVerifyClientCert, roots
				}
				web.StartTLS()
			}
			defer web.Close()
			if c.known {
				roots.AddCert(c.server.Leaf)
			}
			for _, model := range []string{"", "m"} {
				o := Options{Backend: "openai", BaseURLs: []string{strings.Replace(web.URL, "http://", "https://", 1)},
					port: 1, Model: model}
				o.Check()
				var err error
				if o.Target, err = target.New(target.Options{BaseURL: o.BaseURLs[0], Roots: roots,
					Certificate: c.own}); err != nil {
					t.Fatal(err)
				}
				_, err = finds(t, o)
				if (c.words == "") != (err == nil) || err != nil &&
					(!strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), o.Target.String())) {
					t.Errorf("model %q: %v, want %q", model, err, c.words)
				}
			}
		})
	}
}

// A server that wants TLS and is asked without it is told from one that does not answer, in whatever way it refuses.
func TestWantsTLS(t *testing.T) {
	good := signed(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	says400 := httptest.NewUnstartedServer(http.NotFoundHandler())
	says400.Config.ErrorLog = log.New(io.Discard, "", 0)
	says400.TLS = &tls.Config{Certificates: []tls.Certificate{good}}
	says400.StartTLS()
	defer says400.Close()
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer bad.Close()
	for _, c := range []struct{ name, url, want string }{
		{"says so", strings.Replace(says400.URL, "https://", "http://", 1),
			" speaks TLS; is it https:// rather than http://?"},
		{"hangs up", "http://" + listening(t, &tls.Config{Certificates: []tls.Certificate{good}}),
			" speaks TLS; is it https:// rather than http://?"},
		{"hangs up on all", "http://" + listening(t, nil), "; name the model with --model"},
		{"no TLS", bad.URL, "400 Bad Request"},
	} {
		for _, model := range []string{"", "m"} {
			o := Options{Backend: "openai", BaseURLs: []string{c.url}, port: 1, Model: model}
			o.Check()
			_, err := finds(t, o)
			if known := model == "m" && !strings.Contains(c.want, "TLS"); known != (err == nil) || err != nil &&
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, model %q: %v, want %q", c.name, model, err, c.want)
			}
		}
	}
}

// listening is the address of a server that hangs up after the first bytes, or, with TLS, after the handshake or what
// is none.
func listening(t *testing.T, secure *tls.Config) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.Fine(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				first := make([]byte, 3)
				if _, err := io.ReadFull(conn, first); err == nil && secure != nil && first[0] == 22 { // a handshake
					_ = tls.Server(begun{conn, io.MultiReader(bytes.NewReader(first), conn)}, secure).Handshake()
				}
			}()
		}
	}()
	return l.Addr().String()
}

// begun is a connection of which something was read already.
type begun struct {
	net.Conn
	all io.Reader
}

func (b begun) Read(p []byte) (int, error) { return b.all.Read(p) }

// Values of headers come from files and variables. A secret in the command line brings a warning, which does not repeat
// it.
func TestHeaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	assert.Fine(t, os.WriteFile(file, []byte(" canary\r\n"), 0o600))
	t.Setenv("CANARY", "canary")
	for _, c := range []struct{ header, want, warning, problem string }{
		{"Authorization=@" + file, "canary", "", ""},
		{"Authorization=Bearer @" + file, "Bearer canary", "", ""},
		{"Authorization=$CANARY", "canary", "", ""},
		{"Authorization=Bearer $CANARY", "Bearer canary", "", ""},
		{"Authorization=Bearer canary", "Bearer canary",
			"--header Authorization: the command line is no place for secrets", ""},
		{"x-api-key=canary", "canary", "--header x-api-key: the command line", ""},
		{"X-Team=canary", "canary", "", ""},
		{"X-Price=5$", "5$", "", ""},
		{"X-Price=$5", "$5", "", ""},
		{"X-Mail=a@b", "a@b", "", ""},
		{"X-Words=a b $CANARY", "a b $CANARY", "", ""},
		{"X-At=@", "@", "", ""},
		{"X-At=@@user", "@user", "", ""},
		{"Authorization=@none", "", "", "--header Authorization: open none: no such file or directory; a value of " +
			"@FILE stands for the text of a file, @@ for an @"},
		{"Authorization=$UNSET_CANARY", "", "", "--header Authorization: the variable UNSET_CANARY is not set"},
	} {
		o := Options{Backend: "openai", host: "h", port: 1}
		_ = o.headers.Set(c.header)
		problems := errors.Join(o.Check()...)
		assert.Fails(t, c.header, problems, c.problem)
		warnings := strings.Join(o.Warnings, "\n")
		if (warnings != "") != (c.warning != "") || !strings.Contains(warnings, c.warning) ||
			strings.Contains(warnings, "canary") {
			t.Errorf("%s: warnings %q, want %q", c.header, warnings, c.warning)
		}
		key, _, _ := strings.Cut(c.header, "=")
		if problems == nil && o.Target.Header().Get(key) != c.want {
			t.Errorf("%s: sent as %q, want %q", c.header, o.Target.Header().Get(key), c.want)
		}
	}
	o := Options{Backend: "openai", port: 1, BaseURLs: []string{"http://h", "http://me:canary@h"}}
	if o.Check(); len(o.Warnings) != 1 || !strings.HasPrefix(o.Warnings[0],
		"--base-url: the command line is no place for a password") {
		t.Errorf("a password in the URL: %q", o.Warnings)
	}
}

// The files of certificates are checked with the other flags.
func TestTLSFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	certificate := signed(t, time.Now(), time.Now().Add(time.Hour))
	assert.Fine(t, os.WriteFile(file,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}), 0o600))
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"good", Options{BaseURLs: []string{"https://h"}, caFile: file}, ""},
		{"no TLS", Options{BaseURLs: []string{"http://h"}, caFile: file},
			"--ca-file and --cert-file: http://h has no TLS; is it https://?"},
		{"two rules", Options{BaseURLs: []string{"https://h"}, caFile: file, insecure: true},
			"--insecure and --ca-file: choose one"},
		{"a key alone", Options{BaseURLs: []string{"https://h"}, keyFile: file}, "--key-file: needs --cert-file"},
		{"no key", Options{BaseURLs: []string{"https://h"}, certFile: file},
			"no private key in it; give it with --key-file"},
		{"absent", Options{BaseURLs: []string{"https://h"}, caFile: file + "x"}, "--ca-file: "},
		{"a zone", Options{host: "fe80::1%eth0"}, ""},
		{"an escaped zone in brackets", Options{host: "[fe80::1%25eth0]"}, ""},
	} {
		c.o.Backend, c.o.port = "openai", 8000
		problems := c.o.Check()
		if (c.want == "") != (len(problems) == 0) || c.want != "" && !strings.Contains(problems[0].Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, problems, c.want)
		}
		if strings.Contains(c.name, "zone") && c.o.Target.String() != "http://[fe80::1%25eth0]:8000" {
			t.Errorf("%s: %s", c.name, c.o.Target)
		}
	}
}

// A proxy of the environment is in plan and log.
func TestProxyIsTold(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://me:canary@p:3128")
	t.Setenv("NO_PROXY", "")
	o := checked(t, Options{Backend: "openai", BaseURLs: []string{"http://h"}, port: 1})
	var p metrics.Plan
	o.Plan(&p)
	if p.Proxy != "http://p:3128 (HTTP_PROXY)" || len(o.Remarks()) != 1 || !strings.Contains(o.Remarks()[0], p.Proxy) {
		t.Errorf("plan %q, remarks %q", p.Proxy, o.Remarks())
	}
	t.Setenv("HTTP_PROXY", "socks5://p")
	if problems := o.Check(); len(problems) != 1 ||
		!strings.HasPrefix(problems[0].Error(), "proxy: the environment variable HTTP_PROXY") {
		t.Errorf("another kind of proxy: %v", problems)
	}
}
