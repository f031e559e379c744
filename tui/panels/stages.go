package panels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// stagesPanel lists the loads of the run, and the results of each.
var stagesPanel = Panel{name: "stages", open: func(v *View) (titleOf, drawOf) {
	rows := v.stageRows()
	title := func(v *View, _, h int) []screen.Span { return v.stagesTitle(rows, h) }
	return title, func(c screen.Canvas, v *View) { v.drawStages(c, rows) }
}}

func (v *View) stagesTitle(rows []stageRow, h int) []screen.Span {
	name := "stages"
	if v.Search != nil {
		name = "loads tried"
	}
	out := []screen.Span{screen.Strong.Span(name)}
	if len(rows) > h-3 {
		out = append(out, screen.Text.Span(fmt.Sprintf(" %d", len(rows))), screen.Label.Span(" · z shows all"))
	}
	if f := v.finding(findings.Saturation); f.Long != "" {
		out = append(out, findingStyle(&f).Span(" · "+f.Long))
	}
	return out
}

// drawStages writes a row for each load. The load after which the server saturates and the highest within the
// objectives have notes at their ends.
//
//	 from  plan/s sent/s done/s TTFT p99  in SLO
//	00:00       8    8.0    8.0    210ms  100.0% ✓
//	00:30      16     16     16    340ms   97.1% ✓  97 %  highest
//	── saturates between 16 and 32 req/s ─────────────────────────────────
//	01:00      32     32     19    4.21s   31.0% !  99 %
func (v *View) drawStages(c screen.Canvas, rows []stageRow) {
	if len(rows) == 0 {
		c.Center(nothingYet, screen.Label)
		return
	}
	y := 0
	if c.H > 2 {
		y = 1
	}
	lined := c.H-y > len(rows)
	notes := func(c screen.Canvas, r stageRow, _ screen.Style) { c.Spans(1, 0, v.stageNotes(r, c.W-1, !lined)) }
	t := table[stageRow]{figures: v.stageFigures(rows, c.W), after: field[stageRow]{draw: notes}}
	sure := func(r stageRow) bool { return r.Confidence > 0 && r.Standing != metrics.LevelUnknown }
	if words := "    confidence"; len(v.tiers()) < 2 && slices.ContainsFunc(rows, sure) &&
		t.figures.width()+len(words) <= c.W {
		t.after.name = words
	}
	if y > 0 {
		t.head(c)
	}
	telling, rest := keptStages(rows, c.H-y)
	for _, r := range telling {
		t.row(c.Sub(0, y, c.W, 1), r, r.style())
		y++
		if r.saturatesAfter && lined {
			v.saturationLine(c.Sub(0, y, c.W, 1))
			y++
		}
	}
	if rest != "" {
		c.Print(1, y, rest, screen.Warning)
	}
}

// saturationLine stands between the last load before saturation and the first after it.
func (v *View) saturationLine(c screen.Canvas) {
	for x := 1; x < c.W-1; x++ {
		c.Set(x, 0, '─', screen.Style{Fg: screen.Bad})
	}
	c.Print(3, 0, " "+v.finding(findings.Saturation).Long+" ", screen.Warning)
}

// stageNotesWidth is kept for the words behind a row.
const stageNotesWidth = 11

// stageTable are the columns of the loads. Loads of one kind have their unit in the name of their column, others behind
// each.
func (v *View) stageFigures(rows []stageRow, w int) columns[stageRow] {
	planned := column[stageRow]{"plan/s", 8, func(r stageRow) screen.Span {
		return screen.Text.Span(findings.Number(r.Offered))
	}, 0}
	users := 0
	for _, r := range rows {
		if r.Unit == metrics.Users {
			users++
		}
	}
	switch users {
	case 0:
	case len(rows):
		planned.name = "users"
	default:
		planned.name, planned.w = "planned", 11
		planned.of = func(r stageRow) screen.Span { return screen.Text.Span(findings.Load(r.Unit.Of(r.Offered))) }
	}
	all := columns[stageRow]{
		{"from", 6, func(r stageRow) screen.Span { return screen.Label.Span(number.Clock(r.From)) }, 3},
		planned,
		{"sent/s", 7, func(r stageRow) screen.Span { return rateCell(r.Sent) }, 2},
		{"done/s", 7, func(r stageRow) screen.Span { return rateCell(r.Done) }, 1},
		{v.firstWait().Naming().Title + " p99", 9, func(r stageRow) screen.Span {
			return screen.Text.Span(orDash(r.TTFTp99 > 0, number.Latency, number.Seconds(r.TTFTp99/1000)))
		}, 0},
	}
	tiers := v.tiers()
	if len(tiers) < 2 {
		all = append(all, column[stageRow]{"in SLO", 8,
			func(r stageRow) screen.Span { return cell(orDash(!math.IsNaN(r.within), percent, r.within)) }, 0})
		return all.fit(w - stageNotesWidth)
	}
	for i, tier := range tiers {
		all = append(all, column[stageRow]{screen.Shorten(tier.Name, tierWidth-1), tierWidth,
			func(r stageRow) screen.Span { return r.tier(i) }, min(i, 4)})
	}
	return all.fit(w - stageNotesWidth)
}

