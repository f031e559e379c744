package live

import (
	"context"
	"slices"
	"time"

	"benchtop/metrics"
)

// Snapshot returns the run so far.
func (r *View) Snapshot() metrics.Snapshot {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	return r.now()
}

// SnapshotAt returns the run so far as if it were that moment of it, for a recorder that is fed with a run of the past.
func (r *View) SnapshotAt(now time.Duration) metrics.Snapshot {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	return r.at(now)
}

// at makes a snapshot. The lock for that is held.
func (r *View) at(now time.Duration) metrics.Snapshot {
	s, same, changed, viewed := r.look(now)
	r.share(same, changed)
	s.Windows = r.shared
	s.Requests, s.Opened = viewed.rows(), viewed.detail()
	return s
}

// share makes the windows of a snapshot. The bulk of a long run is copied here, where nobody waits.
func (r *View) share(same int, changed []metrics.Window) {
	r.shared = slices.Concat(r.shared[:same], changed)
}

// look takes the snapshot but for the windows that did not change since the last one.
func (r *View) look(now time.Duration) (s metrics.Snapshot, same int, changed []metrics.Window, viewed viewed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report != nil {
		now = r.report.Ended
	}
	l := &r.line
	same, changed = l.Share(now, r.shared)
	itl := &l.Histograms[metrics.ITL]
	s = metrics.Snapshot{
		At: now, Plan: l.Plan, State: r.state, DrainBy: r.drainBy, Totals: l.Totals,
		Held: l.Held, Waiting: l.Waiting, Running: l.Running, OutputExact: l.Guessed == 0,
		Histograms: l.Histograms.Share(), Failures: r.failures.Counts(),
		Log:     slices.Clone(r.log[max(0, len(r.log)-logKept):]),
		Marks:   r.marks[:len(r.marks):len(r.marks)],
		Client:  l.Client.Seconds[:len(l.Client.Seconds):len(l.Client.Seconds)],
		Verdict: l.Client.Verdict(l.Plan, itl), Recent: l.Client.Recent(l.Plan, itl),
		SavePath: r.savePath, SaveError: r.saveErr, Report: r.report,
	}
	b := &r.beside
	s.Server, s.GPUs = b.server[:len(b.server):len(b.server)], b.gpus[:len(b.gpus):len(b.gpus)]
	s.ServerKind, s.ServerAbsent, s.GPUsAbsent = b.serverKind, b.serverAbsent, b.gpusAbsent
	s.Steering, s.Objectives, s.Answer, s.Levels = b.steering, l.SLO, b.answer, b.levels
	s.PlannedGood, s.Endpoints = l.PlannedGood, r.ends.share()
	return s, same, changed, r.tracks.view()
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
// it takes long to make one, less than ten times as old as that takes, at most 400 ms. But what was said since then by a method
// that tells of no single request or chunk, such as SetPhase, is always in it.
func (r *View) Recent() metrics.Snapshot { return r.within(0) }

// within returns a snapshot that may be so old at least.
func (r *View) within(age time.Duration) metrics.Snapshot {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	age = max(age, recentFor, min(seldomness*r.last.took, oldest))
	if !r.last.made.IsZero() && time.Since(r.last.made) < age && !r.news.Load() {
		return r.last.snapshot
	}
	return r.now()
}

// now makes a snapshot of this moment. The lock for that is held.
func (r *View) now() metrics.Snapshot {
	began := time.Now()
	r.news.Store(false) // what is said from here on may be in it or not
	s := r.at(time.Since(r.start))
	r.last = recent{s, began, time.Since(began)}
	return s
}

// pause is how long to wait before a snapshot that somebody wants at once.
func (r *View) pause() time.Duration {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	return max(wakeAfter, seldomness/2*r.last.took) - time.Since(r.last.made)
}

// Publish sends a snapshot now and then every so often until ctx ends, then a last one, and closes the channel; and one soon
// after somebody wants to look at something else. Once the run is over only the latter. The channel holds one: a newer snapshot replaces one that nobody took, and
// nobody ever waits for a viewer.
func (r *View) Publish(ctx context.Context, every time.Duration) <-chan metrics.Snapshot {
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
	put(r.Snapshot())
	go func() {
		defer close(out)
		defer tick.Stop()
		for r.nextIsDue(ctx, tick.C) {
			put(r.Recent())
		}
		put(r.Snapshot())
	}()
	return out
}

// nextIsDue waits for the tick or for a viewer with a wish; false when ctx ended.
func (r *View) nextIsDue(ctx context.Context, tick <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-tick:
		return true
	case <-r.wake:
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(r.pause()):
		return true
	}
}
