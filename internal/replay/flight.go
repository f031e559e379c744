package replay

import (
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// flight returns the request with that place in the recording, which from now on is under way.
func (f *feeder) flight(index int32) *flight {
	if x := f.byIndex[index]; x != nil {
		return x
	}
	past := &f.requests[index]
	q := metrics.NewRequest(past.Index)
	x := &flight{past: past, chunks: f.chunks[index].unpack(), now: &q, place: len(f.flights)}
	q.Chunks = x.chunks[:0]
	q.Conversation, q.Turn, q.Session, q.Parent = past.Conversation, past.Turn, past.Session, past.Parent
	q.ID, q.Model, q.MaxTokens = past.ID, past.Model, past.MaxTokens
	q.Inputs, q.InputTokens, q.DatasetTokens, q.InputSource = past.Inputs, past.DatasetTokens, past.DatasetTokens, past.InputSource
	if past.DatasetTokens != past.InputTokens {
		q.InputSource = f.plan.InputSource
	}
	q.Scheduled = past.Scheduled
	f.flights = append(f.flights, x)
	f.byIndex[index] = x
	return x
}

// land takes a flight out of those under way.
func (f *feeder) land(index int32, x *flight) {
	last := len(f.flights) - 1
	f.flights[x.place] = f.flights[last]
	f.flights[x.place].place = x.place
	f.flights[last] = nil
	f.flights = f.flights[:last]
	delete(f.byIndex, index)
}

func (f *feeder) due(x *flight) {
	x.now.Due = x.past.Due
	f.view.Take(&event.Event{At: x.now.Due, Kind: event.Due, Request: x.now})
}

func (f *feeder) sent(x *flight) {
	q, past := x.now, x.past
	q.Admitted, q.Encode, q.Connect, q.Sent = past.Admitted, past.Encode, past.Connect, past.Sent
	q.Redials = past.Redials // late requests are told from those whose connection was dead
	f.view.Take(&event.Event{At: q.Sent, Kind: event.Sent, Request: q})
}

// done tells of the end, with all that was known then. A damaged journal may have chunks after it, or fewer than it says.
func (f *feeder) done(index int32, x *flight) {
	f.chunksOf(x, endless)
	q, past := x.now, x.past
	q.Admitted, q.Encode, q.Connect = past.Admitted, past.Encode, past.Connect
	q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = past.FirstChunk, past.FirstToken, past.FirstAnswer, past.LastChunk
	q.VLLMLater, q.Done = past.VLLMLater, past.Done
	q.InputTokens, q.InputSource = past.InputTokens, past.InputSource
	q.OutputTokens, q.OutputSource, q.CachedTokens = past.OutputTokens, past.OutputSource, past.CachedTokens
	q.ServerQueue, q.ServerPrefill = past.ServerQueue, past.ServerPrefill
	q.Finish, q.Failure, q.Status, q.Error, q.Text, q.Redials = past.Finish, past.Failure, past.Status, past.Error, past.Text, past.Redials
	q.ReadDelay = past.ReadDelay
	f.view.Take(&event.Event{At: q.Done, Kind: event.Done, Request: q})
	f.land(index, x)
}
