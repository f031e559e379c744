package target

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// env is an environment for tests.
type env map[string]string

func (e env) get(name string) string { return e[name] }

// The environment names the proxy of a server, or none.
func TestProxyOfTheEnvironment(t *testing.T) {
	const server = "http://api.test:8000"
	for _, c := range []struct {
		name, base, want string
		env              env
	}{
		{"none", server, "", env{}},
		{"by scheme", server, "http://p:3128 (HTTP_PROXY)",
			env{"HTTP_PROXY": "http://p:3128", "HTTPS_PROXY": "http://q:3128"}},
		{"of TLS", "https://api.test", "http://q:3128 (HTTPS_PROXY)",
			env{"HTTP_PROXY": "http://p:3128", "HTTPS_PROXY": "http://q:3128"}},
		{"the other scheme's", "https://api.test", "", env{"HTTP_PROXY": "http://p:3128"}},
		{"lower case", server, "http://p:3128 (http_proxy)", env{"http_proxy": "http://p:3128"}},
		{"for all", server, "http://p:3128 (ALL_PROXY)", env{"ALL_PROXY": "http://p:3128"}},
		{"its own before that for all", server, "http://p:3128 (HTTP_PROXY)",
			env{"all_proxy": "http://q:1", "HTTP_PROXY": "http://p:3128"}},
		{"without a scheme", server, "http://p:3128 (HTTP_PROXY)", env{"HTTP_PROXY": "p:3128"}},
		{"a password is not shown", server, "http://p:3128 (HTTP_PROXY)", env{"HTTP_PROXY": "http://me:canary@p:3128"}},
		{"excepted", server, "", env{"HTTP_PROXY": "http://p:3128", "NO_PROXY": "other, api.test"}},
		{"excepted with its domain", server, "", env{"HTTP_PROXY": "http://p:3128", "no_proxy": ".test"}},
		{"excepted on another port", server, "http://p:3128 (HTTP_PROXY)",
			env{"HTTP_PROXY": "http://p:3128", "NO_PROXY": "api.test:80"}},
		{"excepted by network", "http://10.1.2.3:8000", "",
			env{"HTTP_PROXY": "http://p:3128", "NO_PROXY": "10.0.0.0/8"}},
		{"all excepted", server, "", env{"HTTP_PROXY": "http://p:3128", "NO_PROXY": "*"}},
		{"this machine", "http://localhost:8000", "", env{"HTTP_PROXY": "http://p:3128"}},
		{"this machine by address", "https://127.0.0.2:8000", "", env{"HTTPS_PROXY": "http://p:3128"}},
		{"this machine by IPv6", "http://[::1]:8000", "", env{"HTTP_PROXY": "http://p:3128"}},
		{"a socket", "unix:///run/a.sock", "", env{"HTTP_PROXY": "http://p:3128"}},
		{"of another kind for another server", "http://localhost", "", env{"HTTP_PROXY": "socks5://p"}},
	} {
		g, err := New(Options{BaseURL: c.base, Getenv: c.env.get})
		if err != nil || g.Proxy() != c.want || g.Hide("canary") == "canary" && c.name == "a password is not shown" {
			t.Errorf("%s: %v, proxy %q, want %q", c.name, err, g.Proxy(), c.want)
		}
	}
}

// A proxy that cannot be used is refused with the name of its variable, and without its password.
func TestProxyRefused(t *testing.T) {
	for value, words := range map[string]string{
		"socks5://me:canary@p:1080": "HTTPS_PROXY names a proxy of type socks5, and only http:// proxies can be " +
			"used; unset it, or add the server to NO_PROXY",
		"https://p":               "of type https",
		"http://me:canary@p:port": "HTTPS_PROXY is not the URL of a proxy",
		"http://":                 "not the URL of a proxy",
	} {
		_, err := New(Options{BaseURL: "https://api.test", Getenv: env{"HTTPS_PROXY": value}.get})
		if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %q", value, err, words)
		}
	}
}

// A proxy that gives no tunnel is an error that says why; none makes the dial hang or take memory.
func TestTunnelRefused(t *testing.T) {
	for _, c := range []struct{ name, answer, words string }{
		{"no user", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
			"write HTTPS_PROXY as http://USER:PASSWORD@HOST:PORT"},
		{"forbidden", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
			`refuses a tunnel to api.test:443: "403 Forbidden"`},
		{"not HTTP", "SSH-2.0-OpenSSH_9.6\r\n\r\n", "asking for a tunnel to api.test:443"},
		{"closed", "", "unexpected EOF"},
		{"endless header", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*longestTunnelAnswer),
			"asking for a tunnel"},
		{"too eager", "HTTP/1.1 200 OK\r\n\r\nhello", "before the server can"},
		{"silent", "silent", "i/o timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, err := New(Options{
					BaseURL: "https://api.test", Getenv: env{"HTTPS_PROXY": "p"}.get,
					Dial: func(_ context.Context, network, address string) (net.Conn, error) {
						if network != "tcp" || address != "p:80" {
							t.Errorf("dialled %s %s", network, address)
						}
						client, proxy := net.Pipe()
						go func() {
							defer proxy.Close()
							_, _ = http.ReadRequest(bufio.NewReader(proxy))
							if c.answer == "silent" {
								_, _ = io.Copy(io.Discard, proxy)
								return
							}
							_, _ = io.WriteString(proxy, c.answer)
						}()
						return client, nil
					},
				})
				assert.Fine(t, err)
				_, err = g.Dial(t.Context())
				if err == nil || !strings.Contains(err.Error(), c.words) ||
					!strings.HasPrefix(err.Error(), "proxy http://p (HTTPS_PROXY): ") {
					t.Errorf("%v, want %q", err, c.words)
				}
				cut, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				from := time.Now()
				if _, err = g.Dial(cut); c.name == "silent" && (err == nil || time.Since(from) > time.Second) {
					t.Errorf("a dial that was cut after a second: %v after %s", err, time.Since(from))
				}
			})
		})
	}
}

// FuzzProxy: no value of a variable panics, and neither an error nor the name of the proxy tells what stands before an
// @.
func FuzzProxy(f *testing.F) {
	for _, s := range []string{"http://p:3128", "p", "socks5://u:x@p", "http://[::1%25a]:1", "http://u:x@p:port", "://",
		"http://p/\x1b[31m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		const secret = "canary-canary"
		for _, v := range []string{value, "http://me:" + secret + "@" + value} {
			g, err := New(Options{BaseURL: "http://api.test", Getenv: env{"HTTP_PROXY": v}.get})
			said := ""
			if err != nil {
				said = err.Error()
			} else {
				said = g.Proxy()
			}
			if !strings.Contains(value, secret) && strings.Contains(said, secret) {
				t.Errorf("%q: the password is told: %s", v, said)
			}
			if strings.ContainsFunc(said, func(r rune) bool { return r < ' ' }) {
				t.Errorf("%q: %q is not fit for a line", v, said)
			}
		}
	})
}
