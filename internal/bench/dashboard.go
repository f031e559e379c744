package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// The bars of the dashboard. Its tables share the first word of their names, so that they can be measured together.
const dashboardTables = "dashboard"

// dashboards are the tables on what the dashboard costs. Without terminals of our own only one of them can be measured.
func dashboards(quick bool) []table {
	if !hasTerminals {
		return []table{dashboardRedraw(quick)}
	}
	return []table{dashboardLoad(quick), dashboardBytes(quick), dashboardRedraw(quick), dashboardKeys(quick)}
}

// The models by whose names a screen is known to be about its run.
const serverModel, demoModel = "metronome", "sim-8b"

// Sizes of screens; most bars are about the usual one.
var (
	small = size{80, 24}
	usual = size{120, 40}
	large = size{200, 50}
)

// busy is the load under which the dashboard is measured: streams of perSecond tokens a second that end after answer tokens,
// while others begin.
type busy struct{ streams, perSecond, answer int }

func busyLoad(quick bool) busy {
	return busy{streams: scaled(quick, 1_000, 200), perSecond: 50, answer: scaled(quick, 100, 50)}
}

// lasts is how long an answer takes.
func (b busy) lasts() time.Duration {
	return time.Duration(b.answer) * time.Second / time.Duration(b.perSecond)
}

// rate of requests that keeps so many streams open.
func (b busy) rate() float64 { return float64(b.streams) / b.lasts().Seconds() }

// serve are the arguments for a run of a length, started in its own folder.
func (b busy) serve(server string, length time.Duration, more ...string) []string {
	return append([]string{
		"serve", "--base-url", server, "--model", serverModel, "--dataset-name", "random", "--random-input-len", "16",
		"--random-output-len", fmt.Sprint(b.answer), "--request-rate", fmt.Sprint(b.rate()),
		"--num-prompts", fmt.Sprint(int(b.rate() * length.Seconds())),
	}, more...)
}

// shown starts benchtop on a terminal and waits for the first frame that knows its run, by the name of the model.
func (l *lab) shown(ctx context.Context, on cores, model string, args ...string) (v *viewer, first time.Time, err error) {
	c := l.pinned(ctx, on, l.program, args...)
	c.Dir = l.folder
	if v, err = view(c, usual); err != nil {
		return nil, time.Time{}, err
	}
	v.expect(model)
	if first = v.sight(ctx); v.err != nil {
		v.end()
	}
	return v, first, v.err
}

// shownDemo is a demo on a terminal, on all cores as a user's is, and the folder of its journal.
func (l *lab) shownDemo(ctx context.Context) (v *viewer, first time.Time, folder string, err error) {
	if folder, err = os.MkdirTemp(l.folder, "demo"); err != nil {
		return nil, time.Time{}, "", err
	}
	v, first, err = l.shown(ctx, allCores(), demoModel, "demo", "--duration", "2m", "--result-dir", folder)
	return v, first, folder, err
}

// lastOf is the end of what a program said.
func lastOf(text []byte) []byte { return text[max(0, len(text)-300):] }
