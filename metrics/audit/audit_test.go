package audit_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/audit"
	"benchtop/metrics/judge/queuetest"
	"benchtop/metrics/report"
)

// made is a made-up run: a queue in virtual time, and what the client and the server's page told of it.
type made struct {
	server   queuetest.Server
	shape    queuetest.Shape
	late     float64 // mean lateness of the client, in seconds
	users    int     // of a closed loop, in place of the rate of the shape; 0 for none
	run      metrics.Run
	requests []metrics.Request
}

var plain = queuetest.Server{Discipline: queuetest.FIFO, Servers: 4, Service: .2, First: .04, Spread: .5}

func constant(rate, length float64) queuetest.Shape {
	return queuetest.Shape{Rates: []float64{rate}, Length: length}
}

// play draws the requests, and what is known beside them.
func (m *made) play(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	arrivals, plan := m.shape.Arrivals(r)
	plan.Metrics, plan.Percentiles = []metrics.Latency{metrics.TTFT, metrics.TPOT, metrics.ITL}, []float64{50, 99}
	plan.InputSource, plan.Backend, plan.Timestamps = metrics.TokensFromTokenizer, "openai", metrics.KernelStamps
	plan.Requests = len(arrivals)
	answers := m.server.Serve(arrivals, r)
	for i := range answers { // no answer comes at once
		if a := &answers[i]; a.First >= 0 {
			a.End = max(a.End, a.First+.03)
		}
	}
	if m.users > 0 {
		plan.Rate, plan.MaxConcurrency, plan.Requests = metrics.Rate(math.Inf(1)), m.users, 0
		arrivals, answers = m.loop(plan.Duration.Seconds(), r)
	}
	m.requests = m.server.Requests(arrivals, answers, m.late, r)
	if m.users > 0 {
		m.each(func(_ int, q *metrics.Request) { q.Scheduled, q.Due = 0, 0 })
	}
	m.run = metrics.Run{Plan: plan, End: metrics.End{Ended: plan.Duration}}
	m.run.ServerKind = "vLLM"
	for i := range m.requests {
		q := &m.requests[i]
		q.MaxTokens, q.InputTokens, q.DatasetTokens = 4, 100, 100
		q.InputSource, q.OutputSource, q.CachedKnown = metrics.TokensFromUsage, metrics.TokensFromUsage, true
		m.run.Ended = max(m.run.Ended, q.Done)
	}
	m.watch()
}

// loop has users without a pause, each of whom takes a time of its own.
func (m *made) loop(length float64, r *rand.Rand) (arrivals []float64, answers []queuetest.Times) {
	free := make([]float64, m.users)
	for {
		user := slices.Index(free, slices.Min(free))
		if free[user] >= length {
			return arrivals, answers
		}
		slower := 1 + m.server.Drift*free[user]/length
		took := m.server.First + .03 + slower*m.server.Service*r.ExpFloat64()
		arrivals = append(arrivals, free[user])
		answers = append(answers, queuetest.Times{First: m.server.First, End: took})
		free[user] += took
	}
}

// watch makes the samples of client and server, as the requests are.
func (m *made) watch() {
	n := int(m.run.Ended/time.Second) + 1
	m.run.Client, m.run.Server = make([]metrics.ClientSecond, n), make([]metrics.ServerSecond, n+1)
	for i := range m.run.Server {
		silent := metrics.Unsaid()
		s := &m.run.Server[i]
		*s = metrics.ServerSecond{At: time.Duration(i) * time.Second, PrefixQueries: silent, PrefixHits: silent,
			HitRate: silent, Preemptions: silent, DraftTokens: silent, AcceptedTokens: silent}
		if i > 0 {
			s.Took = time.Second
			m.run.Client[i-1] = metrics.ClientSecond{At: s.At, Took: time.Second, CPU: .1, Cores: 2, DelayP50: 20_000,
				DelayP99: 50_000, DelayMax: 60_000}
		}
		for k := range m.requests {
			if q := &m.requests[k]; q.Sent != metrics.Never && q.Sent <= s.At && q.Done > s.At {
				s.Running++
			}
		}
	}
	for i := range m.requests {
		q := &m.requests[i]
		if q.Sent != metrics.Never {
			m.run.Client[min(n-1, metrics.SecondOf(q.Sent))].Sent++
		}
		for _, c := range q.Chunks {
			m.run.Server[min(n, metrics.SecondOf(c.At)+1)].OutputTokens++
		}
	}
}

