package metrics

import "time"

// How the arrival of chunks is timed.
const (
	// KernelStamps: the kernel notes when a packet arrived, whenever we come to read it.
	KernelStamps = "kernel"
	// UserStamps: the time at which our read returned.
	UserStamps = "user"
)

// ClientSecond is what the client saw of itself in about a second of the run. The upper part is sampled from the process,
// the lower one counted by the recorder.
type ClientSecond struct {
	// At is the end of the second, Took its length: more than a second where the client itself stood still.
	At, Took time.Duration
	// CPU is how many cores the process kept busy, of Cores it may use. CPUWait is how many of its threads waited for a
	// core, on average: 0 where the system does not tell.
	CPU, CPUWait, Cores float64
	// Sched is the 99th percentile of how long goroutines that could run waited to run; Stall the longest time a timer
	// was late in this second, which is how long the whole process stood still at a stretch.
	Sched, Stall time.Duration
	// GCs are garbage collections that ended, GCPause the time they stopped everything for. Memory is what the process
	// holds, in bytes.
	GCs     int
	GCPause time.Duration
	Memory  uint64
	// Sockets to the server that are open, Dialled those opened in this second.
	Sockets, Dialled int
	// ClockStep: the wall clock was set in this second; the chunks in question got the time of their read.
	ClockStep bool

	// Sent requests, and how late: see Request.OwnLateness. Redials of the requests that ended.
	Sent, Redials    int
	LateP99, LateMax time.Duration
	// Chunks with output that arrived, Shared those that came in one read with the chunk before, so that they share its
	// stamp, Unstamped those without a stamp of the kernel.
	Chunks, Shared, Unstamped int
	// How long chunks waited between the kernel and us; Never if no chunk had a stamp of the kernel.
	DelayP50, DelayP99, DelayMax time.Duration
}

// Stamps sums up how the chunks of a run were timed.
type Stamps struct {
	// Chunks with output; Shared and Unstamped of them as in ClientSecond.
	Chunks, Shared, Unstamped int
	// How long chunks waited between the kernel and us; Never if no chunk had a stamp of the kernel.
	DelayP50, DelayP99, DelayP999, DelayMax time.Duration
}

// Client is what a run shows of the client that measured it.
type Client struct {
	Verdict Verdict
	// ReadLate: what the client read late may have been read together with the next chunk for that reason.
	ReadLate bool
	// Source is KernelStamps or UserStamps: what the run set out to use. Stamps.Unstamped says where it could not.
	Source string
	Stamps Stamps
	// CPU in cores: average and highest second; Cores that the process may use.
	CPU, CPUMost, Cores float64
	// StoodStill is the sum of the seconds' stalls of at least StallFrom. Of several stalls in a second the longest counts.
	StoodStill time.Duration
	GCs        int
	GCPause    time.Duration
	// Memory and Sockets are the most there were, Dialled all connections that were opened while the run was on.
	Memory           uint64
	Sockets, Dialled int
	ClockSteps       int
	// Seconds of the run, in order of time.
	Seconds []ClientSecond
}

// OwnLateness is how much later the request was sent than it could have been, through nobody's fault but the client's:
// Lateness less the wait for a slot and for the connection. A redial comes after the sending, and the connection before it
// was open already. Never if it was not sent.
func (r *Request) OwnLateness() time.Duration {
	late := r.Lateness()
	if late == Never {
		return Never
	}
	if r.Redials == 0 {
		late -= max(0, r.Connect)
	}
	return max(0, late-max(0, r.SlotWait()))
}
