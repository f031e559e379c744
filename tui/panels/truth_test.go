package panels

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/tui/number"
	"benchtop/tui/screen"
)

// truth is a drawn panel beside the run that it was drawn from. It computes figures from the requests of the run, or at
// its end from the result that is saved, and compares them with those that stand on the panel.
type truth struct {
	t      *testing.T
	what   string // of which run and panel
	run    *madeUp
	s      *metrics.Snapshot
	v      *View
	result map[string]any // nil while the run is on
	lines  []string
	large  bool // there is room for all figures
	// read counts the figures that were compared, headlines those of the load within the objectives and of saturation.
	read, headlines int
}

// readers compare the figures of each panel.
var readers = map[string]func(*truth){
	"tokens": (*truth).tokens, "load": (*truth).load, "rate": (*truth).rates,
	"ttft over time":    func(f *truth) { f.percentiles(f.v.firstWait()) },
	"itl over time":     func(f *truth) { f.percentiles(metrics.ITL) },
	"latency band":      func(f *truth) { f.percentiles(f.v.Latency) },
	"ttft":              func(f *truth) { f.histogram(f.v.firstWait()) },
	"itl":               func(f *truth) { f.histogram(metrics.ITL) },
	"latency histogram": func(f *truth) { f.histogram(f.v.Latency) }, "latency heat": (*truth).heat,
	"latency": (*truth).latencyTable, "percentiles": (*truth).percentileTable, "slo": (*truth).slo,
	"errors": (*truth).errors, "log": (*truth).log, "events": (*truth).log, "report": (*truth).report,
	"lateness": (*truth).lateness, "stages": (*truth).stages, "endpoints": (*truth).endpoints,
	"machines": (*truth).machines,
	"places":   (*truth).places,
	"classes":  (*truth).classes, "engines": (*truth).engines, "turns": (*truth).turns,
	"server queue": (*truth).serverQueue, "kv": (*truth).kv, "server tokens": (*truth).serverTokens,
	"server ttft": (*truth).serverTTFT,
	"cache":       (*truth).cache, "drafts": (*truth).drafts, "gpu": (*truth).gpus, "why ttft": (*truth).why,
	"requests": (*truth).list,
	"request":  (*truth).open,
	"prompt lengths": func(f *truth) {
		f.ends(func(q *metrics.Request) string { return lengthName(q, q.InputTokens) })
	},
	"answer lengths": func(f *truth) {
		f.ends(func(q *metrics.Request) string { return lengthName(q, q.OutputTokens) })
	},
	"finish reasons": func(f *truth) {
		f.ends(func(q *metrics.Request) string {
			switch {
			case !q.OK():
				return "failed"
			case q.Finish == "":
				return "none"
			case q.Finish == "abort":
				return "other"
			}
			return q.Finish
		})
	},
}

// Figures on a frame equal those of the snapshot it was drawn from, and at the end those of the result, on every panel.
func TestFiguresAreTrue(t *testing.T) {
	ci.SkipUnderRace(t)
	read := map[string]int{}
	for seed := range uint64(8) {
		checkFigures(t, seed, read)
	}
	for _, p := range all {
		if readers[p.name] == nil {
			t.Errorf("no reader of the figures of panel %q", p.name)
		} else if read[p.name] == 0 {
			t.Errorf("panel %q: no figure was read", p.name)
		}
	}
	for _, name := range []string{"verdict", "card", "header", "tiny", "headline"} {
		if read[name] == 0 {
			t.Errorf("%s: no figure was read", name)
		}
	}
}

func FuzzFiguresAreTrue(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(func(t *testing.T, seed uint64) { checkFigures(t, seed, map[string]int{}) })
}

