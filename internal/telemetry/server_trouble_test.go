package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// Polls go on after a server restarts, disappears or comes back in the middle of a run.
func TestServerPollTroubled(t *testing.T) {
	const three, five, one, other = "vllm:num_requests_running 1\nvllm:generation_tokens_total 3\n",
		"vllm:num_requests_running 2\nvllm:generation_tokens_total 5\n",
		"vllm:num_requests_running 3\nvllm:generation_tokens_total 1\n",
		"sglang:num_running_reqs 4\nsglang:generation_tokens_total 9\n"
	no := math.NaN()
	page := func(tokens int) string { return strings.Replace(one, "total 1", fmt.Sprint("total ", tokens), 1) }
	for _, c := range []struct {
		name            string
		pages           []string
		errs            []string
		running, output []float64
	}{
		{"restarted once", []string{five, one, three}, []string{"", "restarted", ""}, []float64{2, 3, 1},
			[]float64{no, no, 2}},
		{"caught up", []string{five, page(1), three, five, page(7)}, []string{"", "restarted", "", "", ""},
			[]float64{2, 3, 1, 2, 3}, []float64{no, no, 2, 2, 2}},
		{"two in turn, one seen twice", []string{page(50), page(1), page(2), page(52)},
			[]string{"", "restarted", "", "came back"}, []float64{3, 3, 3, 3}, []float64{no, no, 1, no}},
		{"a counter went away", []string{five, "vllm:num_requests_running 7\n", five, five},
			[]string{"", "restarted", "came back", ""},
			[]float64{2, 7, 2, 2}, []float64{no, no, no, 0}},
		{"two in turn", []string{five, one, five, five, one, three, five},
			[]string{"", "restarted", "came back", "", "restarted", "", "came back"},
			[]float64{2, 3, 2, 2, 3, 1, 2}, []float64{no, no, no, 0, no, 2, no}},
		{"three in turn", []string{five, three, one, five, three, one},
			[]string{"", "restarted", "restarted", "came back", "restarted", "restarted"},
			[]float64{2, 1, 3, 2, 1, 3}, []float64{no, no, no, no, no, no}},
		{"another kind answered", []string{five, other, other}, []string{"", "restarted", ""}, []float64{2, 4, 4},
			[]float64{no, no, 0}},
		{"nothing to say for a while", []string{"", "x_total 5\n", three, five},
			[]string{"no metrics of vLLM", "no metrics of vLLM", "", ""},
			[]float64{no, no, 1, 2}, []float64{no, no, no, 2}},
		{"a web page in between", []string{three, "<html>", five}, []string{"", "web page", ""}, []float64{1, no, 2},
			[]float64{no, no, 2}},
		{"only others", []string{five + other}, []string{""}, []float64{2}, []float64{no}},
	} {
		seen, errs, _ := polls(t, c.pages...)
		for i, s := range seen {
			assert.Fails(t, fmt.Sprintf("%s, look %d", c.name, i), errs[i], c.errs[i])
			if back := c.errs[i] == "came back"; (back || c.errs[i] == "restarted") &&
				(!errors.Is(errs[i], ErrRestarted) || errors.Is(errs[i], ErrReturned) != back) {
				t.Errorf("%s, look %d: error %v, want ErrRestarted, or ErrReturned: %v", c.name, i, errs[i], back)
			}
			if !cmp.Equal(s.Running, c.running[i], compareSeconds) ||
				!cmp.Equal(s.OutputTokens, c.output[i], compareSeconds) {
				t.Errorf("%s, look %d: %v running, %v tokens; want %v, %v", c.name, i, s.Running, s.OutputTokens,
					c.running[i], c.output[i])
			}
		}
	}
}

