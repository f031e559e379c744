package export

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// A run of recordings has vLLM's line and key; others have no line.
func TestRTFx(t *testing.T) {
	run, all := eventtest.Sample()
	for i := range all {
		all[i].Audio = 4 * time.Second
	}
	r, err := report.Summarize(eventtest.Each(all), run)
	if err != nil {
		t.Fatal(err)
	}
	r.RTFx = 12.345
	var text, result, compared bytes.Buffer
	if err := Text(&text, r); err != nil {
		t.Fatal(err)
	}
	if want := "Peak concurrent requests:                3.00      \nRTFx (Inverse Real-Time Factor):         12.35     \nTotal token throughput (tok/s):"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	if err := JSON(&result, r); err != nil {
		t.Fatal(err)
	}
	back, err := ReadResult(result.Bytes())
	if err != nil || back.RTFx != 12.345 {
		t.Errorf("read back: %v, error %v", back.RTFx, err)
	}
	if err := Comparison(&compared, "old", &back, &r); err != nil || !strings.Contains(compared.String(), "RTFx (Inverse Real-Time Factor):                 12.35       12.35       0%") {
		t.Errorf("error %v\n%s", err, compared.String())
	}
}
