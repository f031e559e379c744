package attach

import (
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/live"
)

// The list tells runs apart, of another version too, and when there is no room to look.
func TestAbout(t *testing.T) {
	r := newRun()
	plan := &metrics.Plan{BaseURL: "http://a:1", ModelID: strings.Repeat("é", 500), Load: "8 users",
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	r.recorder = live.NewView(time.Now(), plan)
	h := host(t, r)
	for range mostViewers + 1 {
		all := assert.Must(Find())(t)
		assert.Need(t, len(all), 1, "found")
		want := About{"http://a:1", strings.Repeat("é", mostAbout/2), "8 users", plan.Started}
		if all[0].About != want || all[0].Since != plan.Started {
			t.Fatalf("with %d viewers the run is %+v, want %+v", h.Viewers(), all[0].About, want)
		}
		if h.Viewers() < mostViewers {
			join(t, h)
		}
	}
}

// A silent listener is not waited for.
func TestSilentHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			limit time.Duration
			do    func(net.Conn)
		}{
			{time.Second, func(conn net.Conn) {
				assert.Equal(t, ask(conn), About{}, "it said")
			}},
			{3 * time.Second, func(conn net.Conn) {
				v := &Viewer{conn: conn}
				_, err := v.greet("v1")
				assert.Fails(t, "no trouble", err, "does not answer")
				_ = conn.Close()
			}},
		} {
			near, far := net.Pipe()
			var listening sync.WaitGroup
			listening.Go(func() { _, _ = io.Copy(io.Discard, far) })
			began := time.Now()
			c.do(near)
			assert.Equal(t, time.Since(began), c.limit, "waited")
			listening.Wait()
			_ = far.Close()
		}
	})
}

// A run of another version says what it is as well.
func TestAskAnotherVersion(t *testing.T) {
	host(t, newRun())
	conn, err := net.Dial("unix", ownPath())
	assert.Fine(t, err)
	defer conn.Close()
	w, _, err := handshake(conn, hello{Attach: protocol + 1, Version: "v2", Ask: true}, time.Minute)
	if err != nil || w.Refused != "" || w.About.Model != "m" {
		words, _ := json.Marshal(w)
		t.Errorf("it said %s, %v", words, err)
	}
}
