//go:build !unix && !windows

package telemetry

import "time"

// ProcessCPU is unknown here.
func ProcessCPU() time.Duration { return 0 }