func (m *made) audit(t *testing.T) (metrics.Report, audit.Audit) {
	t.Helper()
	all := func(yield func(metrics.Request, error) bool) {
		for _, q := range m.requests {
			if !yield(q, nil) {
				return
			}
		}
	}
	r := assert.Must(report.Summarize(all, m.run))(t)
	return r, audit.Of(&r)
}

func clean() *made { return &made{server: plain, shape: constant(8, 130)} }

func (m *made) log(e metrics.LogEntry) { m.run.Events = append(m.run.Events, e) }

func (m *made) each(change func(i int, q *metrics.Request)) {
	for i := range m.requests {
		change(i, &m.requests[i])
	}
}

func (m *made) seconds(change func(i int, s *metrics.ClientSecond)) {
	for i := range m.run.Client {
		change(i, &m.run.Client[i])
	}
}

func (m *made) pages(change func(i int, s *metrics.ServerSecond)) {
	for i := range m.run.Server {
		change(i, &m.run.Server[i])
	}
}

func fail(q *metrics.Request, f metrics.Failure) {
	q.Failure, q.Done, q.Chunks = f, q.Sent+time.Millisecond, nil
	q.FirstChunk, q.LastChunk = metrics.Never, metrics.Never
}

// Each way to fool a run is named by the audit.
func TestWaysToFool(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	ways := []struct {
		name, check string
		before      func(*made) // the run is played
		after       func(*made) // it was
	}{
		{"one request failed", "failures", nil, func(m *made) { fail(&m.requests[5], metrics.FailedStatus) }},
		{"half of them failed", "failures", nil, func(m *made) {
			m.each(func(i int, q *metrics.Request) {
				if i%2 == 0 {
					fail(q, metrics.FailedTimeout)
				}
			})
		}},
		{"all failed", "plan", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { fail(q, metrics.FailedStatus) })
		}},
		{"a rate limiter refuses the excess", "failures", func(m *made) {
			m.server = queuetest.Server{Discipline: queuetest.Limiter, Servers: 3, Limit: 6, Service: .2, First: .04}
		}, nil},
		{"the server is gone at the end", "server", nil, func(m *made) {
			for i := len(m.requests) - 30; i < len(m.requests); i++ {
				fail(&m.requests[i], metrics.FailedConnect)
			}
		}},
		{"a late client", "client", func(m *made) { m.late = .05 }, nil},
		{"a client that stood still", "client", nil, func(m *made) { m.run.Client[20].Stall = 3 * s }},
		{"a client without CPU time", "client", nil, func(m *made) {
			m.seconds(func(_ int, s *metrics.ClientSecond) { s.CPU = 2 })
		}},
		{"a client without sockets", "client", nil, func(m *made) { fail(&m.requests[3], metrics.FailedNoSocket) }},
		{"chunks read together", "client", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.Chunks[2].At = q.Chunks[1].At })
			m.seconds(func(_ int, s *metrics.ClientSecond) { s.DelayP99 = s.At })
		}},
		{"a part without records", "plan", nil, func(m *made) {
			m.run.Plan.Part = metrics.Part{K: 1, N: 2}
			m.seconds(func(_ int, s *metrics.ClientSecond) { s.Part = 1 })
		}},
		{"no record of the client", "client", nil, func(m *made) { m.run.Client = nil }},
		{"a queue that grows to the end", "steady", func(m *made) { m.shape = constant(23, 130) }, nil},
		{"a server that becomes slower", "steady", func(m *made) { m.server.Drift, m.server.DriftFor = 1.5, 130 }, nil},
		{"a closed loop on a server that becomes slower", "steady", func(m *made) {
			m.users, m.server.Drift = 16, 2
		}, nil},
		{"a server that starts cold", "steady", func(m *made) { m.server.Slow, m.server.SlowFor = 3, 40 }, nil},
		{"a server that is throttled from the middle on", "steady", nil, func(m *made) {
			slow := &made{server: m.server, shape: m.shape}
			slow.server.Service *= 2
			slow.play(1)
			half := len(m.requests) / 2
			m.requests = append(m.requests[:half], slow.requests[half:]...)
			m.watch()
		}},
		{"a few seconds", "duration", func(m *made) { m.shape = constant(8, 20) }, nil},
		{"seconds of load and one slow answer", "duration", func(m *made) { m.shape = constant(8, 22) }, func(m *made) {
			m.requests[50].Done, m.run.Ended = 71*s, 71*s
		}},
		{"a slow answer long after the load", "duration", nil, func(m *made) {
			m.requests[50].Done, m.run.Ended = 200*s, 200*s
		}},
		{"a warm-up longer than the run", "duration", nil, func(m *made) { m.run.Plan.Warmup = 68 * s }},
		{"40 requests for a p99", "percentiles", func(m *made) { m.shape = constant(.3, 130) }, nil},
		{"a thousand requests for a p99.99", "percentiles", nil, func(m *made) {
			m.run.Plan.Percentiles = []float64{99.99}
		}},
		{"a cache warmed by an earlier run", "cache", nil, func(m *made) {
			m.log(metrics.LogEntry{Mark: metrics.CacheMark, Level: metrics.Warn})
			m.each(func(_ int, q *metrics.Request) { q.CachedTokens = 90 })
		}},
		{"the same, by the counters alone", "cache", nil, func(m *made) {
			m.log(metrics.LogEntry{Mark: metrics.CacheMark, Level: metrics.Warn})
			m.each(func(_ int, q *metrics.Request) { q.CachedKnown = false })
			m.pages(func(_ int, s *metrics.ServerSecond) { s.PrefixQueries, s.PrefixHits = 800, 700 })
		}},
		{"more hits than the prompts share", "cache", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.CachedTokens, q.IdealTokens, q.IdealKnown = 60, 10, true })
		}},
		{"one prompt again and again", "cache", nil, func(m *made) {
			m.each(func(i int, q *metrics.Request) {
				q.CachedTokens, q.IdealTokens, q.IdealKnown = 96, 96*min(1, i), true
			})
		}},
		{"each prompt twice", "cache", nil, func(m *made) {
			m.each(func(i int, q *metrics.Request) {
				if q.IdealKnown = true; i%2 == 1 {
					q.IdealTokens, q.FirstChunk = 96, q.FirstChunk-20*ms
				}
			})
		}},
		{"a file with fewer prompts than requests", "cache", nil, func(m *made) {
			m.run.Plan.Dataset = "custom: 30 prompts of 30 in p.jsonl, repeated to make 330"
			m.each(func(_ int, q *metrics.Request) { q.CachedTokens = 90 })
		}},
		{"a cache that nobody tells of", "cache", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.CachedKnown = false })
		}},
		{"answers cut short", "lengths", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.MaxTokens = 400 })
		}},
		{"answers whose length nobody knows", "lengths", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.OutputSource = metrics.TokensFromTokenizer })
		}},
		{"answers longer than asked for", "lengths", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.MaxTokens = 2 })
		}},
		{"prompts cut short", "prompts", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.DatasetTokens = 2000 })
		}},
		{"output tokens estimated", "tokens", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.OutputSource = metrics.TokensFromEstimate })
		}},
		{"a chunk counted as a token", "tokens", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.OutputSource = metrics.TokensFromChunks })
		}},
		{"input tokens estimated", "tokens", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.InputSource = metrics.TokensFromEstimate })
		}},
		{"answers without a count", "tokens", nil, func(m *made) {
			m.each(func(i int, q *metrics.Request) {
				if i%50 == 0 {
					q.OutputSource = metrics.TokensUnknown
				}
			})
		}},
		{"a proxy that holds answers back", "stream", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) {
				for k := range q.Chunks {
					q.Chunks[k].At = q.LastChunk
				}
				q.FirstChunk, q.FirstToken = q.LastChunk, q.LastChunk
			})
		}},
		{"several tokens in a chunk", "stream", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) { q.OutputTokens, q.MaxTokens = 16, 16 })
		}},
		{"the clock was set", "clock", nil, func(m *made) { m.run.Client[30].ClockStep = true }},
		{"the server restarted", "server", nil, func(m *made) {
			m.log(metrics.LogEntry{At: 40 * s, Mark: metrics.RestartMark})
		}},
		{"several processes answer for the server", "server", nil, func(m *made) {
			m.log(metrics.LogEntry{At: 40 * s, Mark: metrics.InTurnMark})
		}},
		{"a rate set by hand", "steering", nil, func(m *made) {
			set := &metrics.LoadSetting{Load: metrics.RequestsPerSecond.Of(4), By: metrics.ByUser}
			m.log(metrics.LogEntry{At: 50 * s, Set: set})
		}},
		{"a pause by hand", "steering", nil, func(m *made) {
			m.log(metrics.LogEntry{At: 50 * s, Set: &metrics.LoadSetting{Paused: true, By: metrics.ByUser}})
		}},
		{"objectives eased at the end", "steering", nil, func(m *made) {
			m.run.Plan.Goodput = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 50}}
			m.log(metrics.LogEntry{At: 120 * s, Objectives: &metrics.SLO{{Metric: metrics.TTFT, LimitMS: 5000}}})
		}},
		{"the slowest rows dropped", "records", nil, func(m *made) {
			slices.SortFunc(m.requests, func(a, b metrics.Request) int { return int(a.TTFT() - b.TTFT()) })
			m.requests = m.requests[:len(m.requests)-10]
		}},
		{"the last rows dropped", "records", nil, func(m *made) { m.requests = m.requests[:len(m.requests)-40] }},
		{"the fastest rows twice", "records", nil, func(m *made) {
			m.requests = append(m.requests, m.requests[:50]...)
		}},
		{"lines that cannot be read", "records", nil, func(m *made) { m.run.Damaged = 3 }},
		{"ended by the user", "plan", nil, func(m *made) { m.run.Reason = metrics.StoppedByUser }},
		{"killed", "plan", nil, func(m *made) { m.run.End = metrics.End{Ended: metrics.Never, Reason: report.Killed} }},
		{"requests never sent", "plan", nil, func(m *made) { m.run.Unsent = 100 }},
		{"others at the server", "other load", nil, func(m *made) {
			m.pages(func(_ int, s *metrics.ServerSecond) { s.Running += 9 })
		}},
		{"others in a third of the run", "other load", nil, func(m *made) {
			m.pages(func(i int, s *metrics.ServerSecond) {
				if i > 90 {
					s.Waiting = 12
				}
			})
		}},
		{"others by their tokens alone", "other load", nil, func(m *made) {
			m.pages(func(_ int, s *metrics.ServerSecond) {
				s.OutputTokens, s.Running = 1.2*s.OutputTokens, metrics.Unsaid()
			})
		}},
		{"a server without metrics", "other load", nil, func(m *made) {
			m.run.Server, m.run.ServerAbsent = nil, "404"
		}},
		{"a rate behind a limit", "pacing", nil, func(m *made) {
			m.run.Plan.MaxConcurrency = 2
			m.each(func(_ int, q *metrics.Request) { q.Admitted = q.Due; q.Due -= 300 * ms; q.Scheduled = q.Due })
		}},
		{"a rate that was not sent", "pacing", nil, func(m *made) {
			m.each(func(_ int, q *metrics.Request) {
				q.Scheduled = time.Duration(.9 * float64(q.Scheduled))
				q.Due = q.Scheduled
			})
		}},
		{"a ramp", "load", func(m *made) { m.shape = queuetest.Shape{From: 2, To: 12, Over: 130} }, nil},
		{"a light load first", "load", func(m *made) {
			m.shape = queuetest.Shape{Rates: []float64{2, 14}, Length: 65}
		}, nil},
		{"a search", "load", nil, func(m *made) { m.run.Plan.Find = &metrics.Find{} }},
		{"a proxy on the way", "proxy", nil, func(m *made) { m.run.Plan.Proxy = "http://p (HTTP_PROXY)" }},
	}
	if len(ways) < 40 {
		t.Errorf("%d ways, want 40", len(ways))
	}
	for _, w := range ways {
		m := clean()
		if w.before != nil {
			w.before(m)
		}
		m.play(1)
		if w.after != nil {
			w.after(m)
		}
		_, a := m.audit(t)
		bad := append(a.Names(audit.Invalid), a.Names(audit.Unknown)...)
		if a.Outcome == audit.Valid || !slices.Contains(bad, w.check) {
			t.Errorf("%s: %s by %q, want %q", w.name, a.Outcome, bad, w.check)
		}
	}
}

