package live

import (
	"context"
	"slices"
	"time"

	"benchtop/metrics"
)

// Snapshot returns the run so far.
func (v *View) Snapshot() metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return v.now()
}

// SnapshotAt returns the snapshot at a moment of a past run.
func (v *View) SnapshotAt(now time.Duration) metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return v.at(now)
}

// at makes a snapshot. The caller holds sharing.
func (v *View) at(now time.Duration) metrics.Snapshot {
	s, same, changed, viewed := v.capture(now)
	v.shared = slices.Concat(v.shared[:same], changed) // the bulk of a long run is copied outside of mu
	s.Windows = v.shared
	s.Requests, s.Opened = viewed.rows(), viewed.detail()
	return s
}

// capture takes the snapshot without the windows that did not change since the last one.
func (v *View) capture(now time.Duration) (s metrics.Snapshot, same int, changed []metrics.Window, viewed viewed) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown.Report != nil {
		now = v.shown.Report.Ended
	}
	l := &v.line
	same, changed = l.Share(now, v.shared)
	s = v.shown
	s.At, s.Totals, s.PlannedGood, s.Objectives = now, l.Totals, l.PlannedGood, l.SLO
	s.Held, s.Waiting, s.Running, s.OutputExact = l.Held, l.Waiting, l.Running, l.Guessed == 0
	s.Histograms, s.Failures, s.Endpoints = l.Histograms.Share(), v.failures.Counts(), v.ends.share()
	s.Verdict, s.Recent = l.Verdict(), l.Recent()
	s.Log = slices.Clone(s.Log[max(0, len(s.Log)-logKept):])
	s.Marks, s.Client, s.Server, s.GPUs = slices.Clip(s.Marks), slices.Clip(l.Client.Seconds), slices.Clip(s.Server), slices.Clip(s.GPUs)
	return s, same, changed, v.tracks.view()
}

// How often snapshots are made. After a day a snapshot holds 50 MB of windows, so viewers share it, and the next one waits in
// proportion to the time that it took.
const (
	recentFor  = 100 * time.Millisecond // snapshots up to this age are shared
	oldest     = 400 * time.Millisecond // no snapshot of this age is shared
	wakeAfter  = 50 * time.Millisecond  // minimum time before a snapshot that was requested
	seldomness = 10                     // snapshots are shared for so many times the time that one takes
)

// recent is the last snapshot of this moment.
type recent struct {
	snapshot metrics.Snapshot
	made     time.Time
	took     time.Duration
}

// Recent is Snapshot for callers that poll. They share the last snapshot while it is less than 100 ms old, or, where snapshots take
// long, younger than ten times the time that one takes, at most 400 ms. All facts are in it, except for the latest samples of client,
// server and accelerators.
func (v *View) Recent() metrics.Snapshot { return v.within(0) }

// within returns a snapshot of at most this age, or of the age that Recent allows.
func (v *View) within(age time.Duration) metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	age = max(age, recentFor, min(seldomness*v.last.took, oldest))
	if !v.last.made.IsZero() && time.Since(v.last.made) < age && !v.news.Load() {
		return v.last.snapshot
	}
	return v.now()
}

// now makes a snapshot of this moment. The caller holds sharing.
func (v *View) now() metrics.Snapshot {
	began := time.Now()
	v.news.Store(false) // a fact that comes from here on may be in the snapshot or not
	s := v.at(time.Since(v.start))
	v.last = recent{s, began, time.Since(began)}
	return s
}

// pause is the time to wait before a snapshot that was requested.
func (v *View) pause() time.Duration {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return max(wakeAfter, seldomness/2*v.last.took) - time.Since(v.last.made)
}

// Publish sends a snapshot now, then at the interval, and soon after a call of Inspect. When the run is over it sends only the latter.
// When ctx ends it sends a last one and closes the channel. The channel holds one snapshot, and a newer one replaces it, so that the
// view never waits for a viewer.
func (v *View) Publish(ctx context.Context, every time.Duration) <-chan metrics.Snapshot {
	out := make(chan metrics.Snapshot, 1)
	tick := time.NewTicker(every)
	put := func(s metrics.Snapshot) {
		select {
		case <-out:
		default:
		}
		out <- s // only this goroutine sends, so there is room
		if s.State == metrics.Finished {
			tick.Stop()
		}
	}
	put(v.Snapshot())
	go func() {
		defer close(out)
		defer tick.Stop()
		for v.nextIsDue(ctx, tick.C) {
			put(v.Recent())
		}
		put(v.Snapshot())
	}()
	return out
}

// nextIsDue waits for the tick or for a request; it is false when ctx has ended.
func (v *View) nextIsDue(ctx context.Context, tick <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-tick:
		return true
	case <-v.wake:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(v.pause()):
		return true
	}
}
