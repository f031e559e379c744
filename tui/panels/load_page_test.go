package panels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	liveview "benchtop/metrics/live"
	"benchtop/tui/number"
	"benchtop/tui/screen"
	"benchtop/tui/tuitest"
)

func setAt(sec int, s metrics.LoadSetting) metrics.LogEntry {
	return metrics.LogEntry{At: time.Duration(sec) * time.Second, Set: &s}
}

func TestTargets(t *testing.T) {
	users := metrics.Users.Of(3)
	stages := func(loads ...metrics.Load) *metrics.Plan {
		p := &metrics.Plan{}
		for i, l := range loads {
			p.Stages = append(p.Stages,
				metrics.Stage{Start: time.Duration(i) * time.Minute, Length: time.Minute, Load: l})
		}
		return p
	}
	ramp := tuitest.RampPlan() // 4 to 80 within a minute
	steered := []metrics.LogEntry{
		setAt(10, metrics.LoadSetting{Load: metrics.Load{Value: 20}}),
		{At: 12 * time.Second, Mark: "stage 2"},
		setAt(20, metrics.LoadSetting{Load: metrics.Load{Value: 20}, RampTo: 60, RampOver: 20 * time.Second}),
		setAt(50, metrics.LoadSetting{Load: metrics.Load{Value: 60}, Paused: true}),
		setAt(60, metrics.LoadSetting{Load: metrics.Users.Of(8)}),
	}
	for _, c := range []struct {
		name   string
		plan   *metrics.Plan
		events []metrics.LogEntry
		at     float64 // seconds
		want   float64
		any    bool
	}{
		{"ramp", ramp, nil, 30, 42, true},
		{"steady", &metrics.Plan{Rate: 7}, nil, 30, 7, true},
		{"unlimited", &metrics.Plan{Rate: metrics.Rate(math.Inf(1))}, nil, 30, math.NaN(), false},
		{"no plan", nil, nil, 30, math.NaN(), false},
		{"before it was set", ramp, steered, 5, 4 + 76.0/12, true},
		{"set", ramp, steered, 15, 20, true},
		{"on a ramp of one's own", ramp, steered, 25, 30, true},
		{"beyond it", ramp, steered, 45, 60, true},
		{"paused", ramp, steered, 55, 0, true},
		{"users", ramp, steered, 65, math.NaN(), true},
		{"users alone", stages(users), nil, 1, math.NaN(), false},
		{"a stage of a rate", stages(users, metrics.Load{Value: 2}), nil, 1, math.NaN(), true},
		{"users, then a rate by hand", stages(users), steered[:1], 1, math.NaN(), true},
	} {
		targets := newTargets(&View{Snapshot: &metrics.Snapshot{Plan: c.plan, Marks: c.events}})
		got := targets.at(number.Seconds(c.at))
		if math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) || targets.any() != c.any {
			t.Errorf("%s: %g, any %v, want %g", c.name, got, targets.any(), c.want)
		}
	}
}

// After a thousand events the line of a live run still follows the last setting.
func TestTargetsBeyondTheMarks(t *testing.T) {
	rec := liveview.NewView(time.Now(), &metrics.Plan{Rate: 7})
	const n = 1200
	for i := range n {
		e := setAt(i, metrics.LoadSetting{Load: metrics.Load{Value: float64(i + 1)}})
		e.Mark = "set"
		eventtest.Tell(rec, e)
	}
	s := rec.Snapshot()
	targets := newTargets(&View{Snapshot: &s})
	for _, sec := range []int{0, 500, 999, 1000, 1100, n - 1} {
		if got := targets.at(time.Duration(sec)*time.Second + time.Millisecond); got != float64(sec+1) {
			t.Errorf("%d s: %g, want %d", sec, got, sec+1)
		}
	}
	assert.Equal(t, len(targets.set), n, "settings")
}

