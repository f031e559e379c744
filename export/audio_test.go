package export

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
)

// A run of recordings has vLLM's line and key; others have no line.
func TestRTFx(t *testing.T) {
	run, qs := sampleRun()
	r := summarize(t, run, qs)
	r.RTFx = 12.345
	if got, want := Text(r),
		"Peak concurrent requests:                3.00      \nRTFx (Inverse Real-Time Factor):         "+
			"12.35     \n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	back := assert.Must(ReadResult([]byte(resultJSON(t, r))))(t)
	assert.Equal(t, back.RTFx, 12.345, "read back")
	if got := Comparison("old", &back, &r); !strings.Contains(got,
		"RTFx (Inverse Real-Time Factor):                 12.35       12.35       0%") {
		t.Error(got)
	}
}
