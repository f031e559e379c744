// Package target knows the server under load: its URL, TLS, headers and how to reach it. It serves both HTTP stacks,
// the one that is timed and net/http for everything else, so that neither can reach a different server or forget a
// header.
package target

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// DialFunc opens a connection to the server.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Target is a server and how to talk to it. It is read-only once built and safe for concurrent use.
type Target struct {
	name    string   // for a person, and in results
	base    *url.URL // without user information, query, or trailing slash
	network string   // tcp or unix
	address string   // host:port, or the path of a socket
	host    string   // of the Host header
	header  http.Header
	secrets []secret    // the longest first
	tls     *tls.Config // nil for plain HTTP
	proxy   *proxy      // nil for none
	dial    DialFunc
	sources int    // addresses that it dials from in turn; 0 for the system's choice
	token   *Token // nil for none
}

// Options for New.
type Options struct {
	// BaseURL such as http://127.0.0.1:8000; a path in it is put before every endpoint. User information becomes a
	// Basic Authorization header and is never shown. unix:///PATH and http+unix://ESCAPED-PATH/ENDPOINTS are sockets of
	// this machine.
	BaseURL string
	// Path takes the place of that of a BaseURL without one.
	Path string
	// APIKey is sent as a bearer token unless empty.
	APIKey string
	// Token is sent as a bearer token in place of APIKey, nil for none.
	Token *Token
	// Header is sent with every request and replaces default headers, the API key's Authorization and the Content-Type
	// included; a Host replaces that of the URL. Only a request's own x-request-id has precedence. The values count as
	// secrets, see Hide.
	Header http.Header
	// Insecure accepts any TLS certificate.
	Insecure bool
	// Roots verify the server's certificate; nil for those of the system.
	Roots *x509.CertPool
	// Certificate is the client's own, nil for none.
	Certificate *tls.Certificate
	// Getenv reads the environment variables that name a proxy; nil uses none.
	Getenv func(name string) string
	// Bind are the addresses of this machine that connections come from, in turn, all of one family; none for the
	// system's choice. A socket of this machine has none.
	Bind []netip.Addr
	// Dial replaces the network; nil means TCP, or a socket of this machine.
	Dial DialFunc
}

// ErrNotHTTP: the server answers in another protocol; ErrHTTP2, which is one: in HTTP/2.
var (
	ErrNotHTTP = errors.New("the answer is not HTTP")
	ErrHTTP2   = fmt.Errorf("%w/1.1 but HTTP/2; is it the port of the API? A proxy before the server can translate",
		ErrNotHTTP)
)

