package metrics

import "time"

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
