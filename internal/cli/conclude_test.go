package cli

import (
	"errors"
	"strings"
	"testing"

	"benchtop/internal/session"
	"benchtop/metrics"
)

// lostTerminal takes no words.
type lostTerminal struct{ error }

func (w lostTerminal) Write([]byte) (int, error) { return 0, w.error }

// A terminal that is gone is told of once, however many parts a report has.
func TestReportThatCannotBePrinted(t *testing.T) {
	gone := errors.New("input/output error")
	if err := session.PrintReport(lostTerminal{gone}, metrics.Report{}, nil, true); err == nil ||
		err.Error() != gone.Error() {
		t.Errorf("%v, want %v once", err, gone)
	}
}

// The exit code is that of the conclusion, and standard error has the reason of a failure.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name, fault, args string
		code              int
		words             string
	}{
		{"few failed", "status=503,to=8", "", session.ExitFine, "8 of 20 failed"},
		{"more than half failed", "status=503,to=11", "", session.ExitFailed, "benchtop: 11 of 20 requests failed\n"},
		{"half failed, and a gate is missed", "status=503,to=10", "--fail-on failed>0", session.ExitMissed,
			"FAILED failed>0"},
		{"more than half failed, and a gate is missed", "status=503,to=11", "--fail-on failed>0", session.ExitFailed,
			"benchtop: 11 of 20 requests failed\n"},
		{"the server gone", "reset,from=18", "", session.ExitFailed,
			"benchtop: the server did not answer at the end: the last 3 requests failed to connect or were reset\n"},
		{"gone too late to tell", "reset,from=19", "", session.ExitFine, "2 of 20 failed (reset)"},
		{"back again", "reset,from=10,to=18", "", session.ExitFine, "9 of 20 failed (reset)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := startSimulate(t, "--fault", c.fault)
			args := strings.Fields(
				"serve --num-prompts 20 --max-concurrency 1 --no-plots " + shortPrompts + " " + c.args)
			benchtop(append(args, "--base-url", server)...).expect(t, c.code, c.words)
		})
	}
}
