package live

import (
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// A long answer is cut for viewers, and its rest is freed.
func TestLongAnswersAreLetGo(t *testing.T) {
	rec := NewView(time.Now(), &metrics.Plan{})
	q := metrics.NewRequest(0)
	q.Due, q.Sent = 0, 0
	rec.Take(&event.Event{Kind: event.Due, Request: &q})
	for range 3 * chunksKept {
		q.Add(metrics.Chunk{At: time.Second, Tokens: 1})
	}
	q.Text, q.Done = strings.Repeat("a", 3*textKept), 2*time.Second
	rec.Take(&event.Event{Kind: event.Done, Request: &q})
	k := rec.tracks.find(0)
	if len(q.Chunks) != 3*chunksKept || len(q.Text) != 3*textKept {
		t.Error("the request itself was cut")
	}
	if cap(k.q.Chunks) > chunksKept || len(k.q.Text) != textKept {
		t.Errorf("%d chunks and %d bytes of text are held", cap(k.q.Chunks), len(k.q.Text))
	}
	if d := k.detail(); len(d.Chunks) != chunksKept || d.Text != q.Text[:textKept] || !d.TextCut {
		t.Errorf("%d chunks, %d bytes of text, cut %v", len(d.Chunks), len(d.Text), d.TextCut)
	}
}
