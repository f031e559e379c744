package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/loadgen/target"
)

// What a person pastes as the address of a server is refused with what to write instead, and without what may be
// secret.
func TestAddressesThatAreNone(t *testing.T) {
	const azure = "https://x.test/openai/deployments/d"
	for _, c := range []struct{ host, base, backend, want string }{
		{"", "127.0.0.1:8000", "openai", "is http://127.0.0.1:8000 meant?"},
		{"", "localhost:8000/", "openai", "is http://localhost:8000/ meant?"},
		{"", "//h:1", "openai", "is http://h:1 meant?"},
		{"", "[::1]:8000", "openai", "is http://[::1]:8000 meant?"},
		{"", "https:/h/v1", "openai", "is https://h/v1 meant?"},
		{"", "http//h", "openai", "is http://h meant?"},
		{"", "httpd:80", "openai", "is http://httpd:80 meant?"},
		{"", "h:1?key=canary", "openai", "is http://h:1 meant?"},
		{"", "u:canary@h:1", "openai", "expected http://HOST:PORT"},
		{"", "http://h/v1/chat/completions", "openai-chat",
			"is --base-url right? it ends in a path of the API, /v1/chat/completions; use --base-url http://h"},
		{"", "http://u:canary@h/v1/chat/completions/", "openai", "use --base-url http://h --backend openai-chat"},
		{"", "http://h/a/v1/completions", "openai", "use --base-url http://h/a"},
		{"", "http://h/v1/models", "openai-chat", "use --base-url http://h"},
		{"", "http://h/v3/chat/completions", "openai-chat", "use --base-url http://h/v3 --endpoint /chat/completions"},
		{"", azure + "/chat/completions?api-version=2024-06-01", "openai-chat",
			"use --base-url " + azure + " --endpoint '/chat/completions?api-version=…'"},
		{"", azure + "/chat/completions?api-version=1&sig=canary", "openai-chat",
			"use --base-url " + azure + " --endpoint '/chat/completions?api-version=…'"},
		{"", "http://gateway/models", "openai", ""},
		{"", "http://gateway/responses", "openai-responses", ""},
		{"", "http://h/v1?key=canary", "openai", "a query belongs behind the path of the API"},
		{"127.0.0.1:8001", "", "openai", "--host 127.0.0.1:8001: expected a name or an address alone"},
		{"http://u:canary@h", "", "openai", "--host h: expected a name or an address alone"},
		{"u:canary@127.0.0.1", "", "openai", "--host 127.0.0.1: expected a name or an address alone"},
		{"h/v1", "", "openai", "--host h/v1: expected"},
		{"::1", "", "openai", ""},
		{"[fe80::1%25eth0]", "", "openai", ""},
	} {
		o := Options{Backend: c.backend, host: c.host, port: 8000}
		if c.base != "" {
			o.BaseURLs = []string{c.base}
		}
		err := errors.Join(o.Check()...)
		if (c.want == "") != (err == nil) || err != nil &&
			(!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("--host %q --base-url %q: %v, want %q", c.host, c.base, err, c.want)
		}
	}
}

// A URL that stands alone is one for --base-url, a model is not.
func TestPositionalURL(t *testing.T) {
	for argument, want := range map[string]string{
		"http://h:8000": "http://h:8000", "https://u:canary@h/v1": "https://***@h/v1",
		"127.0.0.1:8000":     "http://127.0.0.1:8000",
		"meta-llama/Llama-3": "", "llama3:8b": "", "": "", "ftp://h": "", "--max-model-len": "",
	} {
		if got := PositionalURL([]string{argument, "http://other"}); got != want {
			t.Errorf("%q: %q, want %q", argument, got, want)
		}
	}
	if got := PositionalURL(nil); got != "" {
		t.Errorf("without arguments: %q", got)
	}
}

// A key with a character that no header has is named by its variable.
func TestKeysWithLineBreaks(t *testing.T) {
	for variable, backend := range map[string]string{"OPENAI_API_KEY": "openai",
		"ANTHROPIC_API_KEY": "anthropic-messages"} {
		t.Setenv("OPENAI_API_KEY", "")
		t.Setenv("ANTHROPIC_API_KEY", "")
		for _, key := range []string{"canary\n", "canary\r", "ca\x1bnary"} {
			t.Setenv(variable, key)
			o := Options{Backend: backend, host: "h", port: 8000}
			err := errors.Join(o.Check()...)
			if err == nil || !strings.HasPrefix(err.Error(),
				variable+": it has a character that cannot be sent, such as a line break") ||
				strings.Contains(err.Error(), "nary") {
				t.Errorf("%s %q: %v", variable, key, err)
			}
		}
	}
}

// A server that wants a key is told apart from one without a list, and is waited for no longer.
func TestKeyRefused(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
			_ *http.Request) {
			http.Error(w, "bad key", status)
		}))
		o := checked(t, Options{Backend: "openai", BaseURLs: []string{web.URL}, port: 1, Ready: 60})
		_, err := finds(t, o)
		if err == nil || !isFinal(err) || !strings.Contains(err.Error(),
			"bad key; is the API key right? It is taken from OPENAI_API_KEY, or from --header") ||
			strings.Contains(err.Error(), "--model") {
			t.Errorf("status %d: %v", status, err)
		}
		o.Model = "m" // whose requests may be allowed
		if _, err := finds(t, o); err != nil {
			t.Errorf("status %d, with a model: %v", status, err)
		}
		web.Close()
	}
}

// A server that speaks another protocol is refused by what it speaks, at once.
func TestOtherProtocols(t *testing.T) {
	for answer, want := range map[string]string{
		"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\x00\x04\x00\x10\x00\x00\x00\x06\x00\x01" +
			"\x00\x00": "the answer is not HTTP/1.1 but HTTP/2; is it the port of the API?",
		"SSH-2.0-OpenSSH_9.6\r\n": `the answer is not HTTP: response "SSH-2.0-OpenSSH_9.6"`,
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		assert.Succeeds(t, err)
		go func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					if n, _ := c.Read(make([]byte, 1)); n > 0 {
						_, _ = io.WriteString(c, answer)
					}
				}()
			}
		}()
		for _, model := range []string{"", "m"} {
			_, err = finds(t,
				checked(t, Options{Backend: "openai", BaseURLs: []string{"http://" + listener.Addr().String()}, port: 1,
					Ready: 60, Model: model}))
			if err == nil || !isFinal(err) || !strings.Contains(err.Error(), want) ||
				errors.Is(err, target.ErrNotHTTP) {
				t.Errorf("model %q: %v, want %q", model, err, want)
			}
		}
		_ = listener.Close()
	}
}
