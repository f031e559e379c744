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

// TTFTSplit says where the time until the first chunk went, on average, counted from when the request was due. Held and
// Connect come before the first byte, so they are no part of TTFT; Queue, Prefill and Rest add up to TTFT, unless the
// server's own clock says more than ours.
type TTFTSplit struct {
	// N requests whose first chunk came. The rest says nothing where it is 0.
	N int
	// Held is the wait for a client slot, Connect for a connection.
	Held, Connect time.Duration
	// TTFT is the mean of all N; where Source is SplitByRequests, of those whose answers told.
	TTFT time.Duration
	// Queue is the wait inside the server, Prefill the time it computed the prompt and the first token; Never where nobody
	// tells.
	Queue, Prefill time.Duration
	// Rest is what is left: the way there and back, tokenizing, and, where nobody tells, all of TTFT. Never negative.
	Rest time.Duration
	// Source of Queue and Prefill. Where it is SplitByMetrics, Seen are the requests that they are of: the server's other clients'
	// may be among them, so Rest is of a mixture where they are not N.
	Source SplitSource
	Seen   int
}

// SplitOver says where TTFT went between two moments of the run, the seconds in which they lie included: for the first
// chunks that came in the seconds from from until before to, and the looks at the server after from and up to to.
//
// The server's word with each answer counts where at least half of the requests have it: its mean over those, and TTFT's over
// the same, since those still on their way may have waited much longer. Else the means
// of its metrics page count, weighted by how many requests each look saw, where the looks saw at least four fifths of the
// requests and of the time. Else queue and prefill are not known.
func (s *Snapshot) SplitOver(from, to time.Duration) TTFTSplit {
	var sum Waits
	first := int(min(max(0, from)/time.Second, maxWindows))
	for i := first; i < len(s.Windows) && s.Windows[i].Start < to; i++ {
		sum.merge(&s.Windows[i].Waits)
	}
	return sum.split(s.Server, from, to, s.until())
}

// until is how far the snapshot reaches.
func (s *Snapshot) until() time.Duration {
	if s.Report != nil {
		return s.Report.Ended
	}
	return s.At
}

// split adds to the client's sums what the server says, of a run that reaches until some moment.
func (w *Waits) split(server []ServerSecond, from, to, until time.Duration) TTFTSplit {
	out := TTFTSplit{N: w.N, Queue: Never, Prefill: Never, Source: SplitUnknown}
	if w.N <= 0 {
		return out
	}
	mean := func(sum time.Duration, n int) time.Duration { return max(0, sum/time.Duration(n)) }
	out.Held, out.Connect, out.TTFT = mean(w.Held, w.N), mean(w.Connect, w.N), mean(w.TTFT, w.N)
	if enough := (w.N + 1) / 2; w.Told >= enough || w.ToldPrefill >= enough {
		out.Source = SplitByRequests
		out.TTFT = mean(w.AnsweredTTFT, max(1, w.Answered))
		if w.Told >= enough {
			out.Queue = mean(w.Queue, w.Told)
		}
		if w.ToldPrefill >= enough {
			out.Prefill = mean(w.Prefill, w.ToldPrefill)
		}
	} else {
		out.ask(server, from, to, until)
	}
	out.Rest = max(0, out.TTFT-max(0, out.Queue)-max(0, out.Prefill))
	return out
}

// ask takes queue and prefill from the looks at the server after from and up to to. The last look may come after the run.
func (t *TTFTSplit) ask(server []ServerSecond, from, to, until time.Duration) {
	if !mostOfTheTime(server, from, min(to, until)) {
		return
	}
	var queue, prefill weighted
	for i := range server {
		if s := &server[i]; s.At > from && s.At <= to {
			queue.latency(s.Queue)
			prefill.latency(s.Prefill)
		}
	}
	if q := queue.sum(); mostOf(q, t.N) {
		t.Queue, t.Source = q.Mean, SplitByMetrics
		t.saw(q)
	}
	if p := prefill.sum(); mostOf(p, t.N) {
		t.Prefill, t.Source = p.Mean, SplitByMetrics
		t.saw(p)
	}
}

// saw notes how many requests a mean of the page is of.
func (t *TTFTSplit) saw(l ServerLatency) {
	t.Seen = max(t.Seen, int(math.Round(min(l.N, math.MaxInt32))))
}

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

// ComparesTTFT reports whether the mean TTFT by the server's clock is of so much of the run that it may stand beside the
// client's.
func (r *Report) ComparesTTFT() bool {
	s := r.Server
	return s != nil && r.TTFT.N > 0 && mostOf(s.TTFT, r.TTFT.N) && mostOfTheTime(s.Seconds, r.Plan.Warmup, r.Ended)
}
