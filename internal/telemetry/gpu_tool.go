package telemetry

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"benchtop/metrics"
)

// gpuTool is a vendor's program that shows accelerators.
type gpuTool struct {
	name, path string
	// args make it look every so often, for ever, or, if it is once, a single time.
	args func(every time.Duration) []string
	once bool
	// parser makes the function that reads one line; false means that it says nothing of an accelerator.
	parser func() func(line string) (metrics.GPU, bool)
}

// gpuToolOf knows how to speak with a tool from its name or path.
func gpuToolOf(name string) (gpuTool, error) {
	t := gpuTool{name: strings.TrimSuffix(filepath.Base(name), ".exe")}
	switch t.name {
	case "nvidia-smi":
		t.args = func(every time.Duration) []string {
			return []string{"--query-gpu=" + nvidiaQuery, "--format=csv,noheader,nounits", "-lms", strconv.FormatInt(every.Milliseconds(), 10)}
		}
		t.parser = func() func(string) (metrics.GPU, bool) { return parseNvidia }
	case "amd-smi":
		// It counts in whole seconds.
		t.args = func(every time.Duration) []string {
			seconds := max(1, int(every.Round(time.Second)/time.Second))
			return []string{"monitor", "-p", "-t", "-u", "-m", "-v", "--csv", "--watch", strconv.Itoa(seconds)}
		}
		t.parser = parseTable
	case "rocm-smi":
		t.args = func(time.Duration) []string {
			return []string{"--showproductname", "--showuse", "--showmeminfo", "vram", "--showpower", "--showmaxpower", "--showtemp", "--showclocks", "--csv"}
		}
		t.once, t.parser = true, parseTable
	default:
		return t, fmt.Errorf("GPU tool %q is not known: it must be nvidia-smi, amd-smi or rocm-smi, or a path to one", name)
	}
	return t, nil
}
