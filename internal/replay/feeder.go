package replay

import (
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
)

// feeder tells a live view what happened, in order of time. Chunks of different requests do not know of each other, so those
// between two looks come request by request; all else keeps its order.
type feeder struct {
	*recording
	view    *live.View
	at      time.Duration // everything until here was told
	next    int           // of moments
	flights []*flight     // in no order
	byIndex map[int32]*flight
	seconds int // of the client, told so far
	delays  delays
	told    event.Event // of the last chunk
}

// flight is a request under way.
type flight struct {
	past   *metrics.Request
	chunks []metrics.Chunk  // of the past
	now    *metrics.Request // what is known by now; the view may keep it
	place  int              // in flights
}

// feeder starts at the beginning.
func (r *recording) feeder() *feeder {
	// The clock of the view is never asked.
	f := &feeder{recording: r, view: live.NewView(time.Time{}, &r.plan), byIndex: map[int32]*flight{}, told: event.Event{Kind: event.Chunk}}
	f.delays.begin(r.client)
	return f
}

// advance tells all until a moment. It returns false if it was told to stop before, and may then go on later.
func (f *feeder) advance(to time.Duration, stop func() bool) bool {
	for ; f.next < len(f.moments) && f.moments[f.next].at <= to; f.next++ {
		if f.next%1024 == 0 && stop() {
			return false
		}
		m := f.moments[f.next]
		f.tell(m)
		f.at = max(f.at, min(m.at, f.length))
	}
	f.catchUp(to)
	f.at = max(f.at, min(to, f.length))
	return true
}

func (f *feeder) tell(m moment) {
	switch m.kind {
	case isDue:
		f.due(f.flight(m.index))
	case isSent:
		f.sent(f.flight(m.index))
	case isDone:
		f.done(m.index, f.flight(m.index))
	case isFact:
		e := &f.facts[m.index]
		switch e.Value.(type) {
		case metrics.ClientSecond: // it counts the chunks that came in it
			f.catchUp(m.at)
			f.seconds++
			f.delays.begin(f.client[f.seconds:])
		case metrics.ServerSecond: // and so does the view with this
			f.catchUp(m.at)
		}
		f.view.Take(e)
	}
}

// catchUp tells of the chunks until a moment.
func (f *feeder) catchUp(to time.Duration) {
	for _, x := range f.flights {
		f.chunksOf(x, to)
	}
}

func (f *feeder) chunksOf(x *flight, to time.Duration) {
	for n := len(x.now.Chunks); n < len(x.chunks) && x.chunks[n].At <= to; n++ {
		c := x.chunks[n]
		c.Answer = c.Answer || c.At == x.past.FirstAnswer // a journal says only when it began
		x.now.ReadDelay = f.delays.next(c)
		x.now.Add(c) // writes over itself: both share their memory
		f.told.At, f.told.Request, f.told.Chunk = c.At, x.now, c
		f.view.Take(&f.told)
	}
}

// snapshot is the run at a moment until which all was told.
func (f *feeder) snapshot(at time.Duration) metrics.Snapshot {
	s := f.view.SnapshotAt(at)
	if s.Report != nil {
		s.Verdict = s.Report.Client.Verdict
	}
	return s
}
