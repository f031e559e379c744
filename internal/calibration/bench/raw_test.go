package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
)

func TestRawClient(t *testing.T) {
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := metronome.New()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	defer func() {
		_ = s.Close()
		<-done
	}()
	load := calibration.Load{Requests: 10, Rate: 200, Chunks: 7, TTFT: 5 * time.Millisecond, ITL: 3 * time.Millisecond}
	r := assert.Must(calibration.MeasureOther(t.Context(), "http://"+l.Addr().String(), load, rawClient(load)))(t)
	if r.Requests != 10 || r.Failed != 0 || r.Chunks != 70 || r.StampError.N != 70 || r.Unmatched != 0 || r.Early != 0 {
		t.Errorf("got %+v", r)
	}
	if r.Connect.N != 10 || r.ITLStd <= 0 {
		t.Errorf("got %+v", r)
	}
}

// An answer that breaks off is a failure.
func TestRawClientBrokenOff(t *testing.T) {
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\ndata: {}\n\n"))
			_ = conn.(*net.TCPConn).CloseWrite()
			_ = conn.Close()
		}
	}()
	var tally calibration.Accumulator
	load := calibration.Load{Requests: 2, Chunks: 2}
	assert.Fine(t, rawClient(load)(t.Context(), "http://"+l.Addr().String(), time.Now(), &tally))
	if _, failed, problem := tally.Ends(); failed != 2 || problem != "1 of 2 chunks" {
		t.Errorf("%d failed: %s", failed, problem)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rawClient(load)(ended, "http://"+l.Addr().String(), time.Now(), &tally); err == nil {
		t.Error("it ran although it was over")
	}
}

const twoEvents = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
	"b\r\ndata: {1}\n\n\r\n" + "b\r\ndata: {2}\n\n\r\n" + "0\r\n\r\n"

func TestEventScan(t *testing.T) {
	for split := range len(twoEvents) {
		var s eventScan
		if got := s.feed([]byte(twoEvents[:split])) + s.feed([]byte(twoEvents[split:])); got != 2 {
			t.Errorf("split at %d: got %d events, want 2", split, got)
		}
	}
	var s eventScan
	for i, want := range map[string]int{"": 0, "\n\n": 1, "\n\n\n\n": 2, "a\r\n\r\n": 0} {
		assert.Equal(t, (&eventScan{}).feed([]byte(i)), want, "%q: events", i)
	}
	if allocs := testing.AllocsPerRun(100, func() { s.feed([]byte("x\n\n")) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzEventScan(f *testing.F) {
	f.Add(twoEvents, 7)
	f.Add("\n\n\n", 1)
	f.Fuzz(func(t *testing.T, stream string, split int) {
		var whole, parts eventScan
		want := whole.feed([]byte(stream))
		if most := strings.Count(stream, "\n") / 2; want > most {
			t.Fatalf("%d events in %d line feeds", want, 2*most)
		}
		split = min(max(split, 0), len(stream))
		if got := parts.feed([]byte(stream[:split])) + parts.feed([]byte(stream[split:])); got != want {
			t.Errorf("split at %d: got %d events, want %d", split, got, want)
		}
	})
}
