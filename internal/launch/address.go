package launch

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"benchtop/internal/usage"
)

// Where a server listens unless its command says otherwise.
const defaultPort = "8000"

// AddressOf is the base URL of the server that a command starts, by its flags --host, --port or -p, and --ssl-keyfile
// or --ssl-certfile. A value is a word of its own or joined by '='; the last one counts. A wildcard address is reached
// by loopback.
func AddressOf(command []string) (string, error) {
	if len(command) == 0 || command[0] == "" {
		return "", errors.New("the server command is empty; write a command such as 'vllm serve MODEL --port 8000'")
	}
	host, port, scheme := "", defaultPort, "http"
	for i := 1; i < len(command); i++ {
		name, value, joined := strings.Cut(command[i], "=")
		if !strings.HasPrefix(name, "-") {
			continue
		}
		name = strings.ReplaceAll(name, "_", "-")
		if !joined && i+1 < len(command) {
			value = command[i+1]
		}
		switch name {
		case "--host":
			host = value
		case "--port":
			port = value
		case "-p":
			if _, err := strconv.Atoi(value); err == nil { // docker run -p 8000:8000
				port = value
			}
		case "--uds":
			return "", fmt.Errorf("the server command has --uds %s: a Unix socket cannot be loaded; use --host and "+
				"--port", usage.Quote(value))
		case "--ssl-keyfile", "--ssl-certfile":
			scheme = "https"
		}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("the server command has --port %s: give a number from 1 to 65535, so that the server "+
			"can be found", usage.Quote(port))
	}
	switch host = strings.Trim(host, "[]"); host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}
	if _, err := url.Parse(u.String()); err != nil || strings.ContainsAny(host, "/@?# ") {
		return "", fmt.Errorf("the server command has --host %s: this is not the name of a host", usage.Quote(host))
	}
	return u.String(), nil
}

// dialed is the host and port of a base URL.
func dialed(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), defaultPort))
}
