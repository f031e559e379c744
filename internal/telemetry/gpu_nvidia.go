package telemetry

import "benchtop/metrics"

// nvidiaQuery are the columns that parseNvidia reads.
const nvidiaQuery = "index,name,utilization.gpu,memory.used,memory.total,power.draw,power.limit,temperature.gpu,clocks.sm"

// parseNvidia reads a line of nvidia-smi,
//
//	0, NVIDIA H200, 97, 131072, 143771, 612.34, 700.00, 64, 1980
//
// which is one GPU. Memory is in MiB.
func parseNvidia(line string) (metrics.GPU, bool) {
	c := cells(line)
	if len(c) != 9 {
		return metrics.GPU{}, false
	}
	index, ok := gpuIndex(c[0])
	if !ok {
		return metrics.GPU{}, false
	}
	return metrics.GPU{
		Index: index, Name: gpuName(c[1]), Use: percent(c[2]), MemoryUsed: memory(c[3], mebi), MemoryTotal: memory(c[4], mebi),
		Power: watts(c[5]), PowerLimit: watts(c[6]), Temperature: celsius(c[7]), Clock: mhz(c[8]),
	}, true
}
