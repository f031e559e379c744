package metrics

import (
	"fmt"
	"math"
	"time"
)

// TTFTPart is a part of the time from the moment at which a request is due to its first chunk.
type TTFTPart uint8

const (
	// NoPart: not known.
	NoPart TTFTPart = iota
	// SlotPart is the wait for a slot of this client, ConnectPart that for a connection. Both come before TTFT.
	SlotPart
	ConnectPart
	// QueuePart is the wait inside the server, PrefillPart its time for the prompt, RestPart the network and the
	// server's frontend.
	QueuePart
	PrefillPart
	RestPart
)

// String names the part for a person; "" for NoPart.
func (p TTFTPart) String() string {
	return [...]string{"", "queued here", "connect", "queue", "prefill", "network and frontend"}[p]
}

// Key is its name in the result, as in held_ms; "" for NoPart.
func (p TTFTPart) Key() string {
	return [...]string{"", "held", "connect", "queue", "prefill", "rest"}[p]
}

// Bottleneck is the largest part of the time to the first chunk. The zero value is one that is not known.
type Bottleneck struct {
	Part TTFTPart
	// Share of the time, from 0 to 1: of TTFT, or, where requests waited longer before they were sent, of the time
	// since they were due.
	Share float64
	// Of names that time for a person: "TTFT", "E2EL" where an answer comes in one piece, or "scheduled to first
	// chunk".
	Of string
}

// Known reports whether there is a bottleneck.
func (b Bottleneck) Known() bool { return b.Part != NoPart }

// String is as "queue, 79 % of TTFT"; "" where it is not known.
func (b Bottleneck) String() string {
	if !b.Known() {
		return ""
	}
	return fmt.Sprintf("%s, %.0f %% of %s", b.Part, math.Floor(100*b.Share+1e-9), b.Of)
}

// Bottleneck is the largest part of the split. The wait for a slot counts where the plan has a rate: in a closed loop
// it is a part of the load. Nothing is known where the largest part may hide the queue or the prefill, because the
// server reports one of them at most. Where the server's means are of other requests as well, only what they leave over
// can be named: see certain.
func (t *TTFTSplit) Bottleneck(p *Plan) Bottleneck {
	if t.N <= 0 || t.TTFT < 0 {
		return Bottleneck{}
	}
	slot := time.Duration(0)
	if p.Paced() {
		slot = max(0, t.SlotWait)
	}
	if t.OthersToo() {
		own := t.certain()
		return own.Bottleneck(p)
	}
	// By the server's clock it may exceed TTFT.
	inside := float64(max(0, t.Queue)) + float64(max(0, t.Prefill)) + float64(t.Rest)
	if before := max(slot, t.Connect); before > t.TTFT {
		part := SlotPart
		if t.Connect > slot {
			part = ConnectPart
		}
		whole := float64(slot) + float64(t.Connect) + max(inside, float64(t.TTFT))
		return Bottleneck{part, float64(before) / whole, "scheduled to first chunk"}
	}
	part, most := RestPart, t.Rest
	if t.Prefill > most {
		part, most = PrefillPart, t.Prefill
	}
	if t.Queue > most {
		part, most = QueuePart, t.Queue
	}
	if part == RestPart && (t.Queue < 0 || t.Prefill < 0) || inside <= 0 {
		return Bottleneck{}
	}
	return Bottleneck{part, float64(most) / inside, p.FirstWait().Naming().Title}
}

// certain is the split with the queue and the prefill at their most, and the rest at its least. They are not known for
// a bottleneck unless the rest is larger than both.
func (t *TTFTSplit) certain() TTFTSplit {
	own := *t
	own.Source, own.Queue, own.Prefill = SplitUnknown, Never, Never
	rest := t.TTFT - t.QueueMost - t.PrefillMost
	if own.Rest = t.TTFT; t.Queue >= 0 && t.Prefill >= 0 && rest >= max(t.QueueMost, t.PrefillMost) {
		own.Queue, own.Prefill, own.Rest = t.QueueMost, t.PrefillMost, rest
	}
	return own
}

// Complete fills in the bottleneck and the peak of the output of a snapshot whose levels these are. whole is the split
// of the whole run. From saturation on the bottleneck is that of the levels past it.
func (a *Answer) Complete(s *Snapshot, levels []LoadLevel, whole TTFTSplit) {
	if a.Saturates {
		if from, to := a.past(levels, s.until()); from > levels[0].From || to < s.until() {
			whole = s.SplitOver(from, to)
		}
	}
	a.Bottleneck = whole.Bottleneck(s.Plan)
	a.PeakOutput = max(s.Before.Peak, PeakOutput(s.Windows, s.Plan.Warmup, s.until()))
}

// past is the stretch from saturation to the next lower load, or to the end of the run.
func (a *Answer) past(levels []LoadLevel, end time.Duration) (from, to time.Duration) {
	first := a.After
	if first < 0 { // no load that was tried is surely past it
		first = a.Shown
	}
	last, border := first, levels[first].Offered
	for first > 0 && levels[first-1].Offered >= border {
		first--
	}
	for last+1 < len(levels) && levels[last+1].Offered >= border {
		last++
	}
	if from, to = levels[first].From, end; last+1 < len(levels) {
		to = levels[last+1].From
	}
	return from, to
}

// peakSeconds is the number of seconds whose mean counts as a peak: long enough for the server to sustain it.
const peakSeconds = 5

// PeakOutput is the highest mean of the output tokens per second over five seconds between two moments of the run, over
// all of them in a shorter run. Seconds count as a whole.
func PeakOutput(windows []*Window, from, to time.Duration) (perSecond float64) {
	joined := Joined(windows) // which are left out
	gone := joined * (perMinute - 1)
	first := max(joined, int(max(0, from+time.Second-1)/time.Second)-gone)
	last := min(len(windows), int(to/time.Second)-gone)
	n := min(peakSeconds, last-first)
	sum := 0
	for i := first; i < last; i++ {
		sum += windows[i].TokensOut
		if i-first >= n {
			sum -= windows[i-n].TokensOut
		}
		if i-first >= n-1 {
			perSecond = max(perSecond, float64(sum)/float64(n))
		}
	}
	return perSecond
}

// PeakSecond is the most output tokens in one second of the run between two moments, by the seconds of the time line:
// those that a chunk holds, not the chunks. The second in which the run ends counts as far as it goes.
func PeakSecond(windows []*Window, from, to time.Duration) (tokens int) {
	first := int(max(0, from+time.Second-1) / time.Second)
	for i := first; i < len(windows) && time.Duration(i)*time.Second < to; i++ {
		tokens = max(tokens, windows[i].TokensOut)
	}
	return tokens
}