// checkFigures draws all panels of a made-up run at a moment and at its end.
func checkFigures(t *testing.T, seed uint64, read map[string]int) {
	m, r := makeUp(seed), rand.New(rand.NewPCG(seed, 12))
	by := 2*time.Second + time.Duration(r.Int64N(int64(m.run.Ended-2*time.Second)))
	on := m.during(by)
	over, result := m.over(t)
	for i, s := range []*metrics.Snapshot{on, over} {
		for _, size := range [][2]int{{200, 50}, {100, 24}, {60, 12}} {
			v := &View{Snapshot: s, Span: []time.Duration{0, 30 * time.Second, time.Minute}[r.IntN(3)],
				Whole:   r.IntN(3) == 0,
				Latency: ShownLatency(s, latencies[r.IntN(len(latencies))]),
				Text:    []string{"the report", "has 42 lines"}}
			f := truth{t: t, run: m, s: s, v: v, large: size[0] == 200}
			if i == 1 {
				f.result, v.Span, v.Whole = result, 0, true
			} else if free := (s.At - v.Span) / time.Second; v.Span > 0 && free > 0 && r.IntN(2) == 0 {
				v.Back = time.Duration(1+r.Int64N(int64(free))) * time.Second
			}
			if n := len(s.Requests); n > 0 {
				v.List.Picked, v.List.Opened = s.Requests[r.IntN(n)].Index+1, true
			}
			for _, p := range all {
				f.check(seed, p.name, size, readers[p.name], read,
					func(c screen.Canvas) { p.Draw(c, f.v, Box{}, false) })
			}
			h := Header{View: v, State: s.State, Pages: []string{"Overview"}, Behind: -1}
			f.check(seed, "header", [2]int{size[0], 2}, (*truth).header, read, h.Draw)
			verdict := func(c screen.Canvas) { h.DrawVerdict(c, false) }
			f.check(seed, "verdict", [2]int{size[0], 1}, (*truth).verdict, read, verdict)
			f.check(seed, "tiny", [2]int{size[0], 3}, (*truth).tiny, read, h.DrawTiny)
			if s.Report != nil {
				f.check(seed, "card", [2]int{size[0], max(v.cardHeight(size[0], 24), 6)}, (*truth).card, read, verdict)
			}
		}
	}
}

// check draws something and reads its figures.
func (f truth) check(seed uint64, name string, size [2]int, reader func(*truth), read map[string]int,
	draw func(screen.Canvas)) {
	if reader == nil {
		return
	}
	sf := screen.NewSurface(size[0], size[1])
	v := *f.v
	v.picked = nil
	f.v = &v
	draw(sf.All())
	f.lines = strings.Split(sf.Render(&screen.Palette{Mono: true}), "\n")
	f.what = fmt.Sprintf("seed %d at %s, over %v, span %s back %s, whole %v, %s in %dx%d", seed, f.s.At,
		f.result != nil, v.Span, v.Back, v.Whole, name, size[0], size[1])
	reader(&f)
	read[name] += f.read
	read["headline"] += f.headlines
}

func (f *truth) failf(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("%s: %s\n%s", f.what, fmt.Sprintf(format, args...), strings.Join(f.lines, "\n"))
}

// find is the text after a label, a pattern with one group.
func (f *truth) find(pattern string) (string, bool) {
	re := regexp.MustCompile(pattern)
	for _, l := range f.lines {
		if m := re.FindStringSubmatch(l); m != nil {
			return m[1], true
		}
	}
	return "", false
}

// want compares a figure, which must be there if there is room for all. It may be written in several ways.
func (f *truth) want(pattern string, want ...string) {
	f.t.Helper()
	got, ok := f.find(pattern)
	switch {
	case !ok && f.large:
		f.failf("no figure %q, want %s", pattern, want)
	case ok && !slices.Contains(want, got):
		f.failf("%q is %s, want %s", pattern, got, want)
	case ok:
		f.read++
	}
}

// near compares a number with as many digits as it is written with.
func (f *truth) near(what, got string, want float64) {
	f.t.Helper()
	got = strings.TrimPrefix(got, "~")
	v, err := strconv.ParseFloat(strings.TrimRight(got, "%"), 64)
	digits := 0
	if _, after, ok := strings.Cut(strings.TrimRight(got, "%"), "."); ok {
		digits = len(after)
	}
	if err != nil || math.Abs(v-want) > 0.5001*math.Pow(10, -float64(digits)) {
		f.failf("%s is %s, want %v", what, got, want)
	}
	f.read++
}

