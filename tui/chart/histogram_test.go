package chart

import (
	"strings"
	"testing"
	"time"

	"benchtop/tui/screen"
)

// A histogram says all that it shows: the share that a column stands for, the bars that are higher than the scale,
// latencies beyond its ends.
func TestHistogram(t *testing.T) {
	const ms = time.Millisecond
	name := func(words string) []screen.Span { return []screen.Span{screen.Text.Span(words)} }
	draw := func(w, h int, of LatencyRange, short float64, limit time.Duration) string {
		b := Histogram{Of: "gaps", Annotations: []ValueAnnotation{
			{At: 30 * ms, Glyph: '┊', Name: name("p50 30ms")}, {At: limit, Glyph: '│', Name: name("SLO"), Aside: true},
		}}
		sf := screen.NewSurface(w, h)
		b.Axis = NewLatencyAxis(HistogramBins(sf.All()), of)
		sum := b.Axis.Spread()
		sum.Add(2*time.Microsecond, 3*time.Microsecond, short)
		for at := 20 * ms; at < 50*ms; at += ms / 10 {
			sum.Add(at, at+ms/10, 1)
		}
		sum.Add(400*ms, 500*ms, 4)
		b.Front = Bars{sum.Bins, uint64(short) + 304}
		b.Draw(sf.All(), nil)
		return sf.Render(&screen.Palette{Mono: true})
	}
	all := LatencyRange{From: 20 * ms, To: 70 * ms, Most: 500 * ms}
	apart := all
	apart.Short = true
	for _, c := range []struct {
		name, got, want string
	}{
		{"plain", draw(36, 5, all, 0, 40*ms), `
             p50 30ms SLO           
  8% of gaps   ┊      │▁▁▃▃         
       ▁▁▂▂▃▃▃▃▄▄▅▅▇▇█│████         
     ██████████┊██████│████▇▇      ▄
     ┴20ms─────┴30ms──┴40ms─┴50ms──→`},
		{"with short latencies", draw(36, 5, apart, 20, 2*time.Second), `
                p50 30ms       SLO →
  8% ▃          ┊      ▁▁▂▂         
     █   ▁▁▂▂▃▃▄▄▅▅▆▆▇▇████▄▄       
     █ █████████┊████████████      ▄
     <0.1ms─────┴30ms──┴40ms───────→`},
		{"most of them short", draw(48, 9, apart, 3000, ms), `
       ← SLO        p50 30ms                    
0.6% █91%           ┊                           
     █              ┊              ▁▂           
     █              ┊       ▁▂▃▄▆▇███           
0.3% █            ▁▁▂▃▄▅▅▆▇██████████           
     █ ▂▂▃▃▄▄▅▆▆▇███┊████████████████           
     █ █████████████┊████████████████          ▃
     █ █████████████┊████████████████          █
     <0.1ms─────────┴30ms─────┴40ms──┴50ms─────→`},
		{"narrow", draw(20, 4, all, 0, 40*ms), `
  p50 30ms SLO      
    ▁▁▂▃▃▄▅▆▆▇▂     
▇▇████┊████│███    ▂
┴20ms─┴30ms────────→`},
	} {
		if want := strings.TrimPrefix(c.want, "\n"); c.got != want {
			t.Errorf("%s:\n%s", c.name, c.got)
		}
	}
}
