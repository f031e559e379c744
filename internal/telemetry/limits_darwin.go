package telemetry

import (
	"math"

	"golang.org/x/sys/unix"
)

// mostFiles is the system's limit of open files for each process.
func mostFiles() uint64 {
	n, err := unix.SysctlUint32("kern.maxfilesperproc")
	if err != nil {
		return math.MaxUint64
	}
	return uint64(n)
}

func localPorts() (ports, bool) {
	first, err1 := unix.SysctlUint32("net.inet.ip.portrange.first")
	last, err2 := unix.SysctlUint32("net.inet.ip.portrange.last")
	if err1 != nil || err2 != nil || first > last || last > lastPort {
		return ports{}, false
	}
	return ports{first: int(first), last: int(last)}, true
}

// machineMemory is the machine's memory in bytes, 0 if unknown.
func machineMemory() uint64 {
	bytes, _ := unix.SysctlUint64("hw.memsize") // 0 with an error
	return bytes
}
