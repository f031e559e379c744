package export

import "benchtop/metrics"

// Done files a finished request. It keeps nothing of q. After Close it does nothing.
func (j *Journal) Done(q *metrics.Request) {
	j.file(func(b []byte) []byte { return appendRequest(b, q) })
}

// Event files an event. After Close it does nothing.
func (j *Journal) Event(e metrics.Event) {
	j.file(func(b []byte) []byte { return appendEvent(b, e) })
}

// Client files what the client saw of itself in a second. After Close it does nothing.
func (j *Journal) Client(s metrics.ClientSecond) {
	j.file(func(b []byte) []byte { return appendClient(b, &s) })
}

// Server files what the server said of itself at one look. After Close it does nothing.
func (j *Journal) Server(s metrics.ServerSecond) {
	j.file(func(b []byte) []byte { return appendServer(b, &s) })
}

// GPUs files a look at all accelerators. It keeps nothing of s. After Close it does nothing.
func (j *Journal) GPUs(s metrics.GPUSecond) {
	j.file(func(b []byte) []byte { return appendGPUs(b, &s) })
}

// file appends a line to what is to be written.
func (j *Journal) file(line func([]byte) []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.pending = line(j.pending)
		j.grown()
	}
}

// grown looks after a buffer that may have become full. The caller holds mu.
func (j *Journal) grown() {
	if len(j.pending) < blockSize {
		return
	}
	if j.w == nil || j.err != nil {
		j.kept = append(j.kept, j.pending)
		j.pending = make([]byte, 0, blockSize+blockSize/8)
		return
	}
	select {
	case j.full <- struct{}{}:
	default:
	}
}
