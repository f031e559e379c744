// Package target knows the server under load: its URL, TLS, headers and how to reach it. It serves both HTTP stacks, the
// one that is timed and net/http for everything else, so that neither can reach a different server or forget a header.
package target

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// DialFunc opens a connection to the server.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Target is a server and how to talk to it. It is read-only once built and safe for concurrent use.
type Target struct {
	base    *url.URL // without user information, query, or trailing slash
	address string   // host:port
	host    string   // of the Host header
	header  http.Header
	secrets []secret    // the longest first
	tls     *tls.Config // nil for plain HTTP
	dial    DialFunc
}

// Options for New.
type Options struct {
	// BaseURL such as http://127.0.0.1:8000; a path in it is put before every endpoint. User information becomes a Basic
	// Authorization header and is never shown.
	BaseURL string
	// APIKey is sent as a bearer token unless empty.
	APIKey string
	// Header is sent with every request and replaces default headers, the API key's Authorization and the Content-Type included; a
	// Host replaces that of the URL. Only a request's own x-request-id has precedence. The values count as secrets, see Hide.
	Header http.Header
	// Insecure accepts any TLS certificate.
	Insecure bool
	// Dial replaces the network; nil means TCP.
	Dial DialFunc
}

// New checks the options and returns the target. No connection is made.
func New(o Options) (*Target, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		// url.Error quotes the whole input, and the wrapped error a part of it: either may contain a password.
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		if strings.Contains(o.BaseURL, "@") {
			err = errors.New("it cannot be read; a / or ? in a password is written %2F or %3F")
		}
		return nil, fmt.Errorf("base URL: %w; expected http://HOST:PORT", err)
	}
	t := &Target{header: http.Header{}, dial: o.Dial}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if port == "" || u.Hostname() == "" {
		if strings.Contains(o.BaseURL, "@") { // the text before it may be a password
			return nil, errors.New("base URL: it has no http:// or https://; expected http://HOST:PORT")
		}
		return nil, fmt.Errorf("base URL %q: expected http://HOST:PORT or https://HOST:PORT", redact(u))
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fmt.Errorf("base URL %q: a query or fragment cannot be part of it", redact(u))
	}
	if u.Port() != "" {
		port = u.Port()
	}
	t.address = net.JoinHostPort(u.Hostname(), port)
	if !isValue(o.APIKey) {
		return nil, errors.New("API key: it has a character that cannot be sent, such as a line break")
	}
	if err := checkHeader(o.Header); err != nil {
		return nil, err
	}
	if o.APIKey != "" {
		t.header.Set("Authorization", "Bearer "+o.APIKey)
		t.keep(o.APIKey, false)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		t.header.Set("Authorization", "Basic "+basic)
		t.keep(basic, false)
		t.keep(password, false)
	}
	own, host := clean(o.Header)
	for name, values := range own {
		t.header[name] = values
		for _, v := range values {
			t.keepHeader(name, v)
		}
	}
	t.host = cmp.Or(host, u.Host)
	if u.Scheme == "https" {
		t.tls = &tls.Config{ServerName: u.Hostname(), InsecureSkipVerify: o.Insecure, MinVersion: tls.VersionTLS12}
	}
	if t.dial == nil {
		t.dial = (&net.Dialer{Timeout: 30 * time.Second}).DialContext
	}
	base := *u
	base.User = nil
	// The escaped form keeps an escaped slash apart from a slash.
	base.RawPath = strings.TrimRight(u.EscapedPath(), "/")
	base.Path, _ = url.PathUnescape(base.RawPath)
	t.base = &base
	// A URL that can be read in two ways would send the two HTTP stacks to different places.
	const endpoint = "/v1/models"
	if again, err := url.Parse(t.URL(endpoint)); err != nil || again.RequestURI() != t.Path(endpoint) || again.Host != base.Host {
		return nil, errors.New("base URL: its host or path holds characters that cannot be sent; expected http://HOST:PORT/PATH")
	}
	return t, nil
}

func redact(u *url.URL) string {
	c := *u
	c.User = nil
	c.RawQuery, c.ForceQuery, c.Fragment = "", false, ""
	return c.String()
}

// String is the base URL without anything secret.
func (t *Target) String() string { return t.base.String() }

// URL of an endpoint such as /v1/models.
func (t *Target) URL(endpoint string) string { return t.base.String() + endpoint }

// Path of an endpoint on the server.
func (t *Target) Path(endpoint string) string { return t.base.EscapedPath() + endpoint }

// Host is the value of the Host header.
func (t *Target) Host() string { return t.host }

// Hostname is the server's name or address, without a port.
func (t *Target) Hostname() string { return t.base.Hostname() }

// Header returns the headers every request carries. The caller must not change them.
func (t *Target) Header() http.Header { return t.header }

// Dial opens a connection. With TLS the handshake is left to Secure, which the caller applies after putting its own layer
// around the raw connection.
func (t *Target) Dial(ctx context.Context) (net.Conn, error) {
	return t.dial(ctx, "tcp", t.address)
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

// mostAsked is the number of idle connections kept: so many prompts are tokenized at a time. net/http keeps two, and would dial
// anew, over TLS with a handshake, for nearly every prompt.
const mostAsked = 64

// Client returns a net/http client that reaches the same server with the same headers: for discovery, tokenizing and
// everything else that is not timed. The caller closes its idle connections.
func (t *Target) Client() *http.Client {
	transport := &http.Transport{
		DialContext:         t.dial,
		TLSClientConfig:     t.tls,
		Proxy:               nil,
		IdleConnTimeout:     3 * time.Second, // shorter than any server's keep-alive
		MaxIdleConnsPerHost: mostAsked,
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
	return h.next.RoundTrip(r)
}

func (h *headerTransport) CloseIdleConnections() { h.next.CloseIdleConnections() }

// framing headers belong to the HTTP layer.
var framing = []string{"Content-Length", "Transfer-Encoding", "Trailer", "Upgrade"}

// checkHeader reports every header that cannot be sent. The errors name a header and never its value.
func checkHeader(h http.Header) error {
	var problems []error
	for name, values := range h {
		switch good := tokenPrefix(name); {
		case good != name || name == "":
			// The rest may be a value that got into the name.
			problems = append(problems, fmt.Errorf("header %q…: a name has letters, digits and dashes only", good))
			continue
		case slices.Contains(framing, http.CanonicalHeaderKey(name)):
			problems = append(problems, fmt.Errorf("header %s: it cannot be set, since it belongs to the connection", name))
		}
		for _, v := range values {
			if !isValue(v) || http.CanonicalHeaderKey(name) == "Host" && strings.ContainsAny(v, " \t/") {
				problems = append(problems,
					fmt.Errorf("header %s: its value has a character that cannot be sent, such as a line break", name))
			}
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// tokenPrefix is the valid beginning of a header's name.
func tokenPrefix(name string) string {
	end := strings.IndexFunc(name, func(r rune) bool {
		return r >= 0x7f || !isWordByte(byte(r)) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
	if end < 0 {
		return name
	}
	return name[:end]
}

// isValue reports whether a text can be a header's value: no control characters but a tab.
func isValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
