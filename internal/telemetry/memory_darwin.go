package telemetry

import "golang.org/x/sys/unix"

// memoryThere is what the machine has, in bytes; 0 if unknown.
func memoryThere() uint64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return bytes
}
