package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/argv"
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
		"http://h:8000": "http://h:8000", "https://u:canary@h/v1": "https://***@h", "http://h/api/v1/": "http://h/api",
		"127.0.0.1:8000": "http://127.0.0.1:8000", "localhost:8000/v1": "http://localhost:8000",
		"[::1]:8000/v1": "http://[::1]:8000", "http://h/v2": "http://h/v2",
		"meta-llama/Llama-3": "", "llama3:8b": "", "": "", "ftp://h": "", "--max-model-len": "", "host:": "",
	} {
		base, shown := PositionalURL([]string{argument, "http://other"})
		if shown != want || strings.ReplaceAll(base, "u:canary", "***") != want {
			t.Errorf("%q: %q, shown as %q, want %q", argument, base, shown, want)
		}
	}
	if base, _ := PositionalURL(nil); base != "" {
		t.Errorf("without arguments: %q", base)
	}
}

// A command takes one URL, in place of --base-url; what is wrong shows no password.
func TestTakeURL(t *testing.T) {
	for _, c := range []struct{ line, base, problem string }{
		{"", "", ""},
		{"h:8000/v1", "http://h:8000", ""},
		{"http://u:canary@h", "http://u:canary@h", ""},
		{"model", "", `serve takes no arguments, got ["model"]`},
		{"http://a http://b", "", "serve takes one URL"},
		{"http://u:canary@h --base-url http://b", "http://b", "got http://***@h beside --base-url"},
	} {
		var o Options
		flags := argv.Flags{Synopsis: "serve [flags] [URL]"}
		o.DefineAddress(flags.Group("Server"))
		rest, _, err := flags.Parse(strings.Fields(c.line))
		assert.Fine(t, err)
		err = errors.Join(o.TakeURL(&flags, rest)...)
		if strings.Join(o.BaseURLs, " ") != c.base || (err == nil) != (c.problem == "") || err != nil &&
			(!strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%q: %q, %v", c.line, o.BaseURLs, err)
		}
	}
}

// The key of --api-key goes where the protocol wants it, before that of the environment and behind a header of one's
// own.
func TestAPIKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "of-openai")
	t.Setenv("ANTHROPIC_API_KEY", "of-anthropic")
	t.Setenv("MINE", "of-variable")
	t.Setenv("EMPTY", "")
	file := filepath.Join(t.TempDir(), "key")
	assert.Fine(t, os.WriteFile(file, []byte("of-file\n"), 0o600))
	for _, c := range []struct{ line, bearer, own, problem string }{
		{"", "Bearer of-openai", "", ""},
		{"--api-key canary", "Bearer canary", "", ""},
		{"--api-key $MINE", "Bearer of-variable", "", ""},
		{"--api-key @" + file, "Bearer of-file", "", ""},
		{"--api-key @/none", "", "", "--api-key: open /none"},
		{"--api-key $EMPTY", "", "", "--api-key $EMPTY: it is empty"},
		{"--api-key $NONE", "", "", "--api-key: the variable NONE is not set"},
		{"--api-key ***", "", "", "a secret was hidden here"},
		{"--api-key can\nary", "", "", "--api-key: it has a character that cannot be sent"},
		{"--api-key canary --header Authorization=mine", "mine", "", ""},
		{"--api-key $MINE --backend anthropic-messages", "Bearer of-openai", "of-variable", ""},
		{"--backend anthropic-messages", "Bearer of-openai", "of-anthropic", ""},
		{"--auth-command x --api-key canary", "", "", "--auth-command and --api-key"},
		{"--auth-command x --header Authorization=canary", "", "", "--auth-command and --api-key"},
		{"--auth-command x", "", "", ""},
		{"--auth-command ***", "", "", "--auth-command ***: a command was hidden here"},
	} {
		var o Options
		flags := argv.Flags{Synopsis: "serve [flags]"}
		o.DefineAddress(flags.Group("Server"))
		_, _, err := flags.Parse(strings.Split(c.line, " "))
		if c.line == "" {
			err = nil
		}
		assert.Fine(t, err)
		err = errors.Join(o.Check()...)
		if (err == nil) != (c.problem == "") || err != nil &&
			(!strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		if err != nil {
			continue
		}
		if h := o.Target.Header(); h.Get("Authorization") != c.bearer || h.Get("X-Api-Key") != c.own {
			t.Errorf("%q: Authorization %q, X-Api-Key %q", c.line, h.Get("Authorization"), h.Get("X-Api-Key"))
		}
		if warned := strings.Contains(strings.Join(o.Warnings, ""),
			"--api-key: the command line is no place for secrets"); warned !=
			strings.HasPrefix(c.line, "--api-key canary") {
			t.Errorf("%q: warnings %q", c.line, o.Warnings)
		}
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
			"bad key; is the API key right? It is taken from --api-key, OPENAI_API_KEY, --header or --auth-command") ||
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
		assert.Fine(t, err)
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