// table reads figures by the names of rows and columns, which are flush right. The names of columns stand on the line
// with all of them.
func (f *truth) table(columns ...string) (rows [][]string, names []string) {
	head, ends := -1, []int{}
	for y, l := range f.lines {
		ends = ends[:0]
		from := 0
		for _, c := range columns {
			i := strings.Index(l[from:], c)
			if i < 0 {
				break
			}
			from += i + len(c)
			ends = append(ends, len([]rune(l[:from])))
		}
		if len(ends) == len(columns) {
			head = y
			break
		}
	}
	if head < 0 {
		return nil, nil
	}
	for _, l := range f.lines[head+1:] {
		cells := []rune(l)
		row := make([]string, len(ends))
		for i, end := range ends {
			from := end
			for from > 0 && from <= len(cells) && cells[from-1] != ' ' && cells[from-1] != '│' {
				from--
			}
			row[i] = string(cells[min(from, len(cells)):min(end, len(cells))])
		}
		rows, names = append(rows, row), append(names, strings.Trim(l, "│ "))
	}
	return rows, names
}

// over reports whether figures are of the result, which is of the whole run.
func (f *truth) over() bool { return f.result != nil }

// at is a figure of the result by its keys.
func (f *truth) at(keys ...string) float64 {
	f.t.Helper()
	var x any = f.result
	for _, k := range keys {
		x = x.(map[string]any)[k]
	}
	v, ok := x.(float64)
	if !ok {
		return math.NaN()
	}
	return v
}

// cursor is the moment at the right edge of the charts.
func (f *truth) cursor() (at time.Duration, scrolled bool) {
	if f.v.Back > 0 {
		return f.s.At.Truncate(time.Second) - f.v.Back, true
	}
	return f.s.At, false
}

// stretch is the part of the run that figures are of: seconds that begin in [from, to), or the whole run without the
// requests of its warm-up.
func (f *truth) stretch() (from, to time.Duration, whole bool) {
	warmup := f.run.run.Plan.Warmup
	at, scrolled := f.cursor()
	from, to = at.Truncate(time.Second)-f.v.Span, endless
	switch {
	case f.v.Whole || f.v.Span == 0:
		return 0, endless, true
	case scrolled && at > warmup:
		return max(from, warmup), at, false
	case scrolled:
		return from, at, false
	case warmup == 0:
		return from, to, from <= 0
	}
	return from, to, from < warmup && f.s.At > warmup
}

// counts reports whether a happening of a request at a moment is in the figures.
func (f *truth) counts(q *metrics.Request, at time.Duration) bool {
	if at == metrics.Never || at > f.s.At {
		return false
	}
	from, to, whole := f.stretch()
	if whole {
		return q.Scheduled >= f.run.run.Plan.Warmup
	}
	return at.Truncate(time.Second) >= from && at < to
}

// values are those of a latency in the figures, of requests that did not fail so far.
func (f *truth) values(l metrics.Latency) *metrics.Histogram {
	var h metrics.Histogram
	for i := range f.run.requests {
		q := &f.run.requests[i]
		add := func(at, v time.Duration) {
			if f.counts(q, at) && !(q.Done <= f.s.At && !q.OK()) && v != metrics.Never {
				h.Add(v)
			}
		}
		done := metrics.Never
		if q.OK() {
			done = q.Done
		}
		switch l {
		case metrics.TTFT:
			if !f.s.Plan.Pooling {
				add(q.FirstChunk, q.FirstChunk-q.Sent)
			}
		case metrics.ITL:
			for k := 1; k < len(q.Chunks); k++ {
				add(q.Chunks[k].At, q.Chunks[k].At-q.Chunks[k-1].At)
			}
		case metrics.TokenITL: // made-up chunks all have tokens
			for k := 1; k < len(q.Chunks); k++ {
				for range q.Chunks[k].Tokens * int32(min(q.CountedChunks, 1)) {
					add(q.Chunks[k].At, (q.Chunks[k].At-q.Chunks[k-1].At)/time.Duration(q.Chunks[k].Tokens))
				}
			}
		case metrics.FirstAnswer:
			add(q.FirstAnswer, q.FirstAnswer-q.Sent)
		case metrics.TPOT:
			if q.OutputTokens > 1 {
				add(done, (q.Done-q.FirstChunk)/time.Duration(q.OutputTokens-1))
			}
		case metrics.Pace:
			if q.OutputTokens > 1 && q.Done-q.FirstToken >= time.Millisecond {
				add(done, (q.Done-q.FirstChunk)/time.Duration(q.OutputTokens-1))
			}
		case metrics.E2EL:
			add(done, q.Done-q.Sent)
		case metrics.SlotWait:
			add(q.Sent, q.Admitted-q.Due)
		case metrics.ScheduledLatency:
			add(done, q.Done-q.Scheduled)
		}
	}
	return &h
}

