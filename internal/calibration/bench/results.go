package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"benchtop/internal/calibration"
	"benchtop/internal/telemetry"
)

// pagePath is the page with the tables; the text around them is written by hand. Each table stands between two markers:
//
//	<!-- table: streams -->
//	<!-- end: streams -->
const pagePath = "docs/accuracy.md"

// replaced is the page with another text between the markers of a name.
func replaced(page, name, text string) (string, error) {
	begin, end := "<!-- table: "+name+" -->\n", "<!-- end: "+name+" -->\n"
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("%s: the lines %q and %q are missing, between which the table stands", pagePath, begin,
			end)
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}

// withTable is the page with a new text of a table. It is an error if the page has no place for the table.
func withTable(name, text string) (string, error) {
	b, err := os.ReadFile(pagePath)
	if err != nil {
		return "", err
	}
	return replaced(string(b), name, text)
}

// save writes a table into the page and its figures into the record.
func save(t table, m rowSamples, here machine, text string) error {
	page, err := withTable(t.name, text)
	if err == nil {
		err = os.WriteFile(pagePath, []byte(page), 0o644)
	}
	if err == nil {
		err = saveRecord(t, m, here)
	}
	return err
}

// recordPath holds every round of every table.
const recordPath = "docs/accuracy.json"

// record has the figures of all tables, a recordTable by the name of the table. Each may have been measured on another
// day, and does not change when another one is measured.
type record struct {
	Schema int                        `json:"schema"`
	Tables map[string]json.RawMessage `json:"tables"`
}

// recordSchema changes with the format.
const recordSchema = 1

type recordTable struct {
	Machine machine     `json:"machine"`
	Rows    []recordRow `json:"rows"`
}

type recordRow struct {
	Name   string   `json:"name"`
	Rounds []sample `json:"rounds"`
}

// saveRecord replaces the rounds of a table in the file.
func saveRecord(t table, m rowSamples, here machine) error {
	all := record{Tables: map[string]json.RawMessage{}}
	b, err := os.ReadFile(recordPath)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; remove it to begin anew", recordPath, err)
	}
	kept := recordTable{Machine: here}
	for _, r := range t.rows {
		kept.Rows = append(kept.Rows, recordRow{r.name, m[r.name]})
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	all.Schema, all.Tables[t.name] = recordSchema, text
	if b, err = json.MarshalIndent(all, "", " "); err != nil {
		return err
	}
	return os.WriteFile(recordPath, append(b, '\n'), 0o644)
}

// machine identifies the machine and version of a measurement, without names of a host, user or folder.
type machine struct {
	System string `json:"system"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Go     string `json:"go"`
	// Commit ends in a plus sign if files have changed since.
	Commit string `json:"commit"`
	Date   string `json:"date"`
	// Pinned: server and clients ran on separate cores.
	Pinned bool `json:"pinned"`
}

func thisMachine(ctx context.Context) machine {
	m := machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPU: cmp.Or(telemetry.CPUModel(), "unknown processor"),
		Cores: runtime.NumCPU(), Go: runtime.Version(),
		Commit: commit(ctx), Date: time.Now().UTC().Format(time.DateOnly),
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + string(bytes.TrimSpace(b))
	}
	if runtime.GOOS == "linux" {
		_, err := exec.LookPath("taskset")
		m.Pinned = err == nil
	}
	return m
}

func commit(ctx context.Context) string {
	b, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	id := string(bytes.TrimSpace(b))
	// The page and the record do not count, as this program writes them.
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", ".", ":!"+pagePath,
		":!"+recordPath).Output()
	if err != nil || len(bytes.TrimSpace(changed)) > 0 {
		id += "+"
	}
	return id
}

// String describes the machine and version.
func (m machine) String() string {
	pinned := "server and clients pinned to cores"
	if !m.Pinned {
		pinned = "nothing pinned to cores"
	}
	return fmt.Sprintf("commit %s, %s, %d cores of %s, %s, %s, %s", m.Commit, m.Date, m.Cores, m.CPU, m.System, m.Go,
		pinned)
}

// rawClient is the raw reader, which does the least possible with a goroutine for each stream. It dials, writes a
// request and finds the ends of events in the answer. It parses neither HTTP nor JSON and detects no failures of the
// server.
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
	fmt.Fprintf(&b, "POST %s/v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n",
		u.EscapedPath(), u.Host)
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

// eventScan counts the ends of stream events, two line feeds in a row, wherever reads split them. The header and the
// frames of HTTP have none, since their lines end in CR LF.
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
