package telemetry

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Threads that fight for one core wait for it, and the process sees that it may use only this one.
func TestStarved(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("the kernel does not tell how long threads wait")
	}
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Skip(err)
	}
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
	for i := range ended {
		ended[i] = make(chan struct{})
		go func() {
			defer close(ended[i])
			// Not unlocked: the thread ends with the goroutine, and its affinity with it.
			runtime.LockOSThread()
			_ = unix.SchedSetaffinity(0, &one)
			for !over.Load() {
			}
		}()
	}
	time.Sleep(300 * ms)
	s := p.Sample()
	over.Store(true)
	for _, e := range ended {
		<-e
	}
	checkSample(t, s)
	if runtime.GOMAXPROCS(0) > 1 && s.CPUWait < 0.05 {
		t.Errorf("%.3f threads waited for a core, but several fight for one: %+v", s.CPUWait, s)
	}
}

// Threads that begin and end all the time do not make samples negative, nor large.
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
		checkSample(t, p.Sample())
	}
}

func TestSuspendedNow(t *testing.T) {
	if a, b := suspendedNow(), suspendedNow(); min(a, b) < -time.Second || max(a-b, b-a) > time.Minute {
		t.Errorf("suspended for %v, then for %v", a, b)
	}
}
