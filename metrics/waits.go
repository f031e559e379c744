package metrics

import "time"

// Waits sum up where the time until the first chunk of some requests went.
type Waits struct {
	// N requests; the sums of their SlotWait, Connect and TTFT.
	N                       int
	SlotWait, Connect, TTFT time.Duration
	// More prompts than one each that the requests carry.
	More int
}

// longestWait bounds what one request adds, so that the times of a damaged journal cannot make sums overflow soon.
const longestWait = 7 * 24 * time.Hour

func bounded(d time.Duration) time.Duration { return min(max(0, d), longestWait) }

// Count adds a request whose first chunk came, or takes it out again where by is -1.
func (w *Waits) Count(r *Request, by int) {
	d := time.Duration(by)
	w.N += by
	w.More += by * min(max(0, r.Inputs-1), heaviest)
	w.SlotWait += d * bounded(r.SlotWait())
	w.Connect += d * bounded(r.Connect)
	w.TTFT += d * bounded(r.TTFT())
}

func (w *Waits) Merge(o *Waits) {
	w.N, w.More = w.N+o.N, w.More+o.More
	w.SlotWait, w.Connect, w.TTFT = w.SlotWait+o.SlotWait, w.Connect+o.Connect, w.TTFT+o.TTFT
}

// Prompts are those of the requests: a server counts each of a batch as a request of its own.
func (w *Waits) Prompts() int { return w.N + w.More }

// MeanTTFT is Never where there is no request.
func (w *Waits) MeanTTFT() time.Duration {
	if w.N <= 0 {
		return Never
	}
	return mean(w.TTFT, w.N)
}

func mean(sum time.Duration, n int) time.Duration { return max(0, sum/time.Duration(n)) }

// Told sums up what servers said with their answers of the time until the first chunk.
type Told struct {
	// Waits of the requests whose answers said something of it, which they can only once they are complete.
	Waits
	// Queued of them said how long they waited in the server, Prefilled how long their prompt took; the sums of that.
	Queued, Prefilled int
	Queue, Prefill    time.Duration
}

// tell adds what the server said of a request that succeeded.
func (t *Told) tell(r *Request) {
	if r.ServerQueue == Never && r.ServerPrefill == Never {
		return
	}
	t.Count(r, 1)
	if r.ServerQueue != Never {
		t.Queued++
		t.Queue += bounded(r.ServerQueue)
	}
	if r.ServerPrefill != Never {
		t.Prefilled++
		t.Prefill += bounded(r.ServerPrefill)
	}
}

func (t *Told) merge(o *Told) {
	t.Waits.Merge(&o.Waits)
	t.Queued, t.Prefilled = t.Queued+o.Queued, t.Prefilled+o.Prefilled
	t.Queue, t.Prefill = t.Queue+o.Queue, t.Prefill+o.Prefill
}
