package metrics

import "time"

// GPU is one accelerator at one moment. What its tool does not give is Unsaid.
type GPU struct {
	// Index and Name as the tool gives them: foreign text.
	Index int
	Name  string
	// Use is the share of time in which it computed, from 0 to 1.
	Use float64
	// MemoryUsed and MemoryTotal in bytes.
	MemoryUsed, MemoryTotal float64
	// Power and PowerLimit in watts, Temperature in degrees Celsius, Clock of the processor in MHz.
	Power, PowerLimit, Temperature, Clock float64
}

// GPUSecond is a look at all accelerators.
type GPUSecond struct {
	// At is the moment of the look, Took the time since the one before.
	At, Took time.Duration
	GPUs     []GPU
}

// GPUReport is what a run used of the accelerators.
type GPUReport struct {
	// Absent says why there are no figures, or why they end early; "" for neither.
	Absent string
	// Names of the accelerators, by index.
	Names []string
	// UseMean over all of them and the run; PowerMean in watts of all together; Energy in joules of all together over the
	// run; MemoryMost in bytes and TemperatureMost in °C of any one. The warm-up is left out. Unsaid where unknown.
	UseMean, PowerMean, Energy, MemoryMost, TemperatureMost float64
	// LookedAt is the time that Energy is of; the rest of the run nobody looked.
	LookedAt time.Duration
	// Seen are the accelerators that were watched; only the Powered of them told their power, so only those are in PowerMean,
	// Energy and JoulesPerToken.
	Seen, Powered int
	// JoulesPerToken is PowerMean over the length of the run by output tokens of successes. CostPerMillion is what a million of them costs at the plan's
	// GPUPrice, in its currency. Unsaid where unknown.
	JoulesPerToken, CostPerMillion float64
	// Seconds of the run, in order of time, the warm-up included.
	Seconds []GPUSecond
}
