package journal

import (
	"bytes"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// AppendRequest appends the line of a request as it is now, done or not.
func AppendRequest(b []byte, q *metrics.Request) []byte { return appendRequest(b, q) }

// AppendFact appends the line of a fact; none where journals do not have it.
func AppendFact(b []byte, at *event.Event) []byte { return appendFact(b, *at) }

// Decoder reads lines of a journal that come one by one: the first with Plan, any other with Event.
type Decoder struct{ lines lineDecoder }

// Plan reads the first line.
func (d *Decoder) Plan(line []byte) (metrics.Plan, error) {
	e, err := d.lines.header(bytes.TrimSuffix(line, []byte("\n")))
	plan, _ := e.Value.(metrics.Plan)
	return plan, err
}

// Event reads any other line. The event shares no memory with it.
func (d *Decoder) Event(line []byte) (event.Event, error) {
	return d.lines.decode(bytes.TrimSuffix(line, []byte("\n")))
}
