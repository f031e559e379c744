package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/telemetry"
	"benchtop/loadgen/target"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// pageAt is what a server's metrics page answers at some second of the run: "" for a hang, a word for an error of that
// kind.
type pageAt func(second int) string

// serve answers in no time, or never.
func (p pageAt) serve(start time.Time, r *http.Request) (*http.Response, error) {
	page := p(int(time.Since(start) / time.Second))
	if page == "" {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	status := http.StatusOK
	if !strings.HasPrefix(page, "vllm:") {
		status = http.StatusServiceUnavailable
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status),
		Body: io.NopCloser(strings.NewReader(page)), Request: r}, nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// factStream is a stream of facts, and what a journal of them says.
type factStream struct {
	start  time.Time
	view   *live.View
	stream *event.Stream
	share  float64 // of the prompts' tokens, in common
	facts  []event.Event
}

func newWatched() *factStream {
	w := &factStream{start: time.Now(), share: 1}
	// the real waits of goroutines do not matter
	w.view = live.NewView(w.start, &metrics.Plan{Timestamps: metrics.KernelStamps})
	w.stream = event.NewStream(w.start, w.view, w)
	return w
}

func (w *factStream) Take(e *event.Event) { w.facts = append(w.facts, *e) }

func (w *factStream) run(t *testing.T) metrics.Run {
	t.Helper()
	run, _, err := report.Gather(func(yield func(event.Event, error) bool) {
		for _, e := range append([]event.Event{{Kind: event.Fact, Value: metrics.Plan{}}}, w.facts...) {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (w *factStream) watch(ctx context.Context, s *Server) {
	cache := &Cache{View: w.view, Share: func(float64) float64 { return w.share }}
	s.Watch(ctx, w.start, cache, w.stream.Tell)
}

// serverWatched is a run in which a server is looked at for so long; it is in no other way under load.
func serverWatched(t *testing.T, page pageAt, length time.Duration) (run metrics.Run) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWatched()
		w.serve(t, page, length)
		run = w.run(t)
	})
	return run
}

// serve looks at a server for so long.
func (w *factStream) serve(t *testing.T, page pageAt, length time.Duration) {
	t.Helper()
	server, err := target.New(target.Options{BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) { return page.serve(w.start, r) })}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	w.watch(ctx, NewServer(client, []*target.Target{server}, Pages{}, Profiling{}))
}

// told are the texts of the events.
func told(run metrics.Run) (texts []string) {
	for _, e := range run.Events {
		texts = append(texts, e.Text)
	}
	return texts
}

// A run that ends while its server is being looked at is looked at once more: what was counted until the end is known.
func TestLastLookIsTaken(t *testing.T) {
	asked := 0
	run := serverWatched(t, func(second int) string {
		if second == 3 {
			if asked++; asked == 1 {
				return "" // until the run ends
			}
		}
		return "vllm:num_requests_running 3\n"
	}, 3500*time.Millisecond)
	var at []time.Duration
	for _, s := range run.Server {
		at = append(at, s.At.Round(time.Millisecond))
	}
	const ms = time.Millisecond
	if want := []time.Duration{0, 250 * ms, 500 * ms, time.Second, 2 * time.Second, 3500 * ms}; !slices.Equal(at,
		want) {
		t.Errorf("looks at %s, want %s", at, want)
	}
}

// The first look comes before the load, so that no request of the run has been counted by then; a slow page does not
// hold up the run.
func TestLookBeforeTheRun(t *testing.T) {
	for _, c := range []struct {
		page, waits time.Duration
		first       bool
	}{{100 * time.Millisecond, 100 * time.Millisecond, true}, {time.Minute, firstPoll, false}} {
		synctest.Test(t, func(t *testing.T) {
			server, err := target.New(target.Options{BaseURL: "http://127.0.0.1:1"})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(c.page):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				return pageAt(func(int) string { return "vllm:generation_tokens_total 3\n" }).serve(start, r)
			})}
			w, s := newWatched(), NewServer(client, []*target.Target{server}, Pages{}, Profiling{})
			s.Poll()
			if took := time.Since(start); took != c.waits || (s.first != nil) != c.first {
				t.Errorf("a page that takes %s: waited %s, looked %t", c.page, took, s.first != nil)
			}
			if !c.first {
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			w.watch(ctx, s)
			if looks := w.run(t).Server; len(looks) < 2 || looks[0].At != 0 || !metrics.Said(looks[1].OutputTokens) {
				t.Errorf("looks %+v", looks)
			}
		})
	}
}

