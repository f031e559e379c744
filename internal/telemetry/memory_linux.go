package telemetry

import "golang.org/x/sys/unix"

// memoryThere is what the machine has or the control group allows, whichever is less, in bytes; 0 if unknown.
func memoryThere() uint64 {
	var machine uint64
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		machine = uint64(info.Totalram) * uint64(info.Unit)
	}
	return lessMemory(machine, mountedCgroups().memoryLimit())
}