// Saturation is marked on every chart over time, before anything else that lies there, and so is every load that was
// set.
func TestSaturationAndSteeringAreMarked(t *testing.T) {
	s := flat(metrics.LogEntry{At: 29 * time.Second, Mark: "8 req/s"},
		setAt(50, metrics.LoadSetting{Load: metrics.Load{Value: 64}}))
	s.Plan = &metrics.Plan{Stages: []metrics.Stage{{Load: metrics.Load{Value: 4}}, {Load: metrics.Load{Value: 8}}}}
	s.Answer = &metrics.Answer{Saturates: true, Confirmed: true, From: 37, To: 40,
		Capacity: metrics.Range{Load: 38, Low: 37, High: 39}, SaturatedAt: 30 * time.Second}
	got := draw(loadOf(&s), axisWidth+60, 8)
	if top, want := strings.TrimRight(got[0], " "),
		"                                    │saturates 38 req/s┊64 req/s"; top != want {
		t.Errorf("top row %q, want %q", top, want)
	}
	for _, row := range got[3:6] {
		if r := []rune(row); r[axisWidth+30] != '│' {
			t.Errorf("no line of saturation in %q", row)
		}
	}
	s.Answer.Confirmed, s.Answer.From, s.Answer.To, s.Answer.Capacity = false, 24, 48, metrics.Range{}
	assert.Has(t, draw(loadOf(&s), axisWidth+60, 8)[0], "saturating? 24–48 req/s│")
	s.Answer.SaturatedAt = metrics.Never
	if top := draw(loadOf(&s), axisWidth+60, 8)[0]; strings.Contains(top, "satur") ||
		!strings.Contains(top, "┊8 req/s") {
		t.Errorf("top row %q", top)
	}
}

func stagedPlan() *metrics.Plan {
	p := &metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}}
	for i, rate := range []float64{8, 16, 32, 64} {
		p.Stages = append(p.Stages, metrics.Stage{Start: time.Duration(i) * 10 * time.Second, Length: 10 * time.Second,
			Load: metrics.Load{Value: rate}})
	}
	return p
}

