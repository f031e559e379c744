package panels

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/number"
)

func (f *truth) tokens() {
	out, in := f.mean(outputTokens), f.mean(inputTokens)
	if f.over() {
		out, in = f.at("output_throughput"), f.at("total_token_throughput")
		if f.s.Plan.Pooling {
			out = 0
		}
		in -= out
	}
	if !f.s.Plan.Pooling {
		f.want(`━ out (\S+)`, f.guess()+number.Rate(out))
		f.lately(func() {
			if _, median := f.speed("median"); median != dash {
				f.want(`· (\S+) tok/s/user`, median)
			}
		})
	}
	f.want(`━ in (\S+)`, number.Rate(in))
}

// speed is an output speed of users, by its key in the result, and how it is written.
func (f *truth) speed(key string) (of float64, text string) {
	h := f.values(metrics.Pace)
	s := h.Speeds()
	if f.over() {
		of = f.at("benchtop", "output_token_throughput_per_user", key)
	} else {
		p := func(p float64) float64 { v, _ := s.Percentile(p); return v }
		of = map[string]float64{"median": s.Median, "mean": s.Mean, "p1": p(1), "p10": p(10), "p90": p(90),
			"p99": p(99)}[key]
	}
	return of, orDash(s.N > 0, number.Rate, of)
}

// lately looks at the last seconds while the run is on, at its end at the whole run.
func (f *truth) lately(look func()) {
	if _, scrolled := f.cursor(); scrolled || !f.over() {
		lately := *f.v
		lately.Span, lately.Whole = latelySpan, false
		defer func(v *View) { f.v = v }(f.v)
		f.v = &lately
	}
	look()
}

// guess is the sign before figures of which requests in flight are counted by their chunks.
func (f *truth) guess() string {
	for i := range f.run.requests {
		if q := &f.run.requests[i]; q.Done > f.s.At && q.FirstToken != metrics.Never && q.FirstToken <= f.s.At {
			return "~"
		}
	}
	return ""
}

// rate is the rate of done requests, after that of the plan while the run is on.
func (f *truth) rate() string {
	if f.over() {
		return number.Rate(f.at("request_throughput"))
	}
	return number.Rate(f.s.Plan.Target(f.s.At)) + "→" + number.Rate(f.mean(finished))
}

func (f *truth) load() {
	if f.over() {
		text := f.levelsOver()
		if f.s.Plan.Generates() {
			f.want(`━ running (\S+, max \S+)`, text[2])
		}
		f.want(`━ waiting (\S+, max \S+)`, text[1])
		f.want(`━ queued here (\S+, max \S+)`, text[0])
	} else {
		held, waiting, running := f.levels()
		if f.s.Plan.Generates() {
			f.want(`━ running (\d+)`, number.Count(running))
		}
		f.want(`━ waiting (\d+)`, number.Count(waiting))
		f.want(`━ queued here (\d+)`, number.Count(held))
	}
	if _, scrolled := f.cursor(); scrolled {
		return
	}
	f.want(`· (\S+) req/s`, f.rate())
	if done, _ := f.ended(); f.s.At >= f.s.Plan.Warmup {
		f.want(`· (\S+) done`, number.Count(done))
	}
}

func (f *truth) rates() {
	sent, done := f.mean(sentRequests), f.mean(finished)
	if f.over() {
		sent, done = f.at("benchtop", "pacing", "sent_rps"), f.at("request_throughput")
	} else {
		at, scrolled := f.cursor()
		if scrolled {
			at -= time.Second / 2
		}
		f.want(`━ target (\S+)`, findings.Number(math.Round(f.s.Plan.Target(at))))
	}
	if !math.IsNaN(sent) {
		f.want(`━ sent (\S+)`, number.Rate(sent))
	}
	f.want(`━ done (\S+)`, number.Rate(done))
}

// percentiles are those of the last seconds, and at the end those of the scope.
func (f *truth) percentiles(l metrics.Latency) {
	f.lately(func() {
		for _, p := range []string{"p50", "p90", "p99"} {
			f.want(`━ `+p+` (\S+)`, f.latencyText(l, p))
		}
	})
}

func (f *truth) histogram(l metrics.Latency) {
	n := f.values(l).Count()
	f.want(`  n (\S+)`, number.Count(int(n)))
	if n == 0 {
		return
	}
	for _, p := range []string{"p50", "p99"} {
		f.want(`^│.*\b`+p+` ([\d.]+[mµ]?s)`, f.latencyText(l, p))
	}
	for _, o := range f.s.Plan.Goodput {
		if o.Metric == l {
			f.want(`SLO ([\d.]+m?s)`, number.Tick(number.Seconds(o.LimitMS/1000)))
		}
	}
}

