package metrics

import (
	"cmp"
	"math"
	"sort"
	"time"
)

// enoughSeen is the share of the requests, and of the time, that samples of the server must cover for their means to
// represent a part of the run, because the rest may have waited much longer.
const enoughSeen = 0.8

// SplitSource is the source of the waits inside the server.
type SplitSource string

const (
	// SplitByRequests: the server reports them with each answer.
	SplitByRequests SplitSource = "requests"
	// SplitByMetrics: the counters of its metrics page, for all clients.
	SplitByMetrics SplitSource = "metrics"
	// SplitUnknown: no source.
	SplitUnknown SplitSource = "unknown"
)

// TTFTSplit divides the average time from the due time to the first chunk. SlotWait and Connect come before the first
// byte and are no part of TTFT; Queue, Prefill and Rest add up to TTFT, unless the clock of the server gives more than
// that of the client.
type TTFTSplit struct {
	// N is the number of requests of the means, except for Queue and Prefill where Source is SplitByMetrics. Without
	// requests there are no means.
	N int
	// SlotWait is the wait for a client slot, Connect for a connection.
	SlotWait, Connect time.Duration
	TTFT              time.Duration
	// Queue is the wait inside the server, Prefill its time for the prompt and the first token; Never without a source.
	Queue, Prefill time.Duration
	// Rest is the remainder: the network, tokenizing, and, without a source, all of TTFT. Never negative.
	Rest time.Duration
	// Source of Queue and Prefill. Where it is SplitByMetrics, Seen is the number of their requests. Requests of other
	// clients may be among them, so Rest is of a mixture where OfOthers.
	Source SplitSource
	Seen   int
	// QueueMost and PrefillMost are the most that the parts can be on average of the run's own requests, where
	// OthersToo; else 0.
	QueueMost, PrefillMost time.Duration
	// More counts the prompts beyond one for each request. A server counts N + More.
	More int
}

// SplitOver divides TTFT between two moments of the run, in whole seconds: for the first chunks from from until before
// to, and the samples of the server after from and up to to.
//
// The figures of the answers count where at least half of the requests have them. All means are of those, since the
// others, which are in flight, may have waited much longer. Else the means of the metrics page count, weighted by the
// requests of each sample, and the client's own means are of the same requests: of those that ended, where the server
// counts a wait at the end of a request. The samples must cover at least four fifths of these requests, and of the
// time. Else queue and prefill are not known.
func (s *Snapshot) SplitOver(from, to time.Duration) TTFTSplit {
	var all TTFTParts
	var told ServerTimes
	start := min(max(0, from), MaxWindows*time.Second).Truncate(time.Second)
	for past := s.Before.Seconds; start < min(to, time.Duration(len(past))*time.Second); start += time.Second {
		second := &past[start/time.Second]
		all.Merge(&second.TTFTParts)
		told.merge(cmp.Or(second.Reported, &ServerTimes{}))
	}
	within := s.Windows[sort.Search(len(s.Windows), func(i int) bool { return s.Windows[i].Start >= start }):]
	within = within[:sort.Search(len(within), func(i int) bool { return within[i].Start >= to })]
	for _, ws := range s.Minutes.In(within) {
		for i := range ws {
			all.Merge(&ws[i].TTFTParts)
			told.merge(&ws[i].Reported)
		}
	}
	return SplitOf(&all, &told, s.Server, from, to, s.until())
}

// until is the end of the snapshot.
func (s *Snapshot) until() time.Duration {
	if s.Report != nil {
		return s.Report.Ended
	}
	return s.At
}

// SplitOf joins the figures of all requests, those of answers, and those of the server's page, of a run that reaches
// until a moment.
func SplitOf(all *TTFTParts, told *ServerTimes, server []ServerSecond, from, to, until time.Duration) TTFTSplit {
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
	} else if !out.fromMetrics(server, from, to, until) {
		out.of(all)
	}
	out.Rest = max(0, out.TTFT-max(0, out.Queue)-max(0, out.Prefill))
	return out
}

// of sets the client's own means.
func (t *TTFTSplit) of(w *TTFTParts) {
	if t.N, t.More = max(0, w.N), max(0, w.More); t.N > 0 {
		t.SlotWait, t.Connect, t.TTFT = mean(w.SlotWait, w.N), mean(w.Connect, w.N), mean(w.TTFT, w.N)
	}
}

// fromMetrics takes queue and prefill from the samples of the server after from and up to to, and the other means from
// the requests of these samples. It reports whether they cover enough. The last sample may come after the run.
func (t *TTFTSplit) fromMetrics(server []ServerSecond, from, to, until time.Duration) bool {
	if !mostOfTheTime(server, from, min(to, until)) {
		return false
	}
	var ours TTFTParts
	var queue, prefill weightedMean
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
	parts := []struct {
		mean     ServerLatency
		to, most *time.Duration
	}{{queue.sum(), &t.Queue, &t.QueueMost}, {prefill.sum(), &t.Prefill, &t.PrefillMost}}
	for _, x := range parts {
		if mostOf(x.mean, ours.Prompts()) {
			*x.to, t.Source = x.mean.Mean, SplitByMetrics
			t.Seen = max(t.Seen, int(math.Round(min(x.mean.N, math.MaxInt32))))
		}
	}
	if t.Source != SplitByMetrics {
		return false
	}
	t.of(&ours)
	for _, x := range parts {
		if t.OthersToo() && *x.to >= 0 {
			*x.most = t.mostOfOwn(x.mean)
		}
	}
	return true
}