func TestStageRows(t *testing.T) {
	s := metrics.Snapshot{At: 25500 * time.Millisecond, Plan: stagedPlan(), State: metrics.Running}
	for i := range 26 {
		w := &metrics.Window{Start: time.Duration(i) * time.Second, Counts: metrics.Counts{Sent: 8 << (i / 10),
			Completed: 8, Failed: 2, MetCount: metrics.MetCount{Good: 9 - i/10}}}
		w.Histograms[metrics.TTFT].Add(time.Duration(100+100*(i/10)) * time.Millisecond)
		s.Windows = append(s.Windows, w)
	}
	check := func(name string, want ...string) {
		t.Helper()
		v := &View{Snapshot: &s}
		var got []string
		for _, r := range v.stageRows() {
			words := metrics.Each(v.stageFigures([]stageRow{{LoadLevel: metrics.LoadLevel{Unit: metrics.Users}}, {}},
				200), func(col column[stageRow]) string {
				return col.of(r).Text
			})
			for _, n := range v.stageNotes(r, 60, true) {
				words = append(words, strings.TrimSpace(n.Text))
			}
			got = append(got, strings.TrimSpace(strings.Join(words, " ")))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check("by the plan",
		"00:00 8 req/s 8.0 8.0 100ms 90.0%", "00:10 16 req/s 16 8.0 201ms 80.0%",
		"00:20 32 req/s 32 8.0 303ms 70.0%  now",
		"00:30 64 req/s – – – –")
	s.Levels = []metrics.LoadLevel{
		{From: 0, To: 10 * time.Second, Offered: 8, LevelVerdict: metrics.LevelVerdict{Requests: 80, Good: 80,
			Standing: metrics.LevelWithin, Confidence: 0.939}, Sent: 8, Done: 7.9, TTFTp99: 90, Completed: 1},
		{From: 10 * time.Second, To: 20 * time.Second, Offered: 16,
			LevelVerdict: metrics.LevelVerdict{Requests: 160, Good: 155, Standing: metrics.LevelWithin,
				Confidence: 0.939}, Sent: 16, Done: 15.8, TTFTp99: 150, Completed: 1},
		{From: 20 * time.Second, To: 25 * time.Second, Offered: 32,
			LevelVerdict: metrics.LevelVerdict{Requests: 100, Good: 10, Standing: metrics.LevelMissed,
				Confidence: 0.939}, Sent: 31.6, Done: 17, TTFTp99: 2500, Completed: 0.5},
	}
	s.Answer = &metrics.Answer{Saturates: true, Confirmed: true, From: 16, To: 32, Before: 1, After: 2,
		TierAnswer: metrics.TierAnswer{Proven: 16, ProvenLevel: 1, Confidence: 0.93}}
	check("judged",
		"00:00 8 req/s 8.0 7.9 90.0ms 100.0% ✓ 93 %", "00:10 16 req/s 16 16 150ms 96.8% ✓ 93 % highest ↓ saturates",
		"00:20 32 req/s 32 17 2.50s 10.0% ! 93 % now", "00:30 64 req/s – – – –")
	levels := slices.Clone(s.Levels)
	s.Levels[1].LevelVerdict.Standing, s.Levels[2].LevelVerdict.Standing = metrics.LevelLimited, metrics.LevelUnanswered
	s.Levels[1].Confidence, s.Levels[2].Confidence = 0, 0
	s.Answer = &metrics.Answer{}
	check("no evidence",
		"00:00 8 req/s 8.0 7.9 90.0ms 100.0% ✓ 93 %", "00:10 16 req/s 16 16 150ms 96.8% ? client overloaded",
		"00:20 32 req/s 32 17 2.50s 10.0% ? server did not answer now", "00:30 64 req/s – – – –")
	s.Levels = append(slices.Clone(levels), metrics.LoadLevel{From: 25 * time.Second, To: 30 * time.Second, Offered: 20,
		LevelVerdict: metrics.LevelVerdict{Requests: 100, Good: 100}, Done: 20, TTFTp99: 100})
	s.Answer = &metrics.Answer{Saturates: true, Before: 3, After: 2}
	for i, r := range (&View{Snapshot: &s}).stageRows() {
		assert.Equal(t, r.saturatesAfter, i == 1, "up and down again: row %d has saturation after it", i)
	}
	s.Levels[0].Offered, s.Levels[1].Offered, s.Levels[2].Offered, s.Levels[3].Offered = 64, 48, 32, 16
	s.Answer = &metrics.Answer{Saturates: true, Before: 2, After: 1}
	for i, r := range (&View{Snapshot: &s}).stageRows() {
		assert.Equal(t, r.saturatesAfter, i == 1, "down: row %d has saturation after it", i)
	}
	s.Plan.Goodput = nil
	s.Levels, s.Answer = levels[:1], nil
	check("without objectives",
		"00:00 8 req/s 8.0 7.9 90.0ms –", "00:10 16 req/s 16 8.0 201ms –", "00:20 32 req/s 32 8.0 303ms –  now",
		"00:30 64 req/s – – – –")
}

// A search has one row for each load, from the lowest to the highest: it counts the tries, does not hide those that
// missed, and says held only of what was held.
func TestTriesOfASearch(t *testing.T) {
	plan := &metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 500}}}
	s := metrics.Snapshot{At: 55 * time.Second, Plan: plan, State: metrics.Running, Search: &metrics.Search{}}
	mark := func(sec int, phase metrics.SearchPhase) {
		s.Marks = append(s.Marks,
			metrics.LogEntry{At: time.Duration(sec) * time.Second, Search: &metrics.SearchStep{Phase: phase}})
	}
	level := func(from, to int, load float64, good int, st metrics.Standing) {
		s.Levels = append(s.Levels, metrics.LoadLevel{From: time.Duration(from) * time.Second,
			To: time.Duration(to) * time.Second, Offered: load, Completed: 1,
			LevelVerdict: metrics.LevelVerdict{Requests: 10 * (to - from), Good: good, Standing: st}})
	}
	mark(0, metrics.SearchClimbing)
	level(0, 10, 32, 40, metrics.LevelMissed)
	level(10, 14, 16, 20, metrics.LevelMissed)
	mark(14, metrics.SearchHolding)
	level(14, 30, 16, 160, metrics.LevelWithin)
	mark(30, metrics.SearchNarrowing)
	level(30, 40, 24, 50, metrics.LevelMissed)
	level(40, 50, 24, 60, metrics.LevelMissed)
	level(50, 60, 20, 100, metrics.LevelOpen)
	check := func(want ...string) {
		t.Helper()
		var got []string
		v := &View{Snapshot: &s}
		for _, r := range v.stageRows() {
			words := findings.Number(r.Offered) + " " + percent(r.within)
			for _, n := range v.stageNotes(r, 60, true) {
				words += " " + strings.TrimSpace(n.Text)
			}
			got = append(got, strings.TrimSpace(words))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check("16 100.0% ✓ 2 tries, 1 missed held, not proven", "20 100.0%  now", "24 50.0% ! 2 tries", "32 40.0% !")
	s.Answer = &metrics.Answer{TierAnswer: metrics.TierAnswer{Proven: 16, ProvenLevel: 2, Confidence: 0.96}}
	check("16 100.0% ✓ highest 2 tries, 1 missed held until proven", "20 100.0%  now", "24 50.0% ! 2 tries",
		"32 40.0% !")
}

func TestMostTellingStages(t *testing.T) {
	var rows []stageRow
	for i := range 12 {
		rows = append(rows, stageRow{LoadLevel: metrics.LoadLevel{Offered: float64(i)}, begun: i < 9, now: i == 8,
			saturatesAfter: i == 3, highest: i == 2})
	}
	for n, want := range map[int][]float64{
		0: nil, 2: {2, 3}, 3: {2, 3, 8}, 5: {2, 3, 6, 7, 8}, 10: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
	} {
		var got []float64
		kept, rest := keptStages(rows, n)
		for _, r := range kept {
			got = append(got, r.Offered)
		}
		if !slices.Equal(got, want) || rest != "" {
			t.Errorf("%d rows: %v, want %v; %q", n, got, want, rest)
		}
	}
	rows[0].Standing, rows[1].Standing, rows[5].Standing, rows[6].Standing = metrics.LevelMissed, metrics.LevelBehind,
		metrics.LevelMissed, metrics.LevelLimited
	for n, want := range map[int]string{
		0: "[]", 1: "[] and 3 more failed", 2: "[2] and 3 more failed", 3: "[2 3] and 3 more failed",
		4: "[2 3 8] and 3 more failed",
		5: "[2 3 5 8] and 2 more failed", 6: "[0 1 2 3 5 8]", 7: "[0 1 2 3 5 7 8]", 20: "[0 1 2 3 4 5 6 7 8 9 10 11]",
	} {
		kept, rest := keptStages(rows, n)
		got := metrics.Each(kept, func(r stageRow) float64 { return r.Offered })
		assert.Equal(t, strings.TrimSpace(fmt.Sprint(got, " ", rest)), want, "%d rows", n)
	}
}

// A second of the client belongs to the window it fills most of.
func TestClientSeconds(t *testing.T) {
	s := metrics.Snapshot{Client: []metrics.ClientSecond{
		{At: 1100 * time.Millisecond, Took: 1100 * time.Millisecond, Sent: 1},
		{At: 2100 * time.Millisecond, Took: time.Second, Sent: 2},
		{At: 5600 * time.Millisecond, Took: 3500 * time.Millisecond, Sent: 3}, // it stood still
	}}
	at := clientSeconds(&View{Snapshot: &s})
	for range 2 { // lines are drawn one after the other
		var got []int
		for k := range 7 {
			if c := at(&metrics.Window{Start: time.Duration(k) * time.Second}); c != nil {
				got = append(got, c.Sent)
			} else {
				got = append(got, 0)
			}
		}
		if want := []int{1, 2, 3, 3, 3, 3, 0}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// Whatever the height, the chosen one is there.
func TestPercentileTableFits(t *testing.T) {
	s := tuitest.Full()
	for h := 1; h < 9; h++ {
		for _, l := range latencies {
			sf := screen.NewSurface(60, h)
			drawPercentiles(sf.All(), &View{Snapshot: &s, Span: time.Minute, Latency: ShownLatency(&s, l)})
			if got := sf.Render(&screen.Palette{Mono: true}); !strings.Contains(got, "> ") {
				t.Errorf("%d lines: %s is not on\n%s", h, l.Naming().Title, got)
			}
		}
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		now, before float64
		want        string
	}{
		{100, 100, "0%"}, {101.5, 100, "+1.5%"}, {88, 100, "-12%"}, {150, 100, "+50%"}, {2500, 100, "×25"}, {5, 0, "–"},
		{math.NaN(), 100, "-100%"}, {100, math.NaN(), "–"}, {math.Inf(1), 100, "×10T"},
	} {
		assert.Equal(t, change(c.now, c.before), c.want, "%g after %g", c.now, c.before)
	}
}

// A run to compare with that was a thousand times as slow does not take the figures of this one away: they are in one
// unit only where both stand there.
func TestPercentilesBesideASlowBaseline(t *testing.T) {
	var fast, slow metrics.Histogram
	fast.Add(77 * time.Millisecond)
	slow.Add(77 * time.Second)
	s := metrics.Snapshot{At: time.Second, Plan: &metrics.Plan{}, Histograms: metrics.Histograms{metrics.TTFT: fast},
		Windows: []*metrics.Window{{Histograms: metrics.WindowHistograms{metrics.TTFT: fast}}}}
	b := &Baseline{Report: &metrics.Report{Histograms: metrics.Histograms{metrics.TTFT: slow},
		Statistics: metrics.Statistics{metrics.TTFT: metrics.Statistic{N: 1, Mean: 77_000}}}}
	for _, c := range []struct {
		h    int
		want string
	}{{1 + len(latencies), " ms "}, {1 + 2*len(latencies), " s "}} {
		sf := screen.NewSurface(120, c.h)
		drawPercentiles(sf.All(), &View{Snapshot: &s, Baseline: b})
		if row := strings.Split(sf.Render(&screen.Palette{Mono: true}), "\n")[1]; !strings.Contains(row, c.want) {
			t.Errorf("%d lines: %q, want%sin it", c.h, row, c.want)
		}
	}
}

// A pause moves the stages of the plan, so their planned moments are void: for a stage that would have begun in the
// pause, for the next one, and for the load that is on.
func TestStageRowsAfterAPause(t *testing.T) {
	s := metrics.Snapshot{At: 18 * time.Second, Plan: stagedPlan(), State: metrics.Running, Steering: metrics.Steering{
		LoadSetting: metrics.LoadSetting{Load: metrics.Load{Value: 16}, By: metrics.ByPlan}, Steerable: true,
		Changes: 2}}
	set := func(at time.Duration, load metrics.LoadSetting) {
		s.Marks = append(s.Marks, metrics.LogEntry{At: at * time.Second, Set: &load})
	}
	paused := func(from, to time.Duration) {
		s.Marks = nil
		set(from, metrics.LoadSetting{Load: metrics.Load{Value: 8}, Paused: true})
		set(to, metrics.LoadSetting{Load: metrics.Load{Value: 8}, By: metrics.ByUser})
		set(14, metrics.LoadSetting{Load: metrics.Load{Value: 16}, By: metrics.ByPlan})
	}
	seconds := func(from, to time.Duration, rate float64) metrics.LoadLevel {
		return metrics.LoadLevel{From: from * time.Second, To: to * time.Second, Offered: rate}
	}
	check := func(name string, now ...bool) {
		t.Helper()
		var got []bool
		for i, r := range (&View{Snapshot: &s}).stageRows() {
			if got = append(got, r.now); i < len(s.Levels) && r.From != s.Levels[i].From {
				t.Errorf("%s: row %d begins at %v", name, i, r.From)
			}
		}
		assert.EqualAll(t, got, now, "%s: rows are on", name)
	}
	paused(9, 12)
	s.Levels = []metrics.LoadLevel{seconds(0, 9, 8), seconds(12, 14, 8), seconds(14, 17, 16)}
	check("paused over the plan's moment", false, false, true)
	paused(4, 8)
	s.Levels = []metrics.LoadLevel{seconds(0, 4, 8), seconds(8, 14, 8), seconds(14, 17, 16)}
	check("paused before it", false, false, true)
	s.Levels = s.Levels[:2]
	check("the load is too young to be judged", false, false, true)
	set(17, metrics.LoadSetting{Load: metrics.Load{Value: 16}, Paused: true})
	check("paused again", false, false)
}

// Why saturation was not seen is said once.
func TestStagesTitleWithoutSaturation(t *testing.T) {
	for why, want := range map[string]string{
		"no saturation up to 16 users":   "stages · no saturation up to 16 users",
		"too few requests":               "stages · saturation unknown: too few requests",
		"saturated from 8 on":            "stages · saturated from 8 on",
		"no \x1b[1msaturation\nup to 16": "stages · no saturation up to 16",
	} {
		v := &View{Snapshot: &metrics.Snapshot{Plan: tuitest.RampPlan(), Answer: &metrics.Answer{Why: why}}}
		assert.Equal(t, strings.Join(strings.Fields(title(stagesPanel, v, 80, 20)), " "), want, "%q", why)
	}
}

// Several servers have a line each: what is in flight, failed, and their throughput so far.
func TestServersInTheTable(t *testing.T) {
	var waits metrics.Histogram
	waits.Add(30 * time.Millisecond)
	s := metrics.Snapshot{
		At: 12 * time.Second,
		Plan: &metrics.Plan{BaseURL: "http://10.0.0.1:8000", Servers: []string{"http://10.0.0.1:8000", "https://two"},
			Warmup: 2 * time.Second},
		Endpoints: []metrics.Group{
			{Slice: metrics.Slice{InFlight: 3, Counts: metrics.Counts{Sent: 9, Completed: 6, OutputTokens: 600},
				Histograms: [metrics.NumObjectives]metrics.Histogram{waits}}},
			{Server: 1, Model: "sql", Slice: metrics.Slice{Counts: metrics.Counts{Sent: 1, Failed: 7}}},
		},
	}
	for w, want := range map[int][]string{
		45: {"by server TTFT whole run", " p50 p99 tok/s failed ", "10.0.0.1:8000 30.1ms 30.1ms 60 0",
			"https://two sql – – 0 7"},
		90: {"share in flight req/s", "10.0.0.1:8000 46% 3 0.6"},
		30: {"10.0.0.1:8000 30.1ms 0"},
	} {
		got := drawn("endpoints", &s, w, 5)
		for _, word := range want {
			if !strings.Contains(got, word) {
				t.Errorf("%d columns: %q is not in\n%s", w, word, got)
			}
		}
	}
	s.Plan.Pooling = true
	if got := drawn("endpoints", &s, 45, 5); !strings.Contains(got, "req/s") || !strings.Contains(got, "0.6") {
		t.Errorf("pooling:\n%s", got)
	}
}

// Where there is no room for all rows, those that a person looks for come first, and the rest is counted: of servers
// without objectives by failures, else by good requests; of engines by their TTFT, then their queue.
func TestWorstRowsFirst(t *testing.T) {
	s := tuitest.Crowded(tuitest.Mid())
	s.Plan.Goodput = nil
	const name = "10.0.0.%d:8000/"
	for _, c := range []struct {
		panel, more string
		first       []int
	}{
		{"endpoints", "and 61 more; worst first", []int{40, 39, 38}},
		{"engines", "and 61 more; slowest first", []int{30, 29, 28}},
	} {
		got, rest := drawn(c.panel, &s, 80, 7), ""
		for _, i := range c.first {
			_, after, ok := strings.Cut(cmp.Or(rest, got), fmt.Sprintf(name, i))
			if rest = after; !ok {
				t.Fatalf("%s: server %d is not in its place:\n%s", c.panel, i, got)
			}
		}
		if !strings.Contains(rest, c.more) {
			t.Errorf("%s: %q is not in\n%s", c.panel, c.more, got)
		}
	}
}

// The rows of a run with names of 10,000 characters are drawn in no time.
func BenchmarkCrowded(b *testing.B) {
	s := tuitest.Crowded(tuitest.Mid())
	turned(&s, 0, 1, 1) // with the run to compare with
	for b.Loop() {
		v, sf := turned(&s, 0, 120, 40)
		for _, box := range Layout(Pages[0], 120, 40, v).Panels {
			p, _ := Named(box.Name)
			p.Draw(box.Rect.Of(sf.All()), v, box, false)
		}
	}
}

// Several engines, and several servers, are said to be the source of the figures of the queue.
func TestWhoseQueue(t *testing.T) {
	for want, engines := range map[string][]metrics.Engine{
		" vLLM queue ━ running":         nil,
		" queue of 2 engines ━ running": {{Name: "0"}, {Name: "1"}},
		" queue of 2 servers ━ running": {{Name: "0"}, {Server: 1, Name: "0"}},
		" queue of 3 engines ━ running": {{Name: "0"}, {Name: "1"}, {Server: 1}},
		" queue of 5 servers ━ running": {{}, {Server: 1}, {Server: metrics.OtherServers, Name: metrics.OtherEngines}},
		" queue of over 2 engines ━ running": {{Name: "0"}, {Name: "1"},
			{Server: metrics.OtherServers, Name: metrics.OtherEngines}},
	} {
		s := tuitest.Watched(tuitest.Mid(), 0)
		s.Plan.Servers = make([]string, 5)
		for i := range s.Server {
			s.Server[i].Engines = engines
		}
		assert.Has(t, drawn("server queue", &s, 100, 12), want)
	}
}

// Engines have the names of their pages of metrics. Where they are of several roles, the tokens of prompts stay where
// there is little room, and the parts of TTFT have no source.
func TestNamedEngines(t *testing.T) {
	s := tuitest.Watched(tuitest.Mid(), 0)
	for i := range s.Server {
		s.Server[i].Engines = []metrics.Engine{{Name: "0"}, {Server: 1, Name: "0"}, {Server: 1, Name: "1"}}
	}
	s.Plan.Servers = []string{"http://router"}
	for _, c := range []struct {
		roles []string
		w     int
		want  string
		shown bool
	}{{[]string{"a", "b"}, 100, "tok/s in", true}, {[]string{"a", "b"}, 46, "tok/s in", true},
		{[]string{"a", "a"}, 46, "tok/s in", false}} {
		s.Plan.Pages = []metrics.Page{{Name: "prefill\x1b 1", Role: c.roles[0]}, {Name: "decode", Role: c.roles[1]}}
		got := drawn("engines", &s, c.w, 12)
		for _, want := range []string{"3 engines by /metrics", "prefill", "decode 0", "decode 1"} {
			if !strings.Contains(got, want) || strings.Contains(got, "router") {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
		if strings.Contains(got, c.want) != c.shown {
			t.Errorf("%d columns, roles %q: %q is shown: %t in\n%s", c.w, c.roles, c.want, !c.shown, got)
		}
		why, several := splitSource(metrics.TTFTSplit{}, &View{Snapshot: &s}, 60), c.roles[0] != c.roles[1]
		if strings.Contains(why, "each engine has a part of a wait") != several {
			t.Errorf("roles %q: %s", c.roles, why)
		}
	}
}

// The row of the servers without one of their own has their number.
func TestOtherServers(t *testing.T) {
	s := tuitest.Watched(tuitest.Mid(), 0)
	s.Plan.Servers = make([]string, 200)
	for i := range s.Server {
		s.Server[i].Engines = []metrics.Engine{{}, {Server: 1},
			{Server: metrics.OtherServers, Name: metrics.OtherEngines}}
	}
	assert.Has(t, drawn("engines", &s, 100, 12), "198 others")
}

// Lengths that are all alike leave their room to the other panels.
func TestLayoutOfOneLength(t *testing.T) {
	lines := func(lengths int) int {
		s := tuitest.Mid()
		s.Windows = metrics.Each(s.Windows, (*metrics.Window).Clone)
		for i := range s.Windows {
			ends := &metrics.Ends{}
			ends[metrics.ByPromptLength][10+i%lengths] = 1
			s.Windows[i].Ends = ends
		}
		v := &View{Snapshot: &s}
		for _, b := range loadPage(Rect{W: 200, H: 50}, v) {
			if b.Name == promptLengthsPanel.name {
				return b.Rect.H - 2
			}
		}
		return 0
	}
	s := tuitest.Mid()
	s.Windows = metrics.Each(s.Windows, (*metrics.Window).Clone)
	for i := range s.Windows {
		s.Windows[i].Ends = &metrics.Ends{metrics.ByPromptLength: {10: 1}}
	}
	if got := drawn("prompt lengths", &s, 60, lengthLines+2); strings.Count(got, "≤1k") != 2 {
		t.Errorf("the band is not named ≤1k on its axis in\n%s", got)
	}
	if one, two := lines(1), lines(2); one != lengthLines || two <= lengthLines {
		t.Errorf("%d lines for one length, want %d; %d for two, want more", one, lengthLines, two)
	}
}
