package panels

import (
	"strings"
	"testing"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

func TestTabAt(t *testing.T) {
	head := Header{View: &View{Snapshot: &metrics.Snapshot{State: metrics.Running}},
		Pages: []string{"Overview", "Latency"}}
	for x, want := range map[int]int{-1: -1, 3: -1, 12: 0, 18: 0, 24: 1, 60: -1} {
		if got, ok := head.TabAt(x, 120); ok != (want >= 0) || ok && got != want {
			t.Errorf("at %d: page %d, %v; want %d", x, got, ok, want)
		}
	}
}

func TestFilterLog(t *testing.T) {
	log := []metrics.LogEntry{{Level: metrics.Warn, Text: "Held grew"}, {Level: metrics.Info, Text: "ok"}}
	for words, want := range map[string]int{"": 2, "held": 1, "WARN": 1, "o": 2 - 1, "nothing": 0} {
		if got := FilterLog(log, words); len(got) != want {
			t.Errorf("%q quit %d events, want %d", words, len(got), want)
		}
	}
}

func TestEventsTitle(t *testing.T) {
	for n, want := range map[int]string{0: " 0 events", 1: " 1 event", 2: " 2 events"} {
		v := &View{Snapshot: &metrics.Snapshot{Log: make([]metrics.LogEntry, n)}}
		assert.Equal(t, eventsTitle(v, 80, 24)[1].Text, want, "%d", n)
	}
}

func TestPlanLine(t *testing.T) {
	assert.Equal(t, PlanLine(nil, 40), "", "no plan")
	plan := &metrics.Plan{BaseURL: "http://a:1", ModelID: "m", Cache: "cold cache (reset)",
		InputSource: metrics.TokensFromServer}
	for w, want := range map[int]string{80: "a:1 · m · cold cache · tokens by server", 20: "a:1 · m · cold cache"} {
		assert.Equal(t, PlanLine(plan, w), want, "in %d columns", w)
	}
}

func TestNextLatency(t *testing.T) {
	s := tuitest.Pooled(false)
	at, seen := metrics.E2EL, map[metrics.Latency]bool{}
	for range metrics.NumInWindow {
		at = NextLatency(&s, at)
		seen[at] = true
	}
	// each that is not of a stream, and no other; Pace is not shown
	for l := range metrics.Latency(metrics.NumInWindow) {
		if l != metrics.Pace && seen[l] == l.Streams() {
			t.Errorf("%s: comes: %v", l.Naming().Title, seen[l])
		}
	}
	if v := (&View{Snapshot: &s}); v.nothing(metrics.ITL) != "answers are not streamed: no ITL" {
		t.Errorf("%q", v.nothing(metrics.ITL))
	}
}

func TestFailureNames(t *testing.T) {
	s := tuitest.Bad()
	s.Failures = nil
	for i, kind := range []metrics.Failure{
		metrics.FailedConnect, metrics.FailedNoSocket, metrics.FailedStatus, metrics.FailedReset,
		metrics.FailedTruncated, metrics.FailedInStream,
		metrics.FailedMalformed, metrics.FailedEmpty, metrics.FailedStall, metrics.FailedTimeout, "new",
	} {
		s.Failures = append(s.Failures, metrics.FailureCount{Kind: kind, Status: 503, Count: 20 - i})
	}
	got := errorsPanel.inView(&View{Snapshot: &s}, 60, 20)
	assert.Has(t, got,
		"no connection", "no socket here", "HTTP 503", "connection reset", "stream truncated", "error in stream",
		"malformed answer", "no output",
		"stalled", "timeout", "new")
}

func TestConclusionSigns(t *testing.T) {
	for want, r := range map[string]*metrics.Report{
		"✓ DONE": nil, "✓ DONE early": {Interrupted: &metrics.Interruption{}},
		"✓ DONE with errors": {Counts: metrics.Counts{Failed: 1}},
		"✓ DONE, objectives missed": {Objectives: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}},
			Counts: metrics.Counts{Completed: 100, MetCount: metrics.MetCount{Good: 73}}},
		"■ ABORTED": {Conclusion: metrics.Aborted}, "■ TERMINATED": {Conclusion: metrics.Terminated},
		"■ TERMINAL LOST": {Conclusion: metrics.HungUp}, "✗ FAILED": {Conclusion: metrics.RunFailed},
		"✗ GATE MISSED": {Conclusion: metrics.GateMissed},
	} {
		style := screen.Warning
		if r == nil {
			style = screen.Success
		} else if r.Conclusion == metrics.Fine {
			style = screen.Caution
		}
		if got := StateSign(&metrics.Snapshot{Report: r}, metrics.Finished); got.Text != want || got.Style != style {
			t.Errorf("%q in %+v, want %q", got.Text, got.Style, want)
		}
	}
}

// A run whose answers have no chunks has no panel, row or column for what it cannot measure.
func TestPagesOfAPoolingRun(t *testing.T) {
	s := tuitest.Listed(tuitest.Pooled(false))
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
		for _, p := range Pages {
			v := &View{Snapshot: &s, Latency: ShownLatency(&s, metrics.TTFT)}
			for _, b := range Layout(p, size[0], size[1], v).Panels {
				panel, _ := Named(b.Name)
				got := panel.inView(v, b.Rect.W, b.Rect.H)
				for _, name := range []string{"TTFT", "TPOT", "ITL", "answer", "tok out", "finish"} {
					if b.Name != "log" && b.Name != "events" && b.Name != "requests" && strings.Contains(got, name) {
						t.Errorf("%s at %v: %s in\n%s", p.Name, size, name, got)
					}
				}
			}
		}
	}
}
