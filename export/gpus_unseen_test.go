package export

import (
	"testing"

	"benchtop/metrics"
)

// Whoever asked for accelerators by name is told which were not seen; whoever did not is told nothing.
func TestUnseenGPUs(t *testing.T) {
	one := []metrics.GPUSecond{{GPUs: []metrics.GPU{{Index: 0}}}}
	for _, c := range []struct {
		asked        string
		gpus         *metrics.GPUReport
		words        string
		remarkAsWell bool
	}{
		{"", &metrics.GPUReport{Absent: "no GPU tool"}, "", false},
		{"all", nil, "--gpu all: nothing was seen of the GPUs: the run was over before anybody looked", true},
		{"7", &metrics.GPUReport{Absent: "nvidia-smi shows none of the GPUs [7], only 0 to 1"},
			"--gpu 7: nothing was seen of the GPUs: nvidia-smi shows none of the GPUs [7], only 0 to 1", true},
		{"0,7,9", &metrics.GPUReport{Seconds: one}, "--gpu 0,7,9: never seen was GPU 7, 9", true},
		{"0", &metrics.GPUReport{Seconds: one}, "", false},
		{"all", &metrics.GPUReport{Seconds: one}, "", false},
		{"all", &metrics.GPUReport{Seconds: one, UseMean: 0.5, Absent: "nvidia-smi ended: lost it"},
			"--gpu all: the GPUs were not seen to the end: nvidia-smi ended: lost it", false}, // stands below the figures
	} {
		r := metrics.Report{Plan: metrics.Plan{GPUs: c.asked}, GPUs: c.gpus}
		if got := UnseenGPUs(&r); got != c.words {
			t.Errorf("--gpu %s: %q, want %q", c.asked, got, c.words)
		}
		want := ""
		if c.remarkAsWell {
			want = "\n" + remark("GPUs: %s.", c.words)
		}
		if got := remarks(t, r); got != want {
			t.Errorf("--gpu %s: remark %q, want %q", c.asked, got, want)
		}
	}
}
