package replay

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// A snapshot shows what the live view showed at that moment of the run, however the player came there.
func TestShowsWhatWasShown(t *testing.T) {
	const length = 40 * time.Second
	times := []time.Duration{0, time.Millisecond, 3 * time.Second, 7777777 * time.Microsecond, 20 * time.Second,
		27 * time.Second, 39 * time.Second}
	for seed := range uint64(3) {
		run, all := drawRun(seed, 250, length)
		look := metrics.Inspection{Rows: seed%2 == 0, Open: 1 + 7*int(seed%2)}
		want := shownOf(t, run, all, look, times)
		playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
			p.Pause()
			p.Inspect(look)
			for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 2, 5, 1, 6, 0, 3} { // forth and back
				p.Seek(times[i])
				s := next()
				if s.At != times[i] || s.Replay == nil || s.Replay.Playing || s.Replay.Length != length {
					t.Fatalf("seed %d: at %v (%+v), want to stand still at %v of %v", seed, s.At, s.Replay, times[i],
						length)
				}
				assert.Need(t, same(want[i], s), "", "seed %d, at %v (-was +is)", seed, times[i])
				if n := len(s.Client); n != int(times[i]/time.Second) || n > 0 && s.Client[n-1] != run.Client[n-1] {
					t.Errorf("seed %d, at %v: %d seconds of the client", seed, times[i], n)
				}
			}
		})
	}
}

// An outage is shown as it was, and its events stand in the log, with and without samples of the client.
func TestShowsOutages(t *testing.T) {
	const length, dead, back = 40 * time.Second, 15 * time.Second, 28 * time.Second
	times := []time.Duration{14 * time.Second, 17 * time.Second, 19 * time.Second, 27 * time.Second, 30 * time.Second,
		39 * time.Second}
	for seed := range uint64(4) {
		run, all := drawRun(seed, 400, length)
		if seed >= 2 {
			run.Client = nil
		}
		for i := range all {
			if q := &all[i]; q.Sent != metrics.Never && q.Done > dead && q.Sent < back {
				die(q, dead)
			}
		}
		slices.SortFunc(all, func(a, b metrics.Request) int { return int(a.Done - b.Done) })
		want := shownOf(t, run, all, metrics.Inspection{}, times)
		playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
			p.Pause()
			for _, i := range []int{3, 5, 0, 2, 1, 4} {
				p.Seek(times[i])
				assert.Need(t, same(want[i], next()), "", "seed %d, at %v (-was +is)", seed, times[i])
			}
		})
		for i, out := range []bool{false, false, true, true, false, false} {
			if o := want[i].Outage; (o != nil) != out ||
				out && (o.Why != "connection refused" || o.Since < dead || o.Since > dead+time.Second) {
				t.Errorf("seed %d, at %v: %+v", seed, times[i], o)
			}
		}
	}
}

// die ends a request at the death of the server, or has it refused after that.
func die(q *metrics.Request, dead time.Duration) {
	sent := q.Sent
	q.Failure, q.Status, q.Error = metrics.FailedReset, 0, "read: connection reset by peer"
	q.Done = max(dead, sent)
	before := slices.DeleteFunc(q.Chunks, func(c metrics.Chunk) bool { return c.At > q.Done })
	q.Chunks, q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk = nil, metrics.Never, metrics.Never, metrics.Never,
		metrics.Never
	for _, c := range before {
		q.Add(c)
	}
	if sent > dead {
		q.Failure, q.Error, q.Sent = metrics.FailedConnect, "dial tcp: connect: connection refused", metrics.Never
	}
}

// A journal says of the visible answer only when it began; it is told as it goes all the same.
func TestFirstAnswerOfAJournal(t *testing.T) {
	run, all := drawRun(2, 200, 30*time.Second)
	at := []time.Duration{25 * time.Second}
	want := shownOf(t, run, all, metrics.Inspection{}, at)[0].Histograms[metrics.FirstAnswer].Count()
	for i := range all {
		for k := range all[i].Chunks {
			all[i].Chunks[k].Answer = false
		}
	}
	playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
		p.Pause()
		p.Seek(at[0])
		s := next()
		if n := s.Histograms[metrics.FirstAnswer].Count(); n != want || want == 0 {
			t.Errorf("%d first answers at %v, want %d", n, at[0], want)
		}
	})
}

// At the end there is the report, the same as from the journal, and going back takes it away.
func TestEndsWithTheReport(t *testing.T) {
	run, all := drawRun(1, 300, 20*time.Second)
	want, err := report.Of(eventtest.Of(run, eventtest.Each(all)))
	assert.Fine(t, err)
	playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
		time.Sleep(20*time.Second + every)
		s := next()
		if s.State != metrics.Finished || s.Report == nil || s.At != run.Ended || s.Replay.Playing {
			t.Fatalf("after its time the run is %q at %v, report %v, %+v", s.State, s.At, s.Report != nil, s.Replay)
		}
		for name, of := range map[string][2]any{
			"report": {&want, s.Report}, "timeline": {want.Timeline, s.Windows},
			"failures": {want.Failures, s.Failures},
		} {
			assert.Equal(t, difference(of[0], of[1]), "", "%s (-from the journal +at the end)", name)
		}
		if s.Totals.Completed != want.Completed || s.Held+s.Waiting+s.Running != 0 {
			t.Errorf("%+v, want %d done and nothing in flight", s.Totals, want.Completed)
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
					t.Errorf("%v, %s: at %v, %+v; want %v, playing %v at %v", tt.length, what, s.At, s.Replay, at,
						playing, speed)
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

// Commands to a player that has gone do not wait.
func TestCommandsToPlayerThatIsGone(t *testing.T) {
	run, all := drawRun(1, 5, time.Second)
	synctest.Test(t, func(t *testing.T) {
		p, err := New(eventtest.Of(run, eventtest.Each(all)))
		assert.Fine(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range p.Run(ctx) {
		}
		for range commandsWaiting + 1 {
			p.Pause()
		}
	})
}
