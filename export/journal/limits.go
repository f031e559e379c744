package journal

import (
	"fmt"
	"unsafe"

	"benchtop/metrics"
)

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
