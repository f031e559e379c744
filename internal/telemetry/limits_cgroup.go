package telemetry

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// cgroupMount is a tree of control groups that the process can see. Version 2 has one tree for all controllers, version 1
// several, each with some; a machine may have both.
type cgroupMount struct {
	v2          bool
	controllers []string // version 1
	root        string   // the group that is shown as dir
	dir         string
}

type cgroupMounts []cgroupMount

// cgroup is the control group that limits the process: a directory within the tree at top.
type cgroup struct {
	v2       bool
	dir, top string
}

// parseMounts finds the trees in /proc/self/mountinfo:
//
//	31 23 0:28 /root /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
func parseMounts(mountinfo string) cgroupMounts {
	var mounts cgroupMounts
	for line := range strings.Lines(mountinfo) {
		place, kind, _ := strings.Cut(line, " - ")
		p, k := strings.Fields(place), strings.Fields(kind)
		if len(p) < 5 || len(k) == 0 || k[0] != "cgroup" && k[0] != "cgroup2" {
			continue
		}
		m := cgroupMount{v2: k[0] == "cgroup2", root: path.Clean("/" + unescape(p[3])), dir: path.Clean("/" + unescape(p[4]))}
		if !m.v2 {
			m.controllers = strings.Split(k[len(k)-1], ",")
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape undoes the octal escapes of mountinfo: \040 is a space.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// find returns the group with the controller that holds the process, given /proc/self/cgroup:
//
//	4:cpu,cpuacct:/a/b    a tree of version 1
//	0::/c/d               the tree of version 2
func (mounts cgroupMounts) find(groups, controller string) (cgroup, bool) {
	var v1, v2 string
	for line := range strings.Lines(groups) {
		number, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case number == "0" && controllers == "":
			v2 = group
		case slices.Contains(strings.Split(controllers, ","), controller):
			v1 = group
		}
	}
	for _, m := range mounts {
		// A controller is in one tree only: where version 1 has it, version 2 has not.
		if v1 != "" && !m.v2 && slices.Contains(m.controllers, controller) {
			return cgroup{dir: m.within(v1), top: m.dir}, true
		}
		if v1 == "" && v2 != "" && m.v2 {
			return cgroup{v2: true, dir: m.within(v2), top: m.dir}, true
		}
	}
	return cgroup{}, false
}

// within is the directory of a group. In a container the group may be outside what is mounted; then the mount's own group
// is the nearest that can be seen.
func (m cgroupMount) within(group string) string {
	group = path.Clean("/" + group)
	if m.root == "/" {
		return path.Join(m.dir, group)
	}
	if below, ok := strings.CutPrefix(group, m.root); ok && (below == "" || below[0] == '/') {
		return path.Join(m.dir, below)
	}
	return m.dir
}

// levels are the group and those around it, each of which may limit it.
func (g cgroup) levels() []string {
	var dirs []string
	for dir := g.dir; len(dir) > len(g.top); dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return append(dirs, g.top)
}

// parseCPUMax reads cpu.max of version 2, "quota period" in microseconds, and returns cores. No quota is "max".
func parseCPUMax(text string) (float64, bool) {
	f := strings.Fields(text)
	if len(f) != 2 {
		return 0, false
	}
	return parseQuota(f[0], f[1])
}

// parseQuota reads cpu.cfs_quota_us and cpu.cfs_period_us of version 1 and returns cores. No quota is -1.
func parseQuota(quota, period string) (float64, bool) {
	q, err := strconv.ParseInt(strings.TrimSpace(quota), 10, 64)
	if err != nil || q <= 0 {
		return 0, false
	}
	p, err := strconv.ParseInt(strings.TrimSpace(period), 10, 64)
	if err != nil || p <= 0 {
		return 0, false
	}
	return float64(q) / float64(p), true
}

// parseBytes reads memory.max of version 2, where no limit is "max", or memory.limit_in_bytes of version 1, where it is a
// number beyond any memory.
func parseBytes(text string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n > 0
}
