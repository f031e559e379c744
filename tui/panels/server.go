package panels

import (
	"math"
	"sort"
	"time"

	"benchtop/metrics"
	"benchtop/tui/chart"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// serverQueuePanel shows how many requests the server runs and keeps waiting, beside the client's count of those that
// wait.
var serverQueuePanel = Panel{name: "server queue", open: openServerQueue, server: true, timed: true}

func serverRunning(s *metrics.ServerSecond) float64 { return s.Running }
func serverWaiting(s *metrics.ServerSecond) float64 { return s.Waiting }

// serverLine is a figure of the server over time, with its newest value.
func (v *View) serverLine(name string, color screen.Color, of func(*metrics.ServerSecond) float64) series {
	now, brief := v.serverFigure(of, said)
	return series{name: name, now: now, brief: brief, color: color, value: serverValue(v, of)}
}

func openServerQueue(v *View) (titleOf, drawOf) {
	_, waiting, _ := v.cursorLevels()
	here := series{name: "waiting (client)", now: number.Count(waiting), sign: hereSign, color: screen.Dimmed,
		spare: true,
		value: func(w *metrics.Window) float64 { return float64(w.Waiting) }}
	if v.whole() {
		mean, most := v.levelOver(func(w *metrics.Window) int { return w.Waiting })
		here.now, here.brief = meanAndMost(mean, most, said), said(mean)
	}
	running := v.serverLine("running", screen.Running, serverRunning)
	running.filled = true
	p := plot{v: v, series: []series{here, running, v.serverLine("waiting", screen.Waiting, serverWaiting)}}
	title := func(v *View, w, _ int) []screen.Span {
		if len(v.Server) == 0 {
			return []screen.Span{screen.Strong.Span("server queue")}
		}
		items := p.items()
		items = append(items[1:], items[0])
		out := v.runLegend(w, serverName(v, w, items), items...)
		if v.ServerAbsent != "" {
			out = append(out, endedEarly)
		}
		return out
	}
	return title, func(c screen.Canvas, v *View) { p.draw(drawBroken(c, v)) }
}

// serverName is the name of the server in a title, or of how many engines the figures are the sum, so short that there
// is room for the lines and their values.
func serverName(v *View, w int, items []legendItem) string {
	kind, whose := screen.Shorten(screen.Sanitize(v.ServerKind), 16), v.whose()
	if whose != "" {
		return "queue" + whose
	}
	for _, name := range []string{kind + " queue", kind, "server queue"} {
		n := screen.Width(name) + 6
		for _, it := range items {
			n += screen.Width(" ━ " + it.name + " " + it.value)
		}
		if n <= w && kind != "" {
			return name
		}
	}
	return "server"
}

// endedEarly stands in the title of figures that ended before the run.
var endedEarly = screen.Caution.Span(" ! ended")

// hereSign draws the client's own counts in ASCII.
const hereSign = '.'

// drawAbsent says in a few lines why there is nothing to show.
func drawAbsent(c screen.Canvas, why, otherwise string) {
	if why = screen.Sanitize(why); why == "" {
		why = otherwise
	}
	for y, l := range screen.Wrap(why, c.W, min(c.H, 3)) {
		c.Print(0, y, l, screen.Label)
	}
}

// drawBroken writes on the first lines why the figures ended early, and returns the rest of the canvas.
func drawBroken(c screen.Canvas, v *View) screen.Canvas {
	why := screen.Sanitize(v.ServerAbsent)
	if why == "" || c.H < 5 {
		return c
	}
	lines := screen.Wrap("! "+why, c.W, min(3, c.H/3)) // the reason stands behind an address
	for y, l := range lines {
		c.Print(0, y, l, screen.Caution)
	}
	return c.Sub(0, len(lines), c.W, c.H-len(lines))
}

// serverTokensPanel shows the tokens by the server's own count, the output beside the client's count. They differ if
// the server has other clients.
var serverTokensPanel = Panel{name: "server tokens", open: openServerTokens, server: true, timed: true}

// serverOutput and serverPrompt are rates; Unsaid where the server counts all tokens of a request when it ends, since
// such a rate shows the ends of requests.
func serverOutput(s *metrics.ServerSecond) float64 {
	if s.OutputAtEnd {
		return metrics.Unsaid()
	}
	return perTook(s, s.OutputTokens)
}

func serverPrompt(s *metrics.ServerSecond) float64 {
	if s.PromptAtEnd {
		return metrics.Unsaid()
	}
	return perTook(s, s.PromptTokens)
}

// openServerTokens draws the output above the prompts, or these alone where a run has no output. Where the server
// counts tokens when a request ends, the client's own stand in for them.
func openServerTokens(v *View) (titleOf, drawOf) {
	here, prompt := v.rate("out (client)", screen.Dimmed, outputTokens),
		v.serverLine("prompt", screen.Input, serverPrompt)
	here.sign, here.now, here.spare = hereSign,
		said(v.cursorRate(outputTokens, func(r *metrics.Report) float64 { return r.OutputThroughput })), true
	out := plot{v: v, reversed: true, series: []series{here, v.serverLine("out", screen.Output, serverOutput)}}
	if n := len(v.Server); n > 0 && v.Server[n-1].OutputAtEnd {
		here.sign, here.color, here.filled, here.spare = 0, screen.Output, true, false
		out.series = []series{here}
	}
	if n := len(v.Server); n > 0 && v.Server[n-1].PromptAtEnd {
		prompt = v.rate("prompt (client)", screen.Input, inputTokens)
		prompt.now = said(v.cursorRate(inputTokens,
			func(r *metrics.Report) float64 { return r.TotalThroughput - r.OutputThroughput }))
	}
	prompt.filled = true
	in := plot{v: v, series: []series{prompt}}
	if !v.plan().Generates() {
		out, in = in, plot{}
	}
	title := func(_ *View, w, _ int) []screen.Span {
		return v.runLegend(w, "server tok/s", append(out.items(), in.items()...)...)
	}
	return title, func(c screen.Canvas, _ *View) {
		if c.H < 6 || in.v == nil {
			out.draw(c)
			return
		}
		drawBoth(c, out, in, c.H/2)
	}
}

// drawBoth draws two plots, the lower one so many lines high, on one axis of time.
func drawBoth(c screen.Canvas, upper, lower plot, low int) {
	lower.v = lower.v.below()
	upper.draw(c.Sub(0, 0, c.W, c.H-low))
	lower.draw(c.Sub(0, c.H-low, c.W, low))
}

// serverTTFTPanel shows the mean TTFT by the server's clock beside ours. The difference is the time on the network.
var serverTTFTPanel = Panel{name: "server ttft", open: timePanel("", serverTTFTPlot).open, server: true, timed: true}

func serverTTFT(s *metrics.ServerSecond) float64 {
	if !(s.TTFT.N > 0) {
		return metrics.Unsaid()
	}
	return number.Sane(s.TTFT.Mean.Seconds())
}

// ourTTFT is of the same requests: those whose first chunk came in the time of the sample.
func ourTTFT(s *metrics.ServerSecond) float64 {
	if s.First.N <= 0 {
		return metrics.Unsaid()
	}
	return number.Sane(s.First.MeanTTFT().Seconds())
}

func serverTTFTPlot(v *View) plot {
	server := v.serverLine("server", screen.P50, serverTTFT)
	here := v.serverLine("client", screen.Dimmed, ourTTFT)
	here.sign = hereSign
	server.now, here.now = saidLatency(newest(v, serverTTFT)), saidLatency(newest(v, ourTTFT))
	server.brief, here.brief = "", ""
	if r := v.Report; v.whole() && r.Server != nil { // means by requests, where those by time say nothing
		sum := metrics.ServerSecond{TTFT: r.Server.TTFT, First: r.Server.First}
		server.now, here.now = saidLatency(serverTTFT(&sum)), saidLatency(ourTTFT(&sum))
	}
	of, series := v.firstWait(), []series{server, here}
	if v.plan().Whole { // the client knows no TTFT
		of, series = metrics.TTFT, series[:1]
	}
	return plot{v: v, title: "mean " + of.Naming().Title, reversed: true,
		chart:  chart.Plot{Log: true, Nothing: of.Naming().Nothing},
		limits: of.Key(), series: series}
}

// saidLatency writes seconds, a dash for none.
func saidLatency(x float64) string { return orDash(metrics.Said(x), number.Latency, number.Seconds(x)) }

// staleAfter is how long a sample of the server is valid.
const staleAfter = 2 * time.Second

// finder finds samples by moments. Seconds of a chart come in order of time, so the next sample is near the last one
// found.
type finder[T any] struct {
	all  []T // in order of time
	when func(*T) (at, took time.Duration)
	next int // where to look first
}

// from is the index of the first sample not before a moment. Moments may come in any order.
func (f *finder[T]) from(moment time.Duration) int {
	const steps = 4 // further away a search is faster
	before := func(i int) bool { at, _ := f.when(&f.all[i]); return at < moment }
	i, n := f.next, len(f.all)
	for k := 0; k < steps && i < n && before(i); k++ {
		i++
	}
	for k := 0; k < steps && i > 0 && !before(i-1); k++ {
		i--
	}
	if i < n && before(i) || i > 0 && !before(i-1) {
		i = sort.Search(n, func(i int) bool { return !before(i) })
	}
	f.next = i
	return i
}

// covering is the sample of a moment: the first one not before it if it covers the moment, else the one before unless
// it is stale; nil if there is neither.
func (f *finder[T]) covering(moment time.Duration) *T {
	i := f.from(moment)
	if i < len(f.all) {
		if at, took := f.when(&f.all[i]); at-max(took, time.Second) <= moment {
			return &f.all[i]
		}
	}
	if i > 0 {
		if at, _ := f.when(&f.all[i-1]); moment-at < staleAfter {
			return &f.all[i-1]
		}
	}
	return nil
}

// middle is that of a second.
func middle(w *metrics.Window) time.Duration { return w.Start + time.Second/2 }

// serverFinder finds samples of the server.
type serverFinder struct {
	finder[metrics.ServerSecond]
	both metrics.ServerSecond
}

func newServerFinder(all []metrics.ServerSecond) *serverFinder {
	when := func(s *metrics.ServerSecond) (at, took time.Duration) { return s.At, s.Took }
	return &serverFinder{finder: finder[metrics.ServerSecond]{all: all, when: when}}
}

// in is the sample of the server that covers a second of the run, nil if there is none. A sample is of the time since
// the one before, and samples do not come at full seconds: the one that covers the middle counts. Those that came in
// one second, as when a run begins, count together.
func (l *serverFinder) in(w *metrics.Window) *metrics.ServerSecond {
	found, i := l.covering(middle(w)), l.next
	inside := func(k int) bool {
		return k >= 0 && k < len(l.all) && l.all[k].At > w.Start && l.all[k].At <= w.Start+time.Second
	}
	first, last := i, i
	for inside(first - 1) {
		first--
	}
	for inside(last + 1) {
		last++
	}
	if found == nil || !inside(i) || first == last {
		return found
	}
	l.both = l.all[first]
	for _, s := range l.all[first+1 : last+1] {
		l.both = s.Behind(&l.both)
	}
	return &l.both
}

// serverSample finds the sample of the server in a window, nil if there is none.
func serverSample(v *View) func(*metrics.Window) *metrics.ServerSecond {
	samples := newServerFinder(v.Server)
	return func(w *metrics.Window) *metrics.ServerSecond {
		if w.Seconds == 0 {
			return samples.in(w)
		}
		return minuteAt(v.Minutes.Server, w, func(s *metrics.ServerSecond) time.Duration { return s.At })
	}
}

// serverValue is a figure of the server over time, for a plot.
func serverValue(v *View, of func(*metrics.ServerSecond) float64) func(*metrics.Window) float64 {
	sample := serverSample(v)
	return func(w *metrics.Window) float64 {
		if s := sample(w); s != nil {
			return of(s)
		}
		return math.NaN()
	}
}

// perTook turns the increase since the sample before into a rate.
func perTook(s *metrics.ServerSecond, n float64) float64 {
	if s.Took <= 0 {
		return math.NaN()
	}
	return n / s.Took.Seconds()
}

// serverSpan are the samples of the server within the span, or of the whole run: those that metrics.ServerOver sums up,
// as a sample is of the time before it.
func (v *View) serverSpan() []metrics.ServerSecond {
	from, to := v.stretch()
	all, kept := v.Server, v.selected().server
	if some, ok := kept[v.Whole]; ok {
		return some
	}
	all = all[sort.Search(len(all), func(i int) bool { return all[i].At > from }):]
	all = all[:sort.Search(len(all), func(i int) bool { return all[i].At > to })]
	if to == endless {
		all = v.Minutes.ServerIn(all)
	}
	kept[v.Whole] = all
	return all
}

// serverSums are the figures of the server over the span, or over the whole run.
func (v *View) serverSums() metrics.ServerReport {
	from, to := v.stretch()
	return metrics.ServerOver(v.serverSpan(), from, to)
}

// stretch is the part of the run for figures: the span, or all but the warm-up.
func (v *View) stretch() (from, to time.Duration) {
	from, to, all := figureSpan(v.Snapshot, v.Span, v.Back)
	if v.Whole || all {
		return v.plan().Warmup, endless
	}
	return from, to
}

// serverFigure writes a figure of the server for a title: the newest one, or its mean and maximum over the whole run.
// The brief form leaves the maximum out.
func (v *View) serverFigure(of func(*metrics.ServerSecond) float64, write func(float64) string) (long, brief string) {
	if !v.whole() {
		return write(newest(v, of)), ""
	}
	sum, time, most := 0.0, 0.0, math.Inf(-1)
	warmup := v.plan().Warmup
	for i := range v.Server {
		s := &v.Server[i]
		if x := of(s); s.At > warmup && metrics.Said(x) {
			took := min(s.Took, s.At-warmup).Seconds()
			sum, time, most = sum+number.Sane(x)*took, time+took, max(most, number.Sane(x))
		}
	}
	if time == 0 {
		return write(metrics.Unsaid()), ""
	}
	return meanAndMost(sum/time, most, write), write(sum / time)
}

// newest is the figure at the right edge of the charts; Unsaid if there is none.
func newest(v *View, of func(*metrics.ServerSecond) float64) float64 {
	if sample := v.cursorServer(); sample != nil {
		return of(sample)
	}
	return metrics.Unsaid()
}

// total adds up the known values; Unsaid if there are none.
func total(all []metrics.ServerSecond, of func(*metrics.ServerSecond) float64) float64 {
	sum, said := 0.0, false
	for i := range all {
		if x := of(&all[i]); metrics.Said(x) {
			sum, said = sum+number.Sane(x), true
		}
	}
	if !said {
		return metrics.Unsaid()
	}
	return sum
}

// said writes a figure in at most five columns, a dash if there is none.
func said(x float64) string {
	return orDash(metrics.Said(x), number.Short, math.Round(number.Sane(x)*10)/10)
}

// saidShare writes a share from 0 to 1 in whole percent.
func saidShare(x float64) string {
	return withUnit(func(x float64) string { return said(math.Round(100 * min(number.Sane(x), 1))) }, x, "%")
}
