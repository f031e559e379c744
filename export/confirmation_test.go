package export

import (
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
)

// The report says how a confirmation ended.
func TestConfirmationRemark(t *testing.T) {
	const ended = metrics.ConfirmationEnded
	for text, want := range map[string]string{
		ended + ": 24 req/s proven (97 %); no time for more":                         "Confirmation: 24 req/s proven (97 %); no time for more.",
		ended + " unproven: 29 req/s not proven after 30s":                           "Confirmation: unproven: 29 req/s not proven after 30s.",
		"the load of the plan is over; confirmation: waiting for the queue to drain": "",
	} {
		r := metrics.Report{Plan: metrics.Plan{Confirm: time.Minute}, Events: []metrics.LogEntry{{Text: text}}}
		var b strings.Builder
		if err := Remarks(&b, r); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, "Confirmation") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
