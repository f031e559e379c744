package live

import "benchtop/metrics"

// beside is what is known beside the requests.
type beside struct {
	server                               []metrics.ServerSecond // only ever appended to: snapshots share them
	gpus                                 []metrics.GPUSecond
	serverKind, serverAbsent, gpusAbsent string
	steering                             metrics.Steering
	sets                                 []metrics.LogEntry // those that set the load; only ever appended to
	answer                               *metrics.Answer
	levels                               []metrics.LoadLevel
	settled                              bool // nothing that comes can change the answer
}

// Counted completes the sample of a second with what was counted since the last one.
func (r *View) Counted(s metrics.ClientSecond) metrics.ClientSecond {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Client.Complete(s)
}

// Client files the sample of a second.
func (r *View) Client(s metrics.ClientSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.Client.File(s)
}

// Verdict on the client, of the whole run so far.
func (r *View) Verdict() metrics.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Client.Verdict(r.line.Plan, &r.line.Histograms[metrics.ITL])
}

// Stamps is how the chunks were timed so far.
func (r *View) Stamps() metrics.Stamps {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Client.Stamps()
}

// Server files a look at the server, with the client's own account of the time since the one before.
func (r *View) Server(s metrics.ServerSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.First, s.Ended = r.line.Seen()
	r.beside.server = append(r.beside.server, s)
}

// Totals of the run so far.
func (r *View) Totals() metrics.Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.Totals
}

// TemplateTokens is by how many tokens servers counted a prompt longer than it was counted before it was sent, on average over
// the successes, as a chat template makes it; 0 where that is not known.
func (r *View) TemplateTokens() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.TemplateTokens()
}

// SetSource says whether figures beside the requests can be had.
func (r *View) SetSource(s metrics.Source) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch s.Name {
	case metrics.ServerCounters:
		r.beside.serverKind, r.beside.serverAbsent = s.Kind, s.Absent
	case metrics.Accelerators:
		r.beside.gpusAbsent = s.Absent
	}
}

// GPUs files a look at the accelerators.
func (r *View) GPUs(s metrics.GPUSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.gpus = append(r.beside.gpus, s)
}

// SetSteering says what load is in force from now on.
func (r *View) SetSteering(s metrics.Steering) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !sameBut(s, r.beside.steering) {
		r.news.Store(true)
	}
	r.beside.steering = s
}

// sameBut reports whether nothing but the load differs, which moves by itself.
func sameBut(s, o metrics.Steering) bool {
	s.Rate, s.Users = o.Rate, o.Users
	return s == o
}