// What the other parts of a run sent is no load of others.
func TestPartAlone(t *testing.T) {
	m := clean()
	m.play(1)
	m.run.Plan.Part = metrics.Part{K: 1, N: 2}
	for i := range m.run.Client {
		m.run.Client[i].Part = 1
	}
	m.pages(func(_ int, s *metrics.ServerSecond) { s.Running += 9 })
	if _, a := m.audit(t); !slices.Contains(a.Names(audit.Unknown), "other load") {
		t.Errorf("%s, not known: %q", a.Outcome, a.Names(audit.Unknown))
	}
}

// A request that counts at a prefill and at a decode engine is no load of others; one at replicas counts once.
func TestSeveralRoles(t *testing.T) {
	for role, want := range map[string]audit.Outcome{"decode": audit.Unknown, "prefill": audit.Invalid} {
		m := clean()
		m.play(1)
		m.run.Plan.Pages = []metrics.Page{{Name: "a", Role: "prefill"}, {Name: "b", Role: role}}
		m.pages(func(_ int, s *metrics.ServerSecond) { s.Running += 9 })
		if _, a := m.audit(t); !slices.Contains(a.Names(want), "other load") {
			t.Errorf("prefill and %s: %s: %q", role, want, a.Names(want))
		}
	}
}

var auditRuns = flag.Int("audit", 0, "clean runs in which false reasons are counted; 0 for the short test")

