package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"benchtop/metrics"
)

// journal is what a measurement takes from the journal of a run, which is read here without benchtop's own code.
type journal struct {
	started time.Time
	// requests that were sent, with their moments only.
	requests []metrics.Request
	// failed of them.
	failed int
	// byHand are the moments at which the load was set by hand.
	byHand []time.Time
}

// journalLine is any line.
type journalLine struct {
	Plan *struct {
		Started time.Time `json:"started"`
	} `json:"plan"`
	Event *struct {
		At  int64 `json:"at_us"`
		Set *struct {
			By string `json:"by"`
		} `json:"set"`
	} `json:"event"`
	Index     *int   `json:"index"`
	Scheduled int64  `json:"scheduled_us"`
	Due       int64  `json:"due_us"`
	Admitted  int64  `json:"admitted_us"`
	Sent      *int64 `json:"sent_us"`
	Connect   int64  `json:"connect_us"`
	Done      int64  `json:"done_us"`
	Redials   int    `json:"redials"`
	Failure   string `json:"failure"`
}

// journalIn reads the only journal in a folder, that of a run that is on as well.
func journalIn(folder string) (*journal, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*.jsonl*"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d journals in the folder of a run, expected one", len(found))
	}
	f, err := os.Open(found[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(found[0], ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("the journal of a run: %w", err)
		}
	}
	return readJournal(r)
}

// readJournal leaves out a last line that is not whole yet.
func readJournal(r io.Reader) (*journal, error) {
	j := &journal{}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the journal of a run: %w", err)
		}
		var l journalLine
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("the journal of a run, line %d: %w", n, err)
		}
		j.take(&l)
	}
	if j.started.IsZero() {
		return nil, errors.New("the journal of a run does not say when it began")
	}
	return j, nil
}

func (j *journal) take(l *journalLine) {
	switch {
	case l.Plan != nil:
		j.started = l.Plan.Started
	case l.Event != nil && l.Event.Set != nil && l.Event.Set.By == metrics.ByHand:
		j.byHand = append(j.byHand, j.started.Add(inMicroseconds(l.Event.At)))
	case l.Index != nil && l.Sent != nil:
		if l.Failure != "" {
			j.failed++
		}
		j.requests = append(j.requests, metrics.Request{
			Scheduled: inMicroseconds(l.Scheduled), Due: inMicroseconds(l.Due), Admitted: inMicroseconds(l.Admitted),
			Sent: inMicroseconds(*l.Sent), Connect: inMicroseconds(l.Connect), Done: inMicroseconds(l.Done), Redials: l.Redials,
		})
	}
}

// late is how late the requests were that were due after a moment, sorted by nothing.
func (j *journal) late(from time.Duration) []time.Duration {
	var all []time.Duration
	for i := range j.requests {
		if q := &j.requests[i]; q.Scheduled >= from {
			all = append(all, q.OwnLateness())
		}
	}
	return all
}

// open is how many requests were under way at a moment.
func (j *journal) open(at time.Duration) int {
	n := 0
	for i := range j.requests {
		if q := &j.requests[i]; q.Sent <= at && at < q.Done {
			n++
		}
	}
	return n
}

func inMicroseconds(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
