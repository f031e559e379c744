//go:build !linux

package telemetry

// CPUModel is not told by other systems without a library for it.
func CPUModel() string { return "" }
