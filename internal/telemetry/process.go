package telemetry

import (
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/metrics"
)

// Process watches the process it runs in, so that a run can tell the client's own troubles from the server's. Only one
// goroutine may call its methods.
type Process struct {
	beats     *heartbeat
	scheduler *schedulerWaits

	at        time.Time
	waited    map[string]time.Duration // for a core, of each thread, until at
	groups    cgroupMounts
	quota     float64
	quotaAt   time.Time
	cpu       counter
	gcs       counter
	gcPause   counter
	suspended counter
	collector debug.GCStats // kept for its buffers
}

// WatchProcess begins to watch. Close ends it.
func WatchProcess() *Process {
	p := &Process{beats: startHeartbeat(), scheduler: newSchedulerWaits(), groups: mountedCgroups(), at: time.Now()}
	p.suspended.last = int64(suspendedNow())
	// Counters begin at their present values, not at 0.
	p.read(0)
	return p
}

// Sample covers the time since the last call, or since WatchProcess. It has the fields of a client's second, ending at
// a moment of the run, that the process itself knows. None of them is ever negative. It is meant to be called about
// once a second.
//
// Took is the time between the samples by the monotonic clock. CPU and CPUWait are 0 where the system does not report
// them. Cores are GOMAXPROCS, the affinity or the quota of the control group, whichever is less. Stall includes the
// time the whole machine was suspended; a stall that goes on while a sample is taken is counted in parts, in each
// sample the part before it.
func (p *Process) Sample(at time.Duration) metrics.ClientSecond {
	now := time.Now()
	took := max(0, now.Sub(p.at))
	p.at = now
	s := p.read(took)
	s.At = at
	return s
}

func (p *Process) read(took time.Duration) metrics.ClientSecond {
	debug.ReadGCStats(&p.collector)
	return metrics.ClientSecond{
		Took:    took,
		CPU:     perSecond(p.cpu.by(int64(ProcessCPU())), took),
		CPUWait: perSecond(int64(p.threadsWaited()), took),
		Cores:   p.cores(),
		Sched:   p.scheduler.p99(),
		Stall:   p.beats.stall() + p.suspendedBy(suspendedNow()),
		GCs:     int(p.gcs.by(p.collector.NumGC)),
		GCPause: time.Duration(p.gcPause.by(int64(p.collector.PauseTotal))),
		Memory:  processMemory(),
	}
}

// Close ends the watch and waits for its goroutine. Sample must not be called afterwards; Close may be.
func (p *Process) Close() { p.beats.close() }

// counter is a value that should only rise.
type counter struct{ last int64 }

// by is the rise of the counter to its present value.
func (r *counter) by(now int64) int64 {
	rose := now - r.last
	r.last = now
	return max(0, rose)
}

// perSecond is the average number of cores, or threads, that were busy for so many nanoseconds in all.
func perSecond(busy int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(busy) / float64(took)
}

// suspendNoise is far below any suspension and far above the time between the readings of two clocks.
const suspendNoise = time.Millisecond

// suspendedBy is the time that the whole machine was suspended since the last call. A reading may be too small, when
// the thread lost its core between the two clocks, but never too large.
func (p *Process) suspendedBy(now time.Duration) time.Duration {
	if more := time.Duration(p.suspended.by(max(int64(now), p.suspended.last))); more >= suspendNoise {
		return more
	}
	return 0
}

// cgroupMount is a tree of control groups that the process can see. Version 2 has one tree for all controllers, version
// 1 several, each with some; a machine may have both.
type cgroupMount struct {
	v2          bool
	controllers []string // version 1
	root        string   // the group mounted at dir
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
		m := cgroupMount{v2: k[0] == "cgroup2", root: path.Clean("/" + unescape(p[3])),
			dir: path.Clean("/" + unescape(p[4]))}
		if !m.v2 {
			m.controllers = strings.Split(k[len(k)-1], ",")
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// unescape decodes the octal escapes of mountinfo, which are valid in Go: \040 is a space.
func unescape(s string) string {
	if plain, err := strconv.Unquote(`"` + s + `"`); err == nil {
		return plain
	}
	return s
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

// within is the directory of a group. In a container the group may be outside the mount; then the mount's own group is
// the nearest that is visible.
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

// mountedCgroups are the trees of control groups. Where there are none, nothing limits the process.
func mountedCgroups() cgroupMounts { return parseMounts(readText("/proc/self/mountinfo")) }

// cpuQuota is the number of cores that the process may use, 0 if nothing limits it.
func (mounts cgroupMounts) cpuQuota() float64 {
	return mounts.limit("cpu", func(g cgroup, dir string) float64 {
		if g.v2 {
			return parseQuota(readText(dir, "cpu.max"))
		}
		return parseQuota(readText(dir, "cpu.cfs_quota_us") + " " + readText(dir, "cpu.cfs_period_us"))
	})
}

// memoryLimit is the number of bytes that the process may hold, 0 if nothing limits it.
func (mounts cgroupMounts) memoryLimit() float64 {
	return mounts.limit("memory", func(g cgroup, dir string) float64 {
		if g.v2 {
			return parseBytes(readText(dir, "memory.max"))
		}
		return parseBytes(readText(dir, "memory.limit_in_bytes"))
	})
}

// limit is the least limit of the process's present group, as a process can be moved, and of those around it.
func (mounts cgroupMounts) limit(controller string, read func(g cgroup, dir string) float64) float64 {
	g, ok := mounts.find(readText("/proc/self/cgroup"), controller)
	if !ok {
		return 0
	}
	return least(metrics.Each(g.levels(), func(dir string) float64 { return read(g, dir) })...)
}

// least is the least of the values above 0, 0 if there are none.
func least(values ...float64) float64 {
	found := 0.0
	for _, v := range values {
		if v > 0 && (found == 0 || v < found) {
			found = v
		}
	}
	return found
}

// parseQuota reads a quota and a period in microseconds and returns cores, 0 for no quota: "max" in version 2, -1 in
// version 1.
func parseQuota(text string) float64 {
	f := strings.Fields(text)
	if len(f) != 2 {
		return 0
	}
	quota, err1 := strconv.ParseInt(f[0], 10, 64)
	period, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil || quota <= 0 || period <= 0 {
		return 0
	}
	return float64(quota) / float64(period)
}

// parseBytes reads memory.max of version 2, where no limit is "max", or memory.limit_in_bytes of version 1, where it is
// a number beyond any memory. Both are 0.
func parseBytes(text string) float64 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return float64(n)
}