// heat has no figure but the name of the latency.
func (f *truth) heat() { f.want(`^╭─ (.*) heat map`, f.v.Latency.Naming().Title) }

// latencyUnits are by how much figures in a unit are greater than in milliseconds.
var inUnit = map[string]float64{"µs": 1000, "ms": 1, "s": 1e-3, "d": 1.0 / 86_400_000}

func (f *truth) latencyRows(columns []string, of func(name string) (metrics.Latency, bool)) {
	rows, names := f.table(columns...)
	for y, name := range names {
		l, ok := of(strings.TrimPrefix(name, "> "))
		if !ok || strings.Contains(name, "━") {
			continue
		}
		unit := regexp.MustCompile(` (µs|ms|s|d) `).FindStringSubmatch(name)
		for i, c := range columns {
			ms, known := f.quantile(l, c)
			got := rows[y][i]
			switch {
			case c == "n" && f.s.Report == nil:
				f.near(name+" n", got, float64(f.values(l).Count()))
			case c == "n" || (c == "min" || c == "max") && f.over() && math.IsNaN(ms):
			case !known:
				if got != dash {
					f.failf("%s %s is %s, want a dash", name, c, got)
				}
			case unit == nil:
				f.failf("no unit in %q", name)
			default:
				f.near(name+" "+c, got, ms*inUnit[unit[1]])
			}
		}
	}
	if f.large && len(names) == 0 {
		f.failf("no table")
	}
}

func (f *truth) latencyTable() {
	columns := []string{"mean", "p50", "p90", "p95", "p99"}
	if !f.large {
		columns = []string{"mean", "p50", "p99"}
	}
	f.latencyRows(columns, func(name string) (metrics.Latency, bool) {
		for l := range metrics.Latencies() {
			if title := l.Naming().Title; title != "" && strings.HasPrefix(name, title+" ") {
				return l, true
			}
		}
		return 0, false
	})
}

func (f *truth) percentileTable() {
	columns := []string{"p50", "p90", "p99"}
	if f.large {
		columns = []string{"n", "mean", "p50", "p75", "p90", "p95", "p99", "p99.9"}
	}
	f.latencyRows(columns, func(name string) (metrics.Latency, bool) {
		for _, l := range latencies {
			if n := l.Naming(); strings.HasPrefix(name, n.Title+" ") || strings.HasPrefix(name, n.Short+" ") {
				return l, true
			}
		}
		return 0, false
	})
	_, shown := f.find(`(per-token ITL|ITL/tok)`)
	whole := *f.v
	whole.Whole = true
	if known := (&truth{t: f.t, run: f.run, s: f.s, v: &whole}).values(metrics.TokenITL).Count() > 0; f.large &&
		shown != known {
		f.failf("per-token ITL stands there: %v, known: %v", shown, known)
	}
	if f.s.Plan.Pooling {
		return
	}
	if _, median := f.speed("median"); !f.large { // in the title of a low table
		f.want(`· p50 (\S+) tok/s/user`, median)
	}
	for name, key := range map[string]string{"mean": "mean", "p50": "median", "p10": "p10", "p1": "p1"} {
		_, text := f.speed(key)
		f.want(`tok/s/user .*?`+name+` (\S+)`, text)
	}
}

// slo compares the shares of requests that met the objectives, and the gates of a result.
func (f *truth) slo() {
	if len(f.s.Plan.Goodput) == 0 {
		return
	}
	var done, ended, good int
	met := map[metrics.Latency]int{}
	for i := range f.run.requests {
		q := &f.run.requests[i]
		if !f.counts(q, q.Done) {
			continue
		}
		if ended++; !q.OK() {
			continue
		}
		done++
		all := true
		for _, o := range f.s.Plan.Goodput {
			took := q.Done - q.Sent
			if o.Metric == metrics.TTFT {
				took = q.FirstChunk - q.Sent
			}
			if metrics.Milliseconds(took) <= o.LimitMS {
				met[o.Metric]++
			} else {
				all = false
			}
		}
		if all {
			good++
		}
	}
	share := func(n, of int) string {
		if of == 0 {
			return dash
		}
		return percent(float64(n) / float64(of))
	}
	late, lateBy := f.late()
	f.want(`│goodput .*?([<\d.]+%|–)`, share(good, ended+late))
	for _, o := range f.s.Plan.Goodput {
		f.want(`│`+o.Metric.Naming().Short+`≤\S+ .*?([<\d.]+%|–)`, share(met[o.Metric], done+lateBy[o.Metric]))
	}
	if late > 0 {
		f.want(`  n \d+ \+ (\d+) missed in flight`, fmt.Sprint(late))
	}
	if !f.over() {
		return
	}
	for i, g := range f.s.Plan.Gates {
		value := f.result["benchtop"].(map[string]any)["gates"].([]any)[i].(map[string]any)["value"]
		want := dash
		if v, ok := value.(float64); ok {
			want = gateValue(g, v)
		}
		f.want(`│`+regexp.QuoteMeta(g.Metric+" "+g.Op)+` \S+ .*?(\S+) [!✓ ]│`, want)
	}
}

