package panels

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// verdictOf is the verdict of a run on a line or a card.
func verdictOf(s *metrics.Snapshot, w, h int, client bool) string {
	sf := screen.NewSurface(w, h)
	sf.Terminal.Mono = true
	Header{View: &View{Snapshot: s, Terminal: sf.Terminal, Whole: s.Report != nil},
		State: s.State}.DrawVerdict(sf.All(), client)
	return strings.TrimRight(sf.Render(&screen.Palette{Mono: true}), " ")
}

// The line grows with what is known; where there is little room, remarks are said shorter, then those needed least are
// left out.
func TestVerdict(t *testing.T) {
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}
	whole := metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 24, Confidence: 0.973,
		Estimate: metrics.Range{Load: 31, Low: 29.2, High: 32.8}},
		Saturates: true, Confirmed: true, From: 24, To: 48, Capacity: metrics.Range{Load: 33.5, Low: 32.2, High: 34.8},
		Bottleneck: metrics.Bottleneck{Part: metrics.QueuePart, Share: 0.79, Of: "TTFT"}, PeakOutput: 2200}
	for _, c := range []struct {
		name   string
		answer *metrics.Answer
		slo    metrics.SLO
		state  metrics.State
		failed int
		w      int
		want   string
	}{
		{"nothing yet", nil, slo, metrics.Running, 0, 120, "load within SLO unknown: too early"},
		{"no objectives", &metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 34}}, nil, metrics.Running, 0, 120,
			"measuring …"},
		{"nothing within", &metrics.Answer{TierAnswer: metrics.TierAnswer{Why: "too few requests"}}, slo,
			metrics.Running, 0, 120, "load within SLO unknown: too few requests"},
		{"nothing within at the end", &metrics.Answer{Why: "one load"}, slo, metrics.Finished, 0, 120,
			"load within SLO unknown"},
		{"nearly certain", &metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 34.26, Confidence: 0.9999}}, slo,
			metrics.Running, 0, 120,
			"within SLO: 34.3 req/s proven (99 %)"},
		{"users", &metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 64}, Unit: metrics.Users}, slo,
			metrics.Running, 0, 120, "within SLO: 64 users proven"},
		{"not confirmed", &metrics.Answer{Saturates: true, From: 24, To: 48}, nil, metrics.Running, 0, 120,
			"saturating? 24–48 req/s"},
		{"all", &whole, slo, metrics.Running, 0, 160,
			"within SLO: 24 req/s proven (97 %), estimate 29–33 │ saturates at 33.5 req/s (32–35) │ limit: queue, 79 " +
				"% of TTFT │ peak 2.2k tok/s"},
		{"shorter", &whole, slo, metrics.Running, 0, 120,
			"within SLO: 24 req/s proven (97 %), estimate 29–33 │ saturates at 33.5 req/s (32–35) │ limit: queue " +
				"│ peak 2.2k tok/s"},
		{"short", &whole, slo, metrics.Running, 0, 84,
			"SLO 24 req/s (97 %) │ saturates 33.5 req/s │ limit: queue │ peak 2.2k tok/s"},
		{"without the peak", &whole, slo, metrics.Running, 0, 66,
			"SLO 24 req/s (97 %) │ saturates 33.5 req/s │ limit: queue"},
		{"the headline alone", &whole, slo, metrics.Running, 0, 44, "SLO 24 req/s (97 %) │ saturates 33.5 req/s"},
		{"errors stay", &whole, slo, metrics.Running, 5, 60, "SLO 24 req/s (97 %) │ saturates 33.5 req/s │ 5 errors"},
	} {
		s := &metrics.Snapshot{Answer: c.answer, Objectives: c.slo, State: c.state,
			Totals: metrics.Counts{Failed: c.failed, Completed: 95}}
		assert.Equal(t, verdictOf(s, c.w, 1, false), c.want, "%s", c.name)
	}
}

