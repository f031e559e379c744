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
	// maxValues bounds the memory of the parser, which takes a hundred bytes for each value.
	maxValues = 1 << 20
)

// lineDecoder reads the lines of a journal.
type lineDecoder struct {
	parser fastjson.Parser
	inner  *line     // the last fact
	v1     *version1 // nil for the current version
}

// header reads the first line.
func (d *lineDecoder) header(line []byte) (event.Event, error) {
	plan, written, err := decodeHeader(line)
	if written == 1 {
		d.v1 = &version1{}
	}
	return event.Event{Kind: event.Fact, Value: plan}, err
}

// decode returns the event of any line but the first. The event shares no memory with the line.
func (d *lineDecoder) decode(raw []byte) (event.Event, error) {
	raw, chunks := cutChunks(raw)
	if len(raw) > maxValues && valuesIn(raw) > maxValues {
		return event.Event{}, fmt.Errorf("expected a line of at most %d values", maxValues)
	}
	v, err := d.parser.ParseBytes(raw)
	if err != nil {
		text := err.Error() // quotes up to the whole line
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
	for _, known := range kinds {
		if d.inner = l.object(known.key, false); d.inner != nil {
			at, value := known.read(d.inner)
			return event.Event{At: at, Kind: event.Fact, Value: value}, d.inner.err
		}
	}
	return event.Event{}, errUnknownKind
}

// valuesIn estimates the number of values in a line of JSON: commas outside of texts.
func valuesIn(line []byte) (n int) {
	text := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			text = !text
		case '\\':
			i++ // inside a text
		case ',':
			if !text {
				n++
			}
		}
	}
	return n
}

// Readers keep the facts of a journal in memory, so their number is bounded.
const (
	// maxSeconds bounds the seconds of each kind: twelve days.
	maxSeconds = 12 * 24 * 60 * 60
	// maxEvents and maxEventBytes bound the log: a line every second for most of a day.
	maxEvents     = 1 << 16
	maxEventBytes = 32 << 20
	// maxReadings bounds the readings of GPUs: three days of eight GPUs.
	maxReadings = 1 << 21
	// maxRecounts bounds the late token counts; maxStates bounds load, phase, source and saving: a day of ramps.
	maxRecounts = 1 << 22
	maxStates   = 1 << 20
)

// limits counts the facts of a journal.
type limits struct {
	client, server, gpus, readings, events, eventBytes, recounts, states int
	names                                                                []string // of the GPUs in the last sample
}

var (
	errTooManyEvents = fmt.Errorf("expected at most %d events, and %d MiB of them", maxEvents, maxEventBytes>>20)
	errTooManyStates = fmt.Errorf("expected at most %d lines of load, phase, source and saving", maxStates)
)

// allow counts a fact. The error reports that there are too many of its kind.
func (l *limits) allow(fact any) error {
	second := func(n *int, of string) error {
		if *n++; *n > maxSeconds {
			return fmt.Errorf("expected at most %d seconds of the %s", maxSeconds, of)
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
		if l.events > maxEvents || l.eventBytes > maxEventBytes {
			return errTooManyEvents // one value for millions of lines
		}
	case metrics.ClientSecond:
		return second(&l.client, "client")
	case metrics.ServerSecond:
		return second(&l.server, "server")
	case metrics.GPUSecond:
		l.shareNames(x.GPUs)
		if l.readings += len(x.GPUs); l.readings > maxReadings {
			return fmt.Errorf("expected at most %d readings of accelerators", maxReadings)
		}
		return second(&l.gpus, "accelerators")
	case metrics.Recount:
		if l.recounts++; l.recounts > maxRecounts {
			return fmt.Errorf("expected at most %d counts of answers", maxRecounts)
		}
	case metrics.Steering, metrics.Phase, metrics.Source, metrics.Saving:
		if l.states++; l.states > maxStates {
			return errTooManyStates
		}
	}
	return nil
}

// shareNames replaces GPU names by those of the sample before, so that each name is in memory once.
func (l *limits) shareNames(gpus []metrics.GPU) {
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
