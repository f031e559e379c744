// Package prometheus shows the figures of a run while it is on, as a page in the text format of Prometheus.
package prometheus

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	vm "github.com/VictoriaMetrics/metrics"
	"golang.org/x/net/netutil"
)

// Page is a page on an address. It has no figures until there is a run.
type Page struct {
	// URL is its own.
	URL string
	// Public: other machines can read it.
	Public  bool
	server  http.Server
	figures atomic.Pointer[Figures]
}

// readers bounds the connections to a page.
const readers = 16

// Listen opens a page on an address, as 127.0.0.1:9464.
func Listen(address string) (*Page, error) {
	network := "tcp"
	if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().Is4() {
		network = "tcp4" // 0.0.0.0 would take the addresses of IPv6 as well
	}
	l, err := net.Listen(network, address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--prometheus %s: another program listens there; choose another port, or 0 for a "+
			"free one", address)
	case err != nil:
		return nil, fmt.Errorf("--prometheus %s: %w; choose an address of this machine", address, err)
	}
	vm.ExposeMetadata(true)
	at := l.Addr().(*net.TCPAddr)
	p := &Page{URL: "http://" + at.String() + "/metrics", Public: !at.IP.IsLoopback()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		if f := p.figures.Load(); f != nil {
			f.write(w)
		}
	})
	p.server = http.Server{Handler: mux, ReadHeaderTimeout: time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	p.server.SetKeepAlivesEnabled(false) // so that idle readers keep no others out
	go func() { _ = p.server.Serve(netutil.LimitListener(l, readers)) }()
	return p, nil
}

// String says where the page is, and who can read it.
func (p *Page) String() string {
	if p.Public {
		return "live metrics on " + p.URL + ", open to other machines"
	}
	return "live metrics on " + p.URL
}

// Show has the page show these figures from now on.
func (p *Page) Show(f *Figures) { p.figures.Store(f) }

// Close ends the page, if there is one.
func (p *Page) Close() {
	if p != nil {
		_ = p.server.Close()
	}
}
