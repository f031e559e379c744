package panels

import (
	"fmt"
	"strings"

	"benchtop/internal/text"
	"benchtop/metrics/grid"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// sweepState is the state of the sweep, a sign, a word and a colour.
func (v *SweepView) sweepState() screen.Span {
	over, failed, all := v.counts()
	switch {
	case v.Over && failed > 0:
		return screen.Warning.Span(fmt.Sprintf("✗ %d FAILED", failed))
	case v.Over && v.Stopping:
		return screen.Caution.Span("■ STOPPED")
	case v.Over && over < all:
		return screen.Warning.Span("■ INCOMPLETE")
	case v.Over:
		return screen.Success.Span("✓ DONE")
	case v.Stopping:
		return screen.Caution.Span("◐ STOPPING")
	case v.Server.State == grid.ServerStarting:
		return screen.Caution.Span("◐ STARTING SERVER")
	}
	return screen.Success.Span("● RUN")
}

// TerminalTitle names a terminal by the series: what it is, and how far.
func (v *SweepView) TerminalTitle() string {
	over, all, _ := v.extent()
	return fmt.Sprintf("benchtop %s %s %d/%d", screen.Sanitize(v.Title), v.sweepState().Text, over, all)
}

// extent counts what is over and all: the runs of a single combination, else the combinations, of whose runs it tells.
func (v *SweepView) extent() (over, all int, runs string) {
	over, _, all = v.counts()
	done, of := 0, 0
	for i := range v.cells {
		o, n := runsDone(v.cells[i].Runs)
		done, of = done+o, of+n
	}
	switch {
	case len(v.cells) == 1:
		return done, of, ""
	case of > 0:
		runs = fmt.Sprintf("%d of %s", done, text.Count(of, "run"))
	}
	return over, all, runs
}

// drawHead writes one or two lines: the title, the state and the progress; the directory and the size of the sweep.
func (v *SweepView) drawHead(c screen.Canvas) {
	over, all, size := v.extent()
	right := []screen.Span{v.sweepState(), screen.Text.Span(fmt.Sprintf(" %d/%d", over, all)),
		screen.Text.Span("  " + number.Clock(v.Elapsed))}
	if v.LeftKnown && !v.Over {
		about := "  ~"
		if len(v.searches) > 0 { // which comes up with further loads
			about = "  ≥"
		}
		right = append(right, screen.Label.Span(about+number.Coarse(v.Left)+" left"))
	}
	if v.Slower != "" {
		right = append([]screen.Span{screen.Label.Span(v.Slower + "  ")}, right...)
	}
	for len(right) > 2 && screen.SpansWidth(right) > c.W {
		right = right[:len(right)-1]
	}
	room := c.Sub(0, 0, max(0, c.W-screen.SpansWidth(right)-1), 1)
	x := room.Print(0, 0, "benchtop", screen.Strong)
	x = room.Print(x, 0, "  "+screen.Sanitize(v.Title), screen.Label)
	if free := room.W - x - 4; free >= 12 && all > 0 {
		w := min(free, 40)
		chart.Bar(room.Sub(room.W-w-1, 0, w, 1), float64(over)/float64(all))
	}
	c.Spans(c.W-screen.SpansWidth(right), 0, right)
	if c.H < 2 {
		return
	}
	c.Right(c.W, 1, size, screen.Label)
	c.Print(0, 1, screen.ShortenMiddle(screen.Sanitize(v.Dir), max(0, c.W-screen.Width(size)-2)), screen.Label)
}

// best is a figure of the verdict with its words.
type best struct{ figure, which, what, short string }

var bests = [...]best{
	{"tok/s", "best ", "throughput ", ""}, {"TTFT p99", "lowest ", "p99 TTFT ", "p99 TTFT "},
	{"TPOT p99", "lowest ", "p99 TPOT ", "p99 TPOT "},
}

// words are those before the figure: of the best combination, or of the only one, of whose runs it is the median.
func (b *best) words(v *SweepView, at *sweepCell) (long, short string) {
	which := b.which
	if len(v.cells) == 1 {
		if which = ""; b.runs(at) > 1 {
			which = "median "
		}
	}
	if short = b.short; short == "" {
		short = which
	}
	return which + b.what, short
}

// runs of a combination that have the figure.
func (b *best) runs(at *sweepCell) int {
	_, _, n := at.Range(figureNamed(b.figure).of)
	return n
}

// drawVerdict writes the best of the sweep so far in one line; once it is over, on a card where there is room for it.
func (v *SweepView) drawVerdict(c screen.Canvas) {
	if c.H > 1 {
		v.drawCard(c)
		return
	}
	var all []remark
	spare := 0 // of a search: at the end the summary matters more
	if v.Over {
		all, spare = append(all, remark{long: screen.Sanitize(v.Summary), style: screen.Strong}), 5
	}
	for _, s := range v.searches {
		found := searchWords(s)
		all = append(all, remark{long: s.Tier + " " + found.Text, style: found.Style, spare: spare})
	}
	for i, b := range bests {
		g := figureNamed(b.figure)
		if at, value := v.best(g); at != nil {
			long, short := b.words(v, at)
			r := remark{long: long + v.bestWords(g, value), short: short + v.bestWords(g, value),
				style: screen.Text, spare: i}
			if i == 0 && len(v.searches) == 0 {
				r.long += " (" + at.spreadWords(g) + ")"
				if len(v.cells) > 1 {
					r.long += "  " + screen.ShortenMiddle(at.name(), c.W/2)
				}
			}
			if i == 0 && c.W >= 110 { // its name is worth more than the long words of the others
				r.short = ""
			}
			all = append(all, r)
		}
	}
	if n := len(v.front); n > 1 {
		all = append(all,
			remark{long: fmt.Sprintf("Pareto front %d of %d", n, v.measured()), style: screen.Text, spare: 4})
	}
	if len(all) == 0 {
		all = []remark{{long: "measuring …", style: screen.Label}}
	}
	c.Spans(0, 0, fitVerdict(all, c.W))
}

func (v *SweepView) bestWords(g *sweepFigure, value float64) string {
	if g.higher {
		return g.write(value) + " " + g.name
	}
	return g.write(value)
}

// spreadWords say how far the runs of a combination lie apart in a figure, of which its median stands on the screen.
func (c *sweepCell) spreadWords(g *sweepFigure) string {
	least, most, runs := c.Range(g.of)
	if runs < 2 {
		return "single run"
	}
	return fmt.Sprintf("%s – %s, %d runs", g.write(least), g.write(most), runs)
}

func (v *SweepView) measured() (n int) {
	for i := range v.cells {
		if v.cells[i].measured {
			n++
		}
	}
	return n
}

const mostCardSearches = 9

// card are the lines of what came out, a label and words each: the summary, each tier and best figure, the front, the
// next command.
func (v *SweepView) card() (out [][2]screen.Span) {
	add := func(label string, words screen.Span) {
		out = append(out, [2]screen.Span{screen.Label.Span(label), words})
	}
	add("result", screen.Strong.Span(screen.Sanitize(v.Summary)))
	for i, s := range v.searches {
		if left := len(v.searches) - i; i == mostCardSearches-1 && left > 1 {
			add("", screen.Label.Span(fmt.Sprintf("and %d more, in the files sla.json", left)))
			break
		}
		add(s.Tier, searchWords(s))
	}
	for _, b := range bests {
		g := figureNamed(b.figure)
		if at, value := v.best(g); at != nil {
			words := v.bestWords(g, value) + " (" + at.spreadWords(g) + ")"
			if len(v.cells) > 1 {
				words += "  " + at.name()
			}
			long, _ := b.words(v, at)
			add(strings.TrimSpace(long), screen.Text.Span(words))
		}
	}
	if n := len(v.front); n > 1 {
		first, last := &v.cells[v.front[0]].point, &v.cells[v.front[n-1]].point
		add("Pareto front",
			screen.Text.Span(fmt.Sprintf("%d of %d, from %s tok/s/user at %s %s to %s at %s", n, v.measured(),
				number.Rate(first.PerUser), number.Rate(first.PerGPU), v.throughput(), number.Rate(last.PerUser),
				number.Rate(last.PerGPU))))
	}
	if at, _ := v.best(figureNamed("tok/s")); v.Dir != "" && v.measured() > 1 && at != nil {
		dir := screen.Sanitize(v.Dir)
		add("curves", screen.Text.Span("benchtop sweep plot "+dir))
		add("Pareto plot", screen.Text.Span("benchtop sweep plot_pareto "+dir))
	}
	return out
}

func (v *SweepView) drawCard(c screen.Canvas) {
	all, labels := v.card(), 0
	for _, l := range all {
		labels = min(max(labels, screen.Width(l[0].Text)), c.W/2)
	}
	for y, l := range all {
		c.Print(1, y, screen.ShortenMiddle(l[0].Text, labels), l[0].Style)
		c.Print(labels+3, y, l[1].Text, l[1].Style)
	}
}

// serverSpans are the state of the server, and for how long.
func (v *SweepView) serverSpans() []screen.Span {
	s := &v.Server
	st, sign := screen.Label, "●"
	switch s.State {
	case grid.ServerNone:
		return []screen.Span{screen.Strong.Span("server"), screen.Label.Span(" none")}
	case grid.ServerReady:
		st = screen.Success
	case grid.ServerStarting, grid.ServerStopping:
		st, sign = screen.Caution, "◐"
	case grid.ServerFailed:
		st, sign = screen.Warning, "✗"
	}
	out := []screen.Span{screen.Strong.Span("server"), st.Span(" " + sign + " " + screen.Sanitize(string(s.State)))}
	if s.Since > 0 && s.State != grid.ServerForeign {
		out = append(out, screen.Text.Span(" "+number.Clock(s.Since)))
	}
	return out
}

func (v *SweepView) serverTitle() []screen.Span {
	out := v.serverSpans()
	if v.Server.Command != "" {
		out = append(out, screen.Label.Span(" "+screen.Sanitize(v.Server.Command)))
	}
	return out
}

// drawServer shows the last lines of the server's log, those that fit, or as many as scrolled back.
func (v *SweepView) drawServer(c screen.Canvas) {
	lines := v.LogLines(c.W)
	if len(lines) == 0 {
		c.Center("the server has printed nothing", screen.Label)
		return
	}
	end := max(min(len(lines)-v.Scroll, len(lines)), min(c.H, len(lines)))
	for y, l := range lines[max(0, end-c.H):end] {
		c.Print(0, y, l, logStyle(l))
	}
}

// logStyle is the weight of a line of a server's log.
func logStyle(line string) screen.Style {
	start := strings.ToUpper(line[:min(len(line), 60)])
	switch {
	case strings.Contains(start, "ERROR") || strings.Contains(start, "CRITICAL") ||
		strings.Contains(start, "TRACEBACK"):
		return screen.Warning
	case strings.Contains(start, "WARN"):
		return screen.Caution
	}
	return screen.Text
}

// LogLines is the server's log, wrapped to w columns where it has the screen to itself.
func (v *SweepView) LogLines(w int) []string {
	var out []string
	for _, l := range v.Server.Log {
		if lines := screen.Wrap(screen.Sanitize(l), max(1, w), eventLinesMost); len(lines) > 0 {
			out = append(out, lines...)
		}
	}
	return out
}

// drawServerLine is the server in one line: its state, and the last line of its log.
func (v *SweepView) drawServerLine(c screen.Canvas) {
	x := c.Spans(0, 0, v.serverSpans())
	if n := len(v.Server.Log); n > 0 {
		last := screen.Sanitize(v.Server.Log[n-1])
		c.Print(x, 0, " │ ", screen.Line)
		c.Print(x+3, 0, last, logStyle(last))
	}
}
