package telemetry

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benchtop/metrics"

	"golang.org/x/sys/unix"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
)

// Threads that compete for one core wait for it.
func TestStarved(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		ci.Skip(t, "the kernel does not tell how long threads wait")
	}
	var all unix.CPUSet
	assert.Fine(t, unix.SchedGetaffinity(0, &all))
	one := unix.CPUSet{}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	p := WatchProcess()
	defer p.Close()
	var over atomic.Bool
	var ended [3]chan struct{}
	var began sync.WaitGroup
	began.Add(len(ended))
	for i := range ended {
		ended[i] = make(chan struct{})
		go func() {
			defer close(ended[i])
			// Not unlocked: the thread ends with the goroutine, and its affinity with it.
			runtime.LockOSThread()
			_ = unix.SchedSetaffinity(0, &one)
			began.Done()
			for !over.Load() {
			}
		}()
	}
	began.Wait()
	var s metrics.ClientSecond
	for end := time.Now().Add(time.Minute); s.CPUWait < 0.05 && time.Now().Before(end); {
		time.Sleep(100 * ms)
		s = p.Sample(time.Hour)
		checkSample(t, s)
	}
	over.Store(true)
	for _, e := range ended {
		<-e
	}
	if runtime.GOMAXPROCS(0) > 1 && s.CPUWait < 0.05 {
		t.Errorf("%.3f threads waited for a core, but several fight for one: %+v", s.CPUWait, s)
	}
}

// Threads that begin and end all the time make samples neither negative nor large.
func TestThreadsComeAndGo(t *testing.T) {
	p := WatchProcess()
	defer p.Close()
	for range 10 {
		ended := make(chan struct{})
		for range 5 {
			go func() {
				runtime.LockOSThread() // and ends with its thread
				ended <- struct{}{}
			}()
		}
		for range 5 {
			<-ended
		}
		checkSample(t, p.Sample(time.Hour))
	}
}

func TestSuspendedNow(t *testing.T) {
	if a, b := suspendedNow(), suspendedNow(); min(a, b) < -time.Second || max(a-b, b-a) > time.Minute {
		t.Errorf("suspended for %v, then for %v", a, b)
	}
}

// Memory in use is resident, in a sample as in a single reading.
func TestResidentMemory(t *testing.T) {
	const more = 64 << 20
	debug.FreeOSMemory() // now, so that memory that is free already is not released later
	before := ResidentMemory()
	// Go's heap might reuse free memory that is resident.
	held, err := unix.Mmap(-1, 0, more, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	assert.Fine(t, err)
	defer func() { _ = unix.Munmap(held) }()
	for i := 0; i < more; i += 4096 {
		held[i] = 1
	}
	p := WatchProcess()
	defer p.Close()
	after, sampled := ResidentMemory(), int64(p.Sample(time.Hour).Memory)
	if before < 1<<20 || after-before < more/2 {
		t.Errorf("%d bytes, then %d after %d more were used", before, after, more)
	}
	if d := sampled - after; d < -more/2 || d > more/2 {
		t.Errorf("a sample says %d bytes, a single look %d", sampled, after)
	}
}
