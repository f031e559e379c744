package telemetry

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// quotaEvery is how often the quota of the control group is read: it seldom changes.
const quotaEvery = 10 * time.Second

// statmPath is the file of the process' memory.
const statmPath = "/proc/self/statm"

// system is what /proc tells of the process. Its files stay open; one that cannot be opened is -1, and what it would tell 0.
type system struct {
	pid     int
	statm   int // descriptor
	tasks   int // descriptor of the directory of threads
	text    []byte
	names   []string
	entries []byte
	// waited is how long each thread had waited when last looked at, spare the map to fill next.
	waited, spare map[int]time.Duration

	groups  cgroupMounts
	quota   float64
	quotaAt time.Time
}

func openSystem() system {
	return system{
		pid:     os.Getpid(),
		statm:   openProc(statmPath, 0),
		tasks:   openProc("/proc/self/task", unix.O_DIRECTORY),
		text:    make([]byte, 512),
		entries: make([]byte, 8<<10),
		waited:  map[int]time.Duration{},
		spare:   map[int]time.Duration{},
		groups:  mountedCgroups(),
	}
}

// openProc opens without os.File, which would ask for files of /proc to be polled.
func openProc(path string, flags int) int {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		if err == nil {
			return fd
		}
		if !errors.Is(err, unix.EINTR) {
			return -1
		}
	}
}

func (s *system) close() {
	for _, fd := range []*int{&s.statm, &s.tasks} {
		if *fd >= 0 {
			_ = unix.Close(*fd)
		}
		*fd = -1
	}
}

// threadsWaited is how long the threads waited for a core together since the last call.
func (s *system) threadsWaited() time.Duration {
	if s.tasks < 0 {
		return 0
	}
	now := s.spare
	clear(now)
	_, _ = unix.Seek(s.tasks, 0, 0)
	for {
		n, err := unix.ReadDirent(s.tasks, s.entries)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		_, _, s.names = unix.ParseDirent(s.entries[:n], -1, s.names[:0])
		for _, name := range s.names {
			s.threadWaited(name, now)
		}
	}
	since := waitedSince(s.waited, now)
	s.waited, s.spare = now, s.waited
	return since
}

// threadWaited notes one thread. A thread may end at any time; then it is not noted.
func (s *system) threadWaited(name string, now map[int]time.Duration) {
	id, err := strconv.Atoi(name)
	if err != nil {
		return
	}
	// Left open, the files would take as many descriptors as there are threads from the connections.
	fd, err := unix.Openat(s.tasks, name+"/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	n, err := unix.Read(fd, s.text)
	_ = unix.Close(fd)
	if err != nil {
		return
	}
	if waited, ok := parseSchedstat(s.text[:max(0, n)]); ok {
		now[id] = waited
	}
}

// memory is what is resident, in bytes.
func (s *system) memory() uint64 { return resident(s.statm, s.text) }

// ResidentMemory is what of this process is in RAM, in bytes; 0 where the system does not tell.
func ResidentMemory() int64 {
	statm := openProc(statmPath, 0)
	if statm < 0 {
		return 0
	}
	defer func() { _ = unix.Close(statm) }()
	return int64(resident(statm, make([]byte, 512)))
}

// resident reads an open statm, -1 if there is none, by way of a buffer for its line.
func resident(statm int, text []byte) uint64 {
	if statm < 0 {
		return 0
	}
	n, err := unix.Pread(statm, text, 0)
	if err != nil {
		return 0
	}
	bytes, _ := parseStatm(text[:max(0, n)], os.Getpagesize())
	return bytes
}

// cores is how many cores the process may use.
func (s *system) cores(now time.Time) float64 {
	if s.quotaAt.IsZero() || now.Sub(s.quotaAt) >= quotaEvery {
		s.quota, s.quotaAt = s.groups.cpuQuota(), now
	}
	affinity := 0
	// The main thread stands for all: others may be bound on purpose. It fails with more than 1024 cores.
	var set unix.CPUSet
	if unix.SchedGetaffinity(s.pid, &set) == nil {
		affinity = set.Count()
	}
	return coresAllowed(runtime.GOMAXPROCS(0), affinity, s.quota)
}

// suspendedNow is how long the machine was suspended since it started: only one of the two clocks goes on then. The clock
// that goes on is read first, so that time lost between them makes the result too small.
func suspendedNow() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(all.Nano() - awake.Nano())
}