// A page that was gone for a while and is back for a few seconds is seen in these, and both is told once, even if it
// had answered a single time before.
func TestServerBackForAMoment(t *testing.T) {
	run := serverWatched(t, func(second int) string {
		if second == 0 || second >= 40 && second < 46 {
			return "vllm:num_requests_running 3\n"
		}
		return "closed"
	}, 60*time.Second)
	if !slices.ContainsFunc(run.Server, func(s metrics.ServerSecond) bool { return s.At >= 40*time.Second }) {
		t.Errorf("looks %+v, want some after 40 s", run.Server)
	}
	var turns []string
	for _, text := range told(run) {
		turns = append(turns, map[bool]string{true: "back", false: "gone"}[strings.Contains(text, "is back")])
	}
	if want := []string{"gone", "back", "gone"}; !slices.Equal(turns, want) {
		t.Errorf("told %q, want %q", told(run), want)
	}
}

// Why there is nothing more is said once, in plain words.
func TestServerGoneInWords(t *testing.T) {
	for answer, want := range map[string]string{
		"": "no more server data: reading the server's metrics page: no answer from http://127.0.0.1:1/metrics " +
			"within 5s",
		"closed": "no more server data: reading the server's metrics page at http://127.0.0.1:1/metrics: Service " +
			"Unavailable: closed",
	} {
		run := serverWatched(t, func(second int) string {
			if second < 3 {
				return "vllm:num_requests_running 3\n"
			}
			return answer
		}, 20*time.Second)
		if got := told(run); !slices.Equal(got, []string{want}) {
			t.Errorf("told %q, want %q", got, want)
		}
		if absent, _ := strings.CutPrefix(want, "no more server data: "); run.ServerAbsent != absent {
			t.Errorf("absent %q, want %q", run.ServerAbsent, absent)
		}
	}
}

// Restarts are told a few times; that several processes answer in turn is said once, and after it no restart any more.
func TestRestartsInWords(t *testing.T) {
	fell, back := telemetry.ErrRestarted, telemetry.ErrReturned
	for _, c := range []struct {
		name  string
		errs  []error
		marks []string // "" where nothing is told
	}{
		{"restarts", []error{fell, fell, fell, fell, fell, fell},
			[]string{"restart", "restart", "restart", "restart", "restart", ""}},
		{"two in turn", []error{fell, back, fell, back, fell, back},
			[]string{"restart", "restart", "restart", "in turn", "", ""}},
		{"it took long to see", []error{fell, fell, fell, fell, fell, back, fell, back, fell},
			[]string{"restart", "restart", "restart", "restart", "restart", "", "", "in turn", ""}},
	} {
		var r counterResets
		var got []string
		for _, err := range c.errs {
			text, mark := r.add(err)
			if (text == "") != (mark == "") || (mark == "in turn") != strings.Contains(text, "totals are missing") {
				t.Errorf("%s: %q is marked %q", c.name, text, mark)
			}
			got = append(got, mark)
		}
		if !slices.Equal(got, c.marks) {
			t.Errorf("%s: marks %q, want %q", c.name, got, c.marks)
		}
	}
}

// Counters that fall, and those of another process, are told while the server is watched.
func TestServerRestartsWhileWatched(t *testing.T) {
	run := serverWatched(t, func(second int) string {
		return fmt.Sprintf("vllm:generation_tokens_total{engine=\"0\"} %d\n", 1000+second-500*(second/6))
	}, 10*time.Second)
	if got := told(run); len(got) != 1 ||
		got[0] != "the server's counters dropped: it restarted, or another server answered" {
		t.Errorf("told %q", got)
	}
	if run.Events[0].Mark != "restart" || run.ServerAbsent != "" {
		t.Errorf("events %+v, absent %q", run.Events, run.ServerAbsent)
	}
}

// A page that comes and goes is told ten times. The end of the run does not wait for a page that is gone.
func TestServerThatComesAndGoes(t *testing.T) {
	run := serverWatched(t, func(second int) string {
		if second/60%2 == 0 {
			return "vllm:num_requests_running 3\n"
		}
		return "closed"
	}, 30*time.Minute)
	if got := told(run); len(got) != 2*mostResets {
		t.Errorf("told %d times: %q", len(got), got)
	}
	if run.ServerAbsent == "" {
		t.Error("the page is there at the end")
	}
}

// The end of a run waits for half a second at most for a page that hangs, and not at all for one that hung before.
func TestServerHangsAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		hangs int // from this second on
		end   time.Duration
		want  time.Duration
	}{
		{"before the last look", 3, 3500 * time.Millisecond, 4 * time.Second},
		{"for long, between two looks", 3, 12 * time.Second, 12 * time.Second},
		{"for long, in the middle of a look", 3, 14 * time.Second, 14 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			newWatched().serve(t, func(second int) string {
				if second >= c.hangs {
					return ""
				}
				return "vllm:num_requests_running 3\n"
			}, c.end)
			if took := time.Since(began); took != c.want {
				t.Errorf("%s: it took %s, want %s", c.name, took, c.want)
			}
		})
	}
}