// Clean runs have no reasons against them.
func TestCleanRuns(t *testing.T) {
	servers := []queuetest.Server{
		plain,
		{Discipline: queuetest.FIFO, Servers: 4, Service: .2, First: .04},
		{Discipline: queuetest.FIFO, Servers: 4, Service: .2, First: .04, Spread: 1},
		{Discipline: queuetest.FIFO, Servers: 1, Service: .05, First: .02},
		{Discipline: queuetest.Sharing, Servers: 4, Service: .2, First: .04, Spread: 1},
		{Discipline: queuetest.Batches, Servers: 8, Service: .4, First: .04},
		{Discipline: queuetest.FIFO, Servers: 8, Service: .4, First: .1, Spread: 1.5},
		{Discipline: queuetest.FIFO, Servers: 4, Service: .2, First: .04, Spread: .5, Tail: .03, TailBy: 2},
		{Discipline: queuetest.FIFO, Servers: 4, Service: .2, First: .04, Spread: .5, Pause: .8, PauseEvery: 15},
		{Discipline: queuetest.Sharing, Servers: 40, Service: 2, First: .1, Spread: .5},
	}
	runs, most := 20, 1
	if *auditRuns > 0 {
		runs, most = *auditRuns, *auditRuns/100
	}
	r := rand.New(rand.NewPCG(3, 3))
	reasons := map[string]int{}
	wrong := 0
	for i := range runs {
		m := &made{server: servers[i%len(servers)]}
		load, length := .3+.5*r.Float64(), 65*math.Pow(4, r.Float64())
		m.shape = constant(load*m.server.Capacity(), length)
		if i%(len(servers)+1) == len(servers) {
			m.users = 5 + r.IntN(20)
		}
		m.play(uint64(100 + i))
		_, a := m.audit(t)
		if a.Outcome == audit.Valid {
			continue
		}
		wrong++
		for _, c := range a.Checks {
			if c.Outcome != audit.Valid {
				reasons[c.Name]++
				t.Logf("server %d, %d users, load %.2f of capacity, %.0f s: %s %s, %s", i%len(servers), m.users, load,
					length, c.Name, c.Outcome, c.Figure)
			}
		}
	}
	t.Logf("%d of %d clean runs have false reasons: %v", wrong, runs, reasons)
	if wrong > most {
		t.Errorf("%d of %d clean runs have false reasons, at most %d may", wrong, runs, most)
	}
}

