package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// dashboardLoad measures the cost of the dashboard for the client that draws it.
func dashboardLoad(quick bool) table {
	const without, with = "without dashboard", "with dashboard"
	load, sending := usualLoad(quick), 4*time.Second
	if quick {
		sending = 3 * time.Second
	}
	return table{name: dashboardTables + "-load", rounds: 10,
		rows: []row{{without, measureRun(load, sending, false)}, {with, measureRun(load, sending, true)}},
		columns: []column{
			{"cpu", "CPU of the client, s", 2}, {"open", "streams open", 0}, {"p50", "sent late p50, µs", 0}, {"p90", "p90", 0}, {"p99", "p99", 0},
		},
		limits: []limit{
			{text: "CPU with dashboard ≤ 1.05 × without", row: with, column: "cpu", over: without, most: 1.05, unit: " ×", decimals: 3},
			{text: "sent late p90 with dashboard ≤ 1.10 × without", row: with, column: "p90", over: without, most: 1.10, unit: " ×", decimals: 2},
		}}
}

// measureRun measures the program as a user runs it, on a terminal of the usual size or without one.
func measureRun(load streamLoad, sending time.Duration, shown bool) measurement {
	return func(ctx context.Context, h *harness, round int) (sample, error) {
		folder, err := os.MkdirTemp(h.folder, "run")
		if err != nil {
			return sample{}, err
		}
		defer os.RemoveAll(folder)
		args := load.serve(load.paced(h), sending, "--save-result", "--result-dir", folder, "--seed", fmt.Sprint(round))
		if shown {
			args = append(args, "--exit")
		} else {
			args = append(args, "--no-tui")
		}
		c := h.pinned(ctx, allButLast(), h.program, args...)
		c.Dir = folder
		var said []byte
		if !shown {
			said, err = c.CombinedOutput()
		} else if v, failed := startOnTerminal(c, usual); failed != nil {
			return sample{}, failed
		} else {
			err = v.wait()
			said = v.takeOutput()
		}
		if err != nil {
			return sample{}, fmt.Errorf("%w, and it said %q", err, lastOf(said))
		}
		s, err := runFigures(folder, load.lasts(), sending)
		if err != nil {
			return sample{}, err
		}
		s.Figures["cpu"] = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		return s, metronome.ClearLog(ctx, h.base) // the log of this run does not matter
	}
}

// paced is the URL of the server at the pace of the load.
func (b streamLoad) paced(h *harness) string {
	gap := time.Second / time.Duration(b.perSecond)
	return metronome.Pace(h.base, gap, gap)
}

// runFigures are the figures of a finished run, from the time when all its streams are open to the end of the sending.
func runFigures(folder string, from, to time.Duration) (sample, error) {
	j, err := readJournal(folder)
	if err != nil {
		return sample{}, err
	}
	late := j.late(from)
	if len(late) == 0 {
		return sample{}, errors.New("no request was due while all streams were open")
	}
	slices.Sort(late)
	at := func(share float64) float64 { return inMicros(calibration.Quantile(late, share)) }
	s := sample{Figures: map[string]float64{
		"p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "open": float64(j.open((from + to) / 2)),
	}}
	s.note(j.failed, "requests failed")
	r, err := report.Of(j.events)
	if r.Client.Verdict.Limited() {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", r.Client.Verdict.Why[0]})
	}
	return s, err
}

// runJournal has the contents of a run's journal that matter here.
type runJournal struct {
	events  event.Events
	started time.Time
	// requests that were sent, and the number of those that failed.
	requests []metrics.Request
	failed   int
	// manual are the moments at which a user set the load.
	manual []time.Time
}

// readJournal reads the only journal in a folder. The run may still be in progress.
func readJournal(folder string) (*runJournal, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*.jsonl*"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d journals in the folder of a run, expected one", len(found))
	}
	j := &runJournal{events: journal.Read(found[0])}
	for e, err := range j.events {
		if err != nil {
			return nil, fmt.Errorf("the journal of a run: %w", err)
		}
		j.take(&e)
	}
	return j, nil
}

func (j *runJournal) take(e *event.Event) {
	switch v := e.Value.(type) {
	case metrics.Plan:
		j.started = v.Started
	case metrics.LogEntry:
		if v.Set != nil && v.Set.By == metrics.ByUser {
			j.manual = append(j.manual, j.started.Add(v.At))
		}
	}
	if e.Kind == event.Done && e.Request.Sent != metrics.Never {
		if !e.Request.OK() {
			j.failed++
		}
		j.requests = append(j.requests, *e.Request)
	}
}

// late has the lateness of the requests due after a moment, in no order.
func (j *runJournal) late(from time.Duration) []time.Duration {
	var all []time.Duration
	for i := range j.requests {
		if q := &j.requests[i]; q.Scheduled >= from {
			all = append(all, q.OwnLateness())
		}
	}
	return all
}

// open is the number of requests in flight at a moment.
func (j *runJournal) open(at time.Duration) int {
	n := 0
	for i := range j.requests {
		if q := &j.requests[i]; q.Sent <= at && at < q.Done {
			n++
		}
	}
	return n
}
