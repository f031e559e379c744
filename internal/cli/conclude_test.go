package cli

import (
	"errors"
	"testing"

	"benchtop/metrics"
)

// lostTerminal takes no words.
type lostTerminal struct{ error }

func (w lostTerminal) Write([]byte) (int, error) { return 0, w.error }

// A terminal that is gone is told of once, however many parts a report has.
func TestReportThatCannotBePrinted(t *testing.T) {
	gone := errors.New("input/output error")
	if err := printReport(lostTerminal{gone}, metrics.Report{}, true); err == nil || err.Error() != gone.Error() {
		t.Errorf("%v, want %v once", err, gone)
	}
}
