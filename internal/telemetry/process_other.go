//go:build !linux

package telemetry

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// system is what can be known of the process where there is no /proc.
type system struct{ held []metrics.Sample }

func openSystem() system {
	return system{held: []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}}
}

func (s *system) close() {}

func (s *system) threadsWaited() time.Duration { return 0 }

// memory is what the runtime holds, in bytes.
func (s *system) memory() uint64 {
	metrics.Read(s.held)
	all, released := s.held[0].Value, s.held[1].Value
	if all.Kind() != metrics.KindUint64 || released.Kind() != metrics.KindUint64 || all.Uint64() < released.Uint64() {
		return 0
	}
	return all.Uint64() - released.Uint64()
}

// ResidentMemory is unknown here: what the runtime holds is not all that the process has in RAM.
func ResidentMemory() int64 { return 0 }

func (s *system) cores(time.Time) float64 {
	return coresAllowed(runtime.GOMAXPROCS(0), runtime.NumCPU(), 0)
}

func suspendedNow() time.Duration { return 0 }