// tierWidth is that of the column of a tier: a share and its sign.
const tierWidth = 10

// tier is the share of requests within the objectives of a tier, with the sign of its verdict.
func (r *stageRow) tier(i int) screen.Span {
	of := r.Tier(i)
	share, known := part(of.Good, of.Requests)
	if i == 0 {
		share, known = r.within, !math.IsNaN(r.within)
	}
	if !known {
		return screen.Text.Span("–  ")
	}
	sign := standingSign(of.Standing)
	return screen.Span{Text: percent(share) + " " + sign.Text, Style: sign.Style}
}

// standingSign is the verdict on a level in one column.
func standingSign(s metrics.Standing) screen.Span {
	switch s {
	case metrics.LevelOpen:
		return screen.Text.Span(" ")
	case metrics.LevelWithin:
		return screen.Success.Span("✓")
	case metrics.LevelMissed, metrics.LevelBehind:
		return screen.Warning.Span("!")
	}
	return screen.Label.Span("?")
}

func rateCell(perSecond float64) screen.Span {
	return screen.Text.Span(orDash(!math.IsNaN(perSecond), number.Rate, perSecond))
}

// style is that of a row: the load that is on stands out, those to come stand back.
func (r *stageRow) style() screen.Style {
	switch {
	case r.now:
		return screen.Strong
	case !r.begun:
		return screen.Label
	}
	return screen.Text
}

// stageNotes are the signs at the end of a row, as many as fit.
func (v *View) stageNotes(r stageRow, w int, saturation bool) []screen.Span {
	var out []screen.Span
	add := func(is bool, s string, st screen.Style) bool {
		is = is && len(out) > 0 && s != "" && screen.SpansWidth(out)+2+screen.Width(s) <= w
		if is {
			out = append(out, st.Span("  "+s))
		}
		return is
	}
	sign := standingSign(r.Standing)
	tiers := v.tiers()
	if math.IsNaN(r.within) && r.Standing.Evidence() || len(tiers) > 1 { // each tier has its own
		sign = screen.Text.Span(" ")
	}
	out = append(out, sign)
	if len(tiers) == 1 && r.Standing != metrics.LevelUnknown {
		add(true, findings.Confidence(r.Confidence), sign.Style)
	}
	switch r.Standing {
	case metrics.LevelLimited:
		add(true, "client overloaded", screen.Label)
	case metrics.LevelUnanswered:
		add(true, "server did not answer", screen.Label)
	case metrics.LevelBehind:
		add(true, percent(r.Completed)+" completed", screen.Warning)
	}
	if len(tiers) > 1 {
		add(len(r.highestFor) > 0, "highest "+strings.Join(r.highestFor, ", "), screen.Strong)
	} else {
		add(r.highest, "highest", screen.Strong)
		held := add(r.Missing > 0 && v.State == metrics.Running, findings.Missing(r.Missing), screen.Label)
		if why := screen.Sanitize(r.Why); !held && r.Standing == metrics.LevelUnknown &&
			!add(true, why, screen.Label) {
			cause, _, _ := strings.Cut(why, ":")
			add(true, screen.Shorten(cause, w-screen.SpansWidth(out)-2), screen.Label)
		}
	}
	add(true, r.triesText(), screen.Label)
	switch {
	case r.held && r.highest:
		add(true, "held until proven", screen.Strong)
	case r.held && v.State == metrics.Running && r.now:
		add(true, "held for a proof", screen.Strong)
	case r.held:
		add(true, "held, not proven", screen.Strong)
	}
	add(r.saturatesAfter && saturation, "↓ saturates", screen.Warning)
	add(r.now, "now", screen.Label)
	return out
}

