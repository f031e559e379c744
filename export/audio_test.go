package export

import (
	"io"
	"strings"
	"testing"

	"benchtop/metrics"
)

// A run of recordings has vLLM's line and key; others have no line.
func TestRTFx(t *testing.T) {
	run, qs := sampleRun()
	r := summarize(t, run, qs)
	r.RTFx = 12.345
	if got, want := textOf(t, r), "Peak concurrent requests:                3.00      \nRTFx (Inverse Real-Time Factor):         12.35     \n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	back, err := ReadResult([]byte(resultJSON(t, r)))
	if err != nil || back.RTFx != 12.345 {
		t.Errorf("read back: %v, error %v", back.RTFx, err)
	}
	against := func(w io.Writer, r metrics.Report) error { return Comparison(w, "old", &back, &r) }
	if got := written(t, against, r); !strings.Contains(got, "RTFx (Inverse Real-Time Factor):                 12.35       12.35       0%") {
		t.Error(got)
	}
}