// quantile is one in milliseconds: of the result, or of the requests so far; false if there is none.
func (f *truth) quantile(l metrics.Latency, name string) (ms float64, ok bool) {
	if f.over() {
		key := cmp.Or(map[string]string{"p50": "median"}[name], name)
		switch l {
		case metrics.FirstAnswer:
			ms = f.at("benchtop", "ttft_answer_ms", key)
		case metrics.TokenITL:
			ms = f.at("benchtop", "itl_per_token_ms", key)
		case metrics.ScheduledLatency:
			ms = f.at("benchtop", "scheduled_latency", key+"_ms")
		case metrics.SlotWait:
			ms = f.at("benchtop", "queueing", "held_ms", key)
		default:
			ms = f.at(key + "_" + l.Key() + "_ms")
		}
		return ms, !math.IsNaN(ms) && f.values(l).Count() > 0
	}
	h := f.values(l)
	p := map[string]float64{"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "min": 0,
		"max": 1}
	if name == "mean" {
		return metrics.Milliseconds(h.Mean()), h.Count() > 0
	}
	return metrics.Milliseconds(h.Quantile(p[name])), h.Count() > 0
}

// latencyText is how a title writes a quantile.
func (f *truth) latencyText(l metrics.Latency, name string) string {
	ms, ok := f.quantile(l, name)
	return orDash(ok, number.Latency, time.Duration(ms*1e6))
}

// mean is the mean of a count over the last closed seconds, at most five.
func (f *truth) mean(of func(*metrics.Window) int) float64 {
	sum, n := 0.0, 0
	at, _ := f.cursor()
	for i := range slices.Backward(f.s.Windows) {
		w := f.s.Windows[i]
		if age := at - w.Start; age >= time.Second && n < 5 {
			sum, n = sum+float64(of(w)), n+1
		}
	}
	return sum / max(1, float64(n))
}

// levels are the numbers of requests queued here, waiting and running at the right edge of the charts.
func (f *truth) levels() (held, waiting, running int) {
	at, scrolled := f.cursor()
	if scrolled {
		at-- // a second does not have its end
	}
	return f.levelsAt(at)
}

// levelsOver are the levels at the ends of the seconds of the whole run: their mean and their maximum.
func (f *truth) levelsOver() (text [3]string) {
	var sum, most [3]float64
	length := 0.0
	for start := f.s.Plan.Warmup; start < f.s.At; start += time.Second {
		end := min(start+time.Second, f.s.At)
		took := (end - start).Seconds()
		length += took
		held, waiting, running := f.levelsAt(end - 1)
		for i, n := range []int{held, waiting, running} {
			sum[i], most[i] = sum[i]+took*float64(n), max(most[i], float64(n))
		}
	}
	for i := range text {
		text[i] = said(sum[i]/length) + ", max " + said(most[i])
	}
	return text
}

// levelsAt are the numbers of requests queued here, waiting and running at a moment.
func (f *truth) levelsAt(at time.Duration) (held, waiting, running int) {
	for i := range f.run.requests {
		switch q := &f.run.requests[i]; {
		case q.Due > at || q.Done <= at:
		case q.Sent > at:
			held++
		case q.FirstToken == metrics.Never || q.FirstToken > at:
			waiting++
		default:
			running++
		}
	}
	return held, waiting, running
}

// ended counts the requests of the whole run that are done and that failed.
func (f *truth) ended() (done, failed int) {
	for i := range f.run.requests {
		switch q := &f.run.requests[i]; {
		case q.Done > f.s.At || q.Scheduled < f.run.run.Plan.Warmup:
		case q.OK():
			done++
		default:
			failed++
		}
	}
	return done, failed
}
