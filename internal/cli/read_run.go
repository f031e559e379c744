package cli

import (
	"benchtop/export/journal"
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// stillOn is the reason of a run that has not ended: its report is of what it did so far.
const stillOn = "the run was still on when this was read"

// readRun reads the run of a file from the journal that belongs to it.
func readRun(file string) (event.Events, error) {
	path, err := journalOf(file)
	if err != nil {
		return nil, err
	}
	return readJournal(path), nil
}

// readJournal reads the journal of a run, and tells a run that is on from one that was killed.
func readJournal(path string) event.Events {
	return func(yield func(event.Event, error) bool) {
		on := locked(path) // asked first: a run that ends meanwhile has its end
		for e, err := range journal.Read(path) {
			if _, ended := e.Value.(metrics.End); ended || err != nil {
				on = false
			}
			if !yield(e, err) {
				return
			}
		}
		if on {
			yield(event.Event{Kind: event.Fact, Value: metrics.End{Ended: metrics.Never, Reason: stillOn}}, nil)
		}
	}
}
