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

// SnapshotAt returns the run so far as if it were that moment of it, for a recorder that is fed with a run of the past.
func (v *View) SnapshotAt(now time.Duration) metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return v.at(now)
}

// at makes a snapshot. The lock for that is held.
func (v *View) at(now time.Duration) metrics.Snapshot {
	s, same, changed, viewed := v.look(now)
	v.shared = slices.Concat(v.shared[:same], changed) // the bulk of a long run is copied here, where nobody waits
	s.Windows = v.shared
	s.Requests, s.Opened = viewed.rows(), viewed.detail()
	return s
}

// look takes the snapshot but for the windows that did not change since the last one.
func (v *View) look(now time.Duration) (s metrics.Snapshot, same int, changed []metrics.Window, viewed viewed) {
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

// How often snapshots are made. After a day one is 50 MB of windows, so they are not made for each viewer anew, and the longer
// one takes, the more time is left before the next.
const (
	recentFor  = 100 * time.Millisecond // the least age at which a snapshot is too old
	oldest     = 400 * time.Millisecond // and the age at which any is
	wakeAfter  = 50 * time.Millisecond  // the least time between one and another that somebody wants at once
	seldomness = 10                     // times as long as one takes passes before the next
)

// recent is the last snapshot of this moment.
type recent struct {
	snapshot metrics.Snapshot
	made     time.Time
	took     time.Duration
}

// Recent is Snapshot for those who look again and again: all of them get the last one if it is less than 100 ms old, or, where
// it takes long to make one, less than ten times as old as that takes, at most 400 ms. But facts that were told since then are always
// in it, samples of client, server and accelerators aside.
func (v *View) Recent() metrics.Snapshot { return v.within(0) }

// within returns a snapshot that may be so old at least.
func (v *View) within(age time.Duration) metrics.Snapshot {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	age = max(age, recentFor, min(seldomness*v.last.took, oldest))
	if !v.last.made.IsZero() && time.Since(v.last.made) < age && !v.news.Load() {
		return v.last.snapshot
	}
	return v.now()
}

// now makes a snapshot of this moment. The lock for that is held.
func (v *View) now() metrics.Snapshot {
	began := time.Now()
	v.news.Store(false) // what is said from here on may be in it or not
	s := v.at(time.Since(v.start))
	v.last = recent{s, began, time.Since(began)}
	return s
}

// pause is how long to wait before a snapshot that somebody wants at once.
func (v *View) pause() time.Duration {
	v.sharing.Lock()
	defer v.sharing.Unlock()
	return max(wakeAfter, seldomness/2*v.last.took) - time.Since(v.last.made)
}

// Publish sends a snapshot now and then every so often until ctx ends, then a last one, and closes the channel; and one soon
// after somebody wants to look at something else. Once the run is over only the latter. The channel holds one: a newer snapshot replaces one that nobody took, and
// nobody ever waits for a viewer.
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

// nextIsDue waits for the tick or for a viewer with a wish; false when ctx ended.
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
