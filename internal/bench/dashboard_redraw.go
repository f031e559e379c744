package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// dashboardRedraw asks what a whole screen costs that is drawn from nothing.
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
	t.bars = []bar{
		{text: "every page at 120×40: ≤ 4 ms", row: everyRow, column: "120x40 ms", most: 4, unit: " ms", decimals: 2},
		{text: "every page at 200×60: ≤ 12 ms", row: everyRow, column: "200x60 ms", most: 12, unit: " ms", decimals: 2},
		{text: "every page at 200×60: ≤ 2 MB allocated", row: everyRow, column: "200x60 MB", most: 2, unit: " MB", decimals: 2},
	}
	return t
}

func measureRedraw(page, length string) measurement {
	return func(ctx context.Context, l *lab, _ int) (sample, error) {
		if l.tests == "" { // its benchmarks know how to draw from nothing
			tests, err := l.build(ctx, "tui.test", "test", "-c", "./tui")
			if err != nil {
				return sample{}, err
			}
			l.tests = tests
		}
		c := l.pinned(ctx, allButLast(), l.tests, "-test.run", "^$", "-test.bench", "^BenchmarkFullRedraw$/./^"+page+"$", "-test.benchmem", "-test.benchtime", length)
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

// redrawFigures reads lines of a benchmark such as
//
//	BenchmarkFullRedraw/120x40/Overview-2   100   3500000 ns/op   120000 B/op   900 allocs/op
func redrawFigures(text []byte, page string) (map[string]float64, error) {
	figures := map[string]float64{}
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) == 0 {
			continue
		}
		parts := strings.Split(f[0], "/")
		if len(parts) != 3 || parts[0] != "BenchmarkFullRedraw" || strings.TrimRight(parts[2], "-0123456789") != page {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("a benchmark of the dashboard says %q: %w", line, err)
			}
			switch f[i+1] {
			case "ns/op":
				figures[parts[1]+" ms"] = v / 1e6
			case "B/op":
				figures[parts[1]+" MB"] = v / 1e6
			}
		}
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("no benchmark of the dashboard draws the page %s", page)
	}
	return figures, nil
}
