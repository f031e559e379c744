package journal

import (
	"errors"
	"io"
	"iter"
	"math"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

const ms = time.Millisecond

var (
	inf       = math.Inf(1)
	errBroken = errors.New("broken")
)

// filer is a writer with a method for each kind of line.
type filer struct{ *Writer }

func newJournal(t testing.TB, w io.Writer, plan metrics.Plan) filer {
	t.Helper()
	j, err := NewWriter(w, plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return filer{j}
}

func (j filer) tell(at time.Duration, fact any) {
	j.Take(&event.Event{At: at, Kind: event.Fact, Value: fact})
}

func (j filer) Done(q *metrics.Request) {
	j.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
}

func (j filer) Event(e metrics.LogEntry)      { j.tell(e.At, e) }
func (j filer) Client(s metrics.ClientSecond) { j.tell(s.At, s) }
func (j filer) Server(s metrics.ServerSecond) { j.tell(s.At, s) }
func (j filer) GPUs(s metrics.GPUSecond)      { j.tell(s.At, s) }

func (j filer) Recount(index, tokens int, source metrics.TokenSource) {
	j.tell(0, metrics.Recount{Index: index, Tokens: tokens, Source: source})
}

// facts files the facts of a run, except its end.
func (j filer) facts(run metrics.Run) {
	for _, e := range run.Events {
		j.Event(e)
	}
	for _, s := range run.Client {
		j.Client(s)
	}
	for _, s := range run.Server {
		j.Server(s)
	}
	for _, s := range run.GPUs {
		j.GPUs(s)
	}
}

// End files the end of a run and closes the journal.
func (j filer) End(run metrics.Run) error {
	if run.ServerKind != "" || run.ServerAbsent != "" {
		j.tell(run.Ended, metrics.Source{Name: metrics.ServerCounters, Kind: run.ServerKind, Absent: run.ServerAbsent})
	}
	if run.GPUsAbsent != "" {
		j.tell(run.Ended, metrics.Source{Name: metrics.Accelerators, Absent: run.GPUsAbsent})
	}
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

// entry is an event by type.
type entry struct {
	plan    *metrics.Plan
	request *metrics.Request
	event   *metrics.LogEntry
	client  *metrics.ClientSecond
	server  *metrics.ServerSecond
	gpus    *metrics.GPUSecond
	end     *metrics.End
	damage  error
}

func entryOf(e event.Event) entry {
	switch x := e.Value.(type) {
	case metrics.Plan:
		return entry{plan: &x}
	case metrics.LogEntry:
		return entry{event: &x}
	case metrics.ClientSecond:
		return entry{client: &x}
	case metrics.ServerSecond:
		return entry{server: &x}
	case metrics.GPUSecond:
		return entry{gpus: &x}
	case metrics.End:
		return entry{end: &x}
	case event.Damage:
		return entry{damage: x.Err}
	}
	return entry{request: e.Request}
}

// decodeLine decodes a line.
func decodeLine(line []byte) (entry, error) {
	var d lineDecoder
	e, err := d.decode(line)
	return entryOf(e), err
}

// lineOf is the line of a fact, without its end.
func lineOf(fact any) []byte {
	line := appendFact(nil, event.Event{Kind: event.Fact, Value: fact})
	return line[:len(line)-1]
}
