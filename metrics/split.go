package metrics

import (
	"math"
	"time"
)

// enoughSeen is the share of the requests, and of the time, that the looks at the server must have seen for their means to stand
// for a part of the run: what they missed may have waited much longer.
const enoughSeen = 0.8

// SplitSource says who told how long requests waited inside the server.
type SplitSource string

const (
	// SplitByRequests: the server told it with each answer.
	SplitByRequests SplitSource = "requests"
	// SplitByMetrics: the counters of its metrics page, for whoever asked it at that time.
	SplitByMetrics SplitSource = "metrics"
	// SplitUnknown: nobody.
	SplitUnknown SplitSource = "unknown"
)

// TTFTSplit says where the time until the first chunk went, on average, counted from when the request was due. SlotWait and
// Connect come before the first byte, so they are no part of TTFT; Queue, Prefill and Rest add up to TTFT, unless the
// server's own clock says more than ours.
type TTFTSplit struct {
	// N requests that all means are of but, where Source is SplitByMetrics, Queue and Prefill. The rest says nothing where it
	// is 0.
	N int
	// SlotWait is the wait for a client slot, Connect for a connection.
	SlotWait, Connect time.Duration
	TTFT              time.Duration
	// Queue is the wait inside the server, Prefill the time it computed the prompt and the first token; Never where nobody
	// tells.
	Queue, Prefill time.Duration
	// Rest is what is left: the way there and back, tokenizing, and, where nobody tells, all of TTFT. Never negative.
	Rest time.Duration
	// Source of Queue and Prefill. Where it is SplitByMetrics, Seen are the requests that they are of: the server's other clients'
	// may be among them, so Rest is of a mixture where OfOthers.
	Source SplitSource
	Seen   int
	// More prompts than one each that the requests carry. A server counts N + More.
	More int
}

// SplitOver says where TTFT went between two moments of the run, the seconds in which they lie included: for the first
// chunks that came in the seconds from from until before to, and the looks at the server after from and up to to.
//
// The server's word with each answer counts where at least half of the requests have it: all means are of those, since the
// others, which are still on their way, may have waited much longer. Else the means of its metrics page count, weighted by how
// many requests each look saw, beside those of the requests that the looks tell of by the client's own account: where the
// server counts a wait when the request ends, those that ended. The looks must have seen at least four fifths of these
// requests, and of the time. Else queue and prefill are not known.
func (s *Snapshot) SplitOver(from, to time.Duration) TTFTSplit {
	var all TTFTParts
	var told Reported
	first := int(min(max(0, from)/time.Second, MaxWindows))
	for i := first; i < len(s.Windows) && s.Windows[i].Start < to; i++ {
		all.Merge(&s.Windows[i].TTFTParts)
		told.merge(&s.Windows[i].Reported)
	}
	return SplitOf(&all, &told, s.Server, from, to, s.until())
}

// until is how far the snapshot reaches.
func (s *Snapshot) until() time.Duration {
	if s.Report != nil {
		return s.Report.Ended
	}
	return s.At
}

// SplitOf joins what is known of all requests, what answers told, and what the server's page says, of a run that reaches until
// some moment.
func SplitOf(all *TTFTParts, told *Reported, server []ServerSecond, from, to, until time.Duration) TTFTSplit {
	out := TTFTSplit{Queue: Never, Prefill: Never, Source: SplitUnknown}
	if enough := (all.N + 1) / 2; all.N > 0 && max(told.Queued, told.Prefilled) >= enough {
		out.Source = SplitByRequests
		out.of(&told.TTFTParts)
		if told.Queued >= enough {
			out.Queue = mean(told.Queue, told.Queued)
		}
		if told.Prefilled >= enough {
			out.Prefill = mean(told.Prefill, told.Prefilled)
		}
	} else if !out.ask(server, from, to, until) {
		out.of(all)
	}
	out.Rest = max(0, out.TTFT-max(0, out.Queue)-max(0, out.Prefill))
	return out
}

// of takes the client's own means from some requests.
func (t *TTFTSplit) of(w *TTFTParts) {
	if t.N, t.More = max(0, w.N), max(0, w.More); t.N > 0 {
		t.SlotWait, t.Connect, t.TTFT = mean(w.SlotWait, w.N), mean(w.Connect, w.N), mean(w.TTFT, w.N)
	}
}

