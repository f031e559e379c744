//go:build !darwin

package telemetry

import (
	"fmt"
	"math"
)

// mostFiles is the system's limit of open files for each process, which Linux does not have.
func mostFiles() uint64 { return math.MaxUint64 }

// localPorts are the ports of the network namespace, of IPv6 too in spite of the name; unknown where there is no /proc.
func localPorts() (ports, bool) {
	p, known := parsePortRange(readText("/proc/sys/net/ipv4/ip_local_port_range"))
	return p.reserve(readText("/proc/sys/net/ipv4/ip_local_reserved_ports")), known
}

// machineMemory is the machine's memory in bytes, 0 if unknown.
func machineMemory() uint64 {
	var kilobytes uint64
	_, _ = fmt.Sscan(procValue("/proc/meminfo", "MemTotal"), &kilobytes)
	return kilobytes << 10
}
