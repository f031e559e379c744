package metrics_test

import (
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
	"benchtop/metrics/report"
)

// The samples of seconds add up to the run.
func TestClientSeconds(t *testing.T) {
	const ms = time.Millisecond
	plan := metrics.Plan{Timestamps: metrics.KernelStamps, Rate: 10, Warmup: 500 * ms}
	rec := live.NewView(time.Now(), &plan)
	request := func(index int, scheduled, late, delay time.Duration, gaps ...time.Duration) metrics.Request {
		q := metrics.NewRequest(index)
		q.Scheduled, q.Due, q.Admitted, q.Connect = scheduled, scheduled, scheduled+50*ms, 3*ms
		q.Sent = q.Admitted + 3*ms + late
		eventtest.Step(rec, event.Due, &q)
		eventtest.Step(rec, event.Sent, &q)
		at := q.Sent
		for _, gap := range gaps {
			at += gap
			q.ReadDelay = delay
			q.Add(metrics.Chunk{At: at, Tokens: 1})
			eventtest.Step(rec, event.Chunk, &q)
		}
		q.OutputTokens, q.Done, q.Redials = len(gaps), at, index
		eventtest.Step(rec, event.Done, &q)
		return q
	}
	all := []metrics.Request{
		request(0, 0, 9*ms, 5*ms, 10*ms, 0, 0), // of the warm-up: in the second, not in the run
		request(1, 600*ms, 2*ms, 1*ms, 10*ms, 0, 10*ms),
	}
	seconds := []metrics.ClientSecond{sampled(rec, metrics.ClientSecond{At: time.Second, Took: time.Second, CPU: 0.5, Cores: 2, Sockets: 2, Dialled: 2})}
	if s := seconds[0]; s.Sent != 2 || s.Redials != 1 || s.LateMax != 9*ms || s.Chunks != 6 || s.Shared != 3 || s.Unstamped != 0 || s.DelayMax != 5*ms {
		t.Errorf("first second: %+v", s)
	}
	all = append(all, request(2, 1200*ms, 0, metrics.Never, 10*ms, 10*ms))
	seconds = append(seconds, sampled(rec, metrics.ClientSecond{
		At: 3 * time.Second, Took: 2 * time.Second, CPU: 2, Cores: 2, Stall: 900 * ms, GCs: 3, GCPause: ms, Memory: 7, Sockets: 1, ClockStep: true,
	}))
	if s := seconds[1]; s.Sent != 1 || s.Redials != 2 || s.Chunks != 2 || s.Unstamped != 2 || s.DelayP99 != metrics.Never || s.DelayMax != metrics.Never {
		t.Errorf("second second: %+v", s)
	}
	snapshot, stamps := rec.Snapshot(), rec.Stamps()
	if len(snapshot.Client) != 2 || snapshot.Verdict.String() != rec.Verdict().String() || !snapshot.Recent.Limited() {
		t.Errorf("snapshot: %+v %s %s", snapshot.Client, snapshot.Verdict, snapshot.Recent)
	}
	summary, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: 3 * time.Second, Stamps: &stamps}, Client: seconds})
	if err != nil {
		t.Fatal(err)
	}
	c := summary.Client
	if c.Stamps != stamps || c.Stamps.Chunks != 5 || c.Stamps.Shared != 1 || c.Stamps.Unstamped != 2 || c.Stamps.DelayMax != 1*ms {
		t.Errorf("stamps: %+v, recorder %+v", c.Stamps, stamps)
	}
	if c.CPU != 1.5 || c.CPUMost != 2 || c.Cores != 2 || c.StoodStill != 900*ms || c.GCs != 3 || c.Memory != 7 || c.Sockets != 2 || c.Dialled != 2 || c.ClockSteps != 1 {
		t.Errorf("client: %+v", c)
	}
	if late := summary.Statistics[metrics.OwnLateness]; late.N != 2 || late.Max != 5 || c.Verdict.String() != snapshot.Verdict.String() || !strings.Contains(c.Verdict.String(), "stalled for 900ms") {
		t.Errorf("lateness %+v, verdict %s", late, c.Verdict)
	}

	// A journal without an end has only the seconds.
	summary, err = report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: metrics.Never}, Client: seconds})
	if s := summary.Client.Stamps; err != nil || s.Unstamped != 2 || s.DelayMax != 5*ms || s.DelayP999 != metrics.Never {
		t.Errorf("killed: %+v (%v)", s, err)
	}
	// The warm-up is left out of the seconds, too.
	early := append([]metrics.ClientSecond{{At: 400 * ms, Took: 400 * ms, Chunks: 90, Unstamped: 90, DelayMax: time.Second}}, seconds...)
	summary, err = report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: metrics.Never}, Client: early})
	if s := summary.Client.Stamps; err != nil || s.Unstamped != 2 || s.DelayMax != 5*ms {
		t.Errorf("killed, with a warm-up: %+v (%v)", s, err)
	}
	// An older journal without samples has no figures of the client.
	summary, err = report.Summarize(eventtest.Each(all), metrics.Run{Plan: metrics.Plan{Rate: 10}, End: metrics.End{Ended: 3 * time.Second}})
	if c := summary.Client; err != nil || c.Source != metrics.UserStamps || c.Verdict.Limited() || c.Stamps.DelayP99 != metrics.Never || len(c.Seconds) != 0 {
		t.Errorf("old journal: %+v (%v)", c, err)
	}
}

