package target

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// The client that is not timed sends the same headers.
func TestClientHeaders(t *testing.T) {
	var got *http.Request
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r }))
	defer web.Close()
	host := strings.TrimPrefix(web.URL, "http://")
	for _, c := range []struct {
		name, user, key string
		header          http.Header
		want            map[string][]string
		host            string
	}{
		{"a key", "", "sesame", nil,
			map[string][]string{"Authorization": {"Bearer sesame"}, "Content-Type": {"application/json"}}, host},
		{"a name and a password", "u:p@", "", nil, map[string][]string{"Authorization": {"Basic dTpw"}}, host},
		{"own", "", "sesame", http.Header{"x-team": {"a", "b"}, "authorization": {"Token t"},
			"content-type": {"text/x"}, "user-agent": {"me"}},
			map[string][]string{"X-Team": {"a", "b"}, "Authorization": {"Token t"}, "Content-Type": {"text/x"},
				"User-Agent": {"me"}}, host},
		{"host", "", "", http.Header{"Host": {"other.test"}}, map[string][]string{"Host": nil, "Authorization": nil},
			"other.test"},
		{"compression is the client's affair", "", "", http.Header{"Accept-Encoding": {"br"}},
			map[string][]string{"Accept-Encoding": {"gzip"}}, host},
	} {
		g := made(t, Options{BaseURL: strings.Replace(web.URL, "://", "://"+c.user, 1), APIKey: c.key,
			Header: c.header})
		client := g.Client()
		answer, err := client.Post(g.URL("/tokenize"), "application/json", strings.NewReader("{}"))
		assert.Fine(t, err)
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		client.CloseIdleConnections()
		for name, values := range c.want {
			assert.EqualAll(t, got.Header[name], values, "%s: %s", c.name, name)
		}
		if got.Host != c.host || g.Host() != c.host {
			t.Errorf("%s: host %q and %q, want %q", c.name, got.Host, g.Host(), c.host)
		}
	}
}

// An invalid header is refused by its name, and its value is hidden, wherever it got to.
func TestHeadersRefused(t *testing.T) {
	const value = "hunter2"
	for _, c := range []struct {
		name string
		o    Options
		want []string
	}{
		{"line break in a value", Options{Header: http.Header{"X-Key": {value + "\r\nEvil: 1"}}},
			[]string{"header X-Key: its value", "line break"}},
		{"nought in a value", Options{Header: http.Header{"X-Key": {value + "\x00"}}},
			[]string{"header X-Key: its value"}},
		{"line break in a name", Options{Header: http.Header{"X-Key\r\n" + value: {"a"}}},
			[]string{`header "X-Key"…: a name has`}},
		{"colon in a name", Options{Header: http.Header{"Authorization: Bearer " + value: {"a"}}},
			[]string{`header "Authorization"…`}},
		{"blank in a name", Options{Header: http.Header{"X " + value: {"a"}}}, []string{`header "X"…`}},
		{"name beyond ASCII", Options{Header: http.Header{"Xé" + value: {"a"}}}, []string{`header "X"…`}},
		{"no name", Options{Header: http.Header{"": {value}}}, []string{`header ""…`}},
		{"length", Options{Header: http.Header{"content-length": {value}}},
			[]string{"header content-length: it cannot be set"}},
		{"transfer encoding", Options{Header: http.Header{"Transfer-Encoding": {value}}},
			[]string{"header Transfer-Encoding: it cannot be set"}},
		{"host", Options{Header: http.Header{"Host": {"http://" + value}}}, []string{"header Host: its value"}},
		{"all at once", Options{Header: http.Header{"B": {"\n"}, "A": {"\r"}, "C": {"good"}}},
			[]string{"header A", "header B"}},
		{"API key", Options{APIKey: value + "\n"},
			[]string{"API key: it has a character that cannot be sent, such as a line break"}},
	} {
		c.o.BaseURL = "http://host"
		_, err := New(c.o)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", c.name, err, w)
			}
		}
		if strings.Contains(err.Error(), value) {
			t.Errorf("%s: the error tells the value: %v", c.name, err)
		}
	}
}

