package telemetry

import (
	"os"
	"path"
)

// mountedCgroups reads where the control groups are. Where there are none, nothing limits.
func mountedCgroups() cgroupMounts {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	return parseMounts(string(text))
}

// mine is the group that holds the process now: it can be moved.
func (mounts cgroupMounts) mine(controller string) (cgroup, bool) {
	text, _ := os.ReadFile("/proc/self/cgroup")
	return mounts.find(string(text), controller)
}

// cpuQuota is how many cores the process may use, 0 if nothing limits it.
func (mounts cgroupMounts) cpuQuota() float64 {
	g, ok := mounts.mine("cpu")
	if !ok {
		return 0
	}
	least := 0.0
	for _, dir := range g.levels() {
		var cores float64
		var limited bool
		if g.v2 {
			cores, limited = parseCPUMax(readText(dir, "cpu.max"))
		} else {
			cores, limited = parseQuota(readText(dir, "cpu.cfs_quota_us"), readText(dir, "cpu.cfs_period_us"))
		}
		if limited && (least == 0 || cores < least) {
			least = cores
		}
	}
	return least
}

// memoryLimit is how many bytes the process may hold, 0 if nothing limits it.
func (mounts cgroupMounts) memoryLimit() uint64 {
	g, ok := mounts.mine("memory")
	if !ok {
		return 0
	}
	name := "memory.limit_in_bytes"
	if g.v2 {
		name = "memory.max"
	}
	least := uint64(0)
	for _, dir := range g.levels() {
		if n, limited := parseBytes(readText(dir, name)); limited && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// readText is empty for a file that cannot be read: the outermost group has no limits, for one.
func readText(dir, name string) string {
	text, _ := os.ReadFile(path.Join(dir, name))
	return string(text)
}
