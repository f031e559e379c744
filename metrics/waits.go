package metrics

import "time"

// Waits sum up the first chunks of a second: where the time until they came went.
type Waits struct {
	// N first chunks; the sums of their Held, Connect and TTFT. Requests that failed are taken out again.
	N                   int
	Held, Connect, TTFT time.Duration
	// Told of them said how long they waited in the server, ToldPrefill how long their prompt took; the sums of that.
	Told, ToldPrefill int
	Queue, Prefill    time.Duration
	// Answered of them said either, which they can only once they are complete; the sum of their TTFT.
	Answered     int
	AnsweredTTFT time.Duration
}

// longestWait bounds what one request adds, so that the times of a damaged journal cannot make sums overflow soon.
const longestWait = 7 * 24 * time.Hour

func bounded(d time.Duration) time.Duration { return min(max(0, d), longestWait) }

// count adds the first chunk of a request, or takes it out again where by is -1.
func (w *Waits) count(r *Request, by int) {
	d := time.Duration(by)
	w.N += by
	w.Held += d * bounded(r.Held())
	w.Connect += d * bounded(r.Connect)
	w.TTFT += d * bounded(r.TTFT())
}

// tell adds what the server said of a request that succeeded.
func (w *Waits) tell(r *Request) {
	if r.ServerQueue != Never {
		w.Told++
		w.Queue += bounded(r.ServerQueue)
	}
	if r.ServerPrefill != Never {
		w.ToldPrefill++
		w.Prefill += bounded(r.ServerPrefill)
	}
	if r.ServerQueue != Never || r.ServerPrefill != Never {
		w.Answered++
		w.AnsweredTTFT += bounded(r.TTFT())
	}
}

func (w *Waits) merge(o *Waits) {
	w.N += o.N
	w.Held, w.Connect, w.TTFT = w.Held+o.Held, w.Connect+o.Connect, w.TTFT+o.TTFT
	w.Told, w.ToldPrefill = w.Told+o.Told, w.ToldPrefill+o.ToldPrefill
	w.Queue, w.Prefill = w.Queue+o.Queue, w.Prefill+o.Prefill
	w.Answered, w.AnsweredTTFT = w.Answered+o.Answered, w.AnsweredTTFT+o.AnsweredTTFT
}
