package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/metrics"
)

// drawRun makes up a run of that length: requests of every fate, with the client, the server and the accelerators looked at each
// second, and objectives and load set on the way.
func drawRun(seed uint64, n int, length time.Duration) (metrics.Run, []metrics.Request) {
	r := rand.New(rand.NewPCG(seed, 1))
	us := func(most time.Duration) time.Duration {
		return time.Duration(r.Int64N(int64(most/time.Microsecond))) * time.Microsecond
	}
	var all []metrics.Request
	for i := range n {
		q := metrics.NewRequest(i)
		q.ID, q.Model, q.Turn = fmt.Sprint("r-", i), []string{"", "a"}[r.IntN(2)], r.IntN(2)
		q.Scheduled = us(length * 9 / 10)
		q.Due = q.Scheduled + us(300*time.Microsecond)
		q.InputTokens, q.InputSource, q.MaxTokens = r.IntN(2000), metrics.TokensFromUsage, 64
		fate := r.IntN(12)
		q.Admitted = q.Due + us(time.Second)
		switch fate {
		case 0: // dropped while it was held
			q.Admitted = metrics.Never
			q.Failure, q.Done = metrics.Cancelled, q.Due+us(time.Second)
			all = append(all, q)
			continue
		case 1:
			q.Failure, q.Error, q.Done = metrics.FailedConnect, "connection refused", q.Admitted+us(time.Millisecond)
			all = append(all, q)
			continue
		}
		q.Encode, q.Connect = us(time.Millisecond), us(time.Millisecond)
		q.Sent = q.Admitted + q.Encode + q.Connect
		q.Redials = r.IntN(20) / 19
		at, tokens := q.Sent+us(time.Second), 0
		for range 1 + r.IntN(30) {
			c := metrics.Chunk{At: at, Tokens: int32(r.IntN(3)), Answer: r.IntN(4) > 0}
			tokens += int(c.Tokens)
			q.Add(c)
			at += us(60 * time.Millisecond)
		}
		q.Done = q.LastChunk + us(3*time.Millisecond)
		q.ServerQueue, q.ServerPrefill = us(time.Second), us(time.Second)
		q.CachedTokens, q.Finish = r.IntN(100), "length"
		q.OutputTokens, q.OutputSource = tokens+r.IntN(9), metrics.TokensFromUsage
		switch fate {
		case 2:
			q.Failure, q.Error = metrics.FailedTruncated, "cut"
		case 3:
			q.Failure, q.Status, q.Error = metrics.FailedStatus, 503, fmt.Sprint("busy ", i)
			q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never, metrics.Never, metrics.Never
		case 4:
			q.Failure = metrics.Cancelled
		}
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b metrics.Request) int { return int(a.Done - b.Done) }) // as a journal has them
	run := metrics.Run{Ended: length, ServerKind: "vLLM", GPUsAbsent: "no tool", ServerAbsent: "gone"}
	run.Plan = metrics.Plan{
		Percentiles: []float64{99}, Warmup: length / 10, Timestamps: metrics.KernelStamps, Requests: n, Rate: 10,
		Goodput: metrics.SLO{{Metric: metrics.TTFT, LimitMS: 700}, {Metric: metrics.TPOT, LimitMS: 60}},
	}
	slo := metrics.SLO{{Metric: metrics.TTFT, LimitMS: 300}}
	run.Events = []metrics.Event{
		{At: length / 3, Level: metrics.Info, Text: "stage", Mark: "stage 2"},
		{At: length / 2, Level: metrics.Info, Text: "objectives", Objectives: &slo},
		{At: length * 2 / 3, Level: metrics.Info, Text: "set", Mark: "20/s", Set: &metrics.LoadSetting{Rate: 20, By: metrics.ByHand}},
	}
	for at := time.Second; at <= length; at += time.Second {
		run.Client = append(run.Client, metrics.ClientSecond{At: at, Took: time.Second, CPU: r.Float64(), Cores: 2,
			DelayP50: us(time.Millisecond), DelayP99: 2 * time.Millisecond, DelayMax: 3 * time.Millisecond})
		if at < length/2 {
			run.Server = append(run.Server, metrics.ServerSecond{At: at, Took: time.Second, Running: r.Float64(), KVUsage: metrics.Unsaid()})
		}
		run.GPUs = append(run.GPUs, metrics.GPUSecond{At: at, Took: time.Second, GPUs: []metrics.GPU{{Name: "X", Power: 300 * r.Float64()}}})
	}
	return run, all
}

