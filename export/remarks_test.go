package export

import (
	"bytes"
	"strings"
	"testing"

	"benchtop/metrics"
)

func remarks(t *testing.T, r metrics.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Remarks(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRemarks(t *testing.T) {
	run, qs := sampleRun()
	run.Reason, run.Unsent = "SIGTERM", 3
	qs[0].Redials = 2
	qs[1].OutputSource = metrics.TokensFromChunks
	qs[2].OutputSource, qs[2].InputSource = metrics.TokensFromEstimate, metrics.TokensUnknown
	cancelled := sampleRequest(4, 5, 2, 1200*ms, 1740*ms)
	cancelled.Failure = metrics.Cancelled
	reset := refused(5, 5, 1250*ms, 1740*ms, "read tcp 127.0.0.1:1:\nreset \x1b]0;title\x07by peer "+strings.Repeat("世界 ", 30))
	reset.Failure, reset.Status = metrics.FailedReset, 0
	got := remarks(t, summarize(t, run, append(qs, cancelled, reset)))
	golden(t, "remarks.txt", []byte(got))
	for line := range strings.Lines(got) {
		if n := columns(strings.TrimSuffix(line, "\n")); n > textWidth {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("an escape sequence got through: %q", got)
	}
}

func TestNothingToRemark(t *testing.T) {
	run, qs := sampleRun()
	run.Plan.Rate = metrics.Rate(inf) // then waiting for a slot is the plan
	if got := remarks(t, summarize(t, run, qs[:3])); got != "" {
		t.Errorf("got %q", got)
	}
}
