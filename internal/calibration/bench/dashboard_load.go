package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"benchtop/internal/files"
	"benchtop/internal/metronome"
	"benchtop/metrics"
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
			{"cpu", "CPU of the client, s", 2}, {"open", "streams open", 0}, {"p50", "sent late p50, µs", 0},
			{"p90", "p90", 0}, {"p99", "p99", 0},
		},
		limits: []limit{
			{text: "CPU with dashboard ≤ 1.05 × without", row: with, column: "cpu", over: without, most: 1.05,
				unit: " ×", decimals: 3},
			{text: "sent late p90 with dashboard ≤ 1.10 × without", row: with, column: "p90", over: without, most: 1.10,
				unit: " ×", decimals: 2},
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
		args := load.serve(load.paced(h), sending, "--save-result", "--result-dir", folder, "--seed", fmt.Sprint(round),
			"--warmup", load.lasts().String()) // by then all streams are open
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
		s, err := runFigures(folder, (load.lasts()+sending)/2)
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

// runFigures are the figures of a finished run behind its warm-up; all its streams are open at a moment.
func runFigures(folder string, open time.Duration) (sample, error) {
	r, err := readRun(folder)
	if err != nil {
		return sample{}, err
	}
	late := &r.Statistics[metrics.OwnLateness]
	if late.N == 0 {
		return sample{}, errors.New("no request was due while all streams were open")
	}
	s := sample{Figures: map[string]float64{}}
	for key, p := range map[string]float64{"p50": 50, "p90": 90, "p99": 99} {
		ms, _ := late.Percentile(p)
		s.Figures[key] = 1000 * ms
	}
	for _, w := range r.Timeline {
		if w.Start <= open {
			s.Figures["open"] = float64(w.Waiting + w.Running)
		}
	}
	s.note(r.Failed, "requests failed")
	if r.Client.Verdict.Limited() {
		s.Remarks = append(s.Remarks, remark{"the verdict was limited", r.Client.Verdict.Why[0]})
	}
	return s, nil
}

// readRun is the report of the only run in a folder, which may still be in progress.
func readRun(folder string) (metrics.Report, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*"+files.JournalSuffix+"*"))
	if err != nil {
		return metrics.Report{}, err
	}
	if len(found) != 1 {
		return metrics.Report{}, fmt.Errorf("%d journals in the folder of a run, expected one", len(found))
	}
	r, err := files.ReadReport(found[0])
	if err != nil && r.Plan.Started.IsZero() {
		return r, fmt.Errorf("the journal of a run: %w", err)
	}
	return r, nil
}

// dashboardKeys measures the time to a change of the screen, or of the load: after the start, and after a key.
func dashboardKeys() table {
	const serving, demo, pages, load = "first frame of serve", "first frame of demo", "page key to page",
		"+ to the change of the load"
	t := table{name: dashboardTables + "-keys", rounds: 5,
		rows: []row{
			{serving, measureFirstFrame(false)}, {demo, measureFirstFrame(true)},
			{pages, measurePageKeys}, {load, measureLoadKeys},
		},
		columns: []column{{"ms", "ms", 1}, {"most", "slowest of a round, ms", 1}},
	}
	for _, name := range []string{serving, demo} {
		t.limits = append(t.limits,
			limit{text: name + " ≤ 150 ms", row: name, column: "ms", most: 150, unit: " ms", decimals: 1})
	}
	for _, name := range []string{pages, load} {
		t.limits = append(t.limits, limit{text: name + ": the slowest of a round ≤ 100 ms", row: name, column: "most",
			most: 100, unit: " ms", decimals: 1})
	}
	return t
}

// measureFirstFrame measures the time from the start of the process to the first frame of the run.
func measureFirstFrame(demo bool) measurement {
	return func(ctx context.Context, h *harness, _ int) (sample, error) {
		var v *terminal
		var first time.Time
		var err error
		if demo {
			v, first, _, err = h.demoOnTerminal(ctx)
		} else {
			v, first, err = h.onTerminal(ctx, allCores(), serverModel, "serve", "--no-save", "--base-url", h.base,
				"--model", serverModel,
				"--dataset-name", "random", "--random-input-len", "1024", "--random-output-len", "100", "--num-prompts",
				"1000", "--request-rate", "50")
		}
		if err != nil {
			return sample{}, err
		}
		v.end()
		return sample{Figures: map[string]float64{"ms": metrics.Milliseconds(first.Sub(v.began))}}, nil
	}
}

// between is the time between two keys. It rises a little each time, so that keys come in every phase of the drawing.
func between(i int) time.Duration { return time.Duration(230+7*i) * time.Millisecond }

// measurePageKeys turns pages of a demo and waits for each.
func measurePageKeys(ctx context.Context, h *harness, _ int) (sample, error) {
	const keys = 8
	v, _, _, err := h.demoOnTerminal(ctx)
	if err != nil {
		return sample{}, err
	}
	defer v.end()
	var took []time.Duration
	for i := range keys {
		v.pause(ctx, between(i))
		page := (i + 1) % len(pageNames)
		pressed, shown := v.pressAndAwait(ctx, digit(page), tab(page))
		took = append(took, shown.Sub(pressed))
	}
	return keyFigures(took), v.err
}

// measureLoadKeys raises the load of a demo, whose journal has the times of the changes.
func measureLoadKeys(ctx context.Context, h *harness, _ int) (sample, error) {
	const keys = 4
	v, _, folder, err := h.demoOnTerminal(ctx)
	if err != nil {
		return sample{}, err
	}
	defer v.end()
	v.pause(ctx, time.Second) // the first frame may lack the load
	v.pressAndAwait(ctx, "c", "CONTROL")
	var pressed []time.Time
	for i := range keys {
		v.pause(ctx, between(i))
		pressed = append(pressed, v.press("+"))
	}
	if v.err != nil {
		return sample{}, v.err
	}
	changed, err := manualChanges(ctx, folder, keys)
	if err != nil {
		return sample{}, err
	}
	var took []time.Duration
	for i := range pressed {
		took = append(took, changed[i].Sub(pressed[i].Round(0))) // by the wall clock, which both processes share
	}
	return keyFigures(took), nil
}

// manualChanges waits until the journal of a run, which is written once a second, has so many changes of the load.
func manualChanges(ctx context.Context, folder string, n int) ([]time.Time, error) {
	for giveUp := time.Now().Add(5 * time.Second); ; {
		r, err := readRun(folder)
		if err != nil {
			return nil, err
		}
		var changed []time.Time
		for _, e := range r.Events {
			if e.Set != nil && e.Set.By == metrics.ByUser {
				changed = append(changed, r.Plan.Started.Add(e.At))
			}
		}
		if len(changed) == n {
			return changed, nil
		}
		if len(changed) > n || time.Now().After(giveUp) {
			return nil, fmt.Errorf("%d changes of the load are in the journal, %d were asked for", len(changed), n)
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// keyFigures are the median and the greatest of some times.
func keyFigures(took []time.Duration) sample {
	all := metrics.Each(took, metrics.Milliseconds)
	return sample{Figures: map[string]float64{"ms": metrics.Median(all), "most": slices.Max(all)}}
}
