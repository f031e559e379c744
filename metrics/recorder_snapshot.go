package metrics

import (
	"slices"
	"time"
)

// Snapshot returns the run so far.
func (r *Recorder) Snapshot() Snapshot {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	return r.now()
}

// SnapshotAt returns the run so far as if it were that moment of it, for a recorder that is fed with a run of the past.
func (r *Recorder) SnapshotAt(now time.Duration) Snapshot {
	r.sharing.Lock()
	defer r.sharing.Unlock()
	return r.at(now)
}

// at makes a snapshot. The lock for that is held.
func (r *Recorder) at(now time.Duration) Snapshot {
	s, same, changed, viewed := r.look(now)
	r.share(same, changed)
	s.Windows = r.shared
	s.Requests, s.Opened = viewed.rows(), viewed.detail()
	return s
}

// share makes the windows of a snapshot. The bulk of a long run is copied here, where nobody waits.
func (r *Recorder) share(same int, changed []Window) {
	r.shared = slices.Concat(r.shared[:same], changed)
}

// look takes the snapshot but for the windows that did not change since the last one.
func (r *Recorder) look(now time.Duration) (s Snapshot, same int, changed []Window, viewed viewed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report != nil {
		now = r.report.Ended
	}
	l := &r.line
	same, changed = l.share(now, r.shared)
	itl := &l.histograms[ITL]
	s = Snapshot{
		At: now, Plan: l.plan, State: r.state, DrainBy: r.drainBy, Totals: l.totals,
		Held: l.held, Waiting: l.waiting, Running: l.runs, OutputExact: r.guessed == 0,
		Histograms: l.histograms.share(), Failures: r.failures.counts(),
		Log:     slices.Clone(r.log[max(0, len(r.log)-logKept):]),
		Marks:   r.marks[:len(r.marks):len(r.marks)],
		Client:  l.client.seconds[:len(l.client.seconds):len(l.client.seconds)],
		Verdict: l.client.verdict(l.plan, l.client.timed(), itl), Recent: l.client.recent(l.plan, itl),
		SavePath: r.savePath, SaveError: r.saveErr, Report: r.report,
	}
	b := &r.beside
	s.Server, s.GPUs = b.server[:len(b.server):len(b.server)], b.gpus[:len(b.gpus):len(b.gpus)]
	s.ServerKind, s.ServerAbsent, s.GPUsAbsent = b.serverKind, b.serverAbsent, b.gpusAbsent
	s.Steering, s.Objectives, s.Answer, s.Levels = b.steering, l.slo, b.answer, b.levels
	s.PlannedGood, s.Endpoints = l.planned, r.ends.share()
	return s, same, changed, r.tracks.view()
}