func yield(all []metrics.Request) iter.Seq2[metrics.Request, error] {
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
}

// live is what a recorder showed when the run was on, moment by moment, at the given times.
func live(run metrics.Run, all []metrics.Request, look metrics.Look, times []time.Duration) (shown []metrics.Snapshot) {
	type moment struct {
		at time.Duration
		do func()
	}
	rec := metrics.NewRecorder(time.Now(), &run.Plan)
	rec.Look(look)
	rec.ServerIs(run.ServerKind, "")
	var story []moment
	tell := func(at time.Duration, do func()) { story = append(story, moment{at, do}) }
	for _, e := range run.Events {
		tell(e.At, func() {
			rec.Log(e)
			if e.Set != nil {
				rec.SetSteering(metrics.Steering{LoadSetting: *e.Set, Changes: 1})
			}
		})
	}
	for i := range all {
		past := &all[i]
		q := new(metrics.Request)
		*q = *past
		q.Chunks, q.Failure, q.Status, q.Error, q.OutputTokens, q.CachedTokens = nil, "", 0, "", 0, 0
		q.Due, q.Admitted, q.Sent, q.Done = metrics.Never, metrics.Never, metrics.Never, metrics.Never
		q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = metrics.Never, metrics.Never, metrics.Never, metrics.Never
		q.ServerQueue, q.ServerPrefill, q.Finish, q.OutputSource = metrics.Never, metrics.Never, "", ""
		tell(past.Due, func() { q.Due = past.Due; rec.Due(q) })
		if past.Sent != metrics.Never {
			tell(past.Sent, func() { q.Admitted, q.Sent = past.Admitted, past.Sent; rec.Sent(q) })
		}
		for _, c := range past.Chunks {
			tell(c.At, func() { q.Add(c); q.ReadDelay = time.Millisecond; rec.Chunk(q) })
		}
		tell(past.Done, func() {
			q.Admitted, q.Done, q.Failure, q.Status, q.Error = past.Admitted, past.Done, past.Failure, past.Status, past.Error
			q.OutputTokens, q.OutputSource, q.CachedTokens = past.OutputTokens, past.OutputSource, past.CachedTokens
			q.ServerQueue, q.ServerPrefill, q.Finish = past.ServerQueue, past.ServerPrefill, past.Finish
			rec.Done(q)
		})
	}
	for i := range run.Client {
		tell(run.Client[i].At, func() { rec.Client(run.Client[i]) })
	}
	for i, s := range run.Server {
		tell(s.At, func() {
			rec.Server(s)
			if i == len(run.Server)-1 {
				rec.ServerIs(run.ServerKind, run.ServerAbsent)
			}
		})
	}
	for i, s := range run.GPUs {
		tell(s.At, func() {
			rec.GPUs(s)
			if i == len(run.GPUs)-1 {
				rec.GPUsAre(run.GPUsAbsent)
			}
		})
	}
	slices.SortStableFunc(story, func(a, b moment) int { return int(a.at - b.at) })
	for _, at := range times {
		for len(story) > 0 && story[0].at <= at {
			story[0].do()
			story = story[1:]
		}
		rec.JudgeAt(at)
		shown = append(shown, rec.SnapshotAt(at))
	}
	return shown
}

// same compares snapshots but for what says that one is a replay, and what the client saw of its reads.
func same(was, is metrics.Snapshot) string {
	was.Replay, is.Replay = nil, nil
	was.Client, is.Client = nil, nil
	was.Verdict, is.Verdict, was.Recent, is.Recent = metrics.Verdict{}, metrics.Verdict{}, metrics.Verdict{}, metrics.Verdict{}
	return cmp.Diff(was, is, cmp.Comparer(func(a, b metrics.Histogram) bool {
		return a.Count() == b.Count() && slices.Equal(slices.Collect(a.Buckets()), slices.Collect(b.Buckets()))
	}), cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }))
}

// playing runs f with a player that stands still at the beginning, in virtual time, and waits for its end.
func playing(t *testing.T, run metrics.Run, all []metrics.Request, f func(p *Player, next func() metrics.Snapshot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, err := New(run, yield(all))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		shown := p.Run(ctx)
		f(p, func() metrics.Snapshot {
			synctest.Wait()
			s, ok := <-shown
			if !ok {
				t.Fatal("the channel is closed")
			}
			return s
		})
		cancel()
		for range shown {
		}
	})
}

