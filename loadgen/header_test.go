package loadgen

import (
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"benchtop/internal/assert"
	"benchtop/loadgen/protocol"
	"benchtop/loadgen/target"
)

// A timed request has the user's headers before the defaults and the API key's, but after the request's own id.
func TestRequestHeaders(t *testing.T) {
	own := func(change map[string][]string) http.Header {
		h := http.Header{"Accept": {"*/*"}, "User-Agent": {"benchtop"}, "Content-Type": {"application/json"},
			"X-Request-Id": {"r-0"}, "Authorization": {"Bearer sesame"}}
		for name, values := range change {
			h[name] = values
		}
		return h
	}
	for _, c := range []struct {
		name   string
		header http.Header
		want   http.Header // but for the Content-Length
		host   string
	}{
		{"none", nil, own(nil), "model.test"},
		{"additional", http.Header{"X-Team": {"a", "b"}, "Cookie": {"a=b; c=d"}},
			own(map[string][]string{"X-Team": {"a", "b"}, "Cookie": {"a=b; c=d"}}), "model.test"},
		{"instead of ours", http.Header{"accept": {"text/event-stream"}, "user-agent": {"me"},
			"content-type": {"application/vnd.x+json"}},
			own(map[string][]string{"Accept": {"text/event-stream"}, "User-Agent": {"me"},
				"Content-Type": {"application/vnd.x+json"}}), "model.test"},
		{"instead of the API key", http.Header{"authorization": {"Basic abcd"}},
			own(map[string][]string{"Authorization": {"Basic abcd"}}), "model.test"},
		{"not instead of the request id", http.Header{"x-request-id": {"mine"}}, own(nil), "model.test"},
		{"host", http.Header{"host": {"other.test:99"}}, own(nil), "other.test:99"},
		{"bytes beyond ASCII", http.Header{"X-Name": {"é \t€"}}, own(map[string][]string{"X-Name": {"é \t€"}}),
			"model.test"},
	} {
		bubble(t, c.name, func(t *testing.T) {
			var got *http.Request
			var length int
			s := newScripted(t, func(conn net.Conn, r *http.Request, body []byte) bool {
				got, length = r, len(body)
				return answer(0)(conn, r, body)
			})
			load(t, s, 1, func(o *Options) {
				o.Target = targetOf(t, target.Options{Dial: s.dial, APIKey: "sesame", Header: c.header})
			})
			if got == nil {
				t.Fatal("no request came")
			}
			if got.ContentLength != int64(length) || length == 0 {
				t.Errorf("length %d, body of %d bytes", got.ContentLength, length)
			}
			got.Header.Del("Content-Length")
			if !reflect.DeepEqual(got.Header, c.want) || got.Host != c.host {
				t.Errorf("host %s, headers %v\nwant %s, %v", got.Host, got.Header, c.host, c.want)
			}
		})
	}
	// A protocol has headers of its own, which the user's replace.
	for want, given := range map[string]http.Header{"2023-06-01": nil,
		"2099-01-01": {"anthropic-version": {"2099-01-01"}}} {
		synctest.Test(t, func(t *testing.T) {
			got := ""
			s := newScripted(t, func(conn net.Conn, r *http.Request, body []byte) bool {
				got = r.Header.Get("Anthropic-Version")
				return answer(0)(conn, r, body)
			})
			load(t, s, 1, func(o *Options) {
				o.Target, o.Protocol = targetOf(t, target.Options{Dial: s.dial, Header: given}), protocol.Messages{}
			})
			assert.Equal(t, got, want, "anthropic-version")
		})
	}
	// A request without an id keeps the user's.
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, answer(0))
		o := Defaults()
		o.Target = targetOf(t, target.Options{Dial: s.dial, Header: http.Header{"X-Request-Id": {"mine"}}})
		Try(t.Context(), o, turns(1), 1)
		s.close()
		if len(s.ids) != 1 || s.ids[0] != "mine" {
			t.Errorf("request ids %q, want the user's", s.ids)
		}
	})
}

// A header's value that a server repeats does not get into the result, not even in part where the message is cut off.
func TestHeaderValuesAreHidden(t *testing.T) {
	const secret = "sk-0123456789abcdef"
	for name, body := range map[string]string{
		"whole":            "wrong key " + secret,
		"where it is cut":  string(make([]byte, protocol.MaxMessage-10)) + secret,
		"inside the words": "<" + secret + secret + ">",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScripted(t, pieces(true, 0, plainAnswer("401 No", "text/plain", body)))
			q := load(t, s, 1, func(o *Options) {
				o.Target = targetOf(t, target.Options{Dial: s.dial, Header: http.Header{"X-Api-Key": {secret}}})
			})[0]
			for n := 4; n <= len(secret); n++ {
				if got := len(q.Error); got > protocol.MaxMessage || strings.Contains(q.Error, secret[:n]) {
					t.Fatalf("%s: %d bytes, in which %q stands: %q", name, got, secret[:n], q.Error)
				}
			}
		})
	}
}
