package report

import (
	"slices"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// ends gives requests that end one second after the other, one for each letter: o a success, s an HTTP status, c no
// connection, r a reset, t a time-out, x a cancelled one, l
// one whose user left.
func ends(letters string) []metrics.Request {
	kinds := map[rune]metrics.Failure{'s': metrics.FailedStatus, 'c': metrics.FailedConnect, 'r': metrics.FailedReset,
		't': metrics.FailedTimeout, 'x': metrics.Cancelled, 'l': metrics.Abandoned}
	var all []metrics.Request
	for i, letter := range letters {
		q := eventtest.Simple(i, time.Duration(i)*second, second, 0, 1)
		q.Failure = kinds[letter]
		all = append(all, q)
	}
	return all
}

// The conclusion of a run follows from its requests, its gates and the reason of its end, the highest rank first.
func TestConclusion(t *testing.T) {
	gated := metrics.Plan{Gates: eventtest.Gates(t, "completed>0")}
	ended := func(reason string) metrics.Run { return metrics.Run{End: metrics.End{Reason: reason}} }
	for _, c := range []struct {
		ends    string
		run     metrics.Run
		want    metrics.Conclusion
		trouble string
	}{
		{"oooo", metrics.Run{}, metrics.Fine, ""},
		{"oooo", ended(metrics.StoppedByUser), metrics.Fine, ""},
		{"oooo", metrics.Run{Plan: gated}, metrics.GateMissed, ""},
		{"oooo", metrics.Run{Plan: gated, End: metrics.End{Reason: metrics.StoppedByUser}}, metrics.GateMissed, ""},

		// More than half.
		{"soso", metrics.Run{}, metrics.Fine, ""},
		{"sosxxx", metrics.Run{}, metrics.RunFailed, "2 of 3 requests failed"},
		{"sos", metrics.Run{Plan: gated}, metrics.RunFailed, "2 of 3 requests failed"},
		{"sos", ended(metrics.StoppedByUser), metrics.RunFailed, "2 of 3 requests failed"},
		{"ss", metrics.Run{}, metrics.RunFailed, "no request succeeded"},
		{"", metrics.Run{}, metrics.RunFailed, "no request succeeded"},
		{"ll", metrics.Run{}, metrics.RunFailed, "no request succeeded: all users left"},
		{"ls", metrics.Run{}, metrics.RunFailed, "no request succeeded"},
		{"xx", ended(metrics.StoppedByUser), metrics.Fine, ""},
		{"xs", ended(metrics.StoppedByUser), metrics.RunFailed, "no request succeeded"},

		// The server gone.
		{"ooooocc", metrics.Run{}, metrics.Fine, ""},
		{"ooooocrc", metrics.Run{}, metrics.RunFailed,
			"the server did not answer at the end: the last 3 requests failed to connect or were reset"},
		{"ooooccxtc", metrics.Run{}, metrics.RunFailed,
			"the server did not answer at the end: the last 3 requests failed to connect or were reset"},
		{"oooocccco", metrics.Run{}, metrics.Fine, ""},
		{"oooooccscc", metrics.Run{}, metrics.Fine, ""},

		// Ended from outside.
		{"sss", metrics.Run{Plan: gated, End: metrics.End{Reason: metrics.TerminalLost}}, metrics.HungUp,
			"no request succeeded"},
		{"sss", ended(metrics.EndedBySIGTERM), metrics.Terminated, "no request succeeded"},
		{"ooo", metrics.Run{Plan: gated, End: metrics.End{Reason: metrics.AbortedByUser}}, metrics.Aborted, ""},
	} {
		all := ends(c.ends)
		slices.Reverse(all) // the order in which they are read does not count
		c.run.Ended = minute
		r := summarize(t, all, c.run)
		if r.Conclusion != c.want || r.Trouble != c.trouble {
			t.Errorf("%q, reason %q: %d, %q; want %d, %q", c.ends, c.run.Reason, r.Conclusion, r.Trouble, c.want,
				c.trouble)
		}
	}
	if !(metrics.Aborted > metrics.Terminated && metrics.Terminated > metrics.HungUp &&
		metrics.HungUp > metrics.RunFailed && metrics.RunFailed > metrics.GateMissed &&
		metrics.GateMissed > metrics.Fine) {
		t.Error("the ranks are out of order")
	}
}

// A server that answered in the warm-up and was gone before its end is gone; one that answers a request of the warm-up
// last is not.
func TestServerGoneAfterTheWarmup(t *testing.T) {
	all := ends("oooccc")
	late := eventtest.Simple(6, 0, 10*second, 0, 1) // scheduled in the warm-up
	plan := metrics.Plan{Warmup: second}
	for name, c := range map[string]struct {
		all  []metrics.Request
		want int
	}{"gone": {all, 3}, "back": {append(all, late), 0}} {
		if r := summarize(t, c.all, runOf(plan, minute)); r.Unreached != c.want {
			t.Errorf("%s: %d unreached, want %d", name, r.Unreached, c.want)
		}
	}
}
