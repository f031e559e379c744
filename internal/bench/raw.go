package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"benchtop/internal/calibration"
)

// rawClient is the raw reader, which does the least possible with a goroutine for each stream. It dials, writes a request and finds
// the ends of events in the answer. It parses neither HTTP nor JSON and detects no failures of the server.
func rawClient(l calibration.Load) calibration.Client {
	return func(ctx context.Context, base string, start time.Time, t *calibration.Accumulator) error {
		u, err := url.Parse(base)
		if err != nil {
			return err
		}
		var streams sync.WaitGroup
		defer streams.Wait()
		number := 0
		for offset := range l.Arrivals() {
			if err := pause(ctx, time.Until(start.Add(offset))); err != nil {
				return err
			}
			number++
			s := rawStream{id: "raw-" + strconv.Itoa(number), start: start, tally: t, chunks: l.Chunks, due: offset}
			streams.Go(func() { s.perform(u) })
		}
		return nil
	}
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// rawStream is one request.
type rawStream struct {
	id     string
	start  time.Time
	due    time.Duration
	tally  *calibration.Accumulator
	chunks int
}

func (s *rawStream) perform(u *url.URL) {
	dialled := time.Now()
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		s.tally.Failed(false, err.Error())
		return
	}
	defer func() { _ = conn.Close() }()
	connect := time.Since(dialled)
	sent := time.Since(s.start)
	if _, err := conn.Write(s.request(u)); err != nil {
		s.tally.Failed(false, err.Error())
		return
	}
	s.tally.Began()
	seen := calibration.RequestSummary{
		ID: s.id, Sent: sent, Late: max(0, sent-s.due-connect), Connect: connect, Chunks: make([]int32, 0, s.chunks),
	}
	if err := s.read(conn, &seen); err != nil {
		s.tally.Failed(true, err.Error())
		return
	}
	s.tally.Ended(seen)
}

// request is the request for the chunks, on a connection of its own.
func (s *rawStream) request(u *url.URL) []byte {
	body := fmt.Sprintf(`{"model": "metronome", "prompt": "tick", "max_tokens": %d, "stream": true}`, s.chunks)
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s/v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n", u.EscapedPath(), u.Host)
	fmt.Fprintf(&b, "X-Request-Id: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", s.id, len(body), body)
	return []byte(b.String())
}

// read stamps the events of each read. The first ones are the chunks; later ones are ignored.
func (s *rawStream) read(conn net.Conn, seen *calibration.RequestSummary) error {
	var scan eventScan
	buffer := make([]byte, 2048)
	for {
		n, err := conn.Read(buffer)
		if n > 0 {
			at := int32((time.Since(s.start) - seen.Sent) / time.Microsecond)
			for range scan.feed(buffer[:n]) {
				if len(seen.Chunks) < s.chunks {
					seen.Chunks = append(seen.Chunks, at)
					s.tally.Chunk()
				}
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && len(seen.Chunks) == s.chunks:
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%d of %d chunks", len(seen.Chunks), s.chunks)
		default:
			return err
		}
	}
}

// eventScan counts the ends of stream events, two line feeds in a row, wherever reads split them. The header and the frames of HTTP
// have none, since their lines end in CR LF.
type eventScan struct{ fresh bool }

// feed returns the number of events that end in b.
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
