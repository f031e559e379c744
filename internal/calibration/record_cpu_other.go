//go:build !linux

package calibration

// cpuModel is not told by other systems without a library for it.
func cpuModel() string { return "" }
