package target

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// address is a base URL taken apart.
type address struct {
	url              *url.URL
	network, address string // as for net.Dial
	name             string // for a person; "" for the URL itself
}

const (
	wanted = "expected http://HOST:PORT, https://HOST:PORT or unix:///PATH"
	// longestSocket is the longest path of a socket on Linux. Other systems have shorter ones and say so when it is
	// dialled.
	longestSocket = 107
)

// parse reads a base URL. Its errors do not quote what may be a password.
func parse(base string) (address, error) {
	base = strings.TrimSpace(base)
	if strings.Contains(base, hidden+"@") {
		return address{}, errors.New("base URL: its user and password were hidden here; give them as --header " +
			"'Authorization=Basic $NAME' of a variable, or Authorization=@FILE")
	}
	if socket, ok := strings.CutPrefix(base, "http+unix://"); ok {
		escaped, path, _ := strings.Cut(socket, "/")
		file, err := url.PathUnescape(escaped)
		if err != nil {
			return address{},
				errors.New("base URL: the path of the socket cannot be read; expected http+unix://%2FPATH")
		}
		return atSocket(file, "/"+path, strings.TrimRight(base, "/"))
	}
	if meant := Meant(base); meant != "" {
		return address{}, fmt.Errorf("base URL: missing http:// or https://; %s; is %s meant?", wanted, meant)
	}
	u, err := url.Parse(base)
	if err != nil {
		// url.Error quotes the whole input, and the wrapped error a part of it: either may contain a password.
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		if strings.Contains(base, "@") {
			err = errors.New("invalid URL; write / as %2F and ? as %3F in a password")
		}
		return address{}, fmt.Errorf("base URL: %w; %s", err, wanted)
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return address{},
			fmt.Errorf("base URL %q: a query or fragment cannot be part of it; a query belongs behind the path of the "+
				"API", redact(u))
	}
	if u.Scheme == "unix" && u.Host == "" && u.User == nil && u.Path != "" {
		return atSocket(u.Path, "", "unix://"+u.EscapedPath())
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if port == "" || u.Hostname() == "" {
		if strings.Contains(base, "@") { // the text before it may be a password
			return address{}, fmt.Errorf("base URL: missing http:// or https://; %s", wanted)
		}
		return address{}, fmt.Errorf("base URL %q: %s", redact(u), wanted)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return address{url: u, network: "tcp", address: net.JoinHostPort(u.Hostname(), port)}, nil
}

// withoutScheme is a host, with or without a port and a path, whose http:// is missing or broken.
var withoutScheme = regexp.MustCompile(`^(?:(https?)[:/]+|/+)?([^/?#@]+)(/[^?#@]*)?(?:[?#][^@]*)?$`)

// Meant is the URL that a text without a scheme stands for, such as 127.0.0.1:8000; "" for other texts.
func Meant(text string) string {
	parts := withoutScheme.FindStringSubmatch(text)
	if parts == nil || strings.Contains(text, "://") || strings.HasPrefix(text, "unix:") {
		return ""
	}
	meant := cmp.Or(parts[1], "http") + "://" + parts[2] + parts[3]
	if u, err := url.Parse(meant); err != nil || u.Hostname() == "" {
		return ""
	}
	return meant
}

// atSocket is the address of a server behind a socket of this machine, with a path before its endpoints.
func atSocket(file, path, name string) (address, error) {
	switch {
	case !strings.HasPrefix(file, "/"):
		return address{},
			fmt.Errorf("base URL %q: the path of a socket begins with a slash, as in unix:///run/server.sock", name)
	case len(file) > longestSocket:
		return address{},
			fmt.Errorf("base URL: the path of the socket has %d bytes, and the system allows %d; use a shorter one, "+
				"as by a link in /tmp", len(file), longestSocket)
	case strings.ContainsRune(file, 0):
		return address{}, errors.New("base URL: the path of the socket has a character that no path has")
	}
	u, err := url.Parse("http://localhost" + path)
	if err != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return address{},
			errors.New("base URL: the path behind the socket cannot be sent; expected http+unix://%2FPATH/ENDPOINTS")
	}
	return address{url: u, network: "unix", address: file, name: name}, nil
}

func redact(u *url.URL) string {
	c := *u
	c.User = nil
	c.RawQuery, c.ForceQuery, c.Fragment = "", false, ""
	return c.String()
}

// withoutZone removes the zone of an IPv6 address: it means something on this machine alone.
func withoutZone(host string) string {
	before, after, ok := strings.Cut(host, "%")
	if !ok || !strings.Contains(before, ":") {
		return host
	}
	if i := strings.LastIndex(after, "]"); i >= 0 && strings.HasPrefix(host, "[") {
		return before + after[i:]
	}
	return before
}
