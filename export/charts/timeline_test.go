package charts

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
)

// canary would run a script if it were taken for markup.
const canary = "</script><img src=x onerror=alert(1)><!--<script>\u2028&quot;'\"\\"

func madeUp() []metrics.Request {
	second := failed(answered(1, 2*time.Second, 100*ms, 125*ms), metrics.FailedStall, time.Second)
	second.ID, second.Model, second.Error = "id "+canary, "model "+canary, "error "+canary
	first := answered(0, 1500*ms, 200*ms, 210*ms, 260*ms)
	first.InputTokens, first.CountedChunks = 42, 3
	for i, tokens := range []int32{1, 1, 4} {
		first.Chunks[i].Tokens = tokens
	}
	return []metrics.Request{second, first}
}

// runEvents are before the first request, after the last one, and without an annotation.
func runEvents() []metrics.LogEntry {
	return []metrics.LogEntry{{At: time.Hour, Mark: "late"}, {At: 1750 * ms, Mark: "40 req/s " + canary},
		{At: 0, Mark: "stage 1"}, {At: 1600 * ms, Text: "words"}}
}

func page(t testing.TB, requests ...metrics.Request) string {
	t.Helper()
	var out bytes.Buffer
	plan := metrics.Plan{ModelID: "plan " + canary, Label: canary, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	assert.Must(Timeline(&out, all(requests...), plan, runEvents(), [2]float64{25, 50}))(t)
	return out.String()
}

// block returns the text of an element of the page.
func block(t testing.TB, page, open string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, open)
	text, _, closed := strings.Cut(rest, "</script>")
	if !found || !closed {
		t.Fatalf("no %s in the page", open)
	}
	return text
}

const (
	dataOpen     = `<script type="application/json" id="data">`
	segmentsOpen = `<script type="text/plain" id="segments">`
)

