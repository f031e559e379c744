package cli

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/metronome"
	"benchtop/internal/session"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

var soak = flag.Duration("soak", 0, "length of a run with 500 streams that must not leak; 0 for the short test")

// soaked is a moment of a run.
type soaked struct {
	at                      time.Time
	goroutines, descriptors int
	heap                    float64 // MB, live after a collection
}

func soakedNow() (s soaked) {
	open, _ := os.ReadDir("/proc/self/fd")
	return soaked{time.Now(), runtime.NumGoroutine(), len(open), liveHeap()}
}

// liveHeap is what lives after a collection, in MB. What finalizers let go, a second one takes.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// viewHeap is the live heap of the live view of a run at moments since its start: what it keeps for its charts by
// design. A second view takes the events of the journal.
func viewHeap(t *testing.T, path string, at []time.Time) (heap []float64) {
	t.Helper()
	var plan metrics.Plan
	var view *live.View
	before := liveHeap()
	for e, err := range journal.Read(path) {
		assert.Fine(t, err)
		if p, ok := e.Value.(metrics.Plan); ok && view == nil {
			plan = p
			view = live.NewView(time.Now(), &plan)
			continue
		}
		for view != nil && len(heap) < len(at) && plan.Started.Add(e.At).After(at[len(heap)]) {
			_ = view.SnapshotAt(e.At)
			heap = append(heap, liveHeap()-before)
		}
		switch e.Kind {
		case event.Done:
			eventtest.Again(view, []metrics.Request{*e.Request}, math.MaxInt64)
		case event.Fact:
			view.Take(&e)
		}
	}
	runtime.KeepAlive(view)
	return heap
}

// trend is the slope of a straight line through values a second, with the half of its 95 % interval. Values next to
// each other are alike, so that n of them tell less than n would that are independent: their number is taken to be
// n·(1-r)/(1+r), where r is the correlation of a residual with the one before it (an AR(1) process), at least 0.
type trend struct {
	first, last, slope, half, r float64
}

func trendOf(at []time.Time, values []float64) (f trend) {
	n := float64(len(values))
	var mx, my, sxx, sxy float64
	x := metrics.Each(at, func(v time.Time) float64 { return v.Sub(at[0]).Seconds() })
	for i := range x {
		mx, my = mx+x[i]/n, my+values[i]/n
	}
	for i := range x {
		sxx, sxy = sxx+(x[i]-mx)*(x[i]-mx), sxy+(x[i]-mx)*(values[i]-my)
	}
	f.slope = sxy / sxx
	var before, squares, products float64
	for i := range x {
		residual := values[i] - my - f.slope*(x[i]-mx)
		squares, products, before = squares+residual*residual, products+residual*before, residual
	}
	if squares > 0 {
		f.r = min(max(products/squares, 0), 0.99)
	}
	counted := max(n*(1-f.r)/(1+f.r), 3)
	// The quantile of Student's t, by the first terms of its expansion about the normal one.
	freedom := counted - 2
	quantile := 1.96 + 2.3722/freedom + 2.8225/freedom/freedom + 2.5558/(freedom*freedom*freedom)
	f.half = quantile * math.Sqrt(squares/freedom/(sxx*counted/n))
	f.first, f.last = my-f.slope*mx, my+f.slope*(x[len(x)-1]-mx)
	return f
}

// verdict of a trend over a time: whether the interval of the slope includes 0, and is narrow enough to tell.
func (f trend) verdict(over time.Duration) string {
	switch {
	case math.Abs(f.slope) > f.half:
		return "NOT FLAT"
	case f.half*over.Seconds() > math.Abs(f.first+f.last)/2/5:
		return "TOO SHORT TO TELL"
	}
	return "flat"
}

// A run of many streams keeps its goroutines and descriptors, and its live heap grows by nothing but what the live view
// keeps of each second and request. After it all goroutines and descriptors are gone.
func TestSoak(t *testing.T) { // alone in its process, therefore not parallel
	length, tokens := *soak, 100
	if length == 0 {
		length, tokens = 1500*time.Millisecond, 5
	}
	server := ticking(t)
	dir := t.TempDir()
	ctx := context.Background()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2) // the first one starts a goroutine for ever
	// The first run of a process opens a socket for ever.
	benchtop(append([]string{"serve", "--model", "m", "--base-url", server, "--num-prompts", "1"},
		strings.Fields(shortPrompts)...)...).expect(t, session.ExitFine)
	before := soakedNow()
	ended := make(chan result, 1)
	go func() {
		ended <- benchtop("serve", "--model", "m", "--base-url",
			metronome.Pace(server, 100*time.Millisecond, 100*time.Millisecond), "--max-concurrency", "500",
			"--duration", length.String(),
			"--vocab-size", "300", "--random-input-len", "16", "--random-output-len", fmt.Sprint(tokens),
			"--random-range-ratio", "0.5",
			"--save-result", "--result-dir", dir, "--result-filename", "o.json")
	}()
	var all []soaked
	warm := min(30*time.Second, length/4)
	for next := time.Now().Add(warm); time.Since(before.at) < length-time.Second; next = next.Add(length / 150) {
		time.Sleep(time.Until(next))
		all = append(all, soakedNow())
		assert.Fine(t, metronome.ClearLog(ctx, server))
	}
	(<-ended).expect(t, session.ExitFine, "Failed requests:                         0 ")
	if !eventually(func() bool {
		now := soakedNow()
		return now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	}) {
		t.Errorf("before %+v, after %+v", before, soakedNow())
	}
	if *soak == 0 {
		return
	}
	at := metrics.Each(all, func(s soaked) time.Time { return s.at })
	kept := viewHeap(t, filepath.Join(dir, "o.jsonl.gz"), at)
	at, all = at[:len(kept)], all[:len(kept)]
	heap := metrics.Each(all, func(s soaked) float64 { return s.heap })
	fmt.Printf("%s, %d samples after %s\n", length, len(all), warm)
	fmt.Printf("%-28s%10s%10s%22s%8s\n", "", "first", "last", "slope an hour", "r")
	for _, row := range []struct {
		name   string
		must   bool
		values []float64
	}{
		{"goroutines", true, metrics.Each(all, func(s soaked) float64 { return float64(s.goroutines) })},
		{"descriptors", true, metrics.Each(all, func(s soaked) float64 { return float64(s.descriptors) })},
		{"live heap, MB", false, heap},
		{"of it in the live view, MB", false, kept},
		{"without the view, MB", true, slices.Collect(func(yield func(float64) bool) {
			for i := range heap {
				if !yield(heap[i] - kept[i]) {
					return
				}
			}
		})},
	} {
		f := trendOf(at, row.values)
		verdict := "grows by design"
		if row.must {
			if verdict = f.verdict(length); verdict != "flat" {
				t.Fail()
			}
		}
		fmt.Printf("%-28s%10.2f%10.2f%12.3f ±%8.3f%8.2f  %s\n", row.name, f.first, f.last, 3600*f.slope, 3600*f.half,
			f.r, verdict)
	}
}
