package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"benchtop/internal/calibration"
)

// dashboardKeys measures the time to a change of the screen, or of the load: after the start, and after a key.
func dashboardKeys(quick bool) table {
	const serving, demo, pages, load = "first frame of serve", "first frame of demo", "page key to page", "+ to the change of the load"
	t := table{name: dashboardTables + "-keys", rounds: 5,
		rows: []row{
			{serving, measureFirstFrame(false)}, {demo, measureFirstFrame(true)},
			{pages, measurePageKeys}, {load, measureLoadKeys},
		},
		columns: []column{{"ms", "ms", 1}, {"most", "slowest of a round, ms", 1}},
	}
	for _, name := range []string{serving, demo} {
		t.limits = append(t.limits, limit{text: name + " ≤ 150 ms", row: name, column: "ms", most: 150, unit: " ms", decimals: 1})
	}
	for _, name := range []string{pages, load} {
		t.limits = append(t.limits, limit{text: name + ": the slowest of a round ≤ 100 ms", row: name, column: "most", most: 100, unit: " ms", decimals: 1})
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
			v, first, err = h.onTerminal(ctx, allCores(), serverModel, "serve", "--no-save", "--base-url", h.base, "--model", serverModel,
				"--dataset-name", "random", "--random-input-len", "1024", "--random-output-len", "100", "--num-prompts", "1000", "--request-rate", "50")
		}
		if err != nil {
			return sample{}, err
		}
		v.end()
		return sample{Figures: map[string]float64{"ms": inMillis(first.Sub(v.began))}}, nil
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
		j, err := readJournal(folder)
		if err != nil {
			return nil, err
		}
		if len(j.manual) == n {
			return j.manual, nil
		}
		if len(j.manual) > n || time.Now().After(giveUp) {
			return nil, fmt.Errorf("%d changes of the load are in the journal, %d were asked for", len(j.manual), n)
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// keyFigures are the median and the greatest of some times.
func keyFigures(took []time.Duration) sample {
	all := make([]float64, len(took))
	for i, d := range took {
		all[i] = inMillis(d)
	}
	return sample{Figures: map[string]float64{"ms": calibration.Median(all), "most": slices.Max(all)}}
}
