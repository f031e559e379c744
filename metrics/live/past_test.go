package live

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// twice plays a run of hours to two views: one that is looked at each minute and joins seconds long past, and one that
// is looked at once. The load changes within minutes, and one request lasts from the first minutes to the end.
func twice(t *testing.T, hours int) (looked, once *View, now time.Duration) {
	t.Helper()
	plan := metrics.Plan{Rate: 1, Burstiness: 1, Goodput: ttft(400), Warmup: 90 * second,
		Gates: eventtest.Gates(t, "max_concurrent_requests<5", "goodput>10%")}
	looked, once = NewView(time.Now(), &plan), NewView(time.Now(), &plan)
	now = time.Duration(hours)*time.Hour + 5*second
	for _, v := range []*View{looked, once} {
		long := begun(v, 0, 100*second)
		long.sent(100 * second)
		long.chunk(100*second+200*ms, "")
		for i := 1; i < hours*3600; i++ {
			at := time.Duration(i) * second
			if i%1001 == 0 {
				set := &metrics.LoadSetting{Load: metrics.Load{Value: float64(1 + i%3)}}
				v.fact(at+ms, metrics.LogEntry{At: at + ms, Set: set})
			}
			x := begun(v, i, at)
			x.sent(at + time.Duration(i%7)*ms)
			x.q.ServerQueue, x.q.ServerPrefill = time.Duration(i%11)*ms, 20*ms
			for k := range 2 + i%5 {
				x.chunk(at+time.Duration(100+i%300+k*(30+i%13)*(1+i/5000))*ms, "")
			}
			x.done(at+900*ms+time.Duration(i%4)*second, "")
			v.fact(at+second, metrics.ServerSecond{At: at + second, Took: second, Running: 3, PromptTokens: 7,
				Queue: metrics.ServerLatency{N: 1, Mean: time.Duration(i%9) * ms}})
			v.fact(at+second, metrics.GPUSecond{At: at + second, Took: second, GPUs: []metrics.GPU{{Use: 0.5}}})
			if v == looked && i%60 == 59 {
				v.join(v.SnapshotAt(at))
			}
		}
		long.done(now-second, metrics.FailedTimeout)
	}
	return looked, once, now
}

// Seconds long past are joined to minutes without a change of what is concluded from them.
func TestJoinedSecondsConcludeTheSame(t *testing.T) {
	ci.SkipUnderRace(t)
	looked, once, now := twice(t, 3)
	got, want := looked.SnapshotAt(now), once.SnapshotAt(now)
	n := metrics.Joined(got.Windows)
	if n < 100 || metrics.Joined(want.Windows) > 0 || len(got.Windows) != len(want.Windows)-59*n {
		t.Fatalf("%d minutes in %d windows, of %d", n, len(got.Windows), len(want.Windows))
	}
	histograms := cmp.Comparer(eventtest.SameHistogram)
	for i, w := range got.Windows {
		whole := metrics.JoinWindows
		if i >= n {
			whole = func(ws []*metrics.Window) *metrics.Window { return ws[0] }
		}
		from := min(i, n)*60 + max(0, i-n)
		to := min(from+60, len(want.Windows))
		diff := cmp.Diff(whole(want.Windows[from:to]), w, histograms)
		if diff != "" {
			t.Fatalf("window %d (-seconds +joined):\n%s", i, diff)
		}
	}
	diff := cmp.Diff(want.Minutes, got.Minutes, histograms, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0))
	if diff != "" {
		t.Errorf("minutes (-seconds +joined):\n%s", diff)
	}
	for _, span := range [][2]time.Duration{{0, now}, {90 * second, now}, {61 * second, 119 * second},
		{61 * second, 62 * second}, {100 * second, time.Hour + 7*second}, {time.Hour, now}, {now, now}, {0, 0},
		{-second, 1 << 62}} {
		got, want := got, want
		got.Server, want.Server = nil, nil // whose minutes are not cut
		got.Before.Seconds = looked.line.Past
		if diff := cmp.Diff(want.SplitOver(span[0], span[1]), got.SplitOver(span[0], span[1])); diff != "" {
			t.Errorf("split of %s (-seconds +joined):\n%s", span, diff)
		}
	}
	assert.Same(t, "gates (-seconds +joined)", got.CheckGates(), want.CheckGates(), cmpopts.EquateApprox(1e-9, 0))
	for _, v := range []*View{looked, once} {
		v.JudgeAt(now)
	}
	got, want = looked.SnapshotAt(now), once.SnapshotAt(now)
	if diff := cmp.Diff(want.Levels, got.Levels); diff != "" || len(got.Levels) < 5 {
		t.Errorf("%d levels (-seconds +joined):\n%s", len(got.Levels), diff)
	}
	diff = cmp.Diff(want.Answer, got.Answer, cmpopts.EquateApprox(1e-9, 0))
	if diff != "" || got.Answer.PeakOutput == 0 {
		t.Errorf("answer (-seconds +joined):\n%s", diff)
	}
	if len(got.Server) > 3*3600-50*n || len(got.GPUs) != len(got.Server) {
		t.Errorf("%d and %d samples", len(got.Server), len(got.GPUs))
	}
}

// Other objectives judge minutes as they do seconds.
func TestJoinedSecondsAreJudgedAgain(t *testing.T) {
	ci.SkipUnderRace(t)
	looked, once, now := twice(t, 2)
	good := func(v *View) (n []int) {
		v.setObjectives(ttft(150))
		s := v.SnapshotAt(now)
		n = append(n, s.Totals.Good, 0)
		for _, w := range s.Windows {
			n[1] += w.Good
		}
		return n
	}
	if got, want := good(looked), good(once); !slices.Equal(got, want) || want[1] == 0 {
		t.Errorf("good %d, want %d", got, want)
	}
}

// Snapshots of a run that is on join the seconds long past, those of a past run do not.
func TestOnlyALiveRunJoins(t *testing.T) {
	v := NewView(time.Now().Add(-2*time.Hour), &metrics.Plan{})
	for range 2 {
		if s := v.SnapshotAt(2 * time.Hour); metrics.Joined(s.Windows) > 0 {
			t.Error("a past run is joined")
		}
	}
	v.Snapshot()
	if s := v.Snapshot(); metrics.Joined(s.Windows) == 0 {
		t.Error("a run that is on is not joined")
	}
}
