package target

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"benchtop/internal/assert"
)

// made is a target that there is.
func made(t *testing.T, o Options) *Target {
	t.Helper()
	g, err := New(o)
	assert.Fine(t, err)
	return g
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		base             string
		text, path, host string
		address          string
	}{
		{"http://[fe80::1%25eth0]:8000/p", "http://[fe80::1%25eth0]:8000/p", "/p/v1/x", "[fe80::1]:8000",
			"[fe80::1%eth0]:8000"},
		{"http://[fe80::1%25eth0]", "http://[fe80::1%25eth0]", "/v1/x", "[fe80::1]", "[fe80::1%eth0]:80"},
		{"unix:///run/a.sock", "unix:///run/a.sock", "/v1/x", "localhost", "/run/a.sock"},
		{"unix:///run/a b.sock", "unix:///run/a%20b.sock", "/v1/x", "localhost", "/run/a b.sock"},
		{"http+unix://%2Frun%2Fa.sock", "http+unix://%2Frun%2Fa.sock", "/v1/x", "localhost", "/run/a.sock"},
		{"http+unix://%2Frun%2Fa.sock/p/", "http+unix://%2Frun%2Fa.sock/p", "/p/v1/x", "localhost", "/run/a.sock"},
		{"http://localhost:8000", "http://localhost:8000", "/v1/x", "localhost:8000", "localhost:8000"},
		{" http://localhost ", "http://localhost", "/v1/x", "localhost", "localhost:80"},
		{"http://localhost", "http://localhost", "/v1/x", "localhost", "localhost:80"},
		{"https://api.test/", "https://api.test", "/v1/x", "api.test", "api.test:443"},
		{"http://[::1]:8000/a%20b/", "http://[::1]:8000/a%20b", "/a%20b/v1/x", "[::1]:8000", "[::1]:8000"},
		{"http://h/a%2Fb/", "http://h/a%2Fb", "/a%2Fb/v1/x", "h", "h:80"},
		{"http://h/a%2F//", "http://h/a%2F", "/a%2F/v1/x", "h", "h:80"},
		{"https://user:secret@api.test:8443/p", "https://api.test:8443/p", "/p/v1/x", "api.test:8443", "api.test:8443"},
	} {
		g, err := New(Options{BaseURL: c.base})
		if err != nil {
			t.Errorf("%s: %v", c.base, err)
			continue
		}
		if g.String() != c.text || g.Path("/v1/x") != c.path || g.Host() != c.host || g.address != c.address ||
			!g.Local() && g.URL("/v1/x") != c.text+"/v1/x" ||
			g.Local() && g.URL("/v1/x") != "http://localhost"+c.path || g.RequestTarget("/v1/x") != c.path {
			t.Errorf("%s: text %s, path %s, host %s, address %s", c.base, g, g.Path("/v1/x"), g.Host(), g.address)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for base, words := range map[string]string{
		"":                                    "expected http://HOST:PORT",
		"localhost:8000":                      "expected http://HOST:PORT",
		"ftp://host":                          "expected http://HOST:PORT",
		"http://":                             "expected http://HOST:PORT",
		"http://host?x=1":                     "query or fragment",
		"http://host#x":                       "query or fragment",
		"http://host?":                        "query or fragment",
		"http://host:port":                    "invalid port",
		"http://user:secret@host:port":        "invalid URL",
		"http://user:secret@host/%zz":         "invalid URL",
		"http://user:secret/x@host":           "write / as %2F",
		"http://user:secret@host?key=abc":     "query or fragment",
		"unix://run/a.sock":                   "expected http://HOST:PORT",
		"unix:a.sock":                         "expected http://HOST:PORT",
		"unix://user:secret@/a.sock":          "missing http://",
		"https://***@a/v1":                    "were hidden here",
		"***@a:1":                             "were hidden here",
		"unix:///run/a.sock?x=1":              "query or fragment",
		"http+unix://run.sock":                "begins with a slash",
		"http+unix://%2Fa%zz":                 "%2FPATH",
		"http+unix://%2Fa%00":                 "a character that no path has",
		"http+unix://%2Fa.sock/p?x":           "cannot be sent",
		"unix:///" + strings.Repeat("x", 107): "has 108 bytes, and the system allows 107",
	} {
		_, err := New(Options{BaseURL: base})
		assert.Fails(t, base, err, words)
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "abc")) {
			t.Errorf("%q: the error tells the secret: %v", base, err)
		}
	}
}

