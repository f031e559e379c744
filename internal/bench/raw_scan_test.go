package main

import (
	"strings"
	"testing"
)

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
		if got := (&eventScan{}).feed([]byte(i)); got != want {
			t.Errorf("%q: got %d events, want %d", i, got, want)
		}
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
