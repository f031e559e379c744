package telemetry

import (
	"runtime"
	"strings"
	"testing"
)

func TestModelName(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU  @ 2.00GHz \nmodel name\t: Another\n": "Some CPU @ 2.00GHz",
		"processor\t: 0\nBogoMIPS\t: 50.00\n":                                                        "", // as on ARM
		"model name":                                                                                 "",
		"model name:":                                                                                "",
		"":                                                                                           "",
		strings.Repeat("x", 100<<10) + "\nmodel name: too far\n": "",
	} {
		if got := modelName(strings.NewReader(text)); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
	if name := CPUModel(); runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && name == "" {
		t.Error("this machine's processor has no name")
	}
}

func FuzzModelName(f *testing.F) {
	f.Add("model name\t: Some CPU\n")
	f.Add("model name : \t\n:")
	f.Fuzz(func(t *testing.T, text string) {
		if got := modelName(strings.NewReader(text)); got != strings.Join(strings.Fields(got), " ") || strings.Contains(got, "\n") {
			t.Errorf("%q", got)
		}
	})
}