// A server that was restarted a while ago may have caught up with its counters of before.
func TestServerPollCaughtUp(t *testing.T) {
	for _, at := range []time.Duration{resetMemory, resetMemory + time.Second} {
		now := &reading{kind: &kind{}}
		w := &ServerWatch{resets: []counterReset{{now, now, time.Second}}}
		if w.fromBeforeReset(now, now, at, at-time.Second) != (at == resetMemory) {
			t.Errorf("at %s: not another process within a minute, or one after it", at)
		}
	}
}

// The poll after a failed one covers the time since the last successful one.
func TestServerPollTook(t *testing.T) {
	seen, _, _ := polls(t, "vllm:generation_tokens_total 3\n", "<", "vllm:generation_tokens_total 8\n")
	if s := seen[2]; s.At != 3*time.Second || s.Took != 2*time.Second || s.OutputTokens != 5 {
		t.Errorf("%+v, want 5 tokens in 2 s", s)
	}
}

// A page that is too long, never ends, or is of another kind, and a missing server give an error and no figures.
func TestServerPollBadPages(t *testing.T) {
	over := make(chan struct{})
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc // nil: there is no server
		fails  string
	}{
		{"50 MB", func(w http.ResponseWriter, _ *http.Request) {
			block := []byte(strings.Repeat("vllm:num_requests_running 1\n#"+strings.Repeat("x", 1000)+"\n", 128))
			for n := 0; n <= longestPage; n += len(block) {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}, "longer than 50 MB"},
		{"slow", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "vllm:num_requests_running 1\n")
			_ = http.NewResponseController(w).Flush()
			<-over
		}, "/metrics: its end did not come within LIMIT"},
		{"hangs", func(http.ResponseWriter, *http.Request) { <-over }, "/metrics within LIMIT"},
		{"HTML", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "vllm:num_requests_running 1\n")
		}, "web page"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "vllm:num_requests_running 1\n")
		}, "unexpected EOF"},
		{"switched off", http.NotFound, "404 Not Found: 404 page not found; some servers need a flag for it"},
		{"no such page", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<html><head><title>404</title></head><body>nginx</body></html>")
		}, "404 Not Found; some servers need a flag for it"},
		{"gone", nil, "refused"},
	} {
		url := gone.URL
		limit := time.Minute
		if c.answer != nil {
			url = served(t, c.answer)
		}
		timed := strings.Contains(c.fails, "LIMIT")
		if timed {
			limit = 50 * ms
		}
	again:
		w := NewServerWatch(Page{Client: http.DefaultClient, URL: url + "/metrics"})
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		s, err := w.Poll(ctx, time.Second)
		cancel()
		fails := strings.ReplaceAll(c.fails, "LIMIT", limit.String())
		if err == nil || !strings.Contains(err.Error(), fails) ||
			!strings.HasPrefix(err.Error(), "reading the server's metrics page") {
			if timed && limit < 20*time.Second { // on a busy machine that was not long enough to get as far
				limit *= 10
				goto again
			}
			t.Errorf("%s: error %v, want %q", c.name, err, fails)
		}
		if timed && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v is no time-out", c.name, err)
		}
		if diff := cmp.Diff(unsaid(time.Second), s, compareSeconds); diff != "" || w.Kind() != "" {
			t.Errorf("%s: kind %q, -want +got\n%s", c.name, w.Kind(), diff)
		}
	}
	close(over)
}

// A missing, large or slow page is polled less often; one that answers again, each second, and more often at the start
// of a run.
func TestServerRest(t *testing.T) { synctest.Test(t, testServerRest) }

