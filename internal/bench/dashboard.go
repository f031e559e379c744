package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// dashboardTables is the first word of the names of all tables of the dashboard, so that they can be measured together.
const dashboardTables = "dashboard"

// dashboards are the tables on the cost of the dashboard. Only one of them needs no terminal.
func dashboards(quick bool) []table {
	if !hasTerminals {
		return []table{dashboardRedraw(quick)}
	}
	return []table{dashboardLoad(quick), dashboardBytes(quick), dashboardRedraw(quick), dashboardKeys(quick)}
}

// The names of models, by which a screen is recognized as that of its run.
const serverModel, demoModel = "metronome", "sim-8b"

// Sizes of screens; most limits are about the usual one.
var (
	small = size{80, 24}
	usual = size{120, 40}
	large = size{200, 50}
)

// streamLoad is the load under which the dashboard is measured: streams of perSecond tokens a second that end after answer tokens,
// while others begin.
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
func (h *harness) onTerminal(ctx context.Context, on cores, model string, args ...string) (v *terminal, first time.Time, err error) {
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
