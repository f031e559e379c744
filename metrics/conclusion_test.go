package metrics

import (
	"slices"
	"testing"
	"time"
)

// ends gives requests that end one second after the other, one for each letter: o a success, s an HTTP status, c no connection,
// r a reset, t a time-out, x a cancelled one.
func ends(letters string) []Request {
	kinds := map[rune]Failure{'s': FailedStatus, 'c': FailedConnect, 'r': FailedReset, 't': FailedTimeout, 'x': Cancelled}
	var all []Request
	for i, letter := range letters {
		q := simple(i, time.Duration(i)*time.Second, time.Second, 0, 1)
		q.Failure = kinds[letter]
		all = append(all, q)
	}
	return all
}

// The conclusion of a run follows from its requests, its gates and the reason of its end, the highest rank first.
func TestConclusion(t *testing.T) {
	gate, err := ParseGate("completed>0")
	if err != nil {
		t.Fatal(err)
	}
	gated := Plan{Gates: []Gate{gate}}
	for _, c := range []struct {
		ends    string
		run     Run
		want    Conclusion
		trouble string
	}{
		{"oooo", Run{}, Fine, ""},
		{"oooo", Run{Reason: StoppedByUser}, Fine, ""},
		{"oooo", Run{Plan: gated}, GateMissed, ""},
		{"oooo", Run{Plan: gated, Reason: StoppedByUser}, GateMissed, ""},

		// More than half.
		{"soso", Run{}, Fine, ""},
		{"sosxxx", Run{}, RunFailed, "2 of 3 requests failed"},
		{"sos", Run{Plan: gated}, RunFailed, "2 of 3 requests failed"},
		{"sos", Run{Reason: StoppedByUser}, RunFailed, "2 of 3 requests failed"},
		{"ss", Run{}, RunFailed, "no request succeeded"},
		{"", Run{}, RunFailed, "no request succeeded"},
		{"xx", Run{Reason: StoppedByUser}, Fine, ""},
		{"xs", Run{Reason: StoppedByUser}, RunFailed, "no request succeeded"},

		// The server gone.
		{"ooooocc", Run{}, Fine, ""},
		{"ooooocrc", Run{}, RunFailed, "the server did not answer at the end: the last 3 requests failed to connect or were reset"},
		{"ooooccxtc", Run{}, RunFailed, "the server did not answer at the end: the last 3 requests failed to connect or were reset"},
		{"oooocccco", Run{}, Fine, ""},
		{"oooooccscc", Run{}, Fine, ""},

		// Ended from outside.
		{"sss", Run{Plan: gated, Reason: TerminalLost}, HungUp, "no request succeeded"},
		{"sss", Run{Reason: EndedBySIGTERM}, Terminated, "no request succeeded"},
		{"ooo", Run{Plan: gated, Reason: AbortedByUser}, Aborted, ""},
	} {
		all := ends(c.ends)
		slices.Reverse(all) // the order in which they are read does not count
		c.run.Ended = time.Minute
		r, err := Summarize(yield(all), c.run)
		if err != nil {
			t.Fatal(err)
		}
		if r.Conclusion != c.want || r.Trouble != c.trouble {
			t.Errorf("%q, reason %q: %d, %q; want %d, %q", c.ends, c.run.Reason, r.Conclusion, r.Trouble, c.want, c.trouble)
		}
	}
	if !(Aborted > Terminated && Terminated > HungUp && HungUp > RunFailed && RunFailed > GateMissed && GateMissed > Fine) {
		t.Error("the ranks are out of order")
	}
}

// A server that answered in the warm-up and was gone before its end is gone; one that answers a request of the warm-up last is not.
func TestServerGoneAfterTheWarmup(t *testing.T) {
	all := ends("oooccc")
	late := simple(6, 0, 10*time.Second, 0, 1) // scheduled in the warm-up
	plan := Plan{Warmup: time.Second}
	for name, c := range map[string]struct {
		all  []Request
		want int
	}{"gone": {all, 3}, "back": {append(all, late), 0}} {
		r, err := Summarize(yield(c.all), Run{Plan: plan, Ended: time.Minute})
		if err != nil || r.Unreached != c.want {
			t.Errorf("%s: %d unreached, %v; want %d", name, r.Unreached, err, c.want)
		}
	}
}
