package metrics

import (
	"cmp"
	"time"
)

// Phase is the state of a run from a moment on.
type Phase struct {
	State State
	// DrainBy is the forced end of draining; Never if the run is not draining.
	DrainBy time.Duration
}

// Saving is the place of the result.
type Saving struct {
	// Path is "" if the result is not saved. Problem is the error, "" for none.
	Path, Problem string
}

// SourceName names a source of telemetry.
type SourceName string

const (
	// ServerCounters are those of the server's metrics page.
	ServerCounters SourceName = "server"
	// Accelerators are the GPUs of this machine.
	Accelerators SourceName = "gpus"
)

// Source is the availability of telemetry.
type Source struct {
	Name SourceName
	// Kind of server, "" where it is not known, and for accelerators.
	Kind string
	// Absent is the reason for which there are no figures, or no more; "" if there are.
	Absent string
}

// Telemetry holds the samples of server and accelerators.
type Telemetry struct {
	// Server and GPUs are samples in order of time. ServerKind names the server. ServerAbsent and GPUsAbsent are the
	// reasons for which there are no samples, or no more.
	Server                               []ServerSecond
	GPUs                                 []GPUSecond
	ServerKind, ServerAbsent, GPUsAbsent string
}

// Take files a fact of telemetry. It reports whether the fact is one.
func (t *Telemetry) Take(fact any) bool {
	switch x := fact.(type) {
	case ServerSecond:
		t.file(x)
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

// Recount is a count of output tokens that came after the end of the request.
type Recount struct {
	Index, Tokens int
	Source        TokenSource
}

// End is the end of a run, and the figures of the run as a whole.
type End struct {
	// Ended is the offset at which the run was over; Never if that is not known, because the process was killed.
	Ended time.Duration
	// Reason a run was cut short for, "" if it ran to its end, and the number of planned requests of which there is no
	// record.
	Reason string
	Unsent int
	// Probes are the side requests of the run, nil if it had none.
	Probes *Probes
	// SpecDecode and Diffusion are the changes of the server's counters over the run, nil where it has none.
	SpecDecode *SpecDecode
	Diffusion  *Diffusion
	// Stamps of the chunks, nil where they are not known.
	Stamps *Stamps
}

// With is the end of a run that two machines loaded. Probes, and what the server counted, are of the one that asks for
// them. Of the delays of chunks the longer ones count: those of all chunks are not above them.
func (e End) With(o *End) End {
	e.Ended, e.Reason, e.Unsent = max(e.Ended, o.Ended), cmp.Or(e.Reason, o.Reason), e.Unsent+o.Unsent
	e.Probes, e.SpecDecode, e.Diffusion = cmp.Or(e.Probes, o.Probes), cmp.Or(e.SpecDecode, o.SpecDecode),
		cmp.Or(e.Diffusion, o.Diffusion)
	if a, b := e.Stamps, o.Stamps; a != nil && b != nil {
		e.Stamps = &Stamps{
			Chunks: a.Chunks + b.Chunks, Shared: a.Shared + b.Shared, Unstamped: a.Unstamped + b.Unstamped,
			DelayP50: max(a.DelayP50, b.DelayP50), DelayP99: max(a.DelayP99, b.DelayP99),
			DelayP999: max(a.DelayP999, b.DelayP999), DelayMax: max(a.DelayMax, b.DelayMax),
		}
	} else {
		e.Stamps = nil
	}
	return e
}

// Bounds of times and counts from files. A float64 counts up to LargestCount exactly.
const (
	LongestRun   = 366 * 24 * time.Hour
	LargestCount = 1 << 53
)

// Probes are tiny requests in addition to the load, one after the other.
type Probes struct {
	Completed, Failed int
	// Latencies of those that completed.
	Latencies []time.Duration
}

// SpecDecode is the change of a server's counters of speculative decoding over a run, or since the sample before.
type SpecDecode struct {
	Drafts, DraftTokens, AcceptedTokens int
	// AcceptedPerPosition counts the accepted tokens by position in the draft.
	AcceptedPerPosition []int
}

// Add adds the counts of another one, nil for none.
func (s *SpecDecode) Add(o *SpecDecode) {
	if o == nil {
		return
	}
	s.Drafts += o.Drafts
	s.DraftTokens += o.DraftTokens
	s.AcceptedTokens += o.AcceptedTokens
	more := max(0, len(o.AcceptedPerPosition)-len(s.AcceptedPerPosition))
	s.AcceptedPerPosition = append(s.AcceptedPerPosition, make([]int, more)...)
	for k, n := range o.AcceptedPerPosition {
		s.AcceptedPerPosition[k] += n
	}
}

// Length is the mean number of tokens of a step that drafts, the model's own included; 0 without drafts.
func (s *SpecDecode) Length() float64 {
	if s.Drafts <= 0 {
		return 0
	}
	return 1 + float64(s.AcceptedTokens)/float64(s.Drafts)
}

// PerPosition are the shares of drafts whose token at a position was accepted; nil without drafts.
func (s *SpecDecode) PerPosition() []float64 {
	if s.Drafts <= 0 {
		return nil
	}
	return Each(s.AcceptedPerPosition, func(n int) float64 { return float64(n) / float64(s.Drafts) })
}

// Diffusion is the change of a server's counters of diffusion decoding over a run.
type Diffusion struct {
	CommittedTokens, DenoisingSteps, CanvasPositions int
}

// RateStep is the moment when the whole part of a ramp's rate rose to RPS.
type RateStep struct {
	RPS int
	At  time.Duration
}

// Run is a run without its requests.
type Run struct {
	Plan Plan
	// End.Ended is Never if the end is not known, because the process was killed. The end of the last request stands in
	// for it.
	End
	Events []LogEntry
	// Client holds the samples of the client. Workers are the machines, where they are several.
	Client  []ClientSecond
	Workers []Worker
	Telemetry
	// Checks are those of known answers, nil for none.
	Checks *AnswerChecks
	// Damaged lines of the journal could not be read and were left out.
	Damaged int
}
