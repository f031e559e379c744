//go:build !linux && !darwin

package telemetry

import "math"

// mostFiles is what limits a process beside its own limit.
func mostFiles() uint64 { return math.MaxUint64 }

// localPorts are unknown here.
func localPorts() (ports, bool) { return ports{}, false }
