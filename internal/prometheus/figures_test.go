package prometheus

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

func page(f *Figures) string {
	var b strings.Builder
	f.write(&b)
	return b.String()
}

// value is a figure of a page by its name and a part of its labels, summed.
func value(text, name, labels string) (sum float64) {
	for line := range strings.SplitSeq(text, "\n") {
		if words, number, _ := strings.Cut(line, "} "); strings.HasPrefix(words, "benchtop_"+name+"{") &&
			strings.Contains(words, labels) {
			v, _ := strconv.ParseFloat(number, 64)
			sum += v
		}
	}
	return sum
}

// At any moment of a run the page says what the screen does, and at the end what the report has.
func TestLikeTheScreen(t *testing.T) {
	plan := &metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 900}}, Warmup: 3 * time.Second,
		Rate: metrics.Rate(math.Inf(1)), Abandon: "5%", Retry: "backoff"}
	all := eventtest.DrawRun(5, 300)
	for _, until := range []time.Duration{5 * time.Second, 20 * time.Second, time.Hour} {
		f, view := New("r", plan), live.NewView(time.Now(), plan)
		eventtest.Again(f, all, until)
		eventtest.Again(view, all, until)
		got, s := page(f), view.Snapshot()
		want := map[string]int{"requests_due_total": s.Totals.Due, "requests_sent_total": s.Totals.Sent,
			"requests_completed_total": s.Totals.Completed, "requests_failed_total": s.Totals.Failed,
			"requests_cancelled_total": s.Totals.Cancelled, "requests_good_total": s.Totals.Good,
			"requests_abandoned_total": s.Totals.Abandoned, "retries_total": s.Totals.Retries(),
			"requests_queued": s.Held, "requests_in_flight": s.Waiting + s.Running,
			"prompt_tokens_total": s.Totals.InputTokens}
		if until == time.Hour {
			failed := 0
			for _, q := range all { // what they had counts, too
				for _, c := range q.Chunks {
					if !q.OK() && !plan.Warming(&q) {
						failed += int(c.Tokens)
					}
				}
			}
			want["generation_tokens_total"] = s.Totals.OutputTokens + failed
			want["e2e_request_latency_seconds_count"] = s.Totals.Completed
			want["time_to_first_token_seconds_count"] = s.Totals.Completed + s.Totals.Abandoned - s.Totals.Unanswered
			if s.Totals.Abandoned == 0 || s.Totals.Retried == 0 {
				t.Error("no user left, or none tried again")
			}
		}
		for name, n := range want {
			if v := value(got, name, ""); v != float64(n) {
				t.Errorf("%s: %s is %g, want %d", until, name, v, n)
			}
		}
		if v := value(got, "requests_in_flight", `state="running"`); v != float64(s.Running) {
			t.Errorf("%s: %g running, want %d", until, v, s.Running)
		}
	}
}

func TestFacts(t *testing.T) {
	plan := &metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}}, ModelID: "m", Load: "2 req/s"}
	f := New("r", plan)
	slow := eventtest.Simple(0, 0, 20*time.Millisecond, 30*time.Millisecond, 3)
	play := func() {
		q := slow
		f.Take(&event.Event{Kind: event.Done, Request: &q})
	}
	play()
	looser := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 20}}
	eventtest.Tell(f, metrics.LogEntry{Objectives: &looser},
		metrics.Steering{LoadSetting: metrics.LoadSetting{Load: metrics.Users.Of(16)}})
	play()
	got := page(f)
	for words, want := range map[[2]string]float64{
		{"requests_good_total", ""}: 1, {"load", `unit="users"`}: 16, {"run_info", `model="m"`}: 1,
		{"time_to_first_token_seconds_bucket", `le="0.01"`}:  0,
		{"time_to_first_token_seconds_bucket", `le="0.02"`}:  2,
		{"time_to_first_token_seconds_bucket", `le="+Inf"`}:  2,
		{"inter_token_latency_seconds_bucket", `le="0.05"`}:  4,
		{"inter_token_latency_seconds_bucket", `le="0.025"`}: 0,
	} {
		assert.Equal(t, value(got, words[0], words[1]), want, "%s", words)
	}
	pooling := page(New("r", &metrics.Plan{Pooling: true}))
	if strings.Contains(pooling, "first_token") || strings.Contains(pooling, "good") {
		t.Error(pooling)
	}
}

// sample is a line of the text format: a name, labels with escaped values, and a number.
var sample = regexp.MustCompile(`^[a-z_0-9]+\{(?:,?[a-z]+="(?:[^"\\\n]|\\[\\"n])*")+\} \S+$`)

// Foreign texts stay values of labels.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{"", `a"b\c`, "x\ny", "{}=\",", "\x1b[31m\xff", `\`, `\\"`, strings.Repeat("é", 1000),
		`"} 1` + "\nbenchtop_x 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := page(New(s, &metrics.Plan{ModelID: s, Load: s, Backend: s, Version: s}))
		if !utf8.ValidString(text) {
			t.Errorf("no UTF-8: %q", text)
		}
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			if !strings.HasPrefix(line, "# TYPE ") && !sample.MatchString(line) {
				t.Errorf("%q", line)
			}
		}
	})
}

