package panels

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// The inverse real-time factor stands beside the tokens: of the last seconds, of those before the right edge of charts
// that are scrolled back, and of the whole run once it is over.
func TestRTFx(t *testing.T) {
	s := metrics.Snapshot{At: 100 * time.Second, State: metrics.Running, OutputExact: true, Plan: &metrics.Plan{},
		Totals: metrics.Counts{Completed: 1, Audio: time.Second}}
	for i := range 100 {
		w := &metrics.Window{Start: time.Duration(i) * time.Second,
			Counts: metrics.Counts{Completed: 1, Audio: 1500 * time.Millisecond}}
		if i >= 70 {
			w.Audio = 42 * time.Second
		}
		s.Windows = append(s.Windows, w)
	}
	over, silent := s, s
	over.State, over.Report = metrics.Finished, &metrics.Report{RTFx: 13.65}
	silent.Totals.Audio = 0
	words := func(s *metrics.Snapshot, back time.Duration) string {
		return title(tokensPanel, &View{Snapshot: s, Span: 30 * time.Second, Back: back}, 100, 10)
	}
	for _, c := range []struct {
		s    *metrics.Snapshot
		back time.Duration
		want string
	}{{&s, 0, " · last 5s · RTFx 42"}, {&s, 30 * time.Second, " · 5s to 1:10 · RTFx 1.5"},
		{&over, 0, " · mean · RTFx 14"}, {&silent, 0, " · last 5s"}} {
		if got := words(c.s, c.back); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s, back %v: got %q, want %q at its end", c.s.State, c.back, got, c.want)
		}
	}
	assert.Has(t, Summary(&s), "\nRTFx 42\n")
	if got := (Header{View: &View{Snapshot: &s}}).figures()[1]; got.name != "RTFx" || got.value != "42" {
		t.Errorf("the second figure of a tiny screen is %v", got)
	}
	if got := factsOf(&View{Snapshot: &s}, &metrics.RequestDetail{Audio: 3300 * time.Millisecond}); got[len(got)-1] !=
		(figure{name: "recording", value: "3.30s"}) {
		t.Errorf("the last fact of a request is %v", got[len(got)-1])
	}
}