// A snapshot shows what the recorder showed at that moment of the run, however the player came there.
func TestShowsWhatWasShown(t *testing.T) {
	const length = 40 * time.Second
	times := []time.Duration{0, time.Millisecond, 3 * time.Second, 7777777 * time.Microsecond, 20 * time.Second, 27 * time.Second, 39 * time.Second}
	for seed := range uint64(3) {
		run, all := drawRun(seed, 250, length)
		look := metrics.Look{Rows: seed%2 == 0, Open: 1 + 7*int(seed%2)}
		want := live(run, all, look, times)
		playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
			p.Pause()
			p.Look(look)
			for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 2, 5, 1, 6, 0, 3} { // forth and back
				p.Seek(times[i])
				s := next()
				if s.At != times[i] || s.Replay == nil || s.Replay.Playing || s.Replay.Length != length {
					t.Fatalf("seed %d: at %v (%+v), want to stand still at %v of %v", seed, s.At, s.Replay, times[i], length)
				}
				if diff := same(want[i], s); diff != "" {
					t.Fatalf("seed %d, at %v (-was +is):\n%s", seed, times[i], diff)
				}
				if n := len(s.Client); n != int(times[i]/time.Second) || n > 0 && s.Client[n-1] != run.Client[n-1] {
					t.Errorf("seed %d, at %v: %d seconds of the client", seed, times[i], n)
				}
			}
		})
	}
}

// At the end there is the report, the same as from the journal, and going back takes it away.
func TestEndsWithTheReport(t *testing.T) {
	run, all := drawRun(1, 300, 20*time.Second)
	report, err := metrics.Summarize(yield(all), run)
	if err != nil {
		t.Fatal(err)
	}
	playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
		time.Sleep(20*time.Second + every)
		s := next()
		if s.State != metrics.Finished || s.Report == nil || s.At != run.Ended || s.Replay.Playing {
			t.Fatalf("after its time the run is %q at %v, report %v, %+v", s.State, s.At, s.Report != nil, s.Replay)
		}
		equal := func(name string, was, is any) {
			t.Helper()
			if diff := cmp.Diff(was, is, cmp.Comparer(func(a, b metrics.Histogram) bool {
				return a.Count() == b.Count() && slices.Equal(slices.Collect(a.Buckets()), slices.Collect(b.Buckets()))
			}), cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })); diff != "" {
				t.Errorf("%s (-from the journal +at the end):\n%s", name, diff)
			}
		}
		equal("report", &report, s.Report)
		equal("timeline", report.Timeline, s.Windows)
		equal("failures", report.Failures, s.Failures)
		if s.Totals.Done != report.Completed || s.Held+s.Waiting+s.Running != 0 {
			t.Errorf("%+v, want %d done and nothing in flight", s.Totals, report.Completed)
		}
		p.Seek(5 * time.Second)
		if s := next(); s.State != metrics.Running || s.Report != nil || s.At != 5*time.Second || s.Replay.Playing {
			t.Errorf("after going back: %q at %v, report %v, %+v", s.State, s.At, s.Report != nil, s.Replay)
		}
		p.Seek(time.Hour)
		if s := next(); s.State != metrics.Finished || s.At != run.Ended {
			t.Errorf("after going beyond the end: %q at %v", s.State, s.At)
		}
		p.Play() // from the beginning
		time.Sleep(2 * time.Second)
		if s := next(); s.At != 2*time.Second || !s.Replay.Playing || s.Report != nil {
			t.Errorf("two seconds after playing it again: at %v, %+v, report %v", s.At, s.Replay, s.Report != nil)
		}
	})
}

