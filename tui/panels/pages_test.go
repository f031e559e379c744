package panels

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// TestZoomedPanels draws each panel as large as a page, with the charts it then has below.
func TestZoomedPanels(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, s := range []metrics.Snapshot{tuitest.Judge(tuitest.Listed(tuitest.Watched(tuitest.FullDone(), 3))), tuitest.Pooled(true), tuitest.TalkDone(true)} {
		for _, p := range append(Pages[:len(Pages):len(Pages)], ReportPage) {
			for _, w := range []int{70, 120, 200} {
				for _, b := range Layout(p, 200, 60, &View{Snapshot: &s}).Panels {
					panel, ok := Named(b.Name)
					got := panel.inView(&View{Snapshot: &s, Terminal: screen.Terminal{Filled: true}, List: opening(4310)}, w, 45)
					if tuitest.Exact(t, got, w, 45, b.Name); !ok || strings.Contains(got, "chart error") {
						t.Fatalf("%s:\n%s", b.Name, got)
					}
				}
			}
		}
	}
	if _, ok := Named("none"); ok {
		t.Error("a panel of no name")
	}
}

func TestTabAt(t *testing.T) {
	head := Header{View: &View{Snapshot: &metrics.Snapshot{State: metrics.Running}}, Pages: []string{"Overview", "Latency"}}
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

func TestPlanLine(t *testing.T) {
	if got := PlanLine(nil, 40); got != "" {
		t.Errorf("no plan: %q", got)
	}
	plan := &metrics.Plan{BaseURL: "http://a:1", ModelID: "m", Cache: "cold cache (reset)", InputSource: metrics.TokensFromServer}
	for w, want := range map[int]string{80: "a:1 · m · cold cache · tokens by server", 20: "a:1 · m · cold cache"} {
		if got := PlanLine(plan, w); got != want {
			t.Errorf("in %d columns: %q, want %q", w, got, want)
		}
	}
}

func TestEmptyBaseline(t *testing.T) {
	for _, c := range []struct {
		b    *Baseline
		want bool
	}{
		{nil, false}, {&Baseline{}, false}, {&Baseline{Report: &metrics.Report{}}, true},
		{&Baseline{Report: &metrics.Report{Timeline: []metrics.Window{{Counts: metrics.Counts{Sent: 1}}}}}, false},
	} {
		if got := c.b.Empty(); got != c.want {
			t.Errorf("%+v: %v", c.b, got)
		}
	}
}

func TestNextLatency(t *testing.T) {
	s := tuitest.Pooled(false)
	for l, seen := metrics.E2EL, 0; seen < 10; seen++ {
		if l = NextLatency(&s, l); l.Streams() {
			t.Errorf("%s has no figures in a pooling run", l.Naming().Title)
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
		metrics.FailedConnect, metrics.FailedNoSocket, metrics.FailedStatus, metrics.FailedReset, metrics.FailedTruncated, metrics.FailedInStream,
		metrics.FailedMalformed, metrics.FailedEmpty, metrics.FailedStall, metrics.FailedTimeout, "new",
	} {
		s.Failures = append(s.Failures, metrics.FailureCount{Kind: kind, Status: 503, Count: 20 - i})
	}
	got := errorsPanel.inView(&View{Snapshot: &s}, 60, 20)
	for _, name := range []string{
		"no connection", "no socket here", "HTTP 503", "connection reset", "stream truncated", "error in stream", "malformed answer", "no output",
		"stalled", "timeout", "new",
	} {
		if !strings.Contains(got, name) {
			t.Errorf("no %q in\n%s", name, got)
		}
	}
}

func TestConclusionSigns(t *testing.T) {
	for want, r := range map[string]*metrics.Report{
		"✓ DONE": nil, "■ ABORTED": {Conclusion: metrics.Aborted}, "■ TERMINATED": {Conclusion: metrics.Terminated},
		"■ TERMINAL LOST": {Conclusion: metrics.HungUp}, "✗ FAILED": {Conclusion: metrics.RunFailed}, "✗ GATE MISSED": {Conclusion: metrics.GateMissed},
	} {
		if got := ConclusionSign(r); got.Text != want {
			t.Errorf("%q, want %q", got.Text, want)
		}
	}
}

// TestPagesAtEverySize draws header, verdict and panels of each page of each kind of run, over a grid of sizes that has the edges of all
// layouts.
func TestPagesAtEverySize(t *testing.T) {
	ci.SkipUnderRace(t)
	limited := tuitest.Sampled(tuitest.Judge(tuitest.Bad()), tuitest.Late, tuitest.Together)
	limited.SaveError = "no space left on device"
	replayed := tuitest.FullDone()
	replayed.Replay = &metrics.Replay{Speed: 2, Length: 100 * time.Second}
	runs := map[string]metrics.Snapshot{
		"empty": {State: metrics.Running}, "young": tuitest.Young(), "bad": tuitest.Judge(tuitest.Bad()), "done": tuitest.FullDone(), "full": tuitest.Judge(tuitest.Listed(tuitest.Watched(tuitest.Full(), 3))),
		"silent": tuitest.Gone(tuitest.Watched(tuitest.Mid(), 3)), "limited": limited, "replayed": replayed, "monstrous": tuitest.MonstrousPages(), "crazy": tuitest.Crazy(),
	}
	baselines := []*Baseline{nil, {Name: "a run", Report: tuitest.Done().Report}, {Name: "a run", Report: tuitest.FullDone().Report}}
	states := []metrics.State{metrics.Running, metrics.Draining, metrics.Aborting, metrics.Counting, BrokenOff}
	turn := 0
	for name, s := range runs {
		for p, page := range append(Pages[:len(Pages):len(Pages)], ReportPage) {
			for _, w := range []int{20, 40, 80, 110, 180, 250} {
				for _, h := range []int{5, 10, 24, 34, 45, 60} {
					turn++
					mode := tuitest.Modes[turn%len(tuitest.Modes)]
					palette := screen.NewPalette(screen.ColorProfile(mode.Color, func(string) string { return "" }))
					sf := screen.NewSurface(w, h)
					sf.Terminal = palette.Terminal(mode.ASCII)
					v := &View{
						Snapshot: &s, Terminal: sf.Terminal, Span: []time.Duration{0, 30 * time.Second, time.Minute}[turn%3], Whole: turn%4 == 0,
						Linear: turn%5 == 0, Baseline: baselines[turn%3], List: crazyLists()[turn%8], Back: time.Duration(turn%7) * 5 * time.Second,
						Latency: metrics.Latency(turn % int(metrics.NumInWindow)), Text: strings.Split(Summary(&s), "\n"),
					}
					head := Header{View: v, State: states[turn%5], Page: p, Behind: time.Duration(turn%3-1) * time.Second, Controls: turn%2 == 0}
					for _, page := range Pages {
						head.Pages = append(head.Pages, page.Name)
					}
					if s.State == metrics.Finished {
						head.State = s.State
					}
					switch l := Layout(page, w, h, v); {
					case l.Tiny:
						head.DrawTiny(sf.All())
					default:
						head.Draw(l.Head.Of(sf.All()))
						head.DrawVerdict(l.Verdict.Of(sf.All()), l.Head.H == 1)
						for i, b := range l.Panels {
							panel, _ := Named(b.Name)
							panel.Draw(b.Rect.Of(sf.All()), v, b, i == turn%3)
						}
					}
					got := sf.Render(palette)
					tuitest.Exact(t, got, w, h, fmt.Sprint(name, " ", page.Name))
					if strings.Contains(got, "chart error") {
						t.Fatalf("%s, %s at %dx%d:\n%s", name, page.Name, w, h, sf.Render(screen.NewPalette(termenv.Ascii)))
					}
				}
			}
		}
	}
}