// notableOthers is the share of further requests from which on a mean of the page is one of other requests, too: fewer
// are a probe, or counted in another sample.
const notableOthers = 0.05

// OthersToo reports whether the page counted more requests than this run's: others use the server, and its means are of
// them as well.
func (t *TTFTSplit) OthersToo() bool {
	return t.Source == SplitByMetrics && float64(t.Seen) > (1+notableOthers)*float64(t.N+t.More)
}

// mostOfOwn is the most that a part can be of the run's own requests: all that the page added up, where none of it was
// of others, and no more than their TTFT.
func (t *TTFTSplit) mostOfOwn(page ServerLatency) time.Duration {
	own := float64(t.N + t.More)
	if page.N < own { // some of the own are missing
		return t.TTFT
	}
	return time.Duration(min(float64(page.Mean)*(page.N/own), float64(t.TTFT)))
}

// OfOthers reports whether the means of the page are of other requests than those of N.
func (t *TTFTSplit) OfOthers() bool { return t.Seen != t.N+t.More }

// mostOf reports whether a mean is of about so many requests or more, since a server also counts those of other
// clients.
func mostOf(l ServerLatency, requests int) bool {
	return l.N > 0 && l.N >= enoughSeen*float64(requests)
}

// mostOfTheTime reports whether samples cover most of the time between from and to.
func mostOfTheTime(server []ServerSecond, from, to time.Duration) bool {
	seen, from := 0.0, max(0, from)
	for i := range server {
		at := max(0, server[i].At)
		begun := max(from, at-bounded(server[i].Took))
		seen += max(0, (min(at, to) - begun).Seconds())
	}
	return seen >= enoughSeen*(to-from).Seconds()
}

// ComparesTTFT reports whether the mean TTFT by the server's clock covers enough of the run and of its requests to be
// compared with the client's in the same samples, Server.First.
func (r *Report) ComparesTTFT() bool {
	s := r.Server
	return s != nil && s.First.N > 0 && mostOf(s.TTFT, s.First.Prompts()) &&
		mostOfTheTime(s.Seconds, r.Plan.Warmup, r.Ended)
}

// TTFTParts sums up the parts of the time to the first chunk of some requests.
type TTFTParts struct {
	// N requests; the sums of their SlotWait, Connect and TTFT.
	N                       int
	SlotWait, Connect, TTFT time.Duration
	// More counts the prompts beyond one for each request.
	More int
}

// longestWait bounds the share of one request, so that the times of a damaged journal do not overflow the sums.
const longestWait = 7 * 24 * time.Hour

func bounded(d time.Duration) time.Duration { return min(max(0, d), longestWait) }

// Count adds a request with its first chunk, or removes it where by is -1.
func (w *TTFTParts) Count(r *Request, by int) {
	d := time.Duration(by)
	w.N += by
	w.More += by * min(max(0, r.Inputs-1), heaviest)
	w.SlotWait += d * bounded(r.SlotWait())
	w.Connect += d * bounded(r.Connect)
	w.TTFT += d * bounded(Since(r.lastSent(), r.FirstChunk)) // the server knows no other try
}

func (w *TTFTParts) Merge(o *TTFTParts) {
	w.N, w.More = w.N+o.N, w.More+o.More
	w.SlotWait, w.Connect, w.TTFT = w.SlotWait+o.SlotWait, w.Connect+o.Connect, w.TTFT+o.TTFT
}

// Prompts is the number of prompts. A server counts each prompt of a batch as a request.
func (w *TTFTParts) Prompts() int { return w.N + w.More }

// MeanTTFT is Never without a request.
func (w *TTFTParts) MeanTTFT() time.Duration {
	if w.N <= 0 {
		return Never
	}
	return mean(w.TTFT, w.N)
}

func mean(sum time.Duration, n int) time.Duration { return max(0, sum/time.Duration(n)) }

// ServerTimes sums up the figures in answers about the time to the first chunk.
type ServerTimes struct {
	// TTFTParts of the requests with such figures, which come with complete answers only.
	TTFTParts
	// Queued of them report their wait in the server, Prefilled the time of their prompt; Queue and Prefill are the
	// sums.
	Queued, Prefilled int
	Queue, Prefill    time.Duration
}

// add adds the figures in the answer of a success.
func (t *ServerTimes) add(r *Request) {
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

func (t *ServerTimes) merge(o *ServerTimes) {
	t.TTFTParts.Merge(&o.TTFTParts)
	t.Queued, t.Prefilled = t.Queued+o.Queued, t.Prefilled+o.Prefilled
	t.Queue, t.Prefill = t.Queue+o.Queue, t.Prefill+o.Prefill
}
