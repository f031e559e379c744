package replay

import (
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
)

// playback tells a live view what happened, in order of time. Chunks of different requests do not know of each other,
// so those between two looks come request by request; all else keeps its order.
type playback struct {
	*recording
	view     *live.View
	at       time.Duration // everything until here was told
	caught   time.Duration // and all chunks until here
	next     int           // of moments
	inFlight []*inFlight
	byIndex  map[int32]*inFlight
	seconds  int // of the client, told so far
	delays   delays
	told     event.Event // of the last chunk
}

// inFlight is a request under way.
type inFlight struct {
	past   *metrics.Request
	chunks []metrics.Chunk  // of the past
	now    *metrics.Request // what is known by now; the view may keep it
}

// playback starts at the beginning.
func (r *recording) playback() *playback {
	// The clock of the view is never asked.
	f := &playback{recording: r, view: live.NewView(time.Time{}, &r.plan), byIndex: map[int32]*inFlight{},
		told: event.Event{Kind: event.Chunk}}
	f.delays.begin(r.client)
	return f
}

// advance tells all until a moment. It returns false if it was told to stop before, and may then go on later.
func (f *playback) advance(to time.Duration, stop func() bool) bool {
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

// catchUpEvery bounds how far chunks stay behind other events: a server whose chunks came later would seem silent.
const catchUpEvery = 500 * time.Millisecond

func (f *playback) tell(m moment) {
	if m.at-f.caught >= catchUpEvery {
		f.catchUp(m.at)
	}
	switch m.kind {
	case isDue:
		f.due(f.request(m.index))
	case isSent:
		f.sent(f.request(m.index))
	case isDone:
		f.done(m.index, f.request(m.index))
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
func (f *playback) catchUp(to time.Duration) {
	f.caught = max(f.caught, to)
	for _, x := range f.inFlight {
		f.chunksOf(x, to)
	}
}

func (f *playback) chunksOf(x *inFlight, to time.Duration) {
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
func (f *playback) snapshot(at time.Duration) metrics.Snapshot {
	s := f.view.SnapshotAt(at)
	if s.Report != nil {
		s.Verdict = s.Report.Client.Verdict
	}
	return s
}

// request returns the request with that place in the recording, which from now on is under way.
func (f *playback) request(index int32) *inFlight {
	if x := f.byIndex[index]; x != nil {
		return x
	}
	past := &f.requests[index]
	q := metrics.NewRequest(past.Index)
	x := &inFlight{past: past, chunks: f.chunks[index].unpack(), now: &q}
	q.Chunks, q.CountedChunks = x.chunks[:0], past.CountedChunks
	q.Conversation, q.Turn, q.Session, q.Parent = past.Conversation, past.Turn, past.Session, past.Parent
	q.ID, q.Server, q.Model, q.MaxTokens = past.ID, past.Server, past.Model, past.MaxTokens
	q.Inputs, q.InputTokens, q.DatasetTokens, q.InputSource = past.Inputs, past.DatasetTokens, past.DatasetTokens,
		past.InputSource
	q.Audio, q.Served = past.Audio, past.Served
	if past.DatasetTokens != past.InputTokens {
		q.InputSource = f.plan.InputSource
	}
	q.Scheduled = past.Scheduled
	f.inFlight = append(f.inFlight, x)
	f.byIndex[index] = x
	return x
}

// finish takes a request out of those in flight.
func (f *playback) finish(index int32, x *inFlight) {
	i := slices.Index(f.inFlight, x)
	f.inFlight = slices.Delete(f.inFlight, i, i+1)
	delete(f.byIndex, index)
}

func (f *playback) due(x *inFlight) {
	x.now.Due = x.past.Due
	f.view.Take(&event.Event{At: x.now.Due, Kind: event.Due, Request: x.now})
}

func (f *playback) sent(x *inFlight) {
	q, past := x.now, x.past
	q.Admitted, q.Encode, q.Connect, q.Sent = past.Admitted, past.Encode, past.Connect, past.Sent
	q.Tallies, q.LastTry = past.Tallies, past.LastTry // late requests are told from those whose connection was dead
	f.view.Take(&event.Event{At: q.Sent, Kind: event.Sent, Request: q})
}

// done tells of the end, with all that was known then. A damaged journal may have chunks after it, or fewer than it
// says.
func (f *playback) done(index int32, x *inFlight) {
	f.chunksOf(x, endless)
	q, chunks := x.now, x.now.Chunks
	q.End(*x.past)
	q.Chunks = chunks
	f.view.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
	f.finish(index, x)
}

// delays makes up how long chunks waited between the kernel and the client, of which the journal has the figures of
// each second, but not of each chunk. So the verdict on the client is about what it was: one chunk of a second waited
// longest, one in fifty as long as the 99th percentile, all others as long as the median.
type delays struct {
	second *metrics.ClientSecond // that comes next; nil where the client said nothing
	n      int                   // chunks with output in it so far
}

// begin starts the first of some seconds.
func (d *delays) begin(rest []metrics.ClientSecond) {
	*d = delays{}
	if len(rest) > 0 {
		d.second = &rest[0]
	}
}

// next is the delay of the chunk that comes next, Never for none.
func (d *delays) next(c metrics.Chunk) time.Duration {
	if d.second == nil || c.Tokens <= 0 {
		return metrics.Never
	}
	n := d.n - d.second.Unstamped
	d.n++
	switch {
	case n < 0:
		return metrics.Never
	case n == 0:
		return d.second.DelayMax
	case n%50 == 0:
		return d.second.DelayP99
	}
	return d.second.DelayP50
}
