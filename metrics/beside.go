package metrics

// beside is what is known beside the requests.
type beside struct {
	server                               []ServerSecond // only ever appended to: snapshots share them
	gpus                                 []GPUSecond
	serverKind, serverAbsent, gpusAbsent string
	steering                             Steering
	sets                                 []LogEntry // those that set the load; only ever appended to
	answer                               *Answer
	levels                               []LoadLevel
	settled                              bool // nothing that comes can change the answer
}

// Counted completes the sample of a second with what was counted since the last one.
func (r *Recorder) Counted(s ClientSecond) ClientSecond {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.client.counted(s)
}

// Client files the sample of a second.
func (r *Recorder) Client(s ClientSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line.client.file(s)
}

// Verdict on the client, of the whole run so far.
func (r *Recorder) Verdict() Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.client.verdict(r.line.plan, r.line.client.timed(), &r.line.histograms[ITL])
}

// Stamps is how the chunks were timed so far.
func (r *Recorder) Stamps() Stamps {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.client.timed()
}

// Server files a look at the server, with the client's own account of the time since the one before.
func (r *Recorder) Server(s ServerSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	unseen := &r.line.unseen
	s.First, s.Ended = unseen.first, unseen.ended
	unseen.first, unseen.ended = Waits{}, Waits{}
	r.beside.server = append(r.beside.server, s)
}

// Totals of the run so far.
func (r *Recorder) Totals() Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line.totals
}

// TemplateTokens is by how many tokens servers counted a prompt longer than it was counted before it was sent, on average over
// the successes, as a chat template makes it; 0 where that is not known.
func (r *Recorder) TemplateTokens() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.line.templates
	if t.n == 0 {
		return 0
	}
	return float64(t.tokens) / float64(t.n)
}

// SetSource says whether figures beside the requests can be had.
func (r *Recorder) SetSource(s Source) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch s.Name {
	case ServerCounters:
		r.beside.serverKind, r.beside.serverAbsent = s.Kind, s.Absent
	case Accelerators:
		r.beside.gpusAbsent = s.Absent
	}
}

// GPUs files a look at the accelerators.
func (r *Recorder) GPUs(s GPUSecond) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beside.gpus = append(r.beside.gpus, s)
}

// SetSteering says what load is in force from now on.
func (r *Recorder) SetSteering(s Steering) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !s.sameBut(&r.beside.steering) {
		r.news.Store(true)
	}
	r.beside.steering = s
}

// sameBut reports whether nothing but the load differs, which moves by itself.
func (s Steering) sameBut(o *Steering) bool {
	s.Rate, s.Users = o.Rate, o.Users
	return s == *o
}
