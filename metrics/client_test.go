package metrics_test

import (
	"strings"
	"testing"
	"time"

	. "benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// The samples of seconds add up to the run.
func TestClientSeconds(t *testing.T) {
	plan := Plan{Timestamps: KernelStamps, Rate: 10, Warmup: 500 * ms}
	rec := live.NewView(time.Now(), &plan)
	request := func(index int, scheduled, late, delay time.Duration, gaps ...time.Duration) Request {
		q := NewRequest(index)
		q.Scheduled, q.Due, q.Admitted, q.Connect = scheduled, scheduled, scheduled+50*ms, 3*ms
		q.Sent = q.Admitted + 3*ms + late
		eventtest.Step(rec, event.Due, &q)
		eventtest.Step(rec, event.Sent, &q)
		at := q.Sent
		for _, gap := range gaps {
			at += gap
			q.ReadDelay = delay
			q.Add(Chunk{At: at, Tokens: 1})
			eventtest.Step(rec, event.Chunk, &q)
		}
		q.OutputTokens, q.Done, q.Tallies[Redials] = len(gaps), at, index
		eventtest.Step(rec, event.Done, &q)
		return q
	}
	all := []Request{
		request(0, 0, 9*ms, 5*ms, 10*ms, 0, 0), // of the warm-up: in the second, not in the run
		request(1, 600*ms, 2*ms, 1*ms, 10*ms, 0, 10*ms),
	}
	seconds := []ClientSecond{
		sampled(rec, ClientSecond{At: second, Took: second, CPU: 0.5, Cores: 2, Sockets: 2, Dialled: 2})}
	if s := seconds[0]; s.Sent != 2 || s.Redials != 1 || s.LateMax != 9*ms || s.Chunks != 6 || s.Shared != 3 ||
		s.Unstamped != 0 || s.DelayMax != 5*ms {
		t.Errorf("first second: %+v", s)
	}
	all = append(all, request(2, 1200*ms, 0, Never, 10*ms, 10*ms))
	seconds = append(seconds, sampled(rec, ClientSecond{
		At: 3 * second, Took: 2 * second, CPU: 2, Cores: 2, Stall: 900 * ms, GCs: 3, GCPause: ms, Memory: 7, Sockets: 1,
		ClockStep: true,
	}))
	if s := seconds[1]; s.Sent != 1 || s.Redials != 2 || s.Chunks != 2 || s.Unstamped != 2 || s.DelayP99 != Never ||
		s.DelayMax != Never {
		t.Errorf("second second: %+v", s)
	}
	snapshot, stamps := rec.Snapshot(), rec.Stamps()
	if len(snapshot.Client) != 2 || snapshot.Verdict.String() != rec.Verdict().String() || !snapshot.Recent.Limited() {
		t.Errorf("snapshot: %+v %s %s", snapshot.Client, snapshot.Verdict, snapshot.Recent)
	}
	summary := summarize(t, all, Run{Plan: plan, End: End{Ended: 3 * second, Stamps: &stamps}, Client: seconds})
	c := summary.Client
	if c.Stamps != stamps || c.Stamps.Chunks != 5 || c.Stamps.Shared != 1 || c.Stamps.Unstamped != 2 ||
		c.Stamps.DelayMax != 1*ms {
		t.Errorf("stamps: %+v, recorder %+v", c.Stamps, stamps)
	}
	if c.CPU != 1.5 || c.CPUMost != 2 || c.Cores != 2 || c.StoodStill != 900*ms || c.GCs != 3 || c.Memory != 7 ||
		c.Sockets != 2 || c.Dialled != 2 || c.ClockSteps != 1 {
		t.Errorf("client: %+v", c)
	}
	if late := summary.Statistics[OwnLateness]; late.N != 2 || late.Max != 5 ||
		c.Verdict.String() != snapshot.Verdict.String() || !strings.Contains(c.Verdict.String(), "stalled for 900ms") {
		t.Errorf("lateness %+v, verdict %s", late, c.Verdict)
	}

	// A journal without an end has only the seconds.
	summary = summarize(t, all, Run{Plan: plan, End: End{Ended: Never}, Client: seconds})
	if s := summary.Client.Stamps; s.Unstamped != 2 || s.DelayMax != 5*ms || s.DelayP999 != Never {
		t.Errorf("killed: %+v", s)
	}
	// The warm-up is left out of the seconds, too.
	early := append([]ClientSecond{{At: 400 * ms, Took: 400 * ms, Chunks: 90, Unstamped: 90, DelayMax: second}},
		seconds...)
	summary = summarize(t, all, Run{Plan: plan, End: End{Ended: Never}, Client: early})
	if s := summary.Client.Stamps; s.Unstamped != 2 || s.DelayMax != 5*ms {
		t.Errorf("killed, with a warm-up: %+v", s)
	}
	// An older journal without samples has no figures of the client.
	summary = summarize(t, all, runOf(Plan{Rate: 10}, 3*second))
	if c := summary.Client; c.Source != UserStamps || c.Verdict.Limited() || c.Stamps.DelayP99 != Never ||
		len(c.Seconds) != 0 {
		t.Errorf("old journal: %+v", c)
	}
}

// The last moment of a run is shorter than a second and does not count.
func TestLastMoment(t *testing.T) {
	plan := Plan{Timestamps: UserStamps}
	rec := live.NewView(time.Now(), &plan)
	for i := range 40 {
		q := NewRequest(i)
		q.Sent = 0
		q.Add(Chunk{At: ms, Tokens: 1})
		eventtest.Step(rec, event.Due, &q)
		eventtest.Step(rec, event.Sent, &q)
		eventtest.Step(rec, event.Chunk, &q)
	}
	for range 10 {
		eventtest.Tell(rec, ClientSecond{Took: second, Cores: 1, Sched: ms})
	}
	eventtest.Tell(rec, ClientSecond{Took: 3 * ms, Cores: 1, CPU: 1, Sched: 50 * ms})
	if s := rec.Snapshot(); s.Verdict.Limited() || s.Recent.Limited() {
		t.Errorf("%s, recently %s", s.Verdict, s.Recent)
	}
}

// A request without a socket limits the client, live and in the report.
func TestNoSocket(t *testing.T) {
	plan := Plan{Timestamps: KernelStamps}
	rec := live.NewView(time.Now(), &plan)
	q := NewRequest(0)
	q.Scheduled, q.Due, q.Done, q.Failure, q.Error = 0, 0, ms, FailedNoSocket, "too many open files"
	told := q
	eventtest.Step(rec, event.Due, &told)
	eventtest.Step(rec, event.Done, &told)
	if v := rec.Verdict(); v.String() != "limited (no socket for 1 of the requests)" {
		t.Error(v)
	}
	if r := summarize(t, []Request{q}, runOf(plan, second)); !r.Client.Verdict.Limited() {
		t.Error(r.Client.Verdict)
	}
}

// sampled files a second of the client, completed as in a run.
func sampled(rec *live.View, s ClientSecond) ClientSecond {
	s = rec.Counted(s)
	eventtest.Tell(rec, s)
	return s
}

// Recordings and cached tokens of the successes are summed up, live and in the report. Cached tokens never exceed the
// prompts, and their rate is of the answers alone that told of them.
func TestCountsOfSuccesses(t *testing.T) {
	all := []Request{eventtest.Simple(0, 0, ms, ms, 2)}
	for i := range 5 {
		all = append(all, eventtest.Simple(i+1, 2*second, ms, ms, 2))
	}
	for i, length := range []time.Duration{minute, 5 * second, 2500 * ms, time.Hour, ms, ms} {
		q := &all[i]
		q.Audio, q.MaxTokens, q.OutputSource = length, 200, TokensFromUsage
		q.InputTokens, q.CachedTokens, q.CachedKnown = 100, []int{90, 30, 1000, 50, 0, 0}[i], i < 5
	}
	all[3].Failure = FailedReset
	plan := Plan{Warmup: second}
	recorder := live.NewView(time.Now(), &plan)
	eventtest.Play(recorder, all)
	r := summarize(t, all, runOf(plan, 3*second))
	s, want := recorder.Snapshot(), TokenShare{Tokens: 130, Requests: 3, Of: 300}
	for name, got := range map[string]Counts{"report": r.Counts, "live": s.Totals, "second 2": s.Windows[2].Counts} {
		if got.Audio != 7502*ms || got.Cached != want || got.InputTokens != 400 {
			t.Errorf("%s: %s of recordings, %+v cached of %d", name, got.Audio, got.Cached, got.InputTokens)
		}
	}
	// no transcription is judged by its length
	if r.RTFx != 3.751 || r.Cached.Rate() != 130.0/300 || r.Lengths.Judged != 0 {
		t.Errorf("RTFx %v, rate %v, %d judged by the length asked for", r.RTFx, r.Cached.Rate(), r.Lengths.Judged)
	}
}