// Users whose time is over have not come to all prompts, which is no reason; requests of a rate were due.
func TestPromptsLeft(t *testing.T) {
	for users, want := range map[int]audit.Outcome{8: audit.Valid, 0: audit.Invalid} {
		r := metrics.Report{NotSent: 4000, Plan: metrics.Plan{MaxConcurrency: users, Duration: time.Minute,
			Rate: metrics.Rate(math.Inf(1))}}
		if users == 0 {
			r.Plan.Rate = 10
		}
		r.Completed = 600
		for _, c := range audit.Of(&r).Checks {
			if c.Name == "plan" && c.Outcome != want {
				t.Errorf("%d users: %+v", users, c)
			}
		}
	}
}

// Large loads are written in full.
func TestLargeLoad(t *testing.T) {
	r := metrics.Report{Levels: []metrics.LoadLevel{{Unit: metrics.Users, Offered: 10_000}}}
	for _, c := range audit.Of(&r).Checks {
		if c.Name == "load" {
			assert.Equal(t, c.Figure, "10000 users", "load")
		}
	}
}

// What comes from a journal is cleaned.
func TestForeignText(t *testing.T) {
	m := clean()
	m.play(1)
	m.run.Reason = "<script>\x1b[2J\u202e" + strings.Repeat("x", 1<<20)
	_, a := m.audit(t)
	if f := a.Checks[0].Figure; a.Checks[0].Name != "plan" || strings.ContainsAny(f, "\x1b\u202e") || len(f) > 100 {
		t.Errorf("%s: %.200q", a.Checks[0].Name, f)
	}
}

