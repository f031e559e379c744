package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/internal/metronome"
	"benchtop/metrics"
)

// dashboardLoad asks what the dashboard costs the client that draws it.
func dashboardLoad(quick bool) table {
	const without, with = "without dashboard", "with dashboard"
	load, sending := busyLoad(quick), 4*time.Second
	if quick {
		sending = 3 * time.Second
	}
	return table{name: dashboardTables + "-load", rounds: 10,
		rows: []row{{without, measureShown(load, sending, false)}, {with, measureShown(load, sending, true)}},
		columns: []column{
			{"cpu", "CPU of the client, s", 2}, {"open", "streams open", 0}, {"p50", "sent late p50, µs", 0}, {"p90", "p90", 0}, {"p99", "p99", 0},
		},
		bars: []bar{
			{text: "CPU with dashboard ≤ 1.05 × without", row: with, column: "cpu", over: without, most: 1.05, unit: " ×", decimals: 3},
			{text: "sent late p90 with dashboard ≤ 1.10 × without", row: with, column: "p90", over: without, most: 1.10, unit: " ×", decimals: 2},
		}}
}

// measureShown measures the program as a user runs it, on a terminal of the usual size or without one.
func measureShown(load busy, sending time.Duration, shown bool) measurement {
	return func(ctx context.Context, l *lab, round int) (sample, error) {
		program, err := l.benchtop(ctx)
		if err != nil {
			return sample{}, err
		}
		folder, err := os.MkdirTemp(l.folder, "run")
		if err != nil {
			return sample{}, err
		}
		defer os.RemoveAll(folder)
		args := load.serve(load.paced(l), sending, "--save-result", "--result-dir", folder, "--seed", fmt.Sprint(round))
		if shown {
			args = append(args, "--exit")
		} else {
			args = append(args, "--no-tui")
		}
		c := l.pinned(ctx, allButLast(), program, args...)
		c.Dir = folder
		if shown {
			v, err := view(c, usual)
			if err != nil {
				return sample{}, err
			}
			err = v.wait()
			if err != nil {
				return sample{}, fmt.Errorf("%w, and it said %q", err, lastOf(v.hear()))
			}
		} else if text, err := c.CombinedOutput(); err != nil {
			return sample{}, fmt.Errorf("%w, and it said %q", err, lastOf(text))
		}
		s, err := runFigures(folder, load.lasts(), sending)
		if err != nil {
			return sample{}, err
		}
		s.Figures["cpu"] = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		// What the server noted of this run is of no interest.
		if log, err := metronome.FetchLog(ctx, l.base); err != nil && log == nil {
			return sample{}, err
		}
		return s, nil
	}
}

// paced is the lab's server at the pace of the load.
func (b busy) paced(l *lab) string {
	gap := time.Second / time.Duration(b.perSecond)
	return metronome.Pace(l.base, gap, gap)
}

// runFigures are those of a run that is over, from when all its streams are open to when no more are sent.
func runFigures(folder string, from, to time.Duration) (sample, error) {
	j, err := journalIn(folder)
	if err != nil {
		return sample{}, err
	}
	late := j.late(from)
	if len(late) == 0 {
		return sample{}, errors.New("no request was due while all streams were open")
	}
	slices.Sort(late)
	at := func(share float64) float64 { return inMicros(late[max(0, int(math.Ceil(share*float64(len(late))))-1)]) }
	s := sample{Figures: map[string]float64{
		"p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "open": float64(j.open((from + to) / 2)),
	}}
	s.note(j.failed, "requests failed")
	verdict, why, err := verdictIn(folder)
	if err != nil {
		return sample{}, err
	}
	if verdict == "limited" {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", why})
	}
	return s, nil
}

// verdictIn is what the only result in a folder says of the client.
func verdictIn(folder string) (verdict, why string, err error) {
	found, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(found) != 1 {
		return "", "", fmt.Errorf("%d results in the folder of a run, expected one", len(found))
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return "", "", err
	}
	var result struct {
		Benchtop struct {
			Client struct {
				Verdict string
				Why     []string
			}
		}
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return "", "", fmt.Errorf("the result of a run: %w", err)
	}
	c := &result.Benchtop.Client
	if len(c.Why) > 0 {
		why = c.Why[0]
	}
	return c.Verdict, why, nil
}

// lastOf is the end of what a program said.
func lastOf(text []byte) []byte { return text[max(0, len(text)-300):] }

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
