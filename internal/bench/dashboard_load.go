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
		c := l.pinned(ctx, allButLast(), l.program, args...)
		c.Dir = folder
		var said []byte
		if !shown {
			said, err = c.CombinedOutput()
		} else if v, failed := view(c, usual); failed != nil {
			return sample{}, failed
		} else {
			err = v.wait()
			said = v.hear()
		}
		if err != nil {
			return sample{}, fmt.Errorf("%w, and it said %q", err, lastOf(said))
		}
		s, err := runFigures(folder, load.lasts(), sending)
		if err != nil {
			return sample{}, err
		}
		s.Figures["cpu"] = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		return s, metronome.ClearLog(ctx, l.base) // what the server noted of this run is of no interest
	}
}

// paced is the lab's server at the pace of the load.
func (b busy) paced(l *lab) string {
	gap := time.Second / time.Duration(b.perSecond)
	return metronome.Pace(l.base, gap, gap)
}

// runFigures are those of a run that is over, from when all its streams are open to when no more are sent.
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

// runJournal is what a measurement takes from the journal of a run.
type runJournal struct {
	events  event.Events
	started time.Time
	// requests that were sent, and how many of them failed.
	requests []metrics.Request
	failed   int
	// manual are the moments at which a user set the load.
	manual []time.Time
}

// readJournal reads the only journal in a folder, that of a run that is on as well.
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
		if v.Set != nil && v.Set.By == metrics.ByHand {
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

// late is how late the requests were that were due after a moment, in no order.
func (j *runJournal) late(from time.Duration) []time.Duration {
	var all []time.Duration
	for i := range j.requests {
		if q := &j.requests[i]; q.Scheduled >= from {
			all = append(all, q.OwnLateness())
		}
	}
	return all
}

// open is how many requests were under way at a moment.
func (j *runJournal) open(at time.Duration) int {
	n := 0
	for i := range j.requests {
		if q := &j.requests[i]; q.Sent <= at && at < q.Done {
			n++
		}
	}
	return n
}
