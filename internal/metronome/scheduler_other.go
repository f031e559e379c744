//go:build !linux

package metronome

// scheduler exists on Linux only; elsewhere every connection keeps its own pace.
type scheduler struct{}

func newScheduler(clock) *scheduler { return nil }

func (s *scheduler) play(*stream) bool { return false }

func (s *scheduler) close() {}