func TestSpeed(t *testing.T) {
	for _, tt := range []struct {
		length time.Duration
		speed  float64
	}{{20 * time.Second, 1}, {time.Minute, 1}, {90 * time.Second, 1.5}, {time.Hour, 60}} {
		run, all := drawRun(2, 50, tt.length)
		playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
			expect := func(what string, at time.Duration, playing bool, speed float64) {
				t.Helper()
				if s := next(); s.At != at || s.Replay.Playing != playing || s.Replay.Speed != speed {
					t.Errorf("%v, %s: at %v, %+v; want %v, playing %v at %v", tt.length, what, s.At, s.Replay, at, playing, speed)
				}
			}
			times := func(speed float64, d time.Duration) time.Duration { return time.Duration(speed * float64(d)) }
			expect("first", 0, true, tt.speed)
			time.Sleep(2 * time.Second)
			at := times(tt.speed, 2*time.Second)
			expect("playing", at, true, tt.speed)
			p.Pause()
			expect("paused", at, false, tt.speed)
			time.Sleep(time.Minute)
			p.SetSpeed(0.5)
			expect("slower", at, false, 0.5)
			p.Play()
			time.Sleep(4 * time.Second)
			at += 2 * time.Second
			expect("playing slowly", at, true, 0.5)
			p.Seek(time.Second) // a jump takes no time
			expect("back", time.Second, true, 0.5)
			time.Sleep(time.Second)
			expect("playing from there", 1500*time.Millisecond, true, 0.5)
			for _, none := range []float64{0, -1, math.NaN(), math.Inf(1)} {
				p.SetSpeed(none)
			}
			p.SetSpeed(1e300)
			p.Seek(-time.Hour)
			expect("as fast as it goes", 0, true, fastest)
		})
	}
}

// Everything a request says is known again when it is done.
func TestNothingIsForgotten(t *testing.T) {
	past := metrics.NewRequest(3)
	v := reflect.ValueOf(&past).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		switch {
		case !v.Type().Field(i).IsExported():
		case field.CanInt():
			field.SetInt(int64(1000 * (i + 1)))
		case field.Kind() == reflect.String:
			field.SetString(fmt.Sprint("text ", i))
		}
	}
	past.Chunks = []metrics.Chunk{{At: 2000, Tokens: 2}, {At: 3001, Tokens: 1, Answer: true}, {At: 9000, Tokens: 1}}
	past.ReadDelay = metrics.Never
	r, err := record(metrics.Run{Ended: time.Second}, yield([]metrics.Request{past}))
	if err != nil {
		t.Fatal(err)
	}
	f := r.feeder()
	x := f.flight(0)
	f.advance(endless, func() bool { return false })
	is := reflect.ValueOf(x.now).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Type().Field(i).IsExported() && fmt.Sprint(is.Field(i)) != fmt.Sprint(v.Field(i)) {
			t.Errorf("%s is %v, was %v", name, is.Field(i), v.Field(i))
		}
	}
	if len(f.flights)+len(f.byIndex) != 0 {
		t.Error("a request that is done is still under way")
	}
}

func TestNewOfAJournalThatEndsEarly(t *testing.T) {
	broken := errors.New("the disk is gone")
	run, all := drawRun(1, 20, 10*time.Second)
	until := func(n int) iter.Seq2[metrics.Request, error] {
		return func(yield func(metrics.Request, error) bool) {
			for _, q := range all[:n] {
				if !yield(q, nil) {
					return
				}
			}
			yield(metrics.Request{}, broken)
		}
	}
	if _, err := New(run, until(0)); !errors.Is(err, broken) {
		t.Errorf("nothing could be read, and the error is %v", err)
	}
	p, err := New(run, until(5))
	if err != nil || len(p.recording.requests) != 5 {
		t.Errorf("of five requests that could be read: %v", err)
	}
}

