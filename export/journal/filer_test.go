package journal

import (
	"errors"
	"io"
	"iter"
	"math"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

const ms = time.Millisecond

var (
	inf       = math.Inf(1)
	errBroken = errors.New("broken")
)

// filer is a writer of requests and facts.
type filer struct{ *Writer }

func newJournal(t testing.TB, w io.Writer, plan metrics.Plan) filer {
	t.Helper()
	j := assert.Must(NewWriter(w, plan))(t)
	t.Cleanup(func() { j.Close() })
	return filer{j}
}

func (j filer) tell(at time.Duration, fact any) {
	j.Take(&event.Event{At: at, Kind: event.Fact, Value: fact})
}

func (j filer) Done(q *metrics.Request) {
	j.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
}

// facts files the facts of a run, except its end.
func (j filer) facts(run metrics.Run) {
	for _, e := range eventtest.Facts(run) {
		j.Take(&e)
	}
}

// End files the end of a run and closes the journal.
func (j filer) End(run metrics.Run) error {
	j.tell(run.Ended, run.End)
	return j.Close()
}

// Records are the requests filed so far, with later token counts.
func (j filer) Records() iter.Seq2[metrics.Request, error] {
	_, requests, _ := report.Gather(j.Events())
	return requests
}

// readRun reads the run in a file.
func readRun(path string) (metrics.Run, iter.Seq2[metrics.Request, error], error) {
	return report.Gather(Read(path))
}

// decodeLine decodes a line.
func decodeLine(line []byte) (event.Event, error) { return new(lineDecoder).decode(line) }

// lineOf is the line of a fact, without its end.
func lineOf(fact any) []byte {
	line := appendFact(nil, event.Event{Kind: event.Fact, Value: fact})
	return line[:len(line)-1]
}
