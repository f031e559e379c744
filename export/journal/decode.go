package journal

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/valyala/fastjson"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

const (
	longestRun   = metrics.LongestRun
	largestCount = metrics.LargestCount
	// mostValues bounds what the parser takes for a line, which is a hundred bytes for each value.
	mostValues = 1 << 20
)

// lineDecoder reads the lines of a journal.
type lineDecoder struct {
	parser fastjson.Parser
	inner  *line  // of the fact read last
	older  *older // nil for a journal of today's version
}

// header reads the first line.
func (d *lineDecoder) header(line []byte) (event.Event, error) {
	plan, written, err := decodeHeader(line)
	if written == 1 {
		d.older = &older{}
	}
	return event.Event{Kind: event.Fact, Value: plan}, err
}

// decode returns the event of any line but the first. Its values share nothing with the line.
func (d *lineDecoder) decode(raw []byte) (event.Event, error) {
	raw, chunks := cutChunks(raw)
	if len(raw) > mostValues && valuesIn(raw) > mostValues {
		return event.Event{}, fmt.Errorf("expected a line of at most %d values", mostValues)
	}
	v, err := d.parser.ParseBytes(raw)
	if err != nil {
		text := err.Error() // quotes what could not be read, which may be the whole line
		return event.Event{}, fmt.Errorf("expected a line of JSON: %s", appendString(nil, text[:min(len(text), 120)]))
	}
	o, err := v.Object()
	if err != nil {
		return event.Event{}, errors.New("expected a JSON object")
	}
	if o.Get("index") != nil {
		q, err := readRequest(o)
		if chunks != nil {
			q.Chunks = chunks
		}
		return event.Event{At: q.Done, Kind: event.Done, Request: q}, err
	}
	l := line{o: o}
	for _, known := range lines {
		if d.inner = l.object(known.key, false); d.inner != nil {
			at, value := known.read(d.inner)
			return event.Event{At: at, Kind: event.Fact, Value: value}, d.inner.err
		}
	}
	return event.Event{}, errUnknownLine
}

// valuesIn is about how many values a line of JSON has: commas outside of texts.
func valuesIn(line []byte) (n int) {
	text := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			text = !text
		case '\\':
			i++ // within a text alone
		case ',':
			if !text {
				n++
			}
		}
	}
	return n
}

// A damaged journal can ask only for so much: readers keep its facts.
const (
	// mostSeconds of one kind: twelve days at one a second.
	mostSeconds = 12 * 24 * 60 * 60
	// mostEvents and mostEventBytes bound the log: one line for each second of most of a day, and a long one for each.
	mostEvents     = 1 << 16
	mostEventBytes = 32 << 20
	// mostReadings bounds those of all looks at accelerators: eight of them for three days.
	mostReadings = 1 << 21
	// mostRecounts bounds the counts of answers that came later, mostStates what says what is in force: a day of ramps.
	mostRecounts = 1 << 22
	mostStates   = 1 << 20
)

// limits count what a journal has said so far.
type limits struct {
	client, server, gpus, readings, events, eventBytes, recounts, states int
	names                                                                []string // of the accelerators of the last look
}

var (
	errMuchLog    = fmt.Errorf("expected at most %d events, and %d MiB of them", mostEvents, mostEventBytes>>20)
	errManyStates = fmt.Errorf("expected at most %d lines of load, phase, source and saving", mostStates)
)

// allow counts a fact in. The error says that there are too many of its kind.
func (l *limits) allow(fact any) error {
	second := func(n *int, of string) error {
		if *n++; *n > mostSeconds {
			return fmt.Errorf("expected at most %d seconds of the %s", mostSeconds, of)
		}
		return nil
	}
	switch x := fact.(type) {
	case metrics.LogEntry:
		l.events++
		l.eventBytes += len(x.Text) + len(x.Mark) + len(x.Level)
		if x.Objectives != nil {
			l.eventBytes += len(*x.Objectives) * int(unsafe.Sizeof(metrics.Objective{}))
		}
		if l.events > mostEvents || l.eventBytes > mostEventBytes {
			return errMuchLog // not made anew: there may be millions
		}
	case metrics.ClientSecond:
		return second(&l.client, "client")
	case metrics.ServerSecond:
		return second(&l.server, "server")
	case metrics.GPUSecond:
		l.share(x.GPUs)
		if l.readings += len(x.GPUs); l.readings > mostReadings {
			return fmt.Errorf("expected at most %d readings of accelerators", mostReadings)
		}
		return second(&l.gpus, "accelerators")
	case metrics.Recount:
		if l.recounts++; l.recounts > mostRecounts {
			return fmt.Errorf("expected at most %d counts of answers", mostRecounts)
		}
	case metrics.Steering, metrics.Phase, metrics.Source, metrics.Saving:
		if l.states++; l.states > mostStates {
			return errManyStates
		}
	}
	return nil
}

// share gives accelerators the names of the look before, which hardly ever change, so that each is in memory once.
func (l *limits) share(gpus []metrics.GPU) {
	for i := range gpus {
		switch g := &gpus[i]; {
		case i == len(l.names):
			l.names = append(l.names, g.Name)
		case g.Name == l.names[i]:
			g.Name = l.names[i]
		default:
			l.names[i] = g.Name
		}
	}
}
