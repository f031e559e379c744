package panels

import (
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/tuitest"
)

// firstSeconds are those of a run, as they were when it was so old.
func firstSeconds(s metrics.Snapshot, n int) metrics.Snapshot {
	s.At, s.Windows = time.Duration(n)*time.Second, s.Windows[:n]
	s.Histograms = metrics.Histograms{}
	for i := range s.Windows {
		for l := range s.Windows[i].Histograms {
			s.Histograms[l].Merge(&s.Windows[i].Histograms[l])
		}
	}
	return s
}

// A run played against itself never differs, however little of it was played.
func TestBaselineOfTheSameStretch(t *testing.T) {
	all := tuitest.Mid()
	report := &metrics.Report{Timeline: all.Windows, Ended: all.At, Histograms: all.Histograms}
	kept := map[olderKey]*olderSum{}
	for _, n := range []int{2, 10, 45, 61, 20, 30} { // played back as well
		for _, c := range []struct {
			span, back time.Duration
			whole      bool
		}{{time.Minute, 0, false}, {30 * time.Second, 0, false}, {30 * time.Second, 5 * time.Second, false},
			{0, 0, false}, {time.Minute, 0, true}} {
			s := firstSeconds(all, n)
			v := &View{Snapshot: &s, Span: c.span, Back: c.back, Whole: c.whole, Baseline: &Baseline{Report: report}}
			v.selected().older = kept
			assert.Equal(t, changeName(v), "Δp99", "%d s, %+v", n, c)
			for _, r := range v.latencies() {
				if got, want := p99Change(r, v.olderRow(r.of)), "0%"; got != want && !r.empty() {
					t.Errorf("%d s, %+v: %s %s, want %s", n, c, r.name, got, want)
				}
			}
		}
	}
}

// Where the baseline has no seconds of a stretch, the column says that it compares with the whole baseline.
func TestBaselineOfTheWholeSaysSo(t *testing.T) {
	all := tuitest.Mid()
	figures := &metrics.Report{
		Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 5, Mean: 5, Median: 4}}}
	short := &metrics.Report{Timeline: all.Windows[:5], Ended: 5 * time.Second,
		Statistics: metrics.Statistics{metrics.TTFT: figures.Statistics[metrics.TTFT]}}
	over := tuitest.Done()
	for _, c := range []struct {
		name   string
		s      *metrics.Snapshot
		report *metrics.Report
		whole  bool
		want   string
	}{
		{"no seconds", &all, figures, false, "Δwhole"},
		{"over long ago", &all, short, false, "Δwhole"},
		{"so far", &all, short, true, "Δp99"},
		{"at the end", &over, figures, true, "Δp99"},
	} {
		v := &View{Snapshot: c.s, Span: 30 * time.Second, Whole: c.whole, Baseline: &Baseline{Report: c.report}}
		assert.Equal(t, changeName(v), c.want, "%s", c.name)
		if r := v.olderRow(metrics.TTFT); r == nil {
			t.Errorf("%s: nothing to compare with", c.name)
		}
	}
}

// A baseline without seconds, of which only figures are known or nothing, is neither drawn in charts nor named there.
func TestBaselineWithoutSeconds(t *testing.T) {
	s := tuitest.Mid()
	for _, b := range []*Baseline{{Name: "x"}, {Name: "x", Report: &metrics.Report{}}} {
		v := &View{Snapshot: &s, Baseline: b}
		if p := v.versus(loadPlot(v), loadPlot); p.older != nil || v.baselineNotes("") != nil {
			t.Errorf("%+v: lines of %d, named %q", b, len(p.older), v.baselineNotes(""))
		}
	}
}