func testServerRest(t *testing.T) {
	status, long, takes := 0, 0, time.Duration(0)
	page := Page{URL: "http://server/metrics", Client: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			time.Sleep(takes)
			text := "vllm:num_requests_running 1\n" + strings.Repeat("#"+strings.Repeat("x", 998)+"\n", long/1000)
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		})}}
	w := NewServerWatch(page)
	var rests []time.Duration
	look := func(times int) {
		for range times {
			_, _ = w.Poll(t.Context(), time.Minute)
			rests = append(rests, w.Rest()/time.Second)
		}
	}
	status = http.StatusNotFound
	look(7)
	status = http.StatusOK
	look(1)
	status = http.StatusNotFound // gone in the middle of a run, perhaps for a moment
	look(5)
	status, long = http.StatusOK, 8e6
	look(1)
	long, takes = 0, 3*time.Second
	look(1)
	assert.EqualAll(t, rests, []time.Duration{2, 4, 8, 16, 30, 30, 30, 1, 1, 1, 1, 5, 5, 2, 3}, "seconds of rest")
	takes = 0
	w = NewServerWatch(page)
	for _, c := range []struct{ at, want time.Duration }{{0, 250 * ms}, {250 * ms, 250 * ms}, {500 * ms, 500 * ms},
		{time.Second, time.Second}, {time.Hour, time.Second}} {
		_, _ = w.Poll(t.Context(), c.at)
		assert.Equal(t, w.Rest(), c.want, "rest at %s", c.at)
	}
}

// Errors contain no passwords.
func TestServerPollHidesPassword(t *testing.T) {
	url := strings.Replace(served(t, func(w http.ResponseWriter, _ *http.Request) {}), "://", "://me:s3cret@", 1)
	for _, page := range []string{url, "http://me:s3cr/et@host:port/metrics"} {
		_, err := NewServerWatch(Page{Client: http.DefaultClient, URL: page}).Poll(t.Context(), 0)
		if err == nil || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("error %v, want one without the password", err)
		}
	}
}

// The figures of any two pages are unsaid or sane.
func FuzzServerPage(f *testing.F) {
	f.Add(twoEngines, twoEngines)
	f.Add("vllm:kv_cache_usage_perc 1e300\nvllm:prompt_tokens_total NaN\n",
		"vllm:prompt_tokens_total 1e12\nvllm:prompt_tokens_total 1e12\n")
	f.Add("sglang:spec_accept_length 1e-300\nsglang:spec_accept_rate 1\nsglang:generation_tokens 1",
		"sglang:spec_accept_length 3\nsglang:spec_accept_rate 1e-12\nsglang:generation_tokens 9")
	f.Add("tgi_batch_inference_duration_sum{method=\"prefill\"} 1e-9\n",
		"tgi_batch_inference_duration_sum{method=\"prefill\"} "+
			"1e12\ntgi_batch_inference_duration_count{method=\"prefill\"} 1e-9\n")
	f.Fuzz(func(t *testing.T, one, two string) {
		readOf := func(page string) *reading {
			r := newReading(kinds())
			if err := eachLine(limited(strings.NewReader(page)), func(line []byte) { r.add(0, line) }); err != nil {
				return nil
			}
			return r
		}
		before, after := readOf(one), readOf(two)
		if before == nil || after == nil || before.kind == nil || after.kind == nil {
			return
		}
		if before.restarted(before) {
			t.Error("restarted between a look and itself")
		}
		s := after.second(0)
		if !after.restarted(before) {
			after.movements(&before.values, &s)
		}
		for _, v := range []float64{s.Running, s.Waiting, s.Preemptions, s.PrefixQueries, s.PrefixHits, s.PromptTokens,
			s.OutputTokens, s.DraftTokens, s.AcceptedTokens} {
			if v < 0 || math.IsInf(v, 0) {
				t.Errorf("%+v", s)
			}
		}
		for _, v := range []float64{s.KVUsage, s.HitRate} {
			if v < 0 || v > 1 {
				t.Errorf("a share of %v", v)
			}
		}
		for _, l := range []metrics.ServerLatency{s.TTFT, s.Queue, s.Prefill} {
			if l.N < 0 || l.Mean < 0 || l.N == 0 && l.Mean != 0 {
				t.Errorf("latency %+v", l)
			}
		}
		if s.AcceptedTokens > s.DraftTokens && after.values[draftTokens].n == 0 {
			t.Errorf("%v of %v accepted", s.AcceptedTokens, s.DraftTokens)
		}
	})
}
