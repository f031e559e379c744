package telemetry

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"
)

// quotaEvery is the interval between readings of the control group's quota, which seldom changes.
const quotaEvery = 10 * time.Second

// threadsWaited is the time that all threads together waited for a core since the last call. A thread may end at any
// time.
func (p *Process) threadsWaited() time.Duration {
	tasks, _ := os.ReadDir("/proc/self/task")
	now := make(map[string]time.Duration, len(tasks))
	for _, task := range tasks {
		// It says "ran waited slices".
		if waited, ok := secondField(readText("/proc/self/task", task.Name(), "schedstat")); ok {
			now[task.Name()] = time.Duration(waited)
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

// coresAllowed is the number of cores that a process may use: the least of GOMAXPROCS, its affinity and its quota, 0
// for none.
func coresAllowed(procs, affinity int, quota float64) float64 {
	cores := float64(min(procs, affinity))
	if quota > 0 {
		cores = min(cores, quota)
	}
	return cores
}

// waitedSince sums up the waits of threads between two readings. A thread that is new, or has waited less than before
// because its number was reused, began in between. The last wait of a thread that has ended is lost.
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

// parseStatm reads /proc/PID/statm, "size resident shared …" in pages, and returns the resident bytes.
func parseStatm(text string, page int) (uint64, bool) {
	pages, ok := secondField(text)
	if !ok || page <= 0 || pages > math.MaxInt64/int64(page) {
		return 0, false
	}
	return uint64(pages) * uint64(page), true
}

// secondField is the second number of a line of /proc; not ok if there is none, or it is negative.
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

const (
	// fileReserve are the open files of a process apart from its connections: results, the terminal, the runtime's own.
	fileReserve = 64
	// portReserve are the local ports left to other programs, and to connections that ended a moment ago.
	portReserve = 200
	// firstPort and lastPort are the widest range of local ports that needs no privilege.
	firstPort, lastPort = 1024, 65535
)

// CheckSockets reports whether the system lets this process have n sockets at once.
// The error says what is needed, what the limit is, and the commands that raise it. Where there is no such limit, it is
// nil.
func CheckSockets(n int) error {
	soft, hard, known := fileLimits()
	if !known {
		return nil
	}
	return socketsFit(n, soft, hard, runtime.GOOS)
}

// socketsFit checks n sockets against the limits. The error has the commands of the system that raise them.
func socketsFit(n int, soft, hard uint64, goos string) error {
	need := uint64(max(0, n)) + fileReserve // open files of a process with n sockets
	switch {
	case need <= soft:
		return nil
	case need <= hard:
		return fmt.Errorf("%d connections at once need %d open files, but the limit is %d; raise it in this shell: "+
			"ulimit -n %d", n, need, soft, need)
	}
	now, lasting := fmt.Sprintf("ulimit -n %d as root", need), "see the system's manual on RLIMIT_NOFILE"
	switch goos {
	case "linux":
		now = fmt.Sprintf("sudo prlimit --pid $$ --nofile=%d:%d", need, need)
		lasting = fmt.Sprintf("\"* - nofile %d\" in /etc/security/limits.conf, LimitNOFILE=%d in a systemd unit, "+
			"docker run --ulimit nofile=%d:%d",
			need, need, need, need)
	case "darwin":
		now = fmt.Sprintf("sudo launchctl limit maxfiles %d %d, then ulimit -n %d", need, need, need)
		lasting = "a launch daemon that runs this command"
	}
	return fmt.Errorf("%d connections at once need %d open files, but the hard limit is %d; raise it for this shell: "+
		"%s; for good: %s",
		n, need, hard, now, lasting)
}

// CheckPorts reports whether the system has local ports for n connections from so many addresses to one address of a
// server. The error has their number and the command that adds some. It is nil where the ports are unknown. Unix
// sockets need no ports.
func CheckPorts(n, sources int) error {
	p, known := localPorts()
	if !known {
		return nil
	}
	sources = max(1, sources)
	err := portsFit((n+sources-1)/sources, p, runtime.GOOS)
	if err != nil && sources > 1 {
		err = fmt.Errorf("from each of %d addresses: %w", sources, err)
	}
	return err
}

// ports are the local ports for outgoing connections.
type ports struct {
	first, last int
	reserved    int // of them, for other programs
}

// free is the number of connections that they suffice for.
func (p ports) free() int { return max(0, p.last-p.first+1-p.reserved-portReserve) }

const moreAddresses = "more addresses of this machine with --bind"

func portsFit(n int, p ports, goos string) error {
	if n <= p.free() {
		return nil
	}
	text := fmt.Sprintf("%d connections to one server address need as many local ports, but %d to %d leaves %d", n,
		p.first, p.last, p.free())
	widest := ports{first: firstPort, last: lastPort}
	switch {
	case n > widest.free():
		return fmt.Errorf("%s, and no setting more than %d; use fewer connections, or %s", text, widest.free(),
			moreAddresses)
	case p.first <= firstPort && p.last >= lastPort:
		return fmt.Errorf("%s as %d are reserved; see net.ipv4.ip_local_reserved_ports", text, p.reserved)
	}
	widen := `sudo sysctl -w net.ipv4.ip_local_port_range="%d %d"`
	if goos == "darwin" {
		widen = "sudo sysctl -w net.inet.ip.portrange.first=%d net.inet.ip.portrange.last=%d"
	}
	return fmt.Errorf("%s; use %s, or widen the range: "+widen, text, moreAddresses, firstPort, lastPort)
}

// parsePortRange reads ip_local_port_range, "first last".
func parsePortRange(text string) (p ports, ok bool) {
	f := strings.Fields(text)
	if len(f) != 2 {
		return ports{}, false
	}
	first, err1 := strconv.ParseUint(f[0], 10, 16)
	last, err2 := strconv.ParseUint(f[1], 10, 16)
	if err1 != nil || err2 != nil || first > last {
		return ports{}, false
	}
	return ports{first: int(first), last: int(last)}, true
}

// reserve counts the ports of p in ip_local_reserved_ports, "8080,9000-9100". Anything but a range is skipped.
func (p ports) reserve(text string) ports {
	for item := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		from, to, isRange := strings.Cut(item, "-")
		if !isRange {
			to = from
		}
		if r, ok := parsePortRange(from + " " + to); ok {
			p.reserved += max(0, min(p.last, r.last)-max(p.first, r.first)+1)
		}
	}
	p.reserved = min(p.reserved, p.last-p.first+1)
	return p
}

// gcPercent makes collections four times as rare as usual. A collection takes time from the goroutines that read: with
// half a kilobyte allocated for each chunk, chunks were up to 2.8 ms late at the usual 100, and 0.24 ms at 400.
const gcPercent = 400

// garbageMost bounds the garbage that lies about: a large heap would let it grow without a gain.
const garbageMost = 32 << 20

// TuneMemory sets the garbage collector up for a client that must be punctual: it collects less often, but keeps the
// garbage within garbageMost, or a quarter of what is in use where that is more, and the heap within half of the
// memory. Settings of the user by GOGC or GOMEMLIMIT stay.
func TuneMemory() {
	percent, limit := chooseMemory(os.Getenv("GOGC"), os.Getenv("GOMEMLIMIT"), ownMemory())
	if percent != 0 {
		tuneCollector()
	}
	if limit != 0 {
		debug.SetMemoryLimit(limit)
	}
}

// ownMemory is the memory that this process may take in bytes, 0 if unknown.
var ownMemory = sync.OnceValue(func() float64 {
	return least(float64(machineMemory()), mountedCgroups().memoryLimit())
})

// leastPercent is the collector's setting for a large heap.
const leastPercent = 25

// tuneCollector sets the collector now, and again after each collection, when an object is found to be of no use.
var tuneCollector = sync.OnceFunc(func() { adjustCollector(new([1 << 10]byte)) })

// collectorPercent is the collector's setting in force.
var collectorPercent int64

// adjustCollector changes a setting that is off by a quarter, since a change stops all goroutines for a moment.
func adjustCollector(useless *[1 << 10]byte) {
	// The percentage is of all that a collection looks at.
	looked := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"},
		{Name: "/gc/scan/globals:bytes"}}
	metrics.Read(looked)
	want, live := int64(gcPercent), int64(0)
	for _, part := range looked {
		live += int64(part.Value.Uint64())
	}
	if live > 0 {
		want = min(want, max(leastPercent, 100*garbageMost/live))
	}
	if was := collectorPercent; 4*want < 3*was || 3*want > 4*was {
		collectorPercent = want
		debug.SetGCPercent(int(want))
	}
	runtime.SetFinalizer(useless, adjustCollector)
}

// chooseMemory chooses settings by those of the user and the bytes of memory there are, 0 if unknown. A result of 0
// leaves a setting as it is.
func chooseMemory(gogc, gomemlimit string, there float64) (percent int, limit int64) {
	if gogc == "" {
		percent = gcPercent
	}
	if gomemlimit == "" {
		limit = int64(min(there, 1<<62) / 2)
	}
	return percent, limit
}