// late counts the requests in flight that have missed an objective: those whose first chunk came too late, or is too
// late by now. It is unknown in the past.
func (f *truth) late() (all int, by map[metrics.Latency]int) {
	by = map[metrics.Latency]int{}
	if _, scrolled := f.cursor(); scrolled && f.v.Span > 0 && !f.v.Whole {
		return 0, by
	}
	for i := range f.run.requests {
		q := &f.run.requests[i]
		if q.Sent > f.s.At || q.Done <= f.s.At || q.Scheduled < f.s.Plan.Warmup {
			continue
		}
		first, missed := f.s.At, 0
		if q.FirstChunk != metrics.Never {
			first = min(first, q.FirstChunk)
		}
		for _, o := range f.s.Plan.Goodput {
			if o.Metric != metrics.TPOT && metrics.Milliseconds(first-q.Sent) > o.LimitMS {
				by[o.Metric]++
				missed = 1
			}
		}
		all += missed
	}
	return all, by
}

func (f *truth) errors() {
	done, failed := f.ended()
	f.want(`errors (\d+)`, number.Count(failed))
	if failed > 0 {
		f.want(`of \d+, (\S+%)`, number.Share(failed, done+failed))
		f.want(`of (\d+),`, number.Count(done+failed))
	}
	for name, kind := range map[string]metrics.Failure{"stream truncated": metrics.FailedTruncated,
		"HTTP 503": metrics.FailedStatus} {
		n := 0
		for i := range f.run.requests {
			if q := &f.run.requests[i]; q.Failure == kind && q.Done <= f.s.At && q.Scheduled >= f.s.Plan.Warmup {
				n++
			}
		}
		if n > 0 {
			f.want(`(\d+)  `+name, number.Count(n))
		}
	}
}

// log compares each line with the event of its moment.
func (f *truth) log() {
	for _, l := range f.lines {
		m := regexp.MustCompile(`^│(\d\d:\d\d\.\d) (INFO|WARN|ERROR) +(.*?) *│$`).FindStringSubmatch(l)
		if m == nil {
			continue
		}
		if f.failed(m[3]) {
			f.read++
			continue
		}
		if !slices.ContainsFunc(f.run.run.Events, func(e metrics.LogEntry) bool {
			text := e.Text
			if e.Count > 1 {
				text += fmt.Sprintf(" (×%d)", e.Count)
			}
			at := fmt.Sprintf("%02d:%02d.%d", int(e.At.Minutes()), int(e.At.Seconds())%60,
				int(e.At.Milliseconds()/100)%10)
			return m[1] == at && strings.ToLower(m[2]) == string(e.Level) && m[3] == text && e.At <= f.s.At
		}) {
			f.failf("no event %q", m[1:])
		}
		f.read++
	}
}

// failed reports whether a line of the log is that of a kind of failure, with as many as there were.
func (f *truth) failed(line string) bool {
	m := regexp.MustCompile(`^(.*?)(?: \(×(\d+)\))?$`).FindStringSubmatch(line)
	n, first := 0, ""
	for i := range f.run.requests {
		q := &f.run.requests[i]
		if q.Failure == "" || q.Failure == metrics.Cancelled || q.Done == metrics.Never || q.Done > f.s.At {
			continue
		}
		kind := string(q.Failure)
		if q.Failure == metrics.FailedStatus {
			kind = fmt.Sprintf("HTTP %d", q.Status)
		}
		if words := q.Message(); words != "" {
			kind += ": " + words
		}
		if kind == m[1] {
			n, first = n+1, kind
		}
	}
	if first == "" {
		return false
	}
	if m[2] == "" && n != 1 || m[2] != "" && m[2] != fmt.Sprint(n) {
		f.failf("%d failed by %q, the log says %q", n, first, line)
	}
	return true
}

func (f *truth) report() {
	for i, want := range f.v.Text {
		if got := strings.Trim(f.lines[i+1], "│ "); got != want {
			f.failf("%q, want %q", got, want)
		}
		f.read++
	}
}

