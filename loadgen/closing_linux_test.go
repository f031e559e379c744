package loadgen

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"benchtop/loadgen/shape"
	"benchtop/loadgen/target"
)

// llama.cpp announces keep-alive, and closes each connection after a streamed answer. The close crosses the next request, which is lost
// if it is on the same connection: so after the first answer, none is.
func TestServerThatClosesAfterEachAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer listener.Close()
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
					return
				}
				body := text("a") + sseEvent(finish)
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nKeep-Alive: timeout=5, max=100\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
				time.Sleep(200 * time.Microsecond)
			})
		}
	})
	g, err := target.New(target.Options{BaseURL: "http://" + listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	const n = 200
	var book logbook
	o := Defaults()
	o.Target, o.Start, o.Schedule, o.Limit = g, time.Now(), shape.At(make([]time.Duration, n)), 4
	e, err := New(o, sinkOf{&book})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context(), flow(&prompts{n: n})); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, q := range book.all {
		if q.Failure != "" || q.Redials != 0 {
			lost++
		}
	}
	// A machine that stands still for longer than a connection rests may lose requests on their way.
	if lost > o.Limit {
		t.Errorf("%d of %d requests were lost", lost, n)
	}
}