// A cache that is too warm is told as soon as the page shows it, or the answers do; at the end of the run at the
// latest.
func TestServerWithAWarmCache(t *testing.T) {
	for _, c := range []struct {
		name    string
		page    pageAt
		answers time.Duration // when they tell of it
		at      time.Duration
	}{
		{"by the page", func(second int) string {
			return fmt.Sprintf("vllm:prefix_cache_queries_total %d\nvllm:prefix_cache_hits_total %[1]d\n", 500*second)
		}, time.Hour, 2 * time.Second},
		{"by answers", func(int) string { return "vllm:num_requests_running 3\n" }, 2500 * time.Millisecond,
			3 * time.Second},
		{"by answers at the end", func(int) string { return "closed" }, 9900 * time.Millisecond, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWatched()
			w.share = 0.5
			time.AfterFunc(c.answers, func() { cached(w.view) })
			w.serve(t, c.page, 10*time.Second)
			events := w.run(t).Events
			if len(events) != 1 || events[0].Mark != metrics.CacheMark || events[0].At != c.at {
				t.Errorf("%s: %+v", c.name, events)
			}
		})
	}
}

// The counters of a server that is named twice count once, and its profiler starts once.
func TestServerNamedTwice(t *testing.T) {
	var targets []*target.Target
	for _, url := range []string{"http://h:1", "http://h:1/", "http://h:2", "http://me:key@H:1"} {
		tgt, err := target.New(target.Options{BaseURL: url})
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, tgt)
	}
	s := NewServer(targets[0].Client(), targets, Pages{}, Profiling{})
	var pages []string
	for _, p := range s.pages {
		pages = append(pages, p.URL)
	}
	if got, want := strings.Join(pages, " "), "http://h:1/metrics http://h:2/metrics"; got != want {
		t.Errorf("pages %s, want %s", got, want)
	}
}

// Pages that are named stand in for those of the servers. One that cannot be read is known before the load, one that
// may have figures later is noted; the waits of several roles are not added up.
func TestNamedPages(t *testing.T) {
	of := func(handler http.HandlerFunc) *target.Target {
		web := httptest.NewServer(handler)
		t.Cleanup(web.Close)
		at, err := target.New(target.Options{BaseURL: web.URL, Path: "/metrics", APIKey: "canary"})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	var polls atomic.Int64
	good := of(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "vllm:num_requests_running 3\nvllm:time_to_first_token_seconds_sum %d\n"+
			"vllm:time_to_first_token_seconds_count %[1]d\nvllm:request_queue_time_seconds_count 1\n", polls.Add(1))
	})
	other := of(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "node_cpu 1\n") })
	bad := of(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "canary", http.StatusNotFound) })
	server := of(func(http.ResponseWriter, *http.Request) { t.Error("the server of the load was asked") })
	for _, c := range []struct {
		pages      []*target.Target
		note, want string
	}{
		{nil, "", ""},
		{[]*target.Target{good}, "", ""},
		{[]*target.Target{other, good}, "no metrics of vLLM, which another page has", ""},
		{[]*target.Target{other}, "no metrics of vLLM, SGLang, llama.cpp or TGI; is it the page of an engine?", ""},
		{[]*target.Target{good, bad}, "", bad.URL("") + ": 404 Not Found: ***"},
	} {
		s := NewServer(server.Client(), []*target.Target{server}, Pages{At: c.pages}, Profiling{})
		notes, err := s.Check(t.Context())
		if assert.Fails(t, "check", err, c.want); (len(notes) > 0) != (c.note != "") ||
			!strings.Contains(strings.Join(notes, ""), c.note) {
			t.Errorf("notes %q, want %q", notes, c.note)
		}
		s.Close(nil)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s := NewServer(server.Client(), []*target.Target{server}, Pages{At: []*target.Target{bad}}, Profiling{})
	if _, err := s.Check(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("cut: %v", err)
	}
	for _, apart := range []bool{false, true} {
		s := NewServer(server.Client(), []*target.Target{server}, Pages{At: []*target.Target{good}, Apart: apart},
			Profiling{})
		w := newWatched()
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		w.watch(ctx, s)
		cancel()
		waits, atEnd := 0.0, false
		for _, second := range w.run(t).Server {
			waits, atEnd = waits+second.TTFT.N, atEnd || second.WaitsAtEnd
		}
		if (waits == 0) != apart || atEnd == apart {
			t.Errorf("apart %t: %v waits, at the end of requests: %t", apart, waits, atEnd)
		}
	}
}