// Journals are files: whatever numbers stand in them, the player gets to the end and back.
func TestForeignNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	wild := []time.Duration{metrics.Never, math.MinInt64, -2, 0, 1, 500 * time.Microsecond, time.Second, time.Minute, math.MaxInt64}
	any := func() time.Duration { return wild[r.IntN(len(wild))] }
	at := func() time.Duration { // mostly not in the far future, since requests that are there are left out
		if r.IntN(100) == 0 {
			return math.MaxInt64
		}
		return wild[r.IntN(len(wild)-1)]
	}
	for round := range 20 {
		var all []metrics.Request
		for i := range 40 {
			q := metrics.NewRequest(i - 20)
			q.Scheduled, q.Due, q.Admitted, q.Sent, q.Encode, q.Connect = any(), at(), any(), at(), any(), any()
			q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk, q.Done = at(), at(), at(), at(), at()
			q.InputTokens, q.OutputTokens = int(any()), int(any())
			q.Failure = []metrics.Failure{"", metrics.Cancelled, "odd"}[r.IntN(3)]
			for range r.IntN(4) {
				q.Chunks = append(q.Chunks, metrics.Chunk{At: at(), Tokens: int32(any()), Answer: r.IntN(2) > 0})
			}
			all = append(all, q)
		}
		run := metrics.Run{Ended: time.Duration(round-1) * time.Second}
		for range 5 {
			run.Events = append(run.Events, metrics.Event{At: any(), Text: "x", Mark: "x", Set: &metrics.LoadSetting{Rate: math.NaN()}})
			run.Client = append(run.Client, metrics.ClientSecond{At: any(), Took: any(), Unstamped: int(any()), DelayP50: any()})
			run.Server = append(run.Server, metrics.ServerSecond{At: any(), Took: any(), KVUsage: math.Inf(1)})
			run.GPUs = append(run.GPUs, metrics.GPUSecond{At: any(), Took: any()})
		}
		playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
			next()
			for _, at := range []time.Duration{endless, 0, time.Second, endless} {
				p.Seek(at)
				if s := next(); at == endless && (s.Report == nil || s.At != s.Report.Ended) || s.Replay.Length < 0 || s.Replay.Length > longestRun {
					t.Errorf("length %v", s.Replay.Length)
				}
			}
		})
	}
}

// The run of nobody is over at once.
func TestEmptyRun(t *testing.T) {
	playing(t, metrics.Run{Ended: metrics.Never}, nil, func(p *Player, next func() metrics.Snapshot) {
		time.Sleep(every)
		if s := next(); s.State != metrics.Finished || s.Report == nil || s.Replay.Length != 0 {
			t.Errorf("state %q, %+v", s.State, s.Replay)
		}
	})
}

// In a long run feeders stand ready, and what they show is the same.
func TestSpares(t *testing.T) {
	const length = 40 * time.Second
	run, all := drawRun(9, 200, length)
	times := []time.Duration{12 * time.Second, 35 * time.Second, 21 * time.Second, 0}
	sorted := slices.Sorted(slices.Values(times))
	want := live(run, all, metrics.Look{Rows: true}, sorted)
	synctest.Test(t, func(t *testing.T) {
		p, err := New(run, yield(all))
		if err != nil || p.spares != 0 {
			t.Fatalf("%d spares for a short run, %v", p.spares, err)
		}
		p.spares = 7 // one each five seconds
		p.Pause()
		p.Look(metrics.Look{Rows: true})
		ctx, cancel := context.WithCancel(t.Context())
		shown := p.Run(ctx)
		for _, at := range append(times, times...) {
			p.Seek(at)
			synctest.Wait()
			s := <-shown
			if diff := same(want[slices.Index(sorted, at)], s); diff != "" {
				t.Fatalf("at %v (-was +is):\n%s", at, diff)
			}
		}
		cancel()
		for range shown {
		}
	})
	r, err := record(run, yield(all))
	if err != nil {
		t.Fatal(err)
	}
	s, never := r.spares(7), func() bool { return false }
	ready := func(places ...int) {
		for _, n := range places {
			at := time.Duration(n) * time.Second
			s.ready[at] = r.feeder()
			s.ready[at].advance(at, never)
		}
	}
	hand := r.feeder()
	hand.advance(12*time.Second, never)
	for _, tt := range []struct {
		name  string
		ready []int
		to    int
		from  int // 12 for the one at hand
	}{
		{"back, none is ready", nil, 11, 0},
		{"back to the last before it", []int{5, 10, 15}, 11, 10},
		{"back to the very place", []int{5, 10, 15}, 10, 10},
		{"a little ahead, beyond the place of a spare", []int{5, 10}, 14, 12},
		{"ahead, over one", []int{15}, 16, 15},
		{"far ahead", []int{15, 20, 25}, 24, 20},
		{"the one at hand is there", []int{5, 10}, 12, 12},
	} {
		clear(s.ready)
		ready(tt.ready...)
		f := s.nearest(time.Duration(tt.to)*time.Second, hand)
		if f.at != time.Duration(tt.from)*time.Second || (f == hand) != (tt.from == 12) {
			t.Errorf("%s: from %v, want %ds", tt.name, f.at, tt.from)
		}
		if tt.from != 0 && tt.from != 12 && len(s.ready) != len(tt.ready)-1 {
			t.Errorf("%s: a spare that was taken is still there", tt.name)
		}
	}
}
