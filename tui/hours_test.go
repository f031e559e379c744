package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/metrics"
	"benchtop/tui/panels"
	"benchtop/tui/tuitest"
)

// hours is a run of so many hours in which a minute is repeated, with all that is looked at each second.
func hours(n int) metrics.Snapshot {
	s := tuitest.Full()
	const minute = 60
	seconds := n * 3600
	ws := make([]*metrics.Window, seconds)
	server := make([]metrics.ServerSecond, seconds)
	gpus := make([]metrics.GPUSecond, seconds)
	client := make([]metrics.ClientSecond, seconds)
	for i := range seconds {
		at := time.Duration(i) * time.Second
		ws[i], server[i] = s.Windows[i%minute].Clone(), s.Server[i%minute%len(s.Server)]
		gpus[i], client[i] = s.GPUs[i%minute%len(s.GPUs)], s.Client[i%minute%len(s.Client)]
		ws[i].Start = at
		server[i].At, gpus[i].At, client[i].At = at+time.Second, at+time.Second, at+time.Second
		server[i].Took, gpus[i].Took, client[i].Took = time.Second, time.Second, time.Second
		for l := range ws[i].Histograms { // each second has memory of its own, as in a real run
			h := metrics.Histogram{}
			h.Merge(&ws[i].Histograms[l])
			ws[i].Histograms[l] = h
		}
	}
	s.Windows, s.Server, s.GPUs, s.Client = ws, server, gpus, client
	s.At = time.Duration(seconds) * time.Second
	s.Minutes = metrics.Minutes{}.Follow(&s, 0)
	return s
}

// BenchmarkFullRedrawHours draws whole screens of long runs from nothing: nothing merged, nothing kept.
func BenchmarkFullRedrawHours(b *testing.B) {
	for _, n := range []int{1, 4, 24} {
		s := hours(n)
		for _, span := range []time.Duration{0, time.Minute} {
			for i, p := range panels.Pages {
				if !slices.Contains([]string{"Overview", "Latency", "Load", "Server"}, p.Name) {
					continue
				}
				for _, size := range [][2]int{{120, 40}, {200, 60}} {
					b.Run(fmt.Sprintf("%dh/%s/%s/%dx%d", n, panels.SpanName(span), p.Name, size[0], size[1]),
						func(b *testing.B) {
							m := open(s, size[0], size[1], termenv.TrueColor)
							m.turn(i)
							m.span = slices.Index(spans, span)
							drawCold(b, m)
						})
				}
			}
		}
	}
}

// BenchmarkNextFrameDay is the cost of a frame of a run of a day after the first: the snapshot is a new one.
func BenchmarkNextFrameDay(b *testing.B) {
	s := hours(24)
	for i, p := range panels.Pages {
		for _, span := range []time.Duration{0, 15 * time.Minute} {
			for _, zoomed := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%s/zoomed=%v", p.Name, panels.SpanName(span), zoomed), func(b *testing.B) {
					m := open(s, 200, 50, termenv.TrueColor)
					m.turn(i)
					m.span = slices.Index(spans, span)
					m.focus, m.zoomed = m.layout().Panels[0].Name, zoomed
					m.View()
					b.ReportAllocs()
					for b.Loop() {
						m.Update(snapshotMsg{s})
						m.show()
						m.View()
					}
				})
			}
		}
	}
}
