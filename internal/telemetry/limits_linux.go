package telemetry

import (
	"math"
	"os"
)

// mostFiles is what limits a process beside its own limit.
func mostFiles() uint64 { return math.MaxUint64 }

// localPorts are those of our network namespace, of IPv6 too in spite of the name.
func localPorts() (ports, bool) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return ports{}, false
	}
	p, err := parsePortRange(string(text))
	if err != nil {
		return ports{}, false
	}
	reserved, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_reserved_ports")
	return p.reserve(string(reserved)), true
}
