package cli

import (
	"io"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
)

// A chunk on its way through all sinks of a run.
func BenchmarkChunkThroughAll(b *testing.B) {
	plan := metrics.Plan{}
	j, _ := journal.NewWriter(struct{ io.Writer }{io.Discard}, plan)
	stream := event.NewStream(time.Now(), live.NewView(time.Now(), &plan))
	stream.Add(j, event.Done, event.Fact)
	var sink event.Sink = stream // as the engine has it
	q := metrics.NewRequest(0)
	q.Scheduled, q.Due, q.Admitted, q.Sent = 0, 0, 0, 0
	sink.Take(&event.Event{Kind: event.Due, Request: &q})
	sink.Take(&event.Event{Kind: event.Sent, Request: &q})
	q.Chunks = make([]metrics.Chunk, 0, 4096)
	told := event.Event{Kind: event.Chunk, Request: &q}
	b.ReportAllocs()
	at := time.Duration(0)
	for b.Loop() {
		if len(q.Chunks) == 4096 {
			q.Chunks = q.Chunks[:1]
		}
		at += 1000
		if at > 50*time.Second {
			at = 0
		}
		c := metrics.Chunk{At: at, Tokens: 1, Answer: true}
		q.Add(c)
		told.At, told.Chunk = at, c
		sink.Take(&told)
	}
}
