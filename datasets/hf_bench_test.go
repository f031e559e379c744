package datasets

import (
	"os"
	"strings"
	"testing"

	"benchtop/internal/hf/numpy"
)

// BenchmarkHF draws from a data set at BENCHTOP_HF of the layout BENCHTOP_HF_NAME, and reports the memory that the process took at most, and that the
// prompts keep.
func BenchmarkHF(b *testing.B) {
	path := os.Getenv("BENCHTOP_HF")
	if path == "" {
		b.Skip("BENCHTOP_HF names no data set")
	}
	k := newHF()
	k.flags.name = os.Getenv("BENCHTOP_HF_NAME")
	c := Common{Path: path, Prompts: 1000, Forms: AsMedia | AsAudio, NoOversample: true}
	for b.Loop() {
		d := k.drawing(c, Text{Counter: byWords{}, Template: roleTags{}}, toyTools{}.Hub(), func(string) {})
		list, err := d.draw(b.Context(), numpy.NewPython(0), nil)
		if err != nil {
			b.Fatal(err)
		}
		kept := 0
		for _, c := range drain(b, list) {
			kept += len(c.Turns[0].Text) + len(c.Turns[0].Media)
			if audio := c.Turns[0].Audio; audio != nil {
				kept += len(audio.Data)
			}
		}
		b.ReportMetric(float64(kept)/1e6, "MB-kept")
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			b.Log(strings.TrimSpace(line))
		}
	}
}
