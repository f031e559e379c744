package cli

import (
	"testing"

	"benchtop/metrics"
	"benchtop/metrics/report"
)

// gathered is what the journal of a session says by now.
func gathered(t *testing.T, s *session) metrics.Run {
	t.Helper()
	run, _, err := report.Gather(s.journal.Events())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// measureAll runs the load of a session to its end, and returns what its journal says of it.
func measureAll(t *testing.T, s *session) metrics.Run {
	t.Helper()
	end, err := s.measure()
	if err != nil {
		t.Fatal(err)
	}
	s.stream.Tell(end)
	return gathered(t, s)
}
