package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// dashboardKeys asks how soon there is something to see: after the start, and after a key.
func dashboardKeys(quick bool) table {
	const serving, demo, pages, load = "first frame of serve", "first frame of demo", "page key to page", "+ to the change of the load"
	t := table{name: dashboardTables + "-keys", rounds: 7,
		rows: []row{
			{serving, measureFirstFrame(false)}, {demo, measureFirstFrame(true)},
			{pages, measurePageKeys(scaled(quick, 20, 6))}, {load, measureLoadKeys(scaled(quick, 10, 3))},
		},
		columns: []column{{"ms", "ms", 1}, {"most", "most, ms", 1}},
	}
	for name, most := range map[string]float64{serving: 150, demo: 150} {
		t.bars = append(t.bars, bar{text: fmt.Sprintf("%s ≤ %g ms", name, most), row: name, column: "ms", most: most, unit: " ms", decimals: 1})
	}
	for _, name := range []string{pages, load} {
		t.bars = append(t.bars, bar{text: name + " ≤ 100 ms, every time", row: name, column: "most", most: 100, unit: " ms", decimals: 1})
	}
	return t
}

// demo starts benchtop demo on a terminal and tells when its first frame was there. The folder gets its journal.
func (l *lab) demo(ctx context.Context, folder string) (v *viewer, first time.Time, err error) {
	return l.shown(ctx, "demo", "--duration", "2m", "--result-dir", folder)
}

// shown starts benchtop on a terminal and waits for its first frame. Nothing is pinned: a user's is not either.
func (l *lab) shown(ctx context.Context, args ...string) (v *viewer, first time.Time, err error) {
	program, err := l.benchtop(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	c := l.pinned(ctx, allCores(), program, args...)
	c.Dir = l.folder
	if v, err = view(c, usual); err != nil {
		return nil, time.Time{}, err
	}
	v.expect(firstFrame)
	if first, err = v.sight(ctx); err != nil {
		v.end()
	}
	return v, first, err
}