func TestHideHeaders(t *testing.T) {
	for _, c := range []struct{ name, value, text, want string }{
		// Names that suggest a secret: everywhere, but short values only as words of their own.
		{"X-Api-Key", "sesame", `sesame,"sesame",opensesames`, `***,"***",open***s`},
		{"X-Auth", "7", "code 7, status 47, 7", "code ***, status 47, ***"},
		{"X-Token", "a", "a banana", "*** banana"},
		{"authorization", "Bearer abcdef", "no Bearer abcdef, no abcdef, a Bearer", "no ***, no ***, a Bearer"},
		{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:p4ss")),
			"dXNlcjpwNHNz is user with p4ss", "*** is user with ***"},
		{"Authorization", "Basic !!", "no !! here", "no *** here"},
		{"Cookie", "session=abcdef; theme=dark", "abcdef is dark", "*** is ***"},
		{"X-Secret", `q"uo\te`, `plain q"uo\te, quoted "q\"uo\\te"`, `plain ***, quoted "***"`},
		{"X-Secret", "", "nothing", "nothing"},
		// Others: as words of their own, and common words not at all.
		{"X-Tenant", "acme", "acme, acmeland, x-acme", "***, acmeland, x-***"},
		{"X-Tenant", "acme", "nothing", "nothing"},
		{"X-Tenant", "ac", "ac, dc", "ac, dc"},
		{"X-Tenant", "[acme]", "a[acme]b", "a***b"},
		{"X-Stream", "true", `{"stream": true}`, `{"stream": true}`},
		{"Content-Type", "application/json", "expected application/json", "expected application/json"},
		{"User-Agent", "Mozilla", "Mozilla", "Mozilla"},
		{"Host", "model.test", "cannot reach model.test", "cannot reach model.test"},
	} {
		g := made(t, Options{BaseURL: "http://host", Header: http.Header{c.name: {c.value}}})
		assert.Equal(t, g.Hide(c.text), c.want, "%s: %s: %q becomes", c.name, c.value, c.text)
	}
	// Where one contains another, nothing of the longer is left.
	g := made(t, Options{BaseURL: "http://host", APIKey: "abcd",
		Header: http.Header{"X-Key": {"abcdefgh"}, "X-Token": {"efgh"}}})
	assert.Equal(t, g.Hide("abcd abcdefgh efgh"), "*** *** ***", "overlapping secrets")
}

// FuzzTargetURL: no text panics or gets into a request line or a Host header that would end it, and no error quotes the
// text before an @.
func FuzzTargetURL(f *testing.F) {
	for _, s := range []string{"http://host:1/p", "http://host:1?", "https://user:pass@[::1%25eth0]:80/%zz",
		"http://a b", "http://h\r\nx", "//x", "http://u:p/w@h", "HTTP://H.:0/../é",
		"unix:///run/a.sock", "unix://x/y", "http+unix://%2Frun%2Fa.sock/p", "http://[fe80::1%25a]b]",
		"http://[fe80::1%25]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, base string) {
		g, err := New(Options{BaseURL: base})
		if err != nil {
			return
		}
		for _, s := range []string{g.Path("/v1/x"), g.Host()} {
			if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
				t.Errorf("%q: %q cannot stand in a request", base, s)
			}
		}
		if !strings.HasPrefix(g.Path("/v1/x"), "/") || !strings.HasSuffix(g.URL("/v1/x"), "/v1/x") {
			t.Errorf("%q: path %q, URL %q", base, g.Path("/v1/x"), g.URL("/v1/x"))
		}
		r, err := http.NewRequest("POST", g.URL("/v1/x"), nil)
		if err != nil {
			t.Fatalf("%q: %v", base, err)
		}
		assert.Equal(t, r.URL.RequestURI(), g.Path("/v1/x"), "%q: the path for both clients", base)
	})
}

// FuzzHeader: an accepted header can be sent and arrives unchanged, and a hidden value is hidden.
func FuzzHeader(f *testing.F) {
	f.Add("X-Key", "a value", "text with a value")
	f.Add("Authorization", "Basic eDp5", "y")
	f.Add("Cookie", "a=b; c", "b c")
	f.Add("X-\r\n", "\x00", "")
	f.Fuzz(func(t *testing.T, name, value, text string) {
		g, err := New(Options{BaseURL: "http://host", Header: http.Header{name: {value}}})
		if err != nil {
			return
		}
		r := http.Request{Method: "GET", Host: "host", Header: g.Header()}
		r.URL = g.base
		if err := r.Write(io.Discard); err != nil {
			t.Errorf("%q: %q: accepted, but %v", name, value, err)
		}
		got := g.Hide(text)
		if SoundsSecret(name) && len(value) >= shortSecret && !strings.Contains(hidden, value) &&
			strings.Contains(strings.ReplaceAll(got, hidden, "\x00"), value) {
			t.Errorf("%q: %q is still in %q", name, value, got)
		}
		if value == "" && got != text {
			t.Errorf("nothing to hide, but %q became %q", text, got)
		}
	})
}
