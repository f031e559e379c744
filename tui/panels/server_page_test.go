package panels

import (
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/report"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

// An unknown figure is a dash.
func TestServerTTFTUnknown(t *testing.T) {
	s := tuitest.Watched(tuitest.Mid(), 1)
	for i := range s.Server {
		s.Server[i].TTFT = metrics.ServerLatency{}
	}
	if got := title(serverTTFTPanel, &View{Snapshot: &s}, 80, 10); !strings.HasSuffix(got, "server –") {
		t.Errorf("%q", got)
	}
}

// A server that counts a request's tokens when it ends has no line of its own for them: it would be the rhythm of ends.
// The client's own stands in for it.
func TestTokensCountedAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		output, prompt bool
		want, not      []string
	}{
		{false, false, []string{"━ out 4", "out (client)", "━ prompt 2"}, []string{"prompt (client)"}},
		{true, false, []string{"━ out (client) 2", "━ prompt 2"}, []string{"━ out 4", "prompt (client)"}},
		{true, true, []string{"━ out (client) 2", "━ prompt (client) 1"}, []string{"━ out 4", "━ prompt 2"}},
	} {
		s := tuitest.Watched(tuitest.Mid(), 0)
		for i := range s.Server {
			look := &s.Server[i]
			look.OutputAtEnd, look.PromptAtEnd = c.output, c.prompt
			if c.output && i%5 > 0 { // five requests end together
				look.OutputTokens = 0
			}
		}
		v := &View{Snapshot: &s}
		got := title(serverTokensPanel, v, 120, 0)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("at the end %t, %t: no %q in %q", c.output, c.prompt, w, got)
			}
		}
		for _, w := range c.not {
			if strings.Contains(got, w) {
				t.Errorf("at the end %t, %t: %q in %q", c.output, c.prompt, w, got)
			}
		}
		if got := newest(v, serverOutput); metrics.Said(got) == c.output {
			t.Errorf("at the end %t: the line is at %g", c.output, got)
		}
	}
}

// The two means of TTFT are of the same requests: those whose first token came in the time of the sample.
func TestServerTTFTIsOfTheSameRequests(t *testing.T) {
	s := tuitest.Watched(tuitest.Mid(), 0)
	last := &s.Server[len(s.Server)-1]
	last.First = metrics.TTFTParts{N: 4, TTFT: 2 * time.Second}
	assert.Has(t, title(serverTTFTPanel, &View{Snapshot: &s}, 80, 10), "client 500ms")
	s.Plan.Whole = true
	if got := title(serverTTFTPanel, &View{Snapshot: &s}, 80, 10); !strings.Contains(got, "mean TTFT") ||
		!strings.Contains(got, "server") || strings.Contains(got, "client") {
		t.Errorf("%q of answers that come in one piece, want that by the server's clock alone", got)
	}
}

// Of a span, energy and tokens are those of the same seconds, whenever the page was read; of the whole run they are the
// report's.
func TestEnergy(t *testing.T) {
	s := metrics.Snapshot{At: 10 * time.Second, State: metrics.Running, Plan: &metrics.Plan{GPUPrice: 3.6}}
	for i := range 10 {
		s.Windows = append(s.Windows, &metrics.Window{Start: time.Duration(i) * time.Second, TokensOut: 100})
	}
	for i := 3; i <= 6; i++ { // two of 500 W, from second 2 to 6
		gpus := []metrics.GPU{{Power: 500}, {Index: 1, Power: 500}}
		s.GPUs = append(s.GPUs, metrics.GPUSecond{At: time.Duration(i) * time.Second, Took: time.Second, GPUs: gpus})
	}
	s.Totals.OutputTokens, s.State = 800, metrics.Finished
	want := "energy last 9s 4kJ · 10.00 J/token · cost 20.00 per 1M tokens"
	assert.Equal(t, energyText(&View{Snapshot: &s, Span: 9 * time.Second}), want, "energyText")
	report, err := report.Summarize(func(func(metrics.Request, error) bool) {},
		metrics.Run{Plan: *s.Plan, End: metrics.End{Ended: s.At}, Telemetry: metrics.Telemetry{GPUs: s.GPUs}})
	if err != nil || report.GPUs.Energy != 4000 {
		t.Fatalf("%v, %+v", err, report.GPUs)
	}
	want = "energy whole run 4kJ · 12.50 J/token · cost 25.00 per 1M tokens"
	assert.Equal(t, energyText(&View{Snapshot: &s}), want, "energyText")
	ended, final := s, s
	ended.GPUsAbsent, final.Report = "nvidia-smi ended", &report
	for _, c := range []*metrics.Snapshot{&ended, &final} {
		if got := energyText(&View{Snapshot: c}); !strings.HasPrefix(got, "energy whole run 4kJ in 4.0s sampled") {
			t.Errorf("got %q", got)
		}
		assert.Lacks(t, energyText(&View{Snapshot: c, Span: 9 * time.Second}), "sampled")
	}
	s.GPUs[1].GPUs[0].Power, s.GPUs[1].GPUs[1].Power = metrics.Unsaid(), metrics.Unsaid()
	if got := energyText(&View{Snapshot: &s}); !strings.HasPrefix(got, "energy whole run 3kJ") {
		t.Errorf("got %q", got)
	}
	for i := range s.GPUs {
		s.GPUs[i].GPUs = []metrics.GPU{{Power: metrics.Unsaid()}}
	}
	if got, want := energyText(&View{Snapshot: &s}), "energy: unknown · cost 12.50 per 1M tokens"; got != want {
		t.Errorf("got %q, want %q", got, want) // time is money, with or without a meter
	}
	s.Plan = &metrics.Plan{}
	assert.Equal(t, energyText(&View{Snapshot: &s}), "energy: unknown", "energyText")
}