// TestChangesSeen counts how often a change is seen, with -audit by its size; a large one nearly always is.
func TestChangesSeen(t *testing.T) {
	const large = 2.5
	sizes, runs := []float64{large}, 3
	if *auditRuns > 0 {
		sizes, runs = []float64{1.25, 1.5, 2, large, 3}, *auditRuns/10
	}
	for name, change := range map[string]func(*queuetest.Server, float64){
		"slow for the first 30 s":   func(s *queuetest.Server, by float64) { s.Slow, s.SlowFor = by, 30 },
		"slower to the end":         func(s *queuetest.Server, by float64) { s.Drift, s.DriftFor = by-1, 130 },
		"slower from the middle on": func(s *queuetest.Server, by float64) { s.Slow, s.SlowFor = 1/by, 65 },
	} {
		for _, by := range sizes {
			seen := 0
			for i := range runs {
				m := clean()
				change(&m.server, by)
				m.play(uint64(i))
				if _, a := m.audit(t); slices.Contains(a.Names(audit.Invalid), "steady") {
					seen++
				}
			}
			t.Logf("%s, %g times: seen in %d of %d", name, by, seen, runs)
			if by == large && 3*seen < 2*runs {
				t.Errorf("%s, %g times: seen in %d of %d", name, by, seen, runs)
			}
		}
	}
}

// A run with a published preset says whether it keeps the rules; one without says nothing.
func TestPreset(t *testing.T) {
	var r metrics.Report
	without := len(audit.Of(&r).Beside)
	for changed, want := range map[string]audit.Check{
		"":                        {Name: "preset p", Outcome: audit.Valid, Figure: "flags as published", Rule: "S"},
		"--seed":                  {Name: "preset p", Outcome: audit.Invalid, Figure: "--seed", Rule: "S"},
		strings.Repeat("x", 1000): {Name: "preset p", Outcome: audit.Invalid, Figure: "", Rule: "S"},
	} {
		r.Plan.Preset = &metrics.Preset{Name: "p", Source: "S", Changed: strings.Fields(changed)}
		beside := audit.Of(&r).Beside
		if len(changed) > 100 && len(beside[0].Figure) < 100 {
			want.Figure = beside[0].Figure
		}
		if len(beside) != without+1 || beside[0] != want {
			t.Errorf("%+v", beside)
		}
	}
	r.Plan.Preset.Changed, r.Interrupted, r.Completed = nil, &metrics.Interruption{}, 3
	c := audit.Of(&r).Beside[0]
	if c.Outcome != audit.Invalid || c.Figure != "flags as published, ended after 3 requests" {
		t.Errorf("cut: %+v", c)
	}
}

func TestEarlyStopping(t *testing.T) {
	for _, c := range []struct {
		p             float64
		over, n, need int
	}{
		{99, -1, 661, 662}, {99, 10, 2009, 2010}, {99, -1, 662, 662}, {99, 0, 459, 459}, {99, 10, 3000, 2010},
		{90, -1, 64, 64},
	} {
		r := metrics.Report{Plan: metrics.Plan{Percentiles: []float64{c.p, 100}}}
		r.Completed = c.n
		if c.over >= 0 {
			r.Objectives = metrics.SLO{{Metric: metrics.TTFT, LimitMS: 1}}
			r.Met[metrics.TTFT] = c.n - c.over
		}
		got := audit.Of(&r).Beside[1]
		want := audit.Valid
		if c.n < c.need {
			want = audit.Invalid
		}
		if rule := fmt.Sprintf("p%g of %d or more requests", c.p, c.need); got.Rule != rule || got.Outcome != want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
