package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// dashboardTables is the first word of the names of all tables of the dashboard, so that they can be measured together.
const dashboardTables = "dashboard"

// dashboards are the tables on the cost of the dashboard. Only one of them needs no terminal.
func dashboards(quick bool) []table {
	if !hasTerminals {
		return []table{dashboardRedraw(quick)}
	}
	return []table{dashboardLoad(quick), dashboardBytes(quick), dashboardRedraw(quick), dashboardKeys()}
}

// The names of models, by which a screen is recognized as that of its run.
const serverModel, demoModel = "metronome", "sim-8b"

// Sizes of screens; most limits are about the usual one.
var (
	small = size{80, 24}
	usual = size{120, 40}
	large = size{200, 50}
)

// streamLoad is the load under which the dashboard is measured: streams of perSecond tokens a second that end after
// answer tokens, while others begin.
type streamLoad struct{ streams, perSecond, answer int }

func usualLoad(quick bool) streamLoad {
	return streamLoad{streams: scaled(quick, 1_000, 200), perSecond: 50, answer: scaled(quick, 100, 50)}
}

// lasts is the duration of an answer.
func (b streamLoad) lasts() time.Duration {
	return time.Duration(b.answer) * time.Second / time.Duration(b.perSecond)
}

// rate of requests that keeps so many streams open.
func (b streamLoad) rate() float64 { return float64(b.streams) / b.lasts().Seconds() }

// serve are the arguments of a run of a length.
func (b streamLoad) serve(server string, length time.Duration, more ...string) []string {
	return append([]string{
		"serve", "--base-url", server, "--model", serverModel, "--dataset-name", "random", "--random-input-len", "16",
		"--random-output-len", fmt.Sprint(b.answer), "--request-rate", fmt.Sprint(b.rate()),
		"--num-prompts", fmt.Sprint(int(b.rate() * length.Seconds())),
	}, more...)
}

// onTerminal starts benchtop on a terminal and waits for the first frame with the name of the model.
func (h *harness) onTerminal(ctx context.Context, on cores, model string,
	args ...string) (v *terminal, first time.Time, err error) {
	c := h.pinned(ctx, on, h.program, args...)
	c.Dir = h.folder
	if v, err = startOnTerminal(c, usual); err != nil {
		return nil, time.Time{}, err
	}
	v.expect(model)
	if first = v.await(ctx); v.err != nil {
		v.end()
	}
	return v, first, v.err
}

// demoOnTerminal starts a demo on a terminal, on all cores like a user's, and returns the folder of its journal, too.
func (h *harness) demoOnTerminal(ctx context.Context) (v *terminal, first time.Time, folder string, err error) {
	if folder, err = os.MkdirTemp(h.folder, "demo"); err != nil {
		return nil, time.Time{}, "", err
	}
	v, first, err = h.onTerminal(ctx, allCores(), demoModel, "demo", "--duration", "2m", "--result-dir", folder)
	return v, first, folder, err
}

// lastOf is the end of the output of a program.
func lastOf(text []byte) []byte { return text[max(0, len(text)-300):] }

// pageNames are the pages of the dashboard, in the order of their digits.
var pageNames = []string{"Overview", "Latency", "Load", "Server", "Requests", "Log"}

// dashboardBytes measures the output to the terminal.
func dashboardBytes(quick bool) table {
	t := &pageRun{load: usualLoad(quick), warm: 15 * time.Second, settle: 1500 * time.Millisecond,
		look: 5 * time.Second}
	if quick {
		t.warm, t.settle, t.look = 3*time.Second, time.Second, 2*time.Second
	}
	tab := table{name: dashboardTables + "-bytes", rounds: 1, after: t.end,
		columns: []column{{"rate", "KB/s", 1}, {"paint", "first paint, KB", 1}}}
	add := func(page int, at size, most float64) {
		name := fmt.Sprintf("%s, %s", pageNames[page], at)
		tab.rows = append(tab.rows, row{name, t.measure(page, at)})
		tab.limits = append(tab.limits, limit{text: fmt.Sprintf("%s: ≤ %g KB/s", name, most), row: name, column: "rate",
			most: most, unit: " KB/s", decimals: 1})
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
	t.v, _, err = h.onTerminal(ctx, allButLast(), serverModel,
		t.load.serve(t.load.paced(h), longestTour, "--no-save")...)
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
		s := sample{Figures: map[string]float64{"rate": float64(sent) / 1000 / took.Seconds(),
			"paint": float64(paint) / 1000}}
		shown := v.takeOutput()
		for _, sign := range []string{"½", "¼", "⅛"} {
			if bytes.Contains(shown, []byte(sign)) {
				s.Remarks = append(s.Remarks, remark{"charts were drawn less often, to keep to the limit", sign})
			}
		}
		return s, v.err
	}
}

// tab is the end of the tab of the visible page, which is sent in one piece. Only cells that changed are sent, so words
// are apart in the output.
func tab(page int) string { return pageNames[page] + "]" }

// digit is the key of a page.
func digit(page int) string { return fmt.Sprint(page + 1) }

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
		{text: "every page at 200×60: ≤ 2 MB allocated", row: everyRow, column: "200x60 MB", most: 2, unit: " MB",
			decimals: 2},
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
		c := h.pinned(ctx, allButLast(), h.tests, "-test.run", "^$", "-test.bench",
			"^BenchmarkFullRedraw$/./^"+page+"$", "-test.benchmem", "-test.benchtime", length)
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
		if parts[0] != "BenchmarkFullRedraw" || len(parts) < 3 ||
			strings.TrimRight(strings.Fields(parts[2])[0], "-0123456789") != page {
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