// The last moment of a run is shorter than a second and does not count.
func TestLastMoment(t *testing.T) {
	plan := metrics.Plan{Timestamps: metrics.UserStamps}
	rec := live.NewView(time.Now(), &plan)
	for i := range 40 {
		q := metrics.NewRequest(i)
		q.Sent = 0
		q.Add(metrics.Chunk{At: time.Millisecond, Tokens: 1})
		eventtest.Step(rec, event.Due, &q)
		eventtest.Step(rec, event.Sent, &q)
		eventtest.Step(rec, event.Chunk, &q)
	}
	for range 10 {
		eventtest.Tell(rec, metrics.ClientSecond{Took: time.Second, Cores: 1, Sched: time.Millisecond})
	}
	eventtest.Tell(rec, metrics.ClientSecond{Took: 3 * time.Millisecond, Cores: 1, CPU: 1, Sched: 50 * time.Millisecond})
	if s := rec.Snapshot(); s.Verdict.Limited() || s.Recent.Limited() {
		t.Errorf("%s, recently %s", s.Verdict, s.Recent)
	}
}

// A request without a socket limits the client, live and in the report.
func TestNoSocket(t *testing.T) {
	plan := metrics.Plan{Timestamps: metrics.KernelStamps}
	rec := live.NewView(time.Now(), &plan)
	q := metrics.NewRequest(0)
	q.Scheduled, q.Due, q.Done, q.Failure, q.Error = 0, 0, time.Millisecond, metrics.FailedNoSocket, "too many open files"
	told := q
	eventtest.Step(rec, event.Due, &told)
	eventtest.Step(rec, event.Done, &told)
	if v := rec.Verdict(); v.String() != "limited (no socket for 1 of the requests)" {
		t.Error(v)
	}
	if r, err := report.Summarize(eventtest.Each([]metrics.Request{q}), metrics.Run{Plan: plan, End: metrics.End{Ended: time.Second}}); err != nil || !r.Client.Verdict.Limited() {
		t.Errorf("%s (%v)", r.Client.Verdict, err)
	}
}

// sampled files a second of the client, completed as in a run.
func sampled(rec *live.View, s metrics.ClientSecond) metrics.ClientSecond {
	s = rec.Counted(s)
	eventtest.Tell(rec, s)
	return s
}

// The lengths of recordings are summed up, live and in the report, and give the inverse real-time factor.
func TestRTFx(t *testing.T) {
	const ms = time.Millisecond
	all := []metrics.Request{eventtest.Simple(0, 0, ms, ms, 2), eventtest.Simple(1, 2*time.Second, ms, ms, 2), eventtest.Simple(2, 2*time.Second, ms, ms, 2), eventtest.Simple(3, 2*time.Second, ms, ms, 2)}
	for i, length := range []time.Duration{time.Minute, 5 * time.Second, 2500 * ms, time.Hour} {
		all[i].Audio, all[i].MaxTokens, all[i].OutputSource = length, 200, metrics.TokensFromUsage
	}
	all[3].Failure = metrics.FailedReset
	plan := metrics.Plan{Warmup: time.Second}
	recorder := live.NewView(time.Now(), &plan)
	eventtest.Play(recorder, all)
	r, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	s := recorder.Snapshot()
	if want := 7500 * ms; r.Audio != want || s.Totals.Audio != want || s.Windows[2].Audio != want || r.RTFx != 3.75 {
		t.Errorf("report %v, live %v, second 2 %v, want %v each; RTFx %v, want 3.75", r.Audio, s.Totals.Audio, s.Windows[2].Audio, want, r.RTFx)
	}
	if r.Lengths.Judged != 0 {
		t.Errorf("%d transcriptions are judged by the length asked for", r.Lengths.Judged)
	}
}

// Cached tokens of answers are summed up, live and in the report, and never exceed the prompts. The hit rate is of the answers alone
// that told of cached tokens.
func TestCachedTokens(t *testing.T) {
	const ms = time.Millisecond
	all := []metrics.Request{eventtest.Simple(0, 0, ms, ms, 2), eventtest.Simple(1, 2*time.Second, ms, ms, 2), eventtest.Simple(2, 2*time.Second, ms, ms, 2), eventtest.Simple(3, 2*time.Second, ms, ms, 2),
		eventtest.Simple(4, 2*time.Second, ms, ms, 2), eventtest.Simple(5, 2*time.Second, ms, ms, 2)}
	for i, cached := range []int{90, 30, 1000, 50, 0, 0} {
		all[i].InputTokens, all[i].CachedTokens, all[i].CachedKnown = 100, cached, i < 5
	}
	all[3].Failure = metrics.FailedReset
	plan := metrics.Plan{Warmup: time.Second}
	recorder := live.NewView(time.Now(), &plan)
	eventtest.Play(recorder, all)
	r, err := report.Summarize(eventtest.Each(all), metrics.Run{Plan: plan, End: metrics.End{Ended: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	s := recorder.Snapshot()
	want := metrics.CacheHits{Tokens: 130, Requests: 3, Of: 300}
	if r.Cached != want || s.Totals.Cached != want || r.InputTokens != 400 || r.Cached.Rate() != 130.0/300 {
		t.Errorf("report %+v of %d, rate %v, live %+v; want %+v of 400", r.Cached, r.InputTokens, r.Cached.Rate(), s.Totals.Cached, want)
	}
	if w := s.Windows[2]; w.Cached != want || w.InputTokens != 400 {
		t.Errorf("second 2: %+v of %d", w.Cached, w.InputTokens)
	}
}
