package metrics

import (
	"maps"
	"slices"
	"time"
)

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
	// Sampled is the time that Energy is of; the rest of the run nobody looked.
	Sampled time.Duration
	// Seen are the accelerators that were watched; only the Powered of them told their power, so only those are in PowerMean,
	// Energy and JoulesPerToken.
	Seen, Powered int
	// JoulesPerToken is PowerMean over the length of the run by output tokens of successes. CostPerMillion is what a million of them costs at the plan's
	// GPUPrice, in its currency. Unsaid where unknown.
	JoulesPerToken, CostPerMillion float64
	// Seconds of the run, in order of time, the warm-up included.
	Seconds []GPUSecond
}

// mostGPUs bounds the names that are kept: a journal may have any.
const mostGPUs = 1024

// GPUWork is what accelerators did in a part of a run.
type GPUWork struct {
	// OutputTokens came out of them in Length.
	OutputTokens int
	Length       time.Duration
	// Price of one accelerator an hour; 0 if that is not known.
	Price float64
}

// GPUsOver sums up the looks at the accelerators after from and up to to, in order of time, and holds them against their work.
// Seconds and Absent stay empty.
func GPUsOver(seconds []GPUSecond, from, to time.Duration, work GPUWork) (r GPUReport) {
	var use, energy, looked, memory, temperature weighted
	power := map[int]*weighted{} // of each by itself: one may be silent now and then
	seen := map[int]bool{}
	for _, s := range seconds {
		if s.At > to {
			continue
		}
		r.name(s.GPUs, seen)
		if s.At <= from {
			continue
		}
		took := min(s.Took, s.At-from).Seconds()
		var all weighted
		for i := range s.GPUs {
			g := &s.GPUs[i]
			if !g.known() {
				continue
			}
			use.add(g.Use, took)
			all.add(g.Power, 1)
			if power[g.Index] == nil {
				power[g.Index] = &weighted{}
			}
			power[g.Index].add(g.Power, took)
			memory.add(g.MemoryUsed, 1)
			temperature.add(g.Temperature, 1)
		}
		if watts := all.sumOf(); Said(watts) && took > 0 {
			energy.add(watts*took, 1)
			looked.add(took, 1)
		}
	}
	var together weighted
	for _, index := range slices.Sorted(maps.Keys(power)) {
		if mean := power[index].mean(); Said(mean) {
			together.add(mean, 1)
			r.Powered++
		}
	}
	r.UseMean, r.PowerMean, r.Energy, r.Seen = use.mean(), together.sumOf(), energy.sumOf(), len(seen)
	r.Sampled = time.Duration(min(looked.total*float64(time.Second), float64(longest)))
	r.MemoryMost, r.TemperatureMost = memory.highest(), temperature.highest()
	// A tool may have told of a part of the time only.
	r.JoulesPerToken = over(r.PowerMean*work.Length.Seconds(), float64(work.OutputTokens))
	r.CostPerMillion = Unsaid()
	if work.Price > 0 && len(seen) > 0 {
		r.CostPerMillion = over(work.Price*float64(len(seen))*work.Length.Hours()*1e6, float64(work.OutputTokens))
	}
	return r
}

// lookedEnough is the share of a run from which on its energy is taken for the whole of it.
const lookedEnough = 0.98

// SamplesMiss reports whether Energy is of so much less than the length of the run that it must be said.
func (r *GPUReport) SamplesMiss(length time.Duration) bool {
	return Said(r.Energy) && r.Sampled.Seconds() < lookedEnough*length.Seconds()
}

// known reports whether the number of the accelerator can be one.
func (g *GPU) known() bool { return g.Index >= 0 && g.Index < mostGPUs }

// name notes the names of accelerators, each at its place, and which were seen.
func (r *GPUReport) name(gpus []GPU, seen map[int]bool) {
	for _, g := range gpus {
		if g.known() {
			r.Names = append(r.Names, make([]string, max(0, g.Index+1-len(r.Names)))...)
			r.Names[g.Index], seen[g.Index] = g.Name, true
		}
	}
}