// A redirect to another host must not carry the headers there.
func TestRedirectIsNotFollowed(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer web.Close()
	g := made(t, Options{BaseURL: web.URL, APIKey: "k"})
	client := g.Client()
	defer client.CloseIdleConnections()
	answer, err := client.Get(g.URL("/"))
	assert.Fine(t, err)
	_ = answer.Body.Close()
	if asked || answer.StatusCode != http.StatusFound {
		t.Errorf("status %d, other host asked: %v", answer.StatusCode, asked)
	}
}

// Concurrent requests reuse connections: a server that tokenizes all prompts is dialled once for each request in
// flight, not once for each prompt.
func TestClientKeepsConnections(t *testing.T) {
	const atOnce, rounds = 64, 3
	arrived, letGo := make(chan struct{}), make(chan struct{})
	var dialled atomic.Int64
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-letGo
		_, _ = io.WriteString(w, "{}")
	}))
	web.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			dialled.Add(1)
		}
	}
	web.Start()
	defer web.Close()
	g := made(t, Options{BaseURL: web.URL})
	client := g.Client()
	defer client.CloseIdleConnections()
	for range rounds {
		var asking sync.WaitGroup
		for range atOnce {
			asking.Go(func() {
				answer, err := client.Get(web.URL)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			})
		}
		for range atOnce {
			<-arrived
		}
		for range atOnce {
			letGo <- struct{}{}
		}
		asking.Wait()
	}
	if n := dialled.Load(); n != atOnce {
		t.Errorf("%d connections for %d rounds of %d questions, want %d", n, rounds, atOnce, atOnce)
	}
}

func TestHide(t *testing.T) {
	g := made(t, Options{BaseURL: "http://user:p@ss@host", APIKey: "sesame"})
	if got := g.Hide("no key sesame, no password p@ss, no dXNlcjpwQHNz"); got != "no key ***, no password ***, no ***" {
		t.Error(got)
	}
}

func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer web.Close()
	web.Config.ErrorLog = nil
	for _, insecure := range []bool{false, true} {
		g := made(t, Options{BaseURL: web.URL, Insecure: insecure})
		raw, err := g.Dial(context.Background())
		assert.Fine(t, err)
		c, err := g.Secure(context.Background(), raw)
		assert.Equal(t, insecure, err == nil, "insecure: %v", err)
		if err == nil {
			_ = c.Close()
		} else if !strings.Contains(err.Error(), "TLS handshake") {
			t.Errorf("the error does not say where: %v", err)
		}
	}
}

// net/http gives the bare connection as the body of a 101, and a read of it outlives the request's context.
func TestClientRefusesSwitchingProtocols(t *testing.T) {
	released := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		<-released
		_ = c.Close()
	}))
	defer web.Close()
	defer close(released)
	to := made(t, Options{BaseURL: web.URL})
	client := to.Client()
	defer client.CloseIdleConnections()
	answer, err := client.Get(web.URL)
	if err == nil {
		_ = answer.Body.Close()
		t.Fatalf("got status %d", answer.StatusCode)
	}
	if want := "the server switches protocols (status 101), which was not asked for"; !strings.Contains(err.Error(),
		want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A server is the same however its address is written.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"http://h:80", "http://H/", true}, {"https://h/a/", "https://me:key@h:443/a", true},
		{"unix:///s", "http+unix://%2Fs", true},
		{"http://h:1", "http://h:2", false}, {"http://h:443", "https://h", false}, {"http://h/a", "http://h/b", false},
		{"unix:///s", "unix:///t", false},
	} {
		if got := made(t, Options{BaseURL: c.a}).Same(made(t, Options{BaseURL: c.b})); got != c.want {
			t.Errorf("%s and %s: %t, want %t", c.a, c.b, got, c.want)
		}
	}
}
