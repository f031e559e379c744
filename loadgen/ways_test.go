package loadgen

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/target"
	"benchtop/metrics"
)

// clientPair is a certificate for a client and its key, as a file of both, and the pool that knows it.
func clientPair(t *testing.T) (file string, known *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	assert.Fine(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	assert.Fine(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	assert.Fine(t, err)
	var both bytes.Buffer
	_ = pem.Encode(&both, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	_ = pem.Encode(&both, &pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	file = filepath.Join(t.TempDir(), "client.pem")
	assert.Fine(t, os.WriteFile(file, both.Bytes(), 0o600))
	known = x509.NewCertPool()
	known.AppendCertsFromPEM(both.Bytes())
	return file, known
}

// httpProxy passes requests on to one server, whatever host they name, and notes what it is asked.
type httpProxy struct {
	to    string // host:port
	mu    sync.Mutex
	asked []string
}

func (p *httpProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, fmt.Sprintf("%s %s %s", r.Method, r.RequestURI, r.Header.Get("Proxy-Authorization")))
	p.mu.Unlock()
	server, err := net.Dial("tcp", p.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	if r.Method != http.MethodConnect {
		r.URL.Scheme, r.URL.Host = "http", p.to
		r.Header.Del("Proxy-Authorization")
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		_, _ = io.Copy(w, answer.Body)
		return
	}
	client, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(server, client) }()
	_, _ = io.Copy(client, server)
}

// hostLog are the Host headers of requests that a server got.
type hostLog struct {
	mu  sync.Mutex
	all []string
}

func (h *hostLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.all = append(h.all, r.Method+" "+r.Host+r.RequestURI)
	h.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text("a")+sseEvent(finish)+done)
}

// Each way to a server works for both HTTP stacks, and is the same way for both.
func TestWays(t *testing.T) {
	const proxied = "me:canary@"
	const password = "Basic bWU6Y2FuYXJ5"
	certificate, clients := clientPair(t)
	for _, c := range []struct {
		name    string
		network string // of the listener; "" for tcp
		tls     bool
		clients bool   // the server wants a certificate
		host    string // in the URL in place of the listener's
		proxy   string // the environment variable
		host0   string // that the server sees; "" for the URL's
		asked   func(host string) []string
	}{
		{name: "plain"},
		{name: "TLS", tls: true},
		{name: "a certificate of the client", tls: true, clients: true},
		{name: "IPv6", network: "tcp6"},
		{name: "unix", network: "unix", host0: "localhost"},
		{name: "a proxy", host: "model.test:8000", proxy: "HTTP_PROXY", asked: func(host string) []string {
			return []string{"GET http://" + host + "/v1/models " + password,
				"POST http://" + host + "/v1/completions " + password}
		}},
		{name: "a tunnel", tls: true, host: "example.com:8000", proxy: "HTTPS_PROXY",
			asked: func(host string) []string {
				return []string{"CONNECT " + host + " " + password, "CONNECT " + host + " " + password}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen hostLog
			web, host := listening(t, &seen, c.network)
			web.TLS = &tls.Config{}
			if c.clients {
				web.TLS.ClientAuth, web.TLS.ClientCAs = tls.RequireAndVerifyClientCert, clients
			}
			o := target.Options{BaseURL: "http://" + host}
			if c.tls {
				web.StartTLS()
				o.BaseURL = "https://" + host
				o.Roots = x509.NewCertPool()
				o.Roots.AddCert(web.Certificate())
			} else {
				web.Start()
			}
			defer web.Close()
			var err error
			if c.clients {
				if o.Certificate, err = target.Certificate(certificate, certificate); err != nil {
					t.Fatal(err)
				}
			}
			if c.network == "unix" {
				o.BaseURL = "unix://" + host
			}
			between := httpProxy{to: host}
			if c.proxy != "" {
				proxy := httptest.NewServer(&between)
				defer proxy.Close()
				at, _ := url.Parse(proxy.URL)
				o.BaseURL = strings.Replace(o.BaseURL, host, c.host, 1)
				o.Getenv = func(name string) string {
					return map[string]string{c.proxy: "http://" + proxied + at.Host}[name]
				}
			}
			g := targetOf(t, o)
			client := g.Client()
			defer client.CloseIdleConnections()
			answer, err := client.Get(g.URL("/v1/models"))
			assert.Fine(t, err)
			_ = answer.Body.Close()
			var book logbook
			loadTCP(t, "http://unused", 2, sinkOf{&book}, func(o *Options) { o.Target = g })
			for _, q := range book.all {
				if q.Failure != "" || q.Tallies[metrics.Redials] != 0 ||
					c.network == "unix" && q.ReadDelay != metrics.Never {
					t.Errorf("request %d: %q %q, %d redials, read delay %s", q.Index, q.Failure, q.Error,
						q.Tallies[metrics.Redials], q.ReadDelay)
				}
			}
			_, want, _ := strings.Cut(o.BaseURL, "://")
			if c.host0 != "" {
				want = c.host0
			}
			if got := slices.Compact(seen.all); !slices.Equal(got,
				[]string{"GET " + want + "/v1/models", "POST " + want + "/v1/completions"}) {
				t.Errorf("the server saw %q, want host %s", got, want)
			}
			if c.asked != nil {
				if got, want := between.asked, c.asked(c.host); !slices.Equal(slices.Compact(slices.Clone(got)),
					slices.Compact(want)) {
					t.Errorf("the proxy was asked\n%q, want\n%q", got, want)
				}
			}
		})
	}
}

// listening is a server that is not started yet, and its host or the path of its socket.
func listening(t *testing.T, handler http.Handler, network string) (*httptest.Server, string) {
	t.Helper()
	web := httptest.NewUnstartedServer(handler)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	if network == "" {
		return web, web.Listener.Addr().String()
	}
	_ = web.Listener.Close()
	at := "[::1]:0"
	if network == "unix" {
		folder, err := os.MkdirTemp("", "bt") // that of the test is too long for a socket
		assert.Fine(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
		at = filepath.Join(folder, "s")
	}
	var err error
	if web.Listener, err = new(net.ListenConfig).Listen(context.Background(), network, at); err != nil {
		t.Skipf("this machine has no %s: %v", network, err) // a machine may do without
	}
	return web, web.Listener.Addr().String()
}
