package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// dashboardRedraw measures the cost of a full redraw.
func dashboardRedraw(quick bool) table {
	length := "200ms"
	if quick {
		length = "20ms"
	}
	t := table{name: dashboardTables + "-redraw", rounds: 3}
	for _, at := range []string{"80x24", "120x40", "200x60"} {
		shown := strings.ReplaceAll(at, "x", "×")
		t.columns = append(t.columns, column{at + " ms", shown + ", ms", 2}, column{at + " MB", "MB", 2})
	}
	for page := range pageNames {
		t.rows = append(t.rows, row{pageNames[page], measureRedraw(pageNames[page], length)})
	}
	t.limits = []limit{
		{text: "every page at 120×40: ≤ 4 ms", row: everyRow, column: "120x40 ms", most: 4, unit: " ms", decimals: 2},
		{text: "every page at 200×60: ≤ 12 ms", row: everyRow, column: "200x60 ms", most: 12, unit: " ms", decimals: 2},
		{text: "every page at 200×60: ≤ 2 MB allocated", row: everyRow, column: "200x60 MB", most: 2, unit: " MB", decimals: 2},
	}
	return t
}

func measureRedraw(page, length string) measurement {
	return func(ctx context.Context, h *harness, _ int) (sample, error) {
		if h.tests == "" { // which have a benchmark of full redraws
			tests, err := h.build(ctx, "tui.test", "test", "-c", "./tui")
			if err != nil {
				return sample{}, err
			}
			h.tests = tests
		}
		c := h.pinned(ctx, allButLast(), h.tests, "-test.run", "^$", "-test.bench", "^BenchmarkFullRedraw$/./^"+page+"$", "-test.benchmem", "-test.benchtime", length)
		c.Dir = "tui"
		text, err := c.Output()
		if err != nil {
			if failed := new(exec.ExitError); errors.As(err, &failed) {
				err = fmt.Errorf("%w, and it said %q %q", err, lastOf(text), lastOf(failed.Stderr))
			}
			return sample{}, err
		}
		figures, err := redrawFigures(text, page)
		return sample{Figures: figures}, err
	}
}

// redrawFigures reads the lines of a benchmark, such as
//
//	BenchmarkFullRedraw/120x40/Overview-2   100   3500000 ns/op   120000 B/op   900 allocs/op
func redrawFigures(text []byte, page string) (map[string]float64, error) {
	figures := map[string]float64{}
	for line := range bytes.Lines(text) {
		var name string
		var times int
		var ns, allocated float64
		parts := strings.Split(string(line), "/")
		if parts[0] != "BenchmarkFullRedraw" || len(parts) < 3 || strings.TrimRight(strings.Fields(parts[2])[0], "-0123456789") != page {
			continue
		}
		if _, err := fmt.Sscanf(string(line), "%s %d %f ns/op %f B/op", &name, &times, &ns, &allocated); err != nil {
			return nil, fmt.Errorf("a benchmark of the dashboard says %q: %w", line, err)
		}
		figures[parts[1]+" ms"], figures[parts[1]+" MB"] = ns/1e6, allocated/1e6
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("no benchmark of the dashboard draws the page %s", page)
	}
	return figures, nil
}
