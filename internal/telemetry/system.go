package telemetry

import (
	"bufio"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// quotaEvery is the interval between readings of the control group's quota, which seldom changes.
const quotaEvery = 10 * time.Second

// threadsWaited is the time that all threads together waited for a core since the last call. A thread may end at any time.
func (p *Process) threadsWaited() time.Duration {
	tasks, _ := os.ReadDir("/proc/self/task")
	now := make(map[string]time.Duration, len(tasks))
	for _, task := range tasks {
		if waited, ok := parseSchedstat(readText("/proc/self/task", task.Name(), "schedstat")); ok {
			now[task.Name()] = waited
		}
	}
	since := waitedSince(p.waited, now)
	p.waited = now
	return since
}

// processMemory is the resident memory in bytes, or that of the Go runtime where the resident one is unknown.
func processMemory() uint64 {
	if resident := ResidentMemory(); resident > 0 {
		return uint64(resident)
	}
	heap := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(heap)
	return heap[0].Value.Uint64() - heap[1].Value.Uint64()
}

// ResidentMemory is the memory of this process in RAM, in bytes; 0 where the system does not report it.
func ResidentMemory() int64 {
	bytes, _ := parseStatm(readText("/proc/self/statm"), os.Getpagesize())
	return int64(bytes)
}

// cores is the number of cores that the process may use.
func (p *Process) cores() float64 {
	if p.quotaAt.IsZero() || p.at.Sub(p.quotaAt) >= quotaEvery {
		p.quota, p.quotaAt = p.groups.cpuQuota(), p.at
	}
	return coresAllowed(runtime.GOMAXPROCS(0), runtime.NumCPU(), p.quota)
}

// coresAllowed is the number of cores that a process may use: the least of GOMAXPROCS, its affinity and its quota, 0 for none.
func coresAllowed(procs, affinity int, quota float64) float64 {
	cores := float64(min(procs, affinity))
	if quota > 0 {
		cores = min(cores, quota)
	}
	return cores
}

// waitedSince sums up the waits of threads between two readings. A thread that is new, or has waited less than before because its
// number was reused, began in between. The last wait of a thread that has ended is lost.
func waitedSince(before, now map[string]time.Duration) time.Duration {
	var sum time.Duration
	for thread, waited := range now {
		if was := before[thread]; was <= waited {
			waited -= was
		}
		if sum += waited; sum < 0 {
			return math.MaxInt64
		}
	}
	return sum
}

// parseSchedstat reads /proc/PID/task/TID/schedstat, "ran waited slices", and returns the time that the thread has waited for a core.
func parseSchedstat(text string) (time.Duration, bool) {
	ns, ok := secondField(text)
	return time.Duration(ns), ok
}

// parseStatm reads /proc/PID/statm, "size resident shared …" in pages, and returns the resident bytes.
func parseStatm(text string, page int) (uint64, bool) {
	pages, ok := secondField(text)
	if !ok || page <= 0 || pages > math.MaxInt64/int64(page) {
		return 0, false
	}
	return uint64(pages) * uint64(page), true
}

func secondField(text string) (int64, bool) {
	f := strings.Fields(text)
	if len(f) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(f[1], 10, 64)
	return n, err == nil && n >= 0
}

// readText is empty for a file that cannot be read: the outermost control group has no limits, for one.
func readText(parts ...string) string {
	text, _ := os.ReadFile(strings.Join(parts, "/"))
	return string(text)
}

// CPUModel is the name of the first processor, "" where the system does not report it.
func CPUModel() string { return procValue("/proc/cpuinfo", "model name") }

// procValue is a value of a file of /proc, "" if there is none.
func procValue(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return valueOf(f, name)
}

// valueOf reads lines of "name : value" and returns the first value of a name with single spaces.
func valueOf(r io.Reader, name string) string {
	lines := bufio.NewScanner(io.LimitReader(r, 64<<10))
	for lines.Scan() {
		if n, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(n) == name {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
