package metrics

import "time"

// Phase is what a run does from a moment on.
type Phase struct {
	State State
	// DrainBy is when draining ends by force; Never if it is not draining.
	DrainBy time.Duration
}

// Saving is where the result of a run goes.
type Saving struct {
	// Path is "" if the result is not saved; Problem says what went wrong, "" for nothing.
	Path, Problem string
}

// SourceName names what figures beside the requests come from.
type SourceName string

const (
	// ServerCounters are those of the server's metrics page.
	ServerCounters SourceName = "server"
	// Accelerators are the GPUs of this machine.
	Accelerators SourceName = "gpus"
)

// Source says whether figures beside the requests can be had.
type Source struct {
	Name SourceName
	// Kind of server, "" where it is not known, and for accelerators.
	Kind string
	// Absent says why there is nothing, or nothing more; "" if there is something.
	Absent string
}

// Telemetry is what was read of the machines beside the requests.
type Telemetry struct {
	// Server and GPUs hold what server and accelerators said, in order of time. ServerKind names the server, ServerAbsent and
	// GPUsAbsent say why there is nothing, or nothing more.
	Server                               []ServerSecond
	GPUs                                 []GPUSecond
	ServerKind, ServerAbsent, GPUsAbsent string
}

// Take files a fact, and reports whether it is one of telemetry.
func (t *Telemetry) Take(fact any) bool {
	switch x := fact.(type) {
	case ServerSecond:
		t.Server = append(t.Server, x)
	case GPUSecond:
		t.GPUs = append(t.GPUs, x)
	case Source:
		if x.Name == Accelerators {
			t.GPUsAbsent = x.Absent
		} else {
			t.ServerKind, t.ServerAbsent = x.Kind, x.Absent
		}
	default:
		return false
	}
	return true
}

// Recount is what the output tokens of a request were found to be after it was done.
type Recount struct {
	Index, Tokens int
	Source        TokenSource
}

// End says how a run ended, and what was measured of it as a whole.
type End struct {
	// Ended is the offset at which the run was over; Never if that is not known, because the process was killed.
	Ended time.Duration
	// Reason a run was cut short for, "" if it ran to its end, and the number of planned requests of which there is no
	// record.
	Reason string
	Unsent int
	// Probes are the side requests of the run, nil if it had none.
	Probes *Probes
	// SpecDecode and Diffusion are what the server's counters moved by during the run, nil where it has none.
	SpecDecode *SpecDecode
	Diffusion  *Diffusion
	// Stamps is how the chunks were timed, nil where that is not known.
	Stamps *Stamps
}

// Bounds of figures that come from a file: times, and counts, which are what a float can still tell apart.
const (
	LongestRun   = 366 * 24 * time.Hour
	LargestCount = 1 << 53
)

// Probes are tiny requests sent beside the load, one after the other.
type Probes struct {
	Completed, Failed int
	// Latencies of those that completed.
	Latencies []time.Duration
}

// SpecDecode is what a server's counters of speculative decoding moved by during a run.
type SpecDecode struct {
	Drafts, DraftTokens, AcceptedTokens int
	// AcceptedPerPosition holds, by position in the draft, how many tokens were accepted.
	AcceptedPerPosition []int
}

// Diffusion is what a server's counters of diffusion decoding moved by during a run.
type Diffusion struct {
	CommittedTokens, DenoisingSteps, CanvasPositions int
}

// RateStep is the moment when the whole part of a ramp's rate rose to RPS.
type RateStep struct {
	RPS int
	At  time.Duration
}

// ObjectiveShare is an objective and the share of successes that met it, from 0 to 1.
type ObjectiveShare struct {
	Objective Objective
	Share     float64
}

// Run is everything about a run but its requests.
type Run struct {
	Plan Plan
	// End is how it ended; Ended is Never if that is not known, because the process was killed: then the end of the last request
	// stands for it.
	End
	Events []LogEntry
	// Client holds the samples the client took of itself.
	Client []ClientSecond
	Telemetry
	// Damaged lines of the journal could not be read and were left out.
	Damaged int
}
