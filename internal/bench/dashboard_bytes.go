package main

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// pageNames are those of the dashboard, in the order of their digits.
var pageNames = []string{"Overview", "Latency", "Load", "Server", "Requests", "Log"}

// dashboardBytes asks how much goes to the terminal.
func dashboardBytes(quick bool) table {
	t := &tour{load: busyLoad(quick), warm: 15 * time.Second, settle: 1500 * time.Millisecond, look: 5 * time.Second}
	if quick {
		t.warm, t.settle, t.look = 3*time.Second, time.Second, 2*time.Second
	}
	tab := table{name: dashboardTables + "-bytes", rounds: 1, after: t.end, columns: []column{{"rate", "KB/s", 1}, {"paint", "first paint, KB", 1}}}
	add := func(page int, at size, most float64) {
		name := fmt.Sprintf("%s, %s", pageNames[page], at)
		tab.rows = append(tab.rows, row{name, t.measure(page, at)})
		tab.bars = append(tab.bars, bar{text: fmt.Sprintf("%s: ≤ %g KB/s", name, most), row: name, column: "rate", most: most, unit: " KB/s", decimals: 1})
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

// tour is one long run whose pages are looked at one by one, so that the charts have time to fill.
type tour struct {
	load               busy
	warm, settle, look time.Duration
	v                  *viewer // nil until it begins
}

// longestTour is how long its run would go on.
const longestTour = 10 * time.Minute

func (t *tour) begin(ctx context.Context, l *lab) (err error) {
	t.v, _, err = l.shown(ctx, allButLast(), serverModel, t.load.serve(t.load.paced(l), longestTour, "--no-save")...)
	if err != nil {
		return err
	}
	return pause(ctx, t.warm)
}

// over says that the run ended by itself.
func (t *tour) over() bool {
	select {
	case <-t.v.read:
		return true
	default:
		return false
	}
}

// end ends the run.
func (t *tour) end() {
	if t.v != nil {
		t.v.end()
		t.v = nil
	}
}

// measure opens a page at a size and counts for a while.
func (t *tour) measure(page int, at size) measurement {
	return func(ctx context.Context, l *lab, _ int) (sample, error) {
		if t.v == nil || t.over() {
			t.end()
			if err := t.begin(ctx, l); err != nil {
				return sample{}, err
			}
		}
		v := t.v
		before := v.total.Load()
		v.resize(at)
		v.turn(ctx, digit(page), tab(page))
		v.pause(ctx, 150*time.Millisecond) // a frame comes in pieces, and the next one not before half a second is over
		paint := v.total.Load() - before
		v.pause(ctx, t.settle)
		v.hear()
		from, began := v.total.Load(), time.Now()
		v.pause(ctx, t.look)
		sent, took := v.total.Load()-from, time.Since(began)
		s := sample{Figures: map[string]float64{"rate": float64(sent) / 1000 / took.Seconds(), "paint": float64(paint) / 1000}}
		shown := v.hear()
		for _, sign := range []string{"½ charts", "¼ charts", "⅛ charts"} {
			if bytes.Contains(shown, []byte(sign)) {
				s.Remarks = append(s.Remarks, remark{"charts were drawn less often, to keep to the limit", sign})
			}
		}
		return s, v.err
	}
}

// tab are the words of the tab of the page that is shown.
func tab(page int) string { return fmt.Sprintf("[%d %s]", page+1, pageNames[page]) }

// digit is the key of a page.
func digit(page int) string { return fmt.Sprint(page + 1) }
