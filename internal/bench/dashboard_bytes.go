package main

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// pageNames are the pages of the dashboard, in the order of their digits.
var pageNames = []string{"Overview", "Latency", "Load", "Server", "Requests", "Log"}

// dashboardBytes measures the output to the terminal.
func dashboardBytes(quick bool) table {
	t := &pageRun{load: usualLoad(quick), warm: 15 * time.Second, settle: 1500 * time.Millisecond, look: 5 * time.Second}
	if quick {
		t.warm, t.settle, t.look = 3*time.Second, time.Second, 2*time.Second
	}
	tab := table{name: dashboardTables + "-bytes", rounds: 1, after: t.end, columns: []column{{"rate", "KB/s", 1}, {"paint", "first paint, KB", 1}}}
	add := func(page int, at size, most float64) {
		name := fmt.Sprintf("%s, %s", pageNames[page], at)
		tab.rows = append(tab.rows, row{name, t.measure(page, at)})
		tab.limits = append(tab.limits, limit{text: fmt.Sprintf("%s: ≤ %g KB/s", name, most), row: name, column: "rate", most: most, unit: " KB/s", decimals: 1})
	}
	// The overview comes last, when its charts are fullest.
	for page := 1; page < len(pageNames); page++ {
		add(page, usual, 20)
	}
	add(0, small, 20)
	add(0, usual, 20)
	add(0, large, 50)
	return tab
}

// pageRun is one long run whose pages are shown one by one, so that the charts have time to fill.
type pageRun struct {
	load               streamLoad
	warm, settle, look time.Duration
	v                  *terminal // nil before it begins
}

// longestTour is the planned length of the run.
const longestTour = 10 * time.Minute

func (t *pageRun) begin(ctx context.Context, h *harness) (err error) {
	t.v, _, err = h.onTerminal(ctx, allButLast(), serverModel, t.load.serve(t.load.paced(h), longestTour, "--no-save")...)
	if err != nil {
		return err
	}
	return pause(ctx, t.warm)
}

// over reports whether the run ended by itself.
func (t *pageRun) over() bool {
	select {
	case <-t.v.read:
		return true
	default:
		return false
	}
}

// end ends the run.
func (t *pageRun) end() {
	if t.v != nil {
		t.v.end()
		t.v = nil
	}
}

// measure opens a page at a size and counts its output for a while.
func (t *pageRun) measure(page int, at size) measurement {
	return func(ctx context.Context, h *harness, _ int) (sample, error) {
		if t.v == nil || t.over() {
			t.end()
			if err := t.begin(ctx, h); err != nil {
				return sample{}, err
			}
		}
		v := t.v
		before := v.total.Load()
		v.resize(at)
		v.pressAndAwait(ctx, digit(page), tab(page))
		v.pause(ctx, 150*time.Millisecond) // a frame comes in pieces, and the next one after half a second
		paint := v.total.Load() - before
		v.pause(ctx, t.settle)
		v.takeOutput()
		from, began := v.total.Load(), time.Now()
		v.pause(ctx, t.look)
		sent, took := v.total.Load()-from, time.Since(began)
		s := sample{Figures: map[string]float64{"rate": float64(sent) / 1000 / took.Seconds(), "paint": float64(paint) / 1000}}
		shown := v.takeOutput()
		for _, sign := range []string{"½ charts", "¼ charts", "⅛ charts"} {
			if bytes.Contains(shown, []byte(sign)) {
				s.Remarks = append(s.Remarks, remark{"charts were drawn less often, to keep to the limit", sign})
			}
		}
		return s, v.err
	}
}

// tab is the text of the tab of the visible page.
func tab(page int) string { return fmt.Sprintf("[%d %s]", page+1, pageNames[page]) }

// digit is the key of a page.
func digit(page int) string { return fmt.Sprint(page + 1) }