// New checks the options and returns the target. No connection is made.
func New(o Options) (*Target, error) {
	a, err := parse(o.BaseURL)
	if err != nil {
		return nil, err
	}
	u := a.url
	t := &Target{header: http.Header{}, dial: o.Dial, token: o.Token, network: a.network, address: a.address}
	if !isValue(o.APIKey) {
		return nil, errors.New("API key: it has a character that cannot be sent, such as a line break")
	}
	if err := CheckHeader(o.Header); err != nil {
		return nil, err
	}
	if o.APIKey != "" {
		t.header.Set("Authorization", "Bearer "+o.APIKey)
		t.keep(o.APIKey, false)
	}
	if u.User != nil {
		t.header.Set("Authorization", t.basic(u.User))
	}
	own, host := clean(o.Header)
	for name, values := range own {
		t.header[name] = values
		for _, v := range values {
			t.keepHeader(name, v)
		}
	}
	t.host = cmp.Or(host, withoutZone(u.Host))
	if u.Scheme == "https" {
		t.tls = &tls.Config{
			ServerName: withoutZone(u.Hostname()), InsecureSkipVerify: o.Insecure, RootCAs: o.Roots,
			MinVersion: tls.VersionTLS12,
		}
		if o.Certificate != nil {
			t.tls.Certificates = []tls.Certificate{*o.Certificate}
		}
	}
	dialer := net.Dialer{Timeout: dialMost}
	switch {
	case t.dial != nil:
	case len(o.Bind) > 0:
		t.dial, t.sources = bound(dialer, o.Bind), len(o.Bind)
	default:
		t.dial = dialer.DialContext
	}
	base := *u
	base.User = nil
	// The escaped form keeps an escaped slash apart from a slash.
	base.RawPath = strings.TrimRight(u.EscapedPath(), "/")
	base.Path, _ = url.PathUnescape(base.RawPath)
	if base.Path == "" {
		base.Path, base.RawPath = o.Path, o.Path
	}
	t.base = &base
	t.name = cmp.Or(a.name, base.String())
	// A URL that can be read in two ways would send the two HTTP stacks to different places.
	const endpoint = "/v1/models"
	if again, err := url.Parse(t.URL(endpoint)); err != nil || again.RequestURI() != t.Path(endpoint) ||
		again.Host != base.Host {
		return nil, errors.New(
			"base URL: its host or path holds characters that cannot be sent; expected http://HOST:PORT/PATH")
	}
	if o.Getenv != nil && a.network == "tcp" {
		if err := t.useProxy(o.Getenv); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// dialMost is how long a connection may take to open.
const dialMost = 30 * time.Second

// basic is the Authorization of a user, who is kept as a secret.
func (t *Target) basic(user *url.Userinfo) string {
	password, _ := user.Password()
	basic := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
	t.keep(basic, false)
	t.keep(password, false)
	return "Basic " + basic
}

// String is the base URL without anything secret, as a person writes it.
func (t *Target) String() string { return t.name }

// Same reports whether two targets are one server, however its address is written and whoever asks it.
func (t *Target) Same(other *Target) bool {
	return t.network == other.network && strings.EqualFold(t.address, other.address) &&
		t.Secured() == other.Secured() &&
		t.base.EscapedPath() == other.base.EscapedPath()
}

// URL of an endpoint such as /v1/models, for Client.
func (t *Target) URL(endpoint string) string { return t.base.String() + endpoint }

// Path of an endpoint on the server.
func (t *Target) Path(endpoint string) string { return t.base.EscapedPath() + endpoint }

// RequestTarget is what the request line of an endpoint names: its path, or for a proxy its URL.
func (t *Target) RequestTarget(endpoint string) string {
	if t.proxy != nil && t.tls == nil {
		return t.URL(endpoint)
	}
	return t.Path(endpoint)
}

// Host is the value of the Host header.
func (t *Target) Host() string { return t.host }

// Hostname is the server's name or address, without a port; localhost for a socket of this machine.
func (t *Target) Hostname() string { return t.base.Hostname() }

// Sources is the number of addresses that connections come from.
func (t *Target) Sources() int { return max(1, t.sources) }

// Local reports whether the server is behind a socket of this machine, whose packets the kernel does not stamp.
func (t *Target) Local() bool { return t.network == "unix" }

// Secured reports whether connections use TLS, and Certified whether the client shows a certificate of its own.
func (t *Target) Secured() bool   { return t.tls != nil }
func (t *Target) Certified() bool { return t.tls != nil && len(t.tls.Certificates) > 0 }

// Header returns the headers every request carries. The caller must not change them.
func (t *Target) Header() http.Header { return t.header }

// Token is the bearer token that is asked for, nil for none.
func (t *Target) Token() *Token { return t.token }

// Dial opens a connection, through the proxy if there is one. With TLS the handshake is left to Secure, which the
// caller applies after putting its own layer around the raw connection.
func (t *Target) Dial(ctx context.Context) (net.Conn, error) {
	if t.proxy != nil {
		return t.dialProxy(ctx)
	}
	return t.dial(ctx, t.network, t.address)
}

// Secure performs the TLS handshake on a raw connection; a plain target returns it as it is. On an error the raw
// connection is closed.
func (t *Target) Secure(ctx context.Context, raw net.Conn) (net.Conn, error) {
	if t.tls == nil {
		return raw, nil
	}
	c := tls.Client(raw, t.tls)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return c, nil
}

// mostAsked is the number of idle connections kept: so many prompts are tokenized at a time. net/http keeps two, and
// would dial anew, over TLS with a handshake, for nearly every prompt.
const mostAsked = 64

// Client returns a net/http client that reaches the same server with the same headers: for discovery, tokenizing and
// everything else that is not timed. The caller closes its idle connections, which also ends asking for another token.
func (t *Target) Client() *http.Client {
	transport := &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return t.Dial(ctx) },
		TLSClientConfig:     t.tls,
		IdleConnTimeout:     3 * time.Second, // shorter than any server's keep-alive
		MaxIdleConnsPerHost: mostAsked,
	}
	if t.proxy != nil && t.tls == nil {
		transport.Proxy = http.ProxyURL(t.proxy.url) // names the whole URL in the request line; a tunnel is Dial's
	}
	return &http.Client{
		Transport: &headerTransport{t, transport},
		// A redirect may lead to another host, which must not get the headers.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// headerTransport adds the target's headers to each request.
type headerTransport struct {
	target *Target
	next   *http.Transport
}

func (h *headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.URL.Host == h.target.base.Host {
		r.Host = h.target.host
	}
	for k, v := range h.target.header {
		// With this header, net/http would not decompress answers.
		if k != "Accept-Encoding" {
			r.Header[k] = v
		}
	}
	if err := h.target.token.First(r.Context()); err != nil {
		return nil, err
	}
	if value := h.target.token.Value(); value != "" {
		r.Header.Set("Authorization", value)
	}
	answer, err := h.next.RoundTrip(r)
	if err != nil {
		return nil, asNotHTTP(err)
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		// Its body is the bare connection: reading it would not end, not even with the request's context.
		_ = answer.Body.Close()
		return nil, fmt.Errorf("the server switches protocols (status %d), which was not asked for", answer.StatusCode)
	}
	if answer.StatusCode == http.StatusUnauthorized {
		h.target.token.Refused()
	}
	return answer, nil
}

// asNotHTTP is an error of net/http, which has none to compare with for an answer that is not HTTP.
func asNotHTTP(err error) error {
	_, words, found := strings.Cut(err.Error(), "connection broken: malformed HTTP ")
	switch {
	case !found:
		return err
	case strings.Contains(words, `"\x00\x00`):
		return ErrHTTP2
	}
	return fmt.Errorf("%w: %.120s", ErrNotHTTP, words)
}

func (h *headerTransport) CloseIdleConnections() {
	h.target.token.Stop(0)
	h.next.CloseIdleConnections()
}
