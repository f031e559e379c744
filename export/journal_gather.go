package export

import (
	"fmt"

	"benchtop/metrics"
)

const (
	// mostSeconds of one kind bounds what a damaged journal can ask for: some twelve days at one a second.
	mostSeconds = 1 << 20
	// mostGPUs bounds the accelerators of one look.
	mostGPUs = 1024
	// mostReadings bounds those of all looks: eight accelerators for six days.
	mostReadings = 1 << 22
)

// gather puts what an entry says about the run into run. The error says that there is too much of it.
func gather(run *metrics.Run, e entry) error {
	switch {
	case e.event != nil:
		run.Events = append(run.Events, *e.event)
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