// stageRow is a load and its results. Figures that are not known yet are NaN.
type stageRow struct {
	metrics.LoadLevel         // TTFTp99 is of E2EL where answers come in one piece
	within            float64 // share of requests that met the objectives, from 0 to 1
	now, begun        bool
	saturatesAfter    bool
	held              bool // by a search, for a proof
	highest           bool
	highestFor        []string // the tiers of several, whose highest load it is
	tries, missed     int      // of this load in a search, and those that failed
}

// stageRows are the loads in order of time, those of a search from the lowest to the highest: those that were judged,
// and those of the plan that are still to come. From the first moment on at which the load was set or paused only those
// that were judged are known, and the one that was set last: the stages of the plan then come at other moments, or
// never.
func (v *View) stageRows() []stageRow {
	out := v.judgedRows()
	first, last := v.settings()
	for _, stage := range v.plan().Stages {
		if first != nil {
			stage.Length = min(stage.End(), first.At) - stage.Start
		}
		start := max(stage.Start, v.plan().Warmup)
		judged := slices.IndexFunc(out, func(r stageRow) bool { return r.From <= start && start < r.To })
		switch {
		case judged >= 0: // it may still be on
			out[judged].To = max(out[judged].To, stage.End())
		case stage.End() > start:
			out = append(out, v.liveStage(stage))
		}
	}
	slices.SortStableFunc(out, func(a, b stageRow) int { return cmp.Compare(a.From, b.From) })
	if last != nil && !last.Set.Paused && last.Set.RampTo == 0 && v.State == metrics.Running {
		if n := len(out); n == 0 || out[n-1].From < last.At { // too young to be judged
			out = append(out, v.liveStage(metrics.Stage{Start: last.At, Length: v.At - last.At, Load: last.Set.Load}))
		}
		out[len(out)-1].To = endless
	}
	for i := range out {
		out[i].now = v.State == metrics.Running && v.At >= out[i].From && v.At < out[i].To
	}
	if v.Search != nil {
		slices.SortStableFunc(out, func(a, b stageRow) int { return cmp.Compare(a.Offered, b.Offered) })
		return mergedTries(out)
	}
	return out
}

// mergedTries has one row for all tries of a load. Its figures are those of the try that proves the load, else of the
// one with the most requests.
func mergedTries(rows []stageRow) (out []stageRow) {
	for _, r := range rows {
		r.tries = 1
		if r.Standing.Failed() {
			r.missed = 1
		}
		n := len(out)
		if n == 0 || out[n-1].Unit != r.Unit || findings.Number(out[n-1].Offered) != findings.Number(r.Offered) {
			out = append(out, r)
			continue
		}
		shown, other := out[n-1], r
		if !shown.highest && (r.highest || r.Requests > shown.Requests) {
			shown, other = r, shown
		}
		shown.tries, shown.missed = shown.tries+other.tries, shown.missed+other.missed
		shown.now, shown.held = shown.now || other.now, shown.held || other.held
		shown.saturatesAfter = shown.saturatesAfter || other.saturatesAfter
		shown.highest = shown.highest || other.highest
		shown.highestFor = append(slices.Clip(shown.highestFor), other.highestFor...)
		out[n-1] = shown
	}
	return out
}

// triesText is how often a load was tried, where that was more than once, and how often it missed if not always.
func (r *stageRow) triesText() string {
	switch {
	case r.tries < 2:
		return ""
	case r.missed == 0 || r.missed == r.tries:
		return fmt.Sprintf("%d tries", r.tries)
	}
	return fmt.Sprintf("%d tries, %d missed", r.tries, r.missed)
}