// A search has what was tested, what is tested now, and about how long it takes; then it is over.
func TestVerdictOfASearch(t *testing.T) {
	s := &metrics.Snapshot{Objectives: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}},
		Answer: &metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 8}},
		Search: &metrics.Search{Phase: metrics.SearchNarrowing, Passed: 8, Failed: 10.4, Load: 9.1,
			Left:   40 * time.Second,
			Tested: []metrics.TestedLoad{{Load: 6.2, Passed: true}, {Load: 8, Passed: true}, {Load: 10.4}}}}
	for w, want := range map[int]string{
		100: "search: 8 req/s passed, 10.4 failed; testing 9.1, about 40s left │ tested 6.2 ✓ 8 ✓ 10.4 ✗",
		75:  "8 req/s passed, 10.4 failed; testing 9.1, ~40s │ tested 6.2 ✓ 8 ✓ 10.4 ✗",
		50:  "8 req/s passed, 10.4 failed; testing 9.1, ~40s",
	} {
		assert.Equal(t, verdictOf(s, w, 1, false), want, "%d columns", w)
	}
	s.Search.Phase = metrics.SearchDone
	assert.Equal(t, verdictOf(s, 100, 1, false), "within SLO: 8 req/s proven", "over")
}

// A server that does not answer has the line for itself; once the run is over, a row of the card.
func TestVerdictOnADeadServer(t *testing.T) {
	s := tuitest.Mid()
	s.Outage = &metrics.Outage{Since: s.At - 6*time.Second, Why: "connection \x1b[31mrefused"}
	if got, want := verdictOf(&s, 80, 1, true),
		" ! server not answering for 6s: connection refused; grey figures are from before"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	over := tuitest.Done()
	over.Outage = &metrics.Outage{Since: 65 * time.Second, Why: "connection refused"}
	assert.Has(t, verdictOf(&over, 140, 6, false), "not answering since 01:05: connection refused")
}

// A header of one line leaves bad news of the client to the verdict.
func TestVerdictHasTheClient(t *testing.T) {
	s := tuitest.Sampled(tuitest.Mid(), tuitest.Late, nil)
	if with, without := verdictOf(&s, 60, 1, true), verdictOf(&s, 60, 1, false); !strings.HasPrefix(with, "client ") ||
		strings.Contains(without, "client") {
		t.Errorf("%q and %q", with, without)
	}
}

// The card has the place of the result, or says that there is none.
func TestCard(t *testing.T) {
	s := tuitest.Done()
	for path, want := range map[string]string{"out/run.json": "saved       out/run.json", "": "saved       not saved"} {
		s.SavePath = path
		assert.Has(t, verdictOf(&s, 120, 6, false), want)
	}
	s.SavePath = strings.Repeat("results/", 9) + "run.json"
	if got := verdictOf(&s, 80, 8, false); !strings.Contains(got, "results/resul") ||
		!strings.Contains(got, "run.json") {
		t.Errorf("a long path is cut:\n%s", got)
	}
	s.SaveError = "no space left on device"
	assert.Has(t, verdictOf(&s, 120, 6, false), "NOT SAVED: no space left on device")
}

// A load has the same digits wherever the line of a search has it.
func TestSearchWritesLoadsAlike(t *testing.T) {
	s := tuitest.Mid()
	s.Search = &metrics.Search{Phase: metrics.SearchNarrowing, Load: 0.125, Failed: 0.25,
		Tested: []metrics.TestedLoad{{Load: 0.5}, {Load: 0.25}}}
	got := ""
	for _, r := range (&View{Snapshot: &s}).searchRemarks() {
		got += r.long + "\n"
	}
	if want := "search: 0.25 req/s failed; testing 0.125\ntested 0.25 ✗ 0.5 ✗\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A search names each load once, with its last outcome and how many of its tests passed.
func TestTestedLoadsOnce(t *testing.T) {
	s := metrics.Snapshot{
		Search: &metrics.Search{Phase: metrics.SearchNarrowing, Load: 12, Tested: []metrics.TestedLoad{
			{Load: 8, Passed: true}, {Load: 16}, {Load: 8}, {Load: 4, Passed: true}, {Load: 8, Passed: true}}}}
	all := (&View{Snapshot: &s}).searchRemarks()
	if got, want := all[len(all)-1].long, "tested 4 ✓ 8 ✓ (2 of 3) 16 ✗"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
