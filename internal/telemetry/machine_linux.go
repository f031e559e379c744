package telemetry

import "os"

// CPUModel is the name of the first processor, "" where the system does not tell.
func CPUModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return modelName(f)
}