// judgedRows are the loads that were judged.
func (v *View) judgedRows() (out []stageRow) {
	found, a, saturation := v.findings(), v.answer(), -1
	switch {
	case a == nil || !a.Saturates:
	case v.Search != nil:
		saturation = a.Before
	default:
		saturation = lastBeforeSaturation(v.levels(), a)
	}
	for i, l := range v.levels() {
		r := stageRow{LoadLevel: l, begun: true, within: math.NaN(), saturatesAfter: i == saturation,
			held: v.held(&l)}
		if share, known := part(l.Good, l.Requests); known && v.judges() {
			r.within = share
		}
		for k, f := range found { // those of the tiers are the first
			if f.ID == findings.Within && f.Severity == findings.Good && slices.Contains(f.Touches, i) {
				r.highest = true
				sure := findings.Confidence(a.Tier(k).Confidence)
				r.highestFor = append(r.highestFor, strings.TrimSpace(f.Tier+" "+sure))
			}
		}
		out = append(out, r)
	}
	return out
}

// held reports whether a search, or what confirms it, held a load for a proof.
func (v *View) held(l *metrics.LoadLevel) (held bool) {
	for i := range v.Marks {
		switch e := &v.Marks[i]; {
		case e.At > l.From:
			return held
		case e.Search != nil:
			held = e.Search.Phase == metrics.SearchHolding
		case v.Search != nil && e.Set != nil && e.Set.By == metrics.ByConfirm:
			held = true
		}
	}
	return held
}

// settings are the first and the last event that set or paused the load, nil for none.
func (v *View) settings() (first, last *metrics.LogEntry) {
	for i := range v.Marks {
		if e := &v.Marks[i]; e.Set != nil {
			if last = e; first == nil {
				first = e
			}
		}
	}
	return first, last
}

// lastBeforeSaturation is the level before the line of saturation in a table in order of time. Where the load rose and
// fell again, the last level below saturation may come after those beyond it; then the line is before the first beyond
// it, as in the charts. If the load only fell the line is before the first level below saturation.
func lastBeforeSaturation(levels []metrics.LoadLevel, a *metrics.Answer) int {
	switch {
	case a.Before < a.After || a.After < 0 || a.After >= len(levels):
		return a.Before
	case a.After > 0 && levels[a.After-1].Offered < levels[a.After].Offered:
		return a.After - 1
	}
	return a.Before - 1
}

// liveStage is a stage of the plan by its seconds so far: of requests that ended in it, not of those that were
// scheduled in it.
func (v *View) liveStage(s metrics.Stage) stageRow {
	r := stageRow{begun: v.At > s.Start, within: math.NaN()}
	r.From, r.To, r.Offered, r.Unit, r.Sent, r.Done = s.Start, s.End(), s.Value, s.Unit, math.NaN(), math.NaN()
	ws := within(closedWindows(v.Snapshot), s.Start, s.End())
	if len(ws) == 0 {
		return r
	}
	var wait metrics.Histogram
	for i := range ws {
		wait.Merge(&ws[i].Histograms[v.firstWait()])
	}
	t := sum(ws)
	r.Sent, r.Done = float64(t.Sent)/float64(len(ws)), float64(t.Completed)/float64(len(ws))
	r.TTFTp99 = metrics.Milliseconds(wait.Quantile(0.99))
	if share, known := goodput(&t, 0); known && v.judges() {
		r.within = share // so far, without a verdict
	}
	return r
}

// failed reports whether a load was not within the objectives. A load that the client limited is neither, nor is one
// without a server.
func (r *stageRow) failed() bool {
	return r.Standing.Failed() || r.missed > 0
}

// keptStages keeps at most n rows in their order: the load that is on or held, those around saturation and the highest
// within the objectives, those that failed, then the newest. Where there is no room for all that failed, rest counts
// those left out for the last row.
func keptStages(rows []stageRow, n int) (kept []stageRow, rest string) {
	kept, missing := keepStages(rows, n)
	if missing > 0 && n > 0 {
		kept, missing = keepStages(rows, n-1)
		rest = fmt.Sprintf("and %d more failed", missing)
	}
	return kept, rest
}

// keepStages keeps at most n rows and counts those that failed and are left out.
func keepStages(rows []stageRow, n int) (kept []stageRow, missing int) {
	kept, left := keep(rows, n,
		claim[stageRow]{of: func(r *stageRow) bool { return r.now || r.held || r.saturatesAfter || r.highest }},
		claim[stageRow]{(*stageRow).failed, true}, claim[stageRow]{func(r *stageRow) bool { return r.begun }, true})
	for _, r := range left {
		if r.failed() {
			missing++
		}
	}
	return kept, missing
}
