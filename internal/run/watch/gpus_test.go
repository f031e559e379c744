//go:build unix

package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"benchtop/metrics"
)

// Samples of the GPUs, and why there are none or no more, are told as they come.
func TestGPUs(t *testing.T) {
	const (
		sample = "echo '0, NVIDIA H200, 50, 1024, 2048, 300.5, 700, 60, 1980'\n"
		absent = "no GPU tool: nvidia-smi, amd-smi and rocm-smi not found"
	)
	for _, c := range []struct {
		name string
		gpus GPUs
		tool string // a script, "" for none
		want []string
	}{
		{"off", GPUs{Off: "not asked for", Asked: true}, sample, []string{"absent: not asked for"}},
		{"no tool", GPUs{}, "", []string{"absent: " + absent}},
		{"no tool, though asked for", GPUs{Asked: true}, "",
			[]string{"absent: " + absent, "warn: no GPU data: " + absent}},
		{"a tool", GPUs{}, sample + sample + sample + "exec sleep 1000", []string{
			"absent: no data from the GPU tool yet", "absent: ", "use 0.5", "use 0.5",
		}},
		{"a tool that ends", GPUs{}, sample + "echo 'lost it' >&2; exit 4", []string{
			"absent: no data from the GPU tool yet", "absent: ", "use 0.5",
			"absent: nvidia-smi ended: lost it (exit status 4)",
			"warn: no more GPU data: nvidia-smi ended: lost it (exit status 4)",
		}},
		{"a GPU that is not there", GPUs{Only: []int{7}}, sample + sample + "exec sleep 1000", []string{
			"absent: no data from the GPU tool yet", "absent: nvidia-smi shows none of the GPUs [7], only 0 to 0",
			"warn: no more GPU data: nvidia-smi shows none of the GPUs [7], only 0 to 0",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.tool != "" {
				if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"),
					[]byte("#!/bin/sh\nPATH=/bin:/usr/bin\n"+c.tool), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var got []string
			c.gpus.Watch(ctx, time.Now(), func(fact any) {
				switch x := fact.(type) {
				case metrics.Source:
					got = append(got, "absent: "+x.Absent)
				case metrics.GPUSecond:
					got = append(got, fmt.Sprintf("use %g", x.GPUs[0].Use))
				case metrics.LogEntry:
					got = append(got, string(x.Level)+": "+x.Text)
				}
				if len(got) == len(c.want) {
					cancel()
				}
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
}
