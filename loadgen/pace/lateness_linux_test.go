package pace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/loadgen/shape"

	"golang.org/x/sys/unix"
)

// BenchmarkPacer measures how late waits for Poisson arrivals end, without requests. An operation is a round in which
// all kinds take turns for half a second or 200 waits, since the speed of a machine varies; so -benchtime 7x makes 7
// rounds. A loop around the bare system call shows the lateness of the machine itself.
func BenchmarkPacer(b *testing.B) {
	for _, rate := range []float64{100, 1000, 5000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) { benchmarkPacer(b, rate) })
	}
}

func benchmarkPacer(b *testing.B, rate float64) {
	type figures [3]float64 // p50, p99 and p99.9 in microseconds
	kinds := append(Kinds(), "bare")
	rounds := map[string][]figures{}
	for b.Loop() {
		for _, kind := range kinds {
			n := max(int(rate/2), 200)
			late, err := lateness(kind, rate, n)
			assert.Fine(b, err)
			slices.Sort(late)
			var f figures
			for i, q := range []float64{.5, .99, .999} {
				f[i] = late[int(q*float64(n-1))].Seconds() * 1e6
			}
			rounds[kind] = append(rounds[kind], f)
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "µs late at %v/s, median [least most] of %d rounds", rate, len(rounds["bare"]))
	for _, kind := range kinds {
		fmt.Fprintf(&table, "\n%-6s", kind)
		for i, name := range []string{"p50", "p99", "p99.9"} {
			var all []float64
			for _, f := range rounds[kind] {
				all = append(all, f[i])
			}
			slices.Sort(all)
			median := all[len(all)/2]
			fmt.Fprintf(&table, "  %s %8.1f [%6.1f %8.1f]", name, median, all[0], all[len(all)-1])
			b.ReportMetric(median, "µs-"+kind+"-"+name)
		}
	}
	b.Log(table.String())
}

func lateness(kind string, rate float64, n int) ([]time.Duration, error) {
	if kind == "bare" {
		return bareLateness(rate, n), nil
	}
	return Lateness(context.Background(), kind, rate, n, 1)
}

// bareLateness is Lateness of the bare system call.
func bareLateness(rate float64, n int) (late []time.Duration) {
	<-apart(func() {
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
		draws := rand.New(rand.NewPCG(1, 0))
		late = make([]time.Duration, 0, n)
		start, at := time.Now(), 0.0
		for range n {
			at += draws.ExpFloat64() / rate
			due := shape.Nanoseconds(at)
			for left := due - time.Since(start); left > 0; left = due - time.Since(start) {
				t := unix.NsecToTimespec(int64(left))
				_, _ = unix.Ppoll(nil, &t, nil)
			}
			late = append(late, time.Since(start)-due)
		}
	})
	return late
}
