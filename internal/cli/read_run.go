package cli

import (
	"iter"

	"benchtop/export"
	"benchtop/metrics"
)

// stillOn is the reason of a run that has not ended: its report is of what it did so far.
const stillOn = "the run was still on when this was read"

// readRun reads the run of a file from the journal that belongs to it.
func readRun(file string) (metrics.Run, iter.Seq2[metrics.Request, error], error) {
	path, err := journalOf(file)
	if err != nil {
		return metrics.Run{}, nil, err
	}
	return readJournal(path)
}

// readJournal reads the journal of a run, as export.ReadJournal does, and tells a run that is on from one that was killed.
func readJournal(path string) (metrics.Run, iter.Seq2[metrics.Request, error], error) {
	on := locked(path) // asked first: a run that ends meanwhile has its end
	run, requests, err := export.ReadJournal(path)
	if on && run.Reason == export.Killed {
		run.Reason = stillOn
	}
	return run, requests, err
}