// A second of the run has the look that covers its middle; one that came late leaves no gap, one that is long past
// does.
func TestServerIn(t *testing.T) {
	var all []metrics.ServerSecond
	for i, at := range []time.Duration{980, 1990, 3010, 4020, 9000} {
		took := time.Second
		if i == 4 {
			took = 2 * time.Second // the samples between were lost
		}
		all = append(all, metrics.ServerSecond{At: at * time.Millisecond, Took: took, Running: float64(i)})
	}
	for second, want := range []float64{0, 1, 2, 3, 3, 3, -1, 4, 4, 4, 4, -1} {
		got := -1.0
		if s := newServerFinder(all).in(&metrics.Window{Start: time.Duration(second) * time.Second}); s != nil {
			got = s.Running
		}
		assert.Equal(t, got, want, "second %d: look", second)
	}
	begun := []metrics.ServerSecond{{At: 0}}
	for i, at := range []time.Duration{250, 500, 1000, 2010} {
		begun = append(begun, metrics.ServerSecond{At: at * time.Millisecond,
			Took: (at * time.Millisecond) - begun[i].At, Running: float64(i), OutputTokens: 10})
	}
	if s := newServerFinder(begun).in(&metrics.Window{}); s == nil || s.OutputTokens != 30 || s.Running != 2 ||
		s.Took != time.Second {
		t.Errorf("the looks of the first second: %+v, want 30 tokens in a second", s)
	}
	if newServerFinder(nil).in(&metrics.Window{}) != nil {
		t.Error("a look out of nothing")
	}
}

func TestWhyParts(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		split metrics.TTFTSplit
		want  []string
		looks []metrics.ServerSecond
	}{
		{metrics.TTFTSplit{N: 9, SlotWait: 50 * ms, Connect: 10 * ms, TTFT: 40 * ms, Queue: 20 * ms, Prefill: 15 * ms,
			Rest:   5 * ms,
			Source: metrics.SplitByRequests}, []string{"queued here", "50.0ms   50%", "server queue", "20%", "prefill",
			"15%", "rest", "per-request", "100ms"}, nil},
		{metrics.TTFTSplit{N: 9, TTFT: 40 * ms, Queue: metrics.Never, Prefill: metrics.Never, Rest: 40 * ms,
			Source: metrics.SplitUnknown}, []string{"server + net", "100%", "–",
			"source: none, the server reports no parts"}, []metrics.ServerSecond{{Running: 1}}},
		{metrics.TTFTSplit{N: 9, TTFT: 40 * ms, Queue: metrics.Never, Prefill: metrics.Never, Rest: 40 * ms,
			Source: metrics.SplitUnknown}, []string{"source: /metrics, at the end of requests"},
			[]metrics.ServerSecond{{WaitsAtEnd: true}}},
		{metrics.TTFTSplit{N: 9, TTFT: 40 * ms, Queue: 10 * ms, Prefill: metrics.Never, Rest: 30 * ms,
			Source: metrics.SplitByMetrics, Seen: 9}, []string{"source: /metrics, of completed requests"},
			[]metrics.ServerSecond{{WaitsAtEnd: true}}},
		{metrics.TTFTSplit{N: 9, TTFT: 40 * ms, Queue: metrics.Never, Prefill: metrics.Never, Rest: 40 * ms,
			Source: metrics.SplitUnknown},
			[]string{"server + net", "source: /metrics, too little data here"},
			[]metrics.ServerSecond{{Queue: metrics.ServerLatency{N: 3, Mean: ms}}, {}}},
		{metrics.TTFTSplit{N: 9, TTFT: 40 * ms, Queue: 10 * ms, Prefill: metrics.Never, Rest: 30 * ms,
			Source: metrics.SplitByMetrics, Seen: 12},
			[]string{"rest", "75%", "source: /metrics, includes other requests: 12, own 9"}, nil},
		{metrics.TTFTSplit{N: 9, TTFT: 40 * ms, Queue: 10 * ms, Prefill: metrics.Never, Rest: 30 * ms,
			Source: metrics.SplitByMetrics, Seen: 9}, []string{"source: /metrics  "}, nil},
		{metrics.TTFTSplit{}, []string{"waiting for data"}, nil},
	} {
		s := metrics.Snapshot{Telemetry: metrics.Telemetry{Server: c.looks}, Report: &metrics.Report{Split: c.split}}
		got := whyPanel.inView(&View{Snapshot: &s, Terminal: screen.Terminal{Mono: true}}, 70, whyLines+2)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%+v: no %q in\n%s", c.split, w, got)
			}
		}
	}
}

// A column has the rates of all drafts in its seconds, and none where there were no drafts.
func TestDraftsOverTime(t *testing.T) {
	s := tuitest.Watched(tuitest.Mid(), 0)
	for i := range s.Server {
		look, drafts := &s.Server[i], 9-8*(i%2)
		look.SpecDecode = &metrics.SpecDecode{Drafts: drafts, AcceptedPerPosition: []int{9 * (1 - i%2), 0}}
		switch { // 9 of 10 in two seconds
		case i >= 40:
			look.SpecDecode = nil
		case i >= 20:
			look.SpecDecode.AcceptedPerPosition = []int{0, drafts}
		}
	}
	sf := screen.NewSurface(66, 2) // columns of two seconds
	sf.Terminal = screen.Terminal{ASCII: true}
	drawDrafts(sf.All(), &View{Snapshot: &s})
	const want = "1 50 ..........########## 0 45 ##########.........."
	got := sf.Render(&screen.Palette{Mono: true})
	if strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("\n%s", got)
	}
}
