package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/internal/assert"
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

// joinedHours is the run with minutes in place of seconds long past, as the live view has it.
func joinedHours(s metrics.Snapshot) metrics.Snapshot {
	n := len(s.Minutes.Windows) - 60
	s.Windows = slices.Concat(s.Minutes.Windows[:n], s.Windows[60*n:])
	s.Telemetry.Join(metrics.Minutes{Server: s.Minutes.Server[:n], GPUs: s.Minutes.GPUs[:n]}, 0)
	return s
}

// A run of hours looks the same where its seconds long past are joined, and charts of seconds go back to the others.
func TestJoinedHoursLookTheSame(t *testing.T) {
	s := hours(6)
	page := func(s metrics.Snapshot, i int) string {
		m := open(s, 120, 40, termenv.Ascii)
		m.turn(i)
		m.span = slices.Index(spans, 0)
		m.show()
		return strings.ReplaceAll(m.View(), "╺", " ") // means of means differ by a rounding, which may end a bar
	}
	for i, p := range panels.Pages {
		assert.Equal(t, page(joinedHours(s), i), page(s, i), "%s", p.Name)
	}
	end := time.Duration(6) * time.Hour
	short := joinedHours(s)
	if first := end - panels.Back(&short, time.Minute, time.Second) - time.Minute; first != 299*time.Minute {
		t.Errorf("charts of a minute go back to %s", first)
	}
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
	s := joinedHours(hours(24))
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