func TestPage(t *testing.T) {
	p := assert.Must(Listen("127.0.0.1:0"))(t)
	defer p.Close()
	get := func() string {
		answer := assert.Must(http.Get(p.URL))(t)
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return string(body)
	}
	assert.Equal(t, get(), "", "before the run")
	f := New("r", &metrics.Plan{})
	p.Show(f)
	var asking sync.WaitGroup
	for i := range 4 {
		asking.Go(func() {
			for k := range 100 {
				q := eventtest.Simple(1000*i+k, 0, 1, 2, 3)
				eventtest.Again(f, []metrics.Request{q}, time.Hour)
			}
		})
		asking.Go(func() { get() })
	}
	asking.Wait()
	if text := get(); value(text, "requests_completed_total", "") != 400 || value(text, "requests_in_flight", "") != 0 {
		t.Error(text)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(p.URL, "http://"), "/metrics")
	assert.Complains(t, assert.Failure(Listen(address)), "another program listens there")
	assert.Complains(t, assert.Failure(Listen("192.0.2.1:0")), "an address of this machine")
	if p.Public {
		t.Error("a local address is public")
	}
	open := assert.Must(Listen("0.0.0.0:0"))(t)
	if open.Close(); !open.Public || !strings.Contains(open.String(), "on http://0.0.0.0:") ||
		!strings.HasSuffix(open.String(), "open to other machines") {
		t.Error(open)
	}
	(*Page)(nil).Close()
}

// A reader that sends and takes nothing holds up neither the run nor, in the end, others.
func TestSlowReader(t *testing.T) {
	p := assert.Must(Listen("127.0.0.1:0"))(t)
	defer p.Close()
	f := New("r", &metrics.Plan{})
	p.Show(f)
	conn := assert.Must(net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(p.URL, "http://"), "/metrics")))(t)
	defer conn.Close()
	fmt.Fprint(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n")
	q := eventtest.Simple(0, 0, 1, 2, 3)
	eventtest.Again(f, []metrics.Request{q}, time.Hour)
	answer := assert.Must(http.Get(p.URL))(t)
	answer.Body.Close()
}

// Readers that keep their connections, or say nothing on them, keep others out for a second at most.
func TestIdleReaders(t *testing.T) {
	p := assert.Must(Listen("127.0.0.1:0"))(t)
	defer p.Close()
	ask := http.Client{Timeout: 3 * time.Second}
	for _, words := range []string{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", ""} {
		for range readers {
			conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(p.URL, "http://"), "/metrics"))
			assert.Fine(t, err)
			defer conn.Close()
			fmt.Fprint(conn, words)
		}
		answer, err := ask.Get(p.URL)
		if err != nil {
			t.Fatalf("behind readers that said %q: %v", words, err)
		}
		answer.Body.Close()
	}
}

// The dashboard asks for figures that there are, and for all of them.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../docs/grafana.json")
	if err != nil || !json.Valid(text) {
		t.Fatal("no JSON", err)
	}
	f := New("r", &metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}},
		Abandon: "5%", Retry: "backoff"})
	eventtest.Tell(f, metrics.Steering{LoadSetting: metrics.LoadSetting{Load: metrics.Users.Of(16)}})
	there, asked := map[string]bool{}, map[string]bool{}
	for line := range strings.SplitSeq(page(f), "\n") {
		if words, ok := strings.CutPrefix(line, "# TYPE "); ok {
			there[strings.Fields(words)[0]] = true
		}
	}
	for _, name := range regexp.MustCompile(`benchtop_[a-z_0-9]+`).FindAllString(string(text), -1) {
		asked[strings.TrimSuffix(name, "_bucket")] = true
	}
	if !maps.Equal(there, asked) {
		t.Errorf("there are %v, the dashboard asks for %v", there, asked)
	}
}

// BenchmarkTake is a request of 100 chunks.
func BenchmarkTake(b *testing.B) {
	f := New("r", &metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 900}}})
	as := eventtest.Simple(0, 0, 100*time.Millisecond, 50*time.Millisecond, 100)
	b.ReportAllocs()
	for b.Loop() {
		q := as
		for _, kind := range []event.Kind{event.Due, event.Sent} {
			f.Take(&event.Event{Kind: kind, Request: &q})
		}
		for i := range as.Chunks {
			q.Chunks = as.Chunks[:i+1]
			f.Take(&event.Event{Kind: event.Chunk, Request: &q})
		}
		f.Take(&event.Event{Kind: event.Done, Request: &q})
	}
}

// BenchmarkPage is one reading.
func BenchmarkPage(b *testing.B) {
	f := New("r", &metrics.Plan{Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 900}}})
	for b.Loop() {
		f.write(io.Discard)
	}
}
