package target

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// proxy is an HTTP proxy between the client and the server. Requests to a server without TLS name their whole URL to
// it; to a server with TLS it opens a tunnel.
type proxy struct {
	url      *url.URL
	address  string // host:port
	from     string // the environment variable
	password string // Proxy-Authorization, "" for none
}

// Proxy is the proxy for a person, with the variable that names it, as "http://proxy:3128 (HTTPS_PROXY)"; "" for none.
func (t *Target) Proxy() string {
	if t.proxy == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s)", redact(t.proxy.url), t.proxy.from)
}

// variable reads an environment variable in upper or lower case, and returns the name that is set.
func variable(getenv func(string) string, name string) (value, as string) {
	for _, as := range []string{name, strings.ToLower(name)} {
		if value := getenv(as); value != "" {
			return value, as
		}
	}
	return "", ""
}

// useProxy takes the proxy that the environment names for this server: HTTP_PROXY or HTTPS_PROXY, by the scheme of the
// base URL, else ALL_PROXY. Servers in NO_PROXY and on this machine have none.
func (t *Target) useProxy(getenv func(string) string) error {
	value, from := variable(getenv, strings.ToUpper(t.base.Scheme)+"_PROXY")
	if value == "" {
		value, from = variable(getenv, "ALL_PROXY")
	}
	if value == "" {
		return nil
	}
	without, _ := variable(getenv, "NO_PROXY")
	// The rule says whether there is a proxy; a made-up one, since it would read what is no URL in ways of its own.
	rule := httpproxy.Config{HTTPProxy: "http://proxy", HTTPSProxy: "http://proxy", NoProxy: without}
	if wanted, err := rule.ProxyFunc()(t.base); err != nil || wanted == nil {
		return nil
	}
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	const remedy = "unset it, or add the server to NO_PROXY"
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Hostname() == "":
		return fmt.Errorf("proxy: the environment variable %s is not the URL of a proxy, as http://HOST:PORT; %s", from,
			remedy)
	case u.Scheme != "http":
		return fmt.Errorf("proxy: the environment variable %s names a proxy of type %s, and only http:// proxies can "+
			"be used; %s", from, u.Scheme, remedy)
	}
	p := &proxy{url: u, from: from, address: net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80"))}
	if u.User != nil {
		p.password = t.basic(u.User)
		if !isValue(p.password) {
			return fmt.Errorf("proxy: the user in the environment variable %s cannot be sent", from)
		}
	}
	t.proxy = p
	return nil
}

// ProxyAuthorization is the value of this header in each request; "" for none.
func (t *Target) ProxyAuthorization() string {
	if t.proxy == nil || t.tls != nil { // a tunnel is authorized once
		return ""
	}
	return t.proxy.password
}

// dialProxy opens a connection to the proxy, and with TLS a tunnel through it.
func (t *Target) dialProxy(ctx context.Context) (net.Conn, error) {
	c, err := t.dial(ctx, "tcp", t.proxy.address)
	if err == nil && t.tls != nil {
		if err = t.tunnel(ctx, c); err != nil {
			_ = c.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("proxy %s: %w", t.Proxy(), err)
	}
	return c, nil
}

// longestTunnelAnswer is the most that a proxy may say before a tunnel.
const longestTunnelAnswer = 16 << 10

// tunnel asks the proxy for a connection to the server.
func (t *Target) tunnel(ctx context.Context, c net.Conn) error {
	until := time.Now().Add(dialMost)
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(until) {
		until = sooner
	}
	_ = c.SetDeadline(until) // a failure shows in the write
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: t.address}, Host: t.address,
		Header: http.Header{"User-Agent": {"benchtop"}}}
	if t.proxy.password != "" {
		ask.Header.Set("Proxy-Authorization", t.proxy.password)
	}
	if err := ask.Write(c); err != nil {
		return err
	}
	reader := bufio.NewReader(io.LimitReader(c, longestTunnelAnswer))
	answer, err := http.ReadResponse(reader, ask)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("asking for a tunnel to %s: %w", t.address, err)
	}
	switch {
	case answer.StatusCode == http.StatusProxyAuthRequired:
		return fmt.Errorf("it wants a user and a password (407); write %s as http://USER:PASSWORD@HOST:PORT",
			t.proxy.from)
	case answer.StatusCode/100 != 2:
		return fmt.Errorf("it refuses a tunnel to %s: %q", t.address, answer.Status)
	case reader.Buffered() > 0:
		return errors.New("it sends data before the server can")
	case !stop():
		return context.Cause(ctx)
	}
	return c.SetDeadline(time.Time{})
}
