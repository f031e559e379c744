package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"benchtop/internal/telemetry"
	"benchtop/loadgen/conn"
	"benchtop/metrics"
)

// watchClient samples the client itself once a second until ctx ends, and then a last time, and tells what it finds: in the
// log, the journal and, through the live view, on the screen. dialled connections are not the run's.
func (s *session) watchClient(ctx context.Context, dialled int) {
	process := telemetry.WatchProcess()
	defer process.Close()
	w := clientWatch{session: s, process: process, before: conn.Stats{Dialled: dialled}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.sample()
		case <-ctx.Done():
			w.sample()
			return
		}
	}
}

// clientWatch remembers what was known a second ago.
type clientWatch struct {
	session *session
	process *telemetry.Process
	before  conn.Stats
	verdict turning
	told    int
}

func (w *clientWatch) sample() {
	p, now := w.process.Sample(), w.session.load.Connections.Stats()
	second := p.Second(time.Since(w.session.load.Start).Round(time.Microsecond))
	second.Sockets, second.Dialled = w.session.load.Connections.Peak(), now.Dialled-w.before.Dialled
	second.ClockStep = now.ClockSteps > w.before.ClockSteps
	w.before = now
	second = w.session.view.Counted(second)
	w.session.stream.Tell(second)
	w.tell(&second)
}

// tell logs what a reader of the charts has to know, and each change of the verdict.
func (w *clientWatch) tell(second *metrics.ClientSecond) {
	if second.Stall >= metrics.StallFrom {
		w.session.stream.Tell(metrics.LogEntry{
			Level: metrics.Warn, Mark: "stall",
			Text: fmt.Sprintf("this client stood still for %s: what arrived meanwhile may have been timed late", metrics.Duration(second.Stall.Round(time.Millisecond))),
		})
	}
	if second.ClockStep {
		w.session.log(metrics.Warn, "the system's clock was set: chunks that came around that moment got the time of their read")
	}
	v := w.session.view.Verdict()
	switch {
	case !w.verdict.turns(v.Limited()) || w.told >= mostTold:
		return
	case w.verdict.limited:
		w.session.log(metrics.Warn, "this client limits what is measured: "+strings.Join(v.Why, "; "))
	default:
		w.session.log(metrics.Info, "this client keeps up again")
	}
	w.told++
}

// mostTold bounds the lines of a verdict that goes to and fro.
const mostTold = 20

// turning is a verdict as the log tells it: one that is limited at once, one that is fine again after a while, so that a figure
// close to its threshold does not fill the log.
type turning struct {
	limited bool
	fine    int // seconds in a row
}

// fineFrom is how many seconds a client must be fine to keep up again.
const fineFrom = 10

// turns takes the verdict of a second and reports whether there is something to tell.
func (t *turning) turns(limited bool) bool {
	if limited {
		t.fine = 0
	} else {
		t.fine++
	}
	if limited == t.limited || !limited && t.fine < fineFrom {
		return false
	}
	t.limited = limited
	return true
}
