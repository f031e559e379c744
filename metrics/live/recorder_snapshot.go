package live

import (
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
