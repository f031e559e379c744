package export

import (
	"fmt"
	"unsafe"

	"benchtop/metrics"
)

const (
	// mostSeconds of one kind bounds what a damaged journal can ask for: twelve days at one a second.
	mostSeconds = 12 * 24 * 60 * 60
	// mostGPUs bounds the accelerators of one look.
	mostGPUs = 1024
	// mostEvents and mostEventBytes bound the log: one event for each second of most of a day, and a long line for each.
	mostEvents     = 1 << 16
	mostEventBytes = 32 << 20
	// mostReadings bounds those of all looks: eight accelerators for three days.
	mostReadings = 1 << 21
)

// gathering is what a journal says about its run so far.
type gathering struct {
	run        metrics.Run
	recounts   recounts // of its requests
	eventBytes int
}

// add takes what an entry says about the run. The error says that there is too much of it.
func (g *gathering) add(e entry) error {
	run := &g.run
	switch {
	case e.plan != nil:
		run.Plan = *e.plan
	case e.event != nil:
		return g.keepEvent(e.event)
	case e.recount != nil:
		return g.recounts.add(e.recount)
	case e.client != nil:
		return keep(&run.Client, *e.client, "client")
	case e.server != nil:
		return keep(&run.Server, *e.server, "server")
	case e.gpus != nil:
		return keepGPUs(&run.GPUs, *e.gpus)
	case e.end != nil:
		before := *run
		*run = *e.end
		run.Plan, run.Events = before.Plan, before.Events
		run.Client, run.Server, run.GPUs = before.Client, before.Server, before.GPUs
	}
	return nil
}

var errMuchLog = fmt.Errorf("expected at most %d events, and %d MiB of them", mostEvents, mostEventBytes>>20)

func (g *gathering) keepEvent(e *metrics.Event) error {
	size := len(e.Text) + len(e.Mark) + len(e.Level)
	if e.Objectives != nil {
		size += len(*e.Objectives) * int(unsafe.Sizeof(metrics.Objective{}))
	}
	if len(g.run.Events) >= mostEvents || g.eventBytes+size > mostEventBytes {
		return errMuchLog // not made anew: there may be millions
	}
	g.run.Events = append(g.run.Events, *e)
	g.eventBytes += size
	return nil
}

func keep[T any](all *[]T, second T, of string) error {
	if len(*all) >= mostSeconds {
		return fmt.Errorf("expected at most %d seconds of the %s", mostSeconds, of)
	}
	*all = append(*all, second)
	return nil
}

// keepGPUs shares the names with the look before: they hardly ever change.
func keepGPUs(all *[]metrics.GPUSecond, second metrics.GPUSecond) error {
	n := len(*all)
	if n > 0 {
		before := (*all)[n-1].GPUs
		for i := range min(len(before), len(second.GPUs)) {
			if g := &second.GPUs[i]; g.Name == before[i].Name {
				g.Name = before[i].Name
			}
		}
	}
	if n*len(second.GPUs) > mostReadings {
		return fmt.Errorf("expected at most %d readings of accelerators", mostReadings)
	}
	return keep(all, second, "accelerators")
}
