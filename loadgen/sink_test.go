package loadgen

import (
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// listener has a method for each kind of event of a request.
type listener interface {
	Due(*metrics.Request)
	Sent(*metrics.Request)
	Chunk(*metrics.Request)
	Done(*metrics.Request)
}

// sinkOf is a listener as a sink.
type sinkOf struct{ listener }

func (t sinkOf) Take(e *event.Event) {
	switch e.Kind {
	case event.Due:
		t.Due(e.Request)
	case event.Sent:
		t.Sent(e.Request)
	case event.Chunk:
		t.Chunk(e.Request)
	case event.Done:
		t.Done(e.Request)
	}
}

// deaf ignores all events; a listener embeds it.
type deaf struct{}

func (deaf) Due(*metrics.Request)   {}
func (deaf) Sent(*metrics.Request)  {}
func (deaf) Chunk(*metrics.Request) {}
func (deaf) Done(*metrics.Request)  {}
