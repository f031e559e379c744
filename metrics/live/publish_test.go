package live

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/metrics"
)

// A selected request is shown at once, but repeated selections make no load.
func TestLookWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewView(time.Now(), &metrics.Plan{})
		begun(rec, 0, 0)
		ctx, cancel := context.WithCancel(t.Context())
		ch := rec.Publish(ctx, second)
		if s := <-ch; s.Requests != nil {
			t.Error("rows that nobody asked for")
		}
		time.Sleep(300 * ms)
		rec.Inspect(metrics.Inspection{Rows: true})
		synctest.Wait()
		select {
		case s := <-ch:
			if len(s.Requests) != 1 || s.At != 300*ms {
				t.Errorf("%d rows at %s", len(s.Requests), s.At)
			}
		default:
			t.Fatal("nothing came")
		}
		rec.Inspect(metrics.Inspection{Rows: true}) // nothing new
		var came []time.Duration
		for i := range 200 { // 200 ms of wishes
			rec.Inspect(metrics.Inspection{Rows: true, Open: 1 + i%2})
			time.Sleep(ms)
			select {
			case s := <-ch:
				came = append(came, s.At)
			default:
			}
		}
		if len(came) < 3 || len(came) > 4 {
			t.Errorf("%d snapshots in 200 ms: %v", len(came), came)
		}
		time.Sleep(100 * ms)
		if s := <-ch; s.Opened == nil && s.Requests == nil {
			t.Error("the last wish was forgotten")
		}
		rec.Inspect(metrics.Inspection{})
		cancel() // while the wish waits
		for range ch {
		}
	})
}

// Callers that poll share snapshots, which hold all facts.
func TestRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewView(time.Now(), &metrics.Plan{})
		first := rec.Recent()
		time.Sleep(60 * ms)
		begun(rec, 0, 60*ms)
		if s := rec.Recent(); s.At != first.At || &s.Windows[0] != &first.Windows[0] || s.Totals.Due != 0 {
			t.Errorf("a new snapshot of %s", s.At)
		}
		if s := rec.Snapshot(); s.At != 60*ms || s.Totals.Due != 1 {
			t.Errorf("an old snapshot of %s", s.At)
		}
		time.Sleep(100 * ms)
		if s := rec.Recent(); s.At != 160*ms {
			t.Errorf("an old one of %s", s.At)
		}
		rec.fact(0, metrics.Steering{Changes: 2, LoadSetting: metrics.LoadSetting{Load: metrics.Load{Value: 1}}})
		rec.Recent()
		rec.fact(0, metrics.Steering{Changes: 2, LoadSetting: metrics.LoadSetting{Load: metrics.Load{Value: 2}}})
		if s := rec.Recent(); s.Steering.Value != 1 {
			t.Error("a load that moves by itself makes new snapshots")
		}
		for _, c := range []struct {
			fact any
			done func(*shown) bool
		}{
			{metrics.Phase{State: metrics.Draining, DrainBy: time.Hour},
				func(s *shown) bool { return s.State == metrics.Draining }},
			{metrics.Saving{Path: "a", Problem: "b"}, func(s *shown) bool { return s.SaveError == "b" }},
			{metrics.Steering{Changes: 3}, func(s *shown) bool { return s.Steering.Changes == 3 }},
			{ttft(1), func(s *shown) bool { return len(s.Objectives) == 1 }},
			{metrics.LogEntry{Text: "x"}, func(s *shown) bool { return len(s.Log) == 1 }},
			{metrics.Inspection{Rows: true}, func(s *shown) bool { return len(s.Requests) == 1 }},
		} {
			switch x := c.fact.(type) {
			case metrics.SLO:
				rec.setObjectives(x)
			case metrics.Inspection:
				rec.Inspect(x)
			default:
				rec.fact(0, x)
			}
			if s := rec.Recent(); !c.done(&s) {
				t.Errorf("%+v does not show", c.fact)
			}
		}
		rec.Finish(&metrics.Report{})
		if s := rec.Recent(); s.Report == nil {
			t.Error("the report does not show")
		}
	})
}

// Snapshots that take long are shared longer, up to a limit.
func TestRecentOfALongRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewView(time.Now(), &metrics.Plan{})
		rec.Recent()
		for _, c := range []struct{ took, age time.Duration }{
			{0, recentFor}, {ms, recentFor}, {30 * ms, 300 * ms}, {time.Hour, oldest},
		} {
			rec.Snapshot()
			rec.last.took = c.took
			made := rec.last.snapshot.At
			time.Sleep(c.age - ms)
			if s := rec.Recent(); s.At != made {
				t.Errorf("%s: a new one after %s", c.took, s.At-made)
			}
			time.Sleep(ms)
			if s := rec.Recent(); s.At == made {
				t.Errorf("%s: an old one after %s", c.took, c.age)
			}
		}
	})
}

// A snapshot of a long run, made new, and shared with a second viewer. The metric is the part under the lock that
// chunks need.
func BenchmarkSnapshotOfALongRun(b *testing.B) {
	for _, hours := range []int{1, 24} {
		rec := NewView(time.Now().Add(-time.Duration(hours)*time.Hour), &metrics.Plan{})
		for s := range hours * 3600 {
			oneRequest(rec, s, time.Duration(s)*second)
		}
		b.Run(fmt.Sprintf("%dh/new", hours), func(b *testing.B) {
			b.ReportAllocs()
			var locked time.Duration
			for b.Loop() {
				_ = rec.Snapshot()
				from := time.Now()
				_, _, _, _ = rec.capture(time.Duration(hours) * time.Hour) // nothing happened since, so nothing is lost
				locked += time.Since(from)
			}
			b.ReportMetric(float64(locked.Nanoseconds())/float64(b.N), "ns-locked/op")
		})
		b.Run(fmt.Sprintf("%dh/recent", hours), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = rec.Recent()
			}
		})
	}
}

func TestPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := NewView(time.Now(), &metrics.Plan{})
		ctx, cancel := context.WithCancel(t.Context())
		ch := rec.Publish(ctx, second)
		time.Sleep(10*second + ms) // without a reader only the newest stays
		if s := <-ch; s.At != 10*second {
			t.Errorf("snapshot of %s, want the newest, of 10s", s.At)
		}
		cancel()
		n := 0
		for s := range ch {
			n++
			if s.At < 10*second {
				t.Errorf("last snapshot is of %s", s.At)
			}
		}
		if n != 1 {
			t.Errorf("%d snapshots after the end, want the last one", n)
		}
	})
}
