package target

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"

	"benchtop/internal/assert"
)

// Connections come from the addresses in turn, those of the client for questions among them, also to a proxy. Only
// Linux has all of 127.0.0.0/8.
func TestBind(t *testing.T) {
	from := []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")}
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		seen = append(seen, host)
	}))
	defer s.Close()
	for name, o := range map[string]Options{
		"direct": {BaseURL: s.URL},
		"proxy": {BaseURL: "http://model.test", Getenv: func(name string) string {
			return map[string]string{"HTTP_PROXY": s.URL}[name]
		}},
	} {
		seen, o.Bind = nil, from
		g := made(t, o)
		assert.Equal(t, g.Sources(), 2, "sources")
		client := g.Client()
		for range 3 {
			r, err := client.Get(g.URL("/"))
			assert.Fine(t, err)
			_ = r.Body.Close()
			client.CloseIdleConnections()
		}
		assert.EqualAll(t, seen, []string{"127.0.0.2", "127.0.0.3", "127.0.0.2"}, "%s: from", name)
	}
	var hosts []string
	g := made(t, Options{BaseURL: s.URL, Bind: from})
	for range 4 {
		c, err := g.Dial(t.Context())
		assert.Fine(t, err)
		defer c.Close()
		host, _, _ := net.SplitHostPort(c.LocalAddr().String())
		hosts = append(hosts, host)
	}
	assert.EqualAll(t, hosts, []string{"127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3"}, "from %v", hosts)
}