func (f *truth) lateness() {
	if len(f.run.run.Client) == 0 {
		return
	}
	at, scrolled := f.cursor()
	if f.over() && !scrolled {
		f.want(`━ p99 (\S+)`, number.Latency(number.Seconds(f.at("benchtop", "client", "own_lateness_ms", "p99")/1000)))
		f.want(`━ max (\S+)`, number.Latency(number.Seconds(f.at("benchtop", "client", "own_lateness_ms", "max")/1000)))
		f.want(`━ CPU (\S+)%`, fmt.Sprintf("%.0f", 100*f.at("benchtop", "client", "cpu_cores", "mean")/
			f.at("benchtop", "client", "cpu_cores", "available")))
		return
	}
	now := newestOf(f.run.run.Client, at, func(c *metrics.ClientSecond) time.Duration { return c.At })
	if now == nil {
		return
	}
	f.want(`━ p99 (\S+)`, number.Latency(now.LateP99))
	f.want(`━ max (\S+)`, number.Latency(now.LateMax))
	f.want(`━ CPU (\S+)%`, fmt.Sprintf("%.0f", 100*now.CPU/now.Cores))
}

func (f *truth) machines() {
	sent, all := map[int]int{}, 0
	for i := range f.s.Client {
		s := &f.s.Client[i]
		sent[s.Part], all = sent[s.Part]+s.Sent, all+s.Sent
	}
	for part, n := range sent {
		if part > 0 && f.s.Plan.Part.N > 1 && all > 0 {
			share := fmt.Sprintf("%.0f%%", 100*float64(n)/float64(all)) // where there is little room
			f.want(fmt.Sprintf(`^│%d +(\S+) `, part), number.Count(n), share)
		}
	}
}

// newestOf is the newest sample at a moment, nil if there is none.
func newestOf[T any](all []T, by time.Duration, at func(*T) time.Duration) (newest *T) {
	for i := range all {
		if at(&all[i]) <= by {
			newest = &all[i]
		}
	}
	return newest
}

// stages compares the levels of load with those of the result, or of the live view.
func (f *truth) stages() {
	rows, _ := f.table("plan/s", "done/s", f.v.firstWait().Naming().Title+" p99", "in SLO")
	levels := f.s.Levels
	for i, l := range levels {
		if f.over() {
			x := f.result["benchtop"].(map[string]any)["levels"].([]any)[i].(map[string]any)
			l.Offered, l.Done, l.Requests = x["offered"].(float64), x["done_rps"].(float64),
				int(x["requests"].(float64))
			l.TTFTp99, _ = x[f.v.firstWait().Key()+"_p99_ms"].(float64)
			if good, ok := x["good"].(float64); ok {
				l.Good = int(good)
			}
		}
		wait, within := dash, dash
		if l.TTFTp99 > 0 {
			wait = number.Latency(time.Duration(l.TTFTp99 * 1e6))
		}
		if l.Requests > 0 && len(f.s.Plan.Goodput) > 0 {
			within = percent(float64(l.Good) / float64(l.Requests))
		}
		want := []string{findings.Number(l.Offered), number.Rate(l.Done), wait, within}
		switch {
		case slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }):
			f.read++
		case f.large:
			f.failf("no level %q among %q", want, rows)
		}
	}
}

// lengthName is how a title names the length of a success in tokens, "" for none.
func lengthName(q *metrics.Request, tokens int) string {
	if !q.OK() || tokens == 0 {
		return ""
	}
	upTo := 1
	for upTo < tokens {
		upTo *= 2
	}
	if upTo >= 1024 {
		return fmt.Sprintf("≤%dk", upTo/1024)
	}
	return fmt.Sprintf("≤%d", upTo)
}

// ends compares the numbers of requests that ended in the seconds of a chart, by a name.
func (f *truth) ends(name func(*metrics.Request) string) {
	_, ws, _ := f.v.overTime()
	if len(ws) == 0 {
		return
	}
	want := map[string]int{}
	last := ws[len(ws)-1]
	for i := range f.run.requests {
		q := &f.run.requests[i]
		if n := name(q); n != "" && q.Done >= ws[0].Start && q.Done < last.Start+last.Length() {
			want[n]++
		}
	}
	parts := strings.Split(strings.Trim(f.lines[0], "╭╮─ "), " · ")[1:]
	for _, p := range parts {
		i := strings.LastIndex(p, " ")
		if n := want[p[:i]]; n == 0 || p[i+1:] != number.Count(n) {
			f.failf("%q, want %d", p, n)
		}
		delete(want, p[:i])
		f.read++
	}
	if f.large && len(want) > 0 {
		f.failf("no figures %v", want)
	}
}
