package replay

import (
	"time"

	"benchtop/metrics"
)

// feeder tells a recorder what happened, in order of time. Chunks of different requests do not know of each other, so those
// between two looks come request by request; all else keeps its order.
type feeder struct {
	*recording
	recorder *metrics.Recorder
	at       time.Duration // everything until here was told
	next     int           // of moments
	flights  []*flight     // in no order
	byIndex  map[int32]*flight
	seconds  int // of the client, told so far
	delays   delays
	steering metrics.Steering
}

// flight is a request under way.
type flight struct {
	past   *metrics.Request
	chunks []metrics.Chunk  // of the past
	now    *metrics.Request // what is known by now; the recorder may keep it
	place  int              // in flights
}

// feeder starts at the beginning.
func (r *recording) feeder() *feeder {
	// The clock of the recorder is never asked.
	f := &feeder{recording: r, recorder: metrics.NewRecorder(time.Time{}, &r.run.Plan), byIndex: map[int32]*flight{}}
	f.recorder.ServerIs(r.run.ServerKind, "")
	f.delays.begin(r.run.Client)
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
	run := &f.run
	switch m.kind {
	case isDue:
		f.due(f.flight(m.index))
	case isSent:
		f.sent(f.flight(m.index))
	case isDone:
		f.done(m.index, f.flight(m.index))
	case isEvent:
		e := run.Events[m.index]
		f.recorder.Log(e)
		if e.Set != nil {
			f.steer(*e.Set)
		}
	case isClient:
		f.catchUp(m.at) // the second counts the chunks that came in it
		f.recorder.Client(run.Client[m.index])
		f.seconds++
		f.delays.begin(run.Client[f.seconds:])
	case isServer:
		f.recorder.Server(run.Server[m.index])
	case isGPU:
		f.recorder.GPUs(run.GPUs[m.index])
	case serverEnds:
		f.recorder.ServerIs(run.ServerKind, run.ServerAbsent)
	case gpusEnd:
		f.recorder.GPUsAre(run.GPUsAbsent)
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
		f.recorder.Chunk(x.now)
	}
}

// steer says what load is in force. Nobody can change it any more.
func (f *feeder) steer(set metrics.LoadSetting) {
	s := &f.steering
	s.LoadSetting = set
	s.Changes++
	if set.Users > 0 || set.Rate > 0 {
		s.InUsers = set.Users > 0
	}
	f.recorder.SetSteering(*s)
}

// snapshot is the run at a moment until which all was told. What the client saw of itself is what it saw then.
func (f *feeder) snapshot(at time.Duration) metrics.Snapshot {
	s := f.recorder.SnapshotAt(at)
	s.Client = f.run.Client[:f.seconds:f.seconds]
	if s.Report != nil {
		s.Verdict = s.Report.Client.Verdict
	}
	return s
}
