package loadgen

import (
	"net"
	"net/http"
	"testing"
	"time"

	"benchtop/metrics"
)

// llama.cpp announces keep-alive, and closes each connection after a streamed answer. The close crosses the next
// request, which is lost if it is on the same connection: so after the first answer, none is.
func TestServerThatClosesAfterEachAnswer(t *testing.T) {
	body := text("a") + sseEvent(finish)
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nKeep-Alive: timeout=5, " +
		"max=100\r\nTransfer-Encoding: chunked\r\n\r\n"
	base := serveTCP(t, func(c net.Conn, r *http.Request, b []byte) bool {
		pieces(true, 0, head+chunk(body)+lastChunk)(c, r, b)
		time.Sleep(200 * time.Microsecond)
		return false
	})
	const n, limit = 200, 4
	var book logbook
	loadTCP(t, base, n, sinkOf{&book}, func(o *Options) { o.Limit = limit })
	lost := 0
	for _, q := range book.all {
		if q.Failure != "" || q.Tallies[metrics.Redials] != 0 {
			lost++
		}
	}
	// A machine that stands still for longer than a connection rests may lose requests on their way.
	if lost > limit {
		t.Errorf("%d of %d requests were lost", lost, n)
	}
}
