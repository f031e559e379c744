package page

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"benchtop/export"
	"benchtop/internal/assert"
	"benchtop/internal/race"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
	"benchtop/tui/tuitest"
)

func sample(t *testing.T) metrics.Report {
	t.Helper()
	run, qs := eventtest.Sample()
	r := assert.Must(report.Summarize(eventtest.Each(qs), run))(t)
	return r
}

func written(t *testing.T, runs ...Run) string {
	t.Helper()
	var b strings.Builder
	assert.Fine(t, Write(&b, runs...))
	return b.String()
}

var cellsOf = regexp.MustCompile(`<t[dh][^>]*>([^<]*)</t[dh]>`)

// rowsOf are those of the table of the page with a title, cell by cell.
func rowsOf(t *testing.T, page, title string) (rows [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "<h2>"+title+"</h2>")
	if !found {
		t.Fatalf("the page has no table %q", title)
	}
	rest, _, _ = strings.Cut(rest, "</table>")
	for line := range strings.SplitSeq(rest, "</tr>") {
		row := metrics.Each(cellsOf.FindAllStringSubmatch(line, -1), func(m []string) string {
			return html.UnescapeString(m[1])
		})
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestLatenciesAreThoseOfTheResult(t *testing.T) {
	r := sample(t)
	rows := rowsOf(t, written(t, Run{Report: &r}), "Latencies in ms")
	var result strings.Builder
	assert.Fine(t, export.JSON(&result, r))
	var all map[string]any
	assert.Fine(t, json.Unmarshal([]byte(result.String()), &all))
	columns, shown := map[string]int{}, map[string][]string{}
	for i, name := range rows[0] {
		columns[name] = i
	}
	for _, row := range rows[1:] {
		shown[row[0]] = row
	}
	checked := 0
	key := regexp.MustCompile(`^(mean|median|std|p[0-9.]+)_(.*)_ms$`)
	for name, v := range all {
		m := key.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		l, known := metrics.LatencyOf(m[2])
		if !known || r.Statistics[l].N == 0 {
			continue
		}
		column := m[1]
		if column == "median" {
			column = "p50"
		}
		row, at := shown[l.Naming().Label], columns[column]
		if want := fmt.Sprintf("%.2f", v); at == 0 || len(row) <= at || row[at] != want {
			t.Errorf("%s: %s in the result, row %v and column %d on the page", name, want, row, at)
		}
		checked++
	}
	if checked < 9 { // mean, median, std of TTFT, TPOT, ITL
		t.Errorf("only %d figures were compared", checked)
	}
}

func TestChartsAreOfTheTimeline(t *testing.T) {
	r := sample(t)
	page := written(t, Run{Report: &r})
	data := regexp.MustCompile(`data-lines='([^']*)'`).FindAllStringSubmatch(page, -1)
	if len(data) != 4 {
		t.Fatalf("%d charts, want tokens, requests, TTFT, ITL", len(data))
	}
	var tokens, requests, ttft [][]any
	for i, into := range []*[][]any{&tokens, &requests, &ttft} {
		assert.Fine(t, json.Unmarshal([]byte(html.UnescapeString(data[i][1])), into))
	}
	for i := range r.Timeline {
		w := r.Timeline[i]
		got := []any{tokens[0][i+1], tokens[1][i+1], requests[0][i+1], requests[1][i+1], requests[2][i+1]}
		want := []any{float64(w.TokensOut), float64(w.TokensIn), float64(w.Running), float64(w.Waiting),
			float64(w.Held)}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("second %d: %v, want %v", i, got, want)
		}
		p99, any := ttft[2][i+1].(float64)
		h := &w.Histograms[metrics.TTFT]
		if v := metrics.Milliseconds(h.Quantile(0.99)); any != (h.Count() > 0) || any && math.Abs(p99-v) > v/1000 {
			t.Errorf("second %d: p99 of TTFT %v, want %v of %d", i, p99, v, h.Count())
		}
	}
}

// evil is foreign text that a page and a terminal would run.
const evil = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'>\x1b[2J\u202e"

func TestForeignTextIsInert(t *testing.T) {
	r := sample(t)
	p := &r.Plan
	for _, s := range []*string{&p.ModelID, &p.BaseURL, &p.Load, &p.Dataset, &p.Label, &p.Version, &p.Strategy,
		&p.Proxy, &p.Cache, &r.Trouble} {
		*s = evil
	}
	p.Servers = []string{evil, evil}
	p.Metadata = []metrics.Pair{{Key: evil, Value: evil}}
	p.Tiers = []metrics.Tier{{Name: evil}, {Name: "b" + evil}}
	r.Interrupted = &metrics.Interruption{Reason: evil}
	r.Failures = []metrics.FailureCount{{Kind: evil, Count: 3, Examples: []string{evil}}}
	r.Failed = 3
	r.Events = []metrics.LogEntry{{At: time.Second, Level: evil, Text: evil, Mark: evil}}
	r.Classes, r.Servers = []metrics.Group{{Class: evil}}, []metrics.Group{{}, {Server: 1}}
	r.Levels = []metrics.LoadLevel{{Limited: []string{evil},
		LevelVerdict: metrics.LevelVerdict{Standing: metrics.LevelUnknown, Why: evil}}}
	r.Gates = []metrics.GateResult{{Gate: metrics.Gate{Metric: evil}}}
	r.Server = &metrics.ServerReport{Kind: evil, Absent: evil, Seconds: make([]metrics.ServerSecond, 2)}
	crazy := tuitest.Crazy().Report
	for _, conclusion := range []metrics.Conclusion{metrics.Fine, metrics.RunFailed} {
		r.Conclusion = conclusion
		page := written(t, Run{Name: evil, Report: &r, Repeat: evil}, Run{Name: evil, Report: crazy})
		for _, bad := range []string{"<script>alert", "<img", "\x1b", "\u202e", "</style><"} {
			assert.Lacks(t, strings.Replace(page, "</style></head>", "", 1), bad)
		}
		if n := strings.Count(page, "&lt;script&gt;alert"); n < 20 {
			t.Errorf("the page has only %d of the texts", n)
		}
	}
}

func TestPagesOfLongRunsAreSmall(t *testing.T) {
	r := sample(t)
	r.Timeline = nil
	for i := range 3 * 3600 {
		w := &metrics.Window{Start: time.Duration(i) * time.Second, TokensOut: 12345 + 7*i, TokensIn: 54321 - i,
			Running: i, Waiting: 2 * i, Held: i / 3}
		for k := range 10 {
			for _, l := range []metrics.Latency{metrics.TTFT, metrics.ITL, metrics.E2EL} {
				v := time.Duration(1+(i*31+k*977)%5000) * time.Millisecond
				w.Histograms[l].Add(v)
				r.Histograms[l].Add(v)
			}
		}
		r.Timeline = append(r.Timeline, w)
	}
	for i := range 300 {
		r.Classes = append(r.Classes, metrics.Group{Class: strings.Repeat("c", 10_000)})
		r.Events = append(r.Events, metrics.LogEntry{At: time.Duration(i) * time.Minute,
			Text: strings.Repeat("x", 9999), Mark: strings.Repeat("m", 9999)})
		r.Levels = append(r.Levels, metrics.LoadLevel{Offered: float64(i)})
	}
	r.Plan.ModelID = strings.Repeat("漢", 10_000)
	start := time.Now()
	page := written(t, Run{Report: &r})
	if took := time.Since(start); took > 2*time.Second && !race.Enabled {
		t.Errorf("the page took %s", took)
	}
	if len(page) > 400_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if n := strings.Count(page, "L"); n < 5000 {
		t.Errorf("the lines have only %d points", n)
	}
}

func TestSeveralRunsStandBesideEachOther(t *testing.T) {
	a, b := sample(t), sample(t)
	b.OutputThroughput = 4711
	page := written(t, Run{Name: "a.json", Report: &a}, Run{Name: "b.json", Report: &b})
	if strings.Count(page, "<article") != 2 || !strings.Contains(page, "4711.00") ||
		strings.Count(page, "<h1>b.json") != 1 {
		t.Error("the page lacks one of the runs")
	}
}

// Runs of different lengths are over each other on one axis, a line for each, with their own values and names that do
// nothing.
func TestRunsOverEachOther(t *testing.T) {
	a, b := sample(t), sample(t)
	a.Timeline = append(a.Timeline, &metrics.Window{Start: time.Duration(len(a.Timeline)) * time.Second})
	b.Timeline[0].TokensOut = 4712
	page := written(t, Run{Name: evil, Report: &a}, Run{Name: "b' onload='x", Report: &b})
	_, over, found := strings.Cut(page, "<h2>The runs over each other</h2>")
	over, _, _ = strings.Cut(over, "</section>")
	data := regexp.MustCompile(`data-lines='([^']*)'`).FindAllStringSubmatch(over, -1)
	if !found || len(data) != 5 || strings.Contains(page, "<script>alert") || strings.Contains(page, "' onload") {
		t.Fatalf("%d charts, want tokens, requests, TTFT p50, p99 and ITL p99: %s", len(data), over)
	}
	var tokens [][]any
	if err := json.Unmarshal([]byte(html.UnescapeString(data[0][1])), &tokens); err != nil || len(tokens) != 2 {
		t.Fatalf("%v: %v", err, tokens)
	}
	last := len(a.Timeline)
	if tokens[0][1] != float64(a.Timeline[0].TokensOut) || tokens[1][1] != 4712. || len(tokens[1]) != 1+last ||
		tokens[1][last] != nil || tokens[1][0] != "b' onload='x" {
		t.Errorf("%v", tokens)
	}
	if one := written(t, Run{Report: &a}); strings.Contains(one, "over each other") {
		t.Error("a run over itself")
	}
}

// An outlier leaves room for the others: it is named, and drawn at the end of the axis.
func TestOutliersLeaveRoom(t *testing.T) {
	c := chart{title: "tokens/s", lines: []line{{values: make([]float64, 100)}}}
	for i := range c.lines[0].values {
		c.lines[0].values[i] = 100 + float64(i%7)
	}
	if s, beyond := c.scale(); s.High > 120 || beyond != 0 {
		t.Errorf("axis to %g, %g beyond", s.High, beyond)
	}
	c.lines[0].values[50] = 1e6
	if s, beyond := c.scale(); s.High > 300 || beyond != 1e6 || under(s, 1e6) != "0" {
		t.Errorf("with an outlier: axis to %g, %g beyond", s.High, beyond)
	}
	r := metrics.Report{}
	for range 1000 {
		r.Histograms[metrics.TTFT].Add(30 * time.Millisecond)
	}
	r.Histograms[metrics.TTFT].Add(time.Minute)
	h := histogramOf(&r, metrics.TTFT)
	if h.High > 70 || h.bars[len(h.bars)-1] != 1 {
		t.Errorf("histogram to %g ms, %v", h.High, h.bars)
	}
}

// The loads of a run are drawn with what is proven of each.
func TestLevelsShowTheirEvidence(t *testing.T) {
	r := sample(t)
	level := func(load, p99 float64, good int, s metrics.Standing) metrics.LoadLevel {
		return metrics.LoadLevel{Offered: load, TTFTp50: p99 / 2, TTFTp99: p99,
			LevelVerdict: metrics.LevelVerdict{Requests: 100, Good: good, Standing: s, Confidence: .97}}
	}
	r.Levels = []metrics.LoadLevel{level(2, 50, 100, metrics.LevelWithin), level(8, 900, 40, metrics.LevelMissed),
		level(5, 100, 95, metrics.LevelOpen)}
	page := written(t, Run{Report: &r})
	assert.Has(t, page,
		`<g class="good" opacity="0.97"><title>2 req/s: 100 of 100 good, within, confidence 97 %</title>`,
		`<g class="bad" opacity="0.97"><title>8 req/s: 40 of 100 good, missed, confidence 97 %</title>`,
		`<g class="open" opacity="0.97"><title>5 req/s: 95 of 100 good, confidence 97 %</title>`)
}

func TestThePageNeedsNoNetwork(t *testing.T) {
	r := sample(t)
	r.Plan.BaseURL = "host:8000"
	page := strings.ReplaceAll(written(t, Run{Report: &r}), "http://www.w3.org/2000/svg", "")
	assert.Lacks(t, page, "http://", "https://", "src=", "href=", "@import", "url(")
}

// Bars and axis of a histogram: every value is in a bar, red ones hold only values beyond the limit.
func TestBarsHoldAllValues(t *testing.T) {
	r := sample(t)
	r.Objectives = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 100}}
	r.Histograms[metrics.TTFT].Reset()
	for i := range 1000 {
		r.Histograms[metrics.TTFT].Add(time.Duration(i) * time.Millisecond)
	}
	h := histogramOf(&r, metrics.TTFT)
	sum, missed := 0.0, 0.0
	for i, n := range h.bars {
		if sum += n; h.misses(i) {
			missed += n
		}
	}
	if sum != 1000 || missed < 870 || missed > 899 {
		t.Errorf("%v in all bars, %v in those beyond the limit; want 1000 and a little less than 900", sum, missed)
	}
	for _, limit := range []float64{0.001, 3000, 1e9} {
		r.Objectives[0].LimitMS = limit
		h := histogramOf(&r, metrics.TTFT)
		if on := limit == 3000; (limit >= h.Low && limit <= h.High) != on {
			t.Errorf("limit %v on the axis from %v to %v: %v", limit, h.Low, h.High, !on)
		}
	}
}
