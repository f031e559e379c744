package judge

import "time"

// The constants of the judge, in one place. docs/accuracy.md has the table of claims on queues with a known border that
// they were chosen by; what each was measured to do stands beside it.
const (
	// binLeast and binsMost: bins of a quarter of a second see the queue of every server that was tried; more of them
	// add cost and nothing else.
	binLeast = 250 * time.Millisecond
	binsMost = 1024
	// ratioMost: a failure counts as this many times the limit. A higher number lets single failures hide the
	// correlation of the rest.
	ratioMost = 3
	// warmMost is the greatest part of a level that can be its warm-up.
	warmMost = 1.0 / 3
	// lastingLeast, in units of two autocorrelation times: a shorter level has no verdict, because that time itself is
	// then underestimated.
	lastingLeast = 10
	// ShortestProof is the length of a level from which on a confidence may reach EnoughConfidence: a stall once a
	// minute is not seen in less. shortMost is the highest confidence below it. The last request of a level that is as
	// long comes a little before its end: shortestSlack.
	ShortestProof = time.Minute
	shortestSlack = time.Second
	shortMost     = 0.94
	// FirstLook is the time after which a load that was set during the run is judged first, then after twice the time
	// of each look before. It is proven by a look that makes lookConfidence; whoever sees it then may end it, so that
	// several looks are one claim: looksConfidence. Looking every second proves 28 % of the holds at the border within
	// 300 s, six looks 2 %.
	FirstLook       = 15 * time.Second
	lookConfidence  = 0.99
	looksConfidence = 0.97
	// pendingMost is the part of requests without an end up to which they do not matter.
	pendingMost = 0.002
)

const (
	// sentShort is the part of a load from which on a level counts at what was sent.
	sentShort = 0.02
	// lagMost is the part of the work asked for in a level that may be left undone by a server that keeps up, and
	// lagFewest requests of it say nothing; from lagBehind on, and lagErrors standard errors, the server is behind.
	lagMost, lagFewest = 0.03, 5
	lagBehind          = 0.05
	lagErrors          = 2
	// requestTimes is the length of a level, in times of a request, from which on what was asked for is held against
	// what was done.
	requestTimes = 10
	// shortFew times the 5 % quantile of the times of the first requests is the longest time of one without a queue.
	shortFew = 3
	// wholeTimes is that from which on the times to the last chunk show a queue.
	wholeTimes = 5
	// perRequest is how many effective requests at most come in the time of one: the effect of a load takes that time
	// to show.
	perRequest = 10
	// overloadShare is the part of the work left undone, and overloadErrors its standard errors, from which on a server
	// does not keep up with the loads up to one; where requests at its end take overloadLonger times as long as at low
	// loads, or fail, fewer errors do.
	overloadShare   = 0.04
	overloadErrors  = 2.3
	overloadFewer   = 1.2
	overloadLonger  = 2.5
	overloadFailing = 0.1
	// waitLonger and waitLongerBy seconds: the first chunks at the end of an overload take that much longer than at low
	// loads, which is a queue. So many times as long shows it, however little work was left undone so far.
	waitLonger, waitLongerBy = 4, 0.05
	waitMuchLonger           = 10
	// driftRise is the part by which the time of serving a request rises in each half of a level under a drift, and
	// driftFall that by which the work done falls behind a queue.
	driftRise, driftFall = 0.1, 0.15
	driftShortest        = 30 * time.Second
)
