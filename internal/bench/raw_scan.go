package main

import "bytes"

// eventScan counts the stream events that end in what it is fed, wherever reads split them: two line feeds in a row. The header
// and the frames of HTTP have none, since their lines end in CR LF.
type eventScan struct{ fresh bool }

// feed returns how many events end in b.
func (s *eventScan) feed(b []byte) int {
	events := 0
	for len(b) > 0 {
		if s.fresh && b[0] == '\n' {
			events++
			s.fresh, b = false, b[1:]
			continue
		}
		line := bytes.IndexByte(b, '\n')
		if line < 0 {
			s.fresh = false
			return events
		}
		s.fresh, b = true, b[line+1:]
	}
	return events
}