// ask takes queue and prefill from the looks at the server after from and up to to, and all else from the requests that these
// looks tell of. It reports whether they say enough. The last look may come after the run.
func (t *TTFTSplit) ask(server []ServerSecond, from, to, until time.Duration) bool {
	if !mostOfTheTime(server, from, min(to, until)) {
		return false
	}
	var ours TTFTParts
	var queue, prefill weighted
	for i := range server {
		if s := &server[i]; s.At > from && s.At <= to && s.Counted() {
			ours.Merge(s.waited())
			queue.latency(s.Queue)
			prefill.latency(s.Prefill)
		}
	}
	if ours.N <= 0 {
		return false
	}
	for _, x := range []struct {
		mean ServerLatency
		to   *time.Duration
	}{{queue.sum(), &t.Queue}, {prefill.sum(), &t.Prefill}} {
		if mostOf(x.mean, ours.Prompts()) {
			*x.to, t.Source = x.mean.Mean, SplitByMetrics
			t.Seen = max(t.Seen, int(math.Round(min(x.mean.N, math.MaxInt32))))
		}
	}
	if t.Source != SplitByMetrics {
		return false
	}
	t.of(&ours)
	return true
}

// OfOthers reports whether the means of the page are of more or fewer requests than the server counts for those of N.
func (t *TTFTSplit) OfOthers() bool { return t.Seen != t.N+t.More }

// mostOf reports whether a mean is of about as many requests as there were, or more: a server counts its other clients' as well.
func mostOf(l ServerLatency, requests int) bool {
	return l.N > 0 && l.N >= enoughSeen*float64(requests)
}

// mostOfTheTime reports whether the looks reach over most of the time between from and to.
func mostOfTheTime(server []ServerSecond, from, to time.Duration) bool {
	seen, from := 0.0, max(0, from)
	for i := range server {
		at := max(0, server[i].At)
		begun := max(from, at-bounded(server[i].Took))
		seen += max(0, (min(at, to) - begun).Seconds())
	}
	return seen >= enoughSeen*(to-from).Seconds()
}

// ComparesTTFT reports whether the mean TTFT by the server's clock is of so much of the run, and of as many of its requests,
// that it may stand beside the client's of the same looks, Server.First.
func (r *Report) ComparesTTFT() bool {
	s := r.Server
	return s != nil && s.First.N > 0 && mostOf(s.TTFT, s.First.Prompts()) && mostOfTheTime(s.Seconds, r.Plan.Warmup, r.Ended)
}

// TTFTParts sum up where the time until the first chunk of some requests went.
type TTFTParts struct {
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
func (w *TTFTParts) Count(r *Request, by int) {
	d := time.Duration(by)
	w.N += by
	w.More += by * min(max(0, r.Inputs-1), heaviest)
	w.SlotWait += d * bounded(r.SlotWait())
	w.Connect += d * bounded(r.Connect)
	w.TTFT += d * bounded(r.TTFT())
}

func (w *TTFTParts) Merge(o *TTFTParts) {
	w.N, w.More = w.N+o.N, w.More+o.More
	w.SlotWait, w.Connect, w.TTFT = w.SlotWait+o.SlotWait, w.Connect+o.Connect, w.TTFT+o.TTFT
}

// Prompts are those of the requests: a server counts each of a batch as a request of its own.
func (w *TTFTParts) Prompts() int { return w.N + w.More }

// MeanTTFT is Never where there is no request.
func (w *TTFTParts) MeanTTFT() time.Duration {
	if w.N <= 0 {
		return Never
	}
	return mean(w.TTFT, w.N)
}

func mean(sum time.Duration, n int) time.Duration { return max(0, sum/time.Duration(n)) }

// Reported sums up what servers said with their answers of the time until the first chunk.
type Reported struct {
	// TTFTParts of the requests whose answers said something of it, which they can only once they are complete.
	TTFTParts
	// Queued of them said how long they waited in the server, Prefilled how long their prompt took; the sums of that.
	Queued, Prefilled int
	Queue, Prefill    time.Duration
}

// tell adds what the server said of a request that succeeded.
func (t *Reported) tell(r *Request) {
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

func (t *Reported) merge(o *Reported) {
	t.TTFTParts.Merge(&o.TTFTParts)
	t.Queued, t.Prefilled = t.Queued+o.Queued, t.Prefilled+o.Prefilled
	t.Queue, t.Prefill = t.Queue+o.Queue, t.Prefill+o.Prefill
}