func TestTimelineHoldsTheRun(t *testing.T) {
	never := metrics.NewRequest(2)
	never.Scheduled, never.Due, never.Failure = 0, 0, metrics.Cancelled
	page := page(t, append([]metrics.Request{never}, madeUp()...)...)
	var got pageData
	assert.Fine(t, json.Unmarshal([]byte(block(t, page, dataOpen)), &got))
	want := pageData{
		About: [][2]string{{"Model", "plan " + canary}, {"Label", canary}, {"Started", "2026-01-02T03:04:05Z"}},
		Classes: []pageClass{
			{"TTFT", "#636EFA", true}, {"ITL < 25ms", "#109618", true}, {"25ms ≤ ITL < 50ms", "#FF7F0E", true},
			{"ITL ≥ 50ms", "#D62728", true}, {"Failed", "#E377C2", true}, {"Cancelled", "#9AA0A6", false},
		},
		Rows: pageRows{
			Index: []int{0, 1}, Start: []int64{0, 500_000}, Finish: []int64{260_000, 625_000},
			Input: []int{42, 101}, Output: []int{3, 2}, TPOT: []int64{30_000, 0}, TokenITL: []int64{12_000, 0},
			Count: []int{3, 3},
			IDs:   []string{"", "id " + canary}, Models: []string{"", "model " + canary},
			Failures: map[int]string{1: "stall: error " + canary},
		},
		End: 1_625_000, Segments: 6, Unsent: 1,
		Marks: []pageMark{{0, "stage 1"}, {250_000, "40 req/s " + canary}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("page data\n got %+v\nwant %+v", got, want)
	}
	packed := assert.Must(base64.StdEncoding.DecodeString(block(t, page, segmentsOpen)))(t)
	segments := []segment{
		{classWait, 200_000, 1}, {classFast, 10_000, 1}, {classSlow, 50_000, 1},
		{classWait, 100_000, 1}, {classMedium, 25_000, 1}, {classFailed, 1_000_000, 1},
	}
	if got := decode(packed); !reflect.DeepEqual(got, segments) {
		t.Errorf("segments %v, want %v", got, segments)
	}
}

func TestForeignTextStaysInert(t *testing.T) {
	page := page(t, madeUp()...)
	if got := strings.Count(page, "<script"); got != 4 {
		t.Errorf("%d openings of a script, want the page's own 4", got)
	}
	if got := strings.Count(page, "</script"); got != 4 {
		t.Errorf("%d ends of a script, want the page's own 4", got)
	}
	own := strings.Replace(page, echarts(), "", 1) // the library has markup in texts
	assert.Lacks(t, own, "<img", "<!--", "\u2028", "onerror=alert(1)>")
	if !strings.Contains(page, `\u003cimg src=x onerror=alert(1)\u003e`) {
		t.Error("the text got lost instead of being escaped")
	}
}

// TestPageFetchesNothing checks that our part has no address, the whole page none in an attribute, and the policy
// forbids requests.
func TestPageFetchesNothing(t *testing.T) {
	ci.SkipUnderRace(t)
	page := page(t, answered(0, 0, ms, 2*ms))
	own := strings.Replace(page, echarts(), "", 1)
	own = strings.Replace(own, block(t, page, dataOpen), "", 1) // text is not markup
	const request = `|@import|<link|<iframe|\bfetch\(|XMLHttpRequest|WebSocket|importScripts`
	if found := regexp.MustCompile(`(?i)https?:|src\s*=|href\s*=|url\(`+request).FindAllString(own, -1); found != nil {
		t.Errorf("the page's own part would fetch: %q", found)
	}
	address := regexp.MustCompile(`(?i)\b(src|href)\s*=\s*["']?(https?:)?//|url\(\s*["']?https?:` + request)
	if found := address.FindAllString(echarts(), -1); found != nil {
		t.Errorf("the library would fetch: %q", found)
	}
	policy := `content="default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'sha256-`
	if !strings.Contains(page, policy) {
		t.Error("the page has no policy that forbids requests")
	}
}

// TestPolicyNamesTheScripts checks the hashes: with a wrong one, a browser runs nothing.
func TestPolicyNamesTheScripts(t *testing.T) {
	page := page(t, answered(0, 0, ms, 2*ms))
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(scripts) != 2 {
		t.Fatalf("%d scripts, want the library and the page's own", len(scripts))
	}
	for i, s := range scripts {
		sum := sha256.Sum256([]byte(s[1]))
		if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(page, want) {
			t.Errorf("the policy does not allow script %d, %s", i, want)
		}
		if strings.Contains(s[1], "\r") {
			t.Errorf("script %d has carriage returns, which a browser drops before it checks the hash", i)
		}
	}
	if !strings.Contains(scripts[0][1], `version="6.1.0"`) {
		t.Error("the library is not ECharts 6.1.0")
	}
	if !strings.Contains(scripts[0][1], "Licensed to the Apache Software Foundation") {
		t.Error("the library lost its licence")
	}
}

// The page of a pooling run has one class and no gaps.
func TestPageOfPooling(t *testing.T) {
	g := assert.Must(gather(all(answered(0, 0, ms)), thresholds{25, 50}, maxSegments))(t)
	var used []string
	for _, c := range newPageData(g, &metrics.Plan{Pooling: true}, nil).Classes {
		if c.Used {
			used = append(used, c.Name)
		}
	}
	assert.EqualAll(t, used, []string{"E2EL"}, "classes")
}

func TestPageSaysThatSegmentsAreJoined(t *testing.T) {
	g := assert.Must(gather(all(answered(0, 0, steps(10*ms, 10*ms, 40*ms)...)), thresholds{25, 50}, 3))(t)
	var out bytes.Buffer
	assert.Fine(t, writeTimeline(&out, g, &metrics.Plan{}, nil))
	assert.Has(t, block(t, out.String(), dataOpen), `"segments":3,"joined":true,"least":0`)
	if !strings.Contains(out.String(), "There were too many segments to draw each") {
		t.Error("the page has no words for it")
	}
}

func TestNothingToDraw(t *testing.T) {
	never := metrics.NewRequest(0)
	for name, requests := range map[string][]metrics.Request{
		"no request": nil, "none begun": {never}, "no answer": {answered(0, 0)},
	} {
		var out bytes.Buffer
		n, err := Timeline(&out, all(requests...), metrics.Plan{}, nil, [2]float64{25, 50})
		if n != 0 || err != nil || out.Len() != 0 {
			t.Errorf("%s: %d segments, error %v, %d bytes, want nothing at all", name, n, err, out.Len())
		}
	}
}

func TestTimelineErrors(t *testing.T) {
	want := errors.New("disk full")
	for _, room := range []int{0, 70_000} { // in the head of the page and in the library
		_, err := Timeline(&deaf{room, want}, all(answered(0, 0, ms)), metrics.Plan{}, nil, [2]float64{25, 50})
		if !errors.Is(err, want) {
			t.Errorf("a writer with room for %d: error %v, want %v", room, err, want)
		}
	}
	if n, err := Timeline(&bytes.Buffer{}, broken(want), metrics.Plan{}, nil, [2]float64{25, 50}); n != 0 ||
		!errors.Is(err, want) {
		t.Errorf("broken requests: %d segments, error %v, want %v", n, err, want)
	}
}

// FuzzForeign checks that any foreign text stays within its element and is read back unchanged.
func FuzzForeign(f *testing.F) {
	f.Add(canary)
	f.Add("\xff\xfe<\x00>\u2029\U0001F600")
	f.Fuzz(func(t *testing.T, text string) {
		q := answered(0, 0, ms)
		q.ID, q.Model, q.Failure, q.Error = text, text, metrics.FailedStatus, text
		g := assert.Must(gather(all(q), thresholds{25, 50}, maxSegments))(t)
		b := assert.Must(safeJSON(newPageData(g, &metrics.Plan{ModelID: text, Dataset: text, Load: text, Label: text},
			[]metrics.LogEntry{{Mark: text}})))(t)
		if bytes.ContainsAny(b, "<>&\u2028\u2029") {
			t.Fatalf("%q is not escaped: %s", text, b)
		}
		var back pageData
		assert.Fine(t, json.Unmarshal(b, &back))
		valid := strings.Map(func(r rune) rune { return r }, text) // invalid UTF-8 becomes U+FFFD
		if valid != "" && (back.Rows.IDs[0] != valid || back.About[0][1] != valid) {
			t.Fatalf("%q came back as %q and %q", text, back.Rows.IDs, back.About)
		}
	})
}

func BenchmarkTimeline(b *testing.B) {
	var chunks []time.Duration
	for i := range 200 {
		chunks = append(chunks, time.Duration(100+i*(15+i%20))*ms)
	}
	var requests []metrics.Request
	for i := range 1000 {
		requests = append(requests, answered(i, time.Duration(i)*ms, chunks...))
	}
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if _, err := Timeline(&out, all(requests...), metrics.Plan{}, nil, [2]float64{25, 50}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(out.Len()), "file-bytes")
	}
}
