//go:build !unix

package calibration

import "time"

// processCPU is unknown here.
func processCPU() time.Duration { return 0 }
