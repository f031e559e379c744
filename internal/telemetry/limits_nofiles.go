//go:build !unix

package telemetry

import "errors"

// fileLimits are unknown here: Windows has none that matter.
func fileLimits() (soft, hard uint64, known bool) { return 0, 0, false }

func raiseFileLimit() (uint64, error) { return 0, errors.ErrUnsupported }
