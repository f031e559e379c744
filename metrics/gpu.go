package metrics

import (
	"maps"
	"slices"
	"time"
)

// GPU is one accelerator at one moment. Figures that its tool does not give are Unsaid.
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

// GPUSecond is a sample of all accelerators.
type GPUSecond struct {
	// At is the moment of the sample, Took the time since the one before.
	At, Took time.Duration
	GPUs     []GPU
}

// GPUReport sums up the accelerators in a run.
type GPUReport struct {
	// Absent is the reason for which there are no figures, or for their early end; "" for neither.
	Absent string
	// Names of the accelerators, by index.
	Names []string
	// UseMean over all of them and the run; PowerMean in watts of all together; Energy in joules of all together over the
	// run; MemoryMost in bytes and TemperatureMost in °C of any one. The warm-up is left out. Unsaid where unknown.
	UseMean, PowerMean, Energy, MemoryMost, TemperatureMost float64
	// Sampled is the time with samples, which Energy is of.
	Sampled time.Duration
	// Seen counts the accelerators with samples, Powered those with a known power, which alone are in PowerMean, Energy and
	// JoulesPerToken.
	Seen, Powered int
	// JoulesPerToken is PowerMean over the length of the run by output tokens of successes. CostPerMillion is the cost of a million of
	// them at the plan's GPUPrice, in its currency. Unsaid where unknown.
	JoulesPerToken, CostPerMillion float64
	// Seconds of the run, in order of time, the warm-up included.
	Seconds []GPUSecond
}

// mostGPUs bounds the indices of accelerators, since a journal may hold any.
const mostGPUs = 1024

// GPUWork is the work of accelerators in a part of a run.
type GPUWork struct {
	// OutputTokens came out of them in Length.
	OutputTokens int
	Length       time.Duration
	// Price of one accelerator an hour; 0 if that is not known.
	Price float64
}

// GPUsOver sums up the samples after from and up to to, in order of time, and relates them to the work. Seconds and Absent stay empty.
func GPUsOver(seconds []GPUSecond, from, to time.Duration, work GPUWork) (r GPUReport) {
	var use, energy, looked, memory, temperature weighted
	power := map[int]*weighted{} // by accelerator, since samples may lack one
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
	// Samples may cover a part of the time only.
	r.JoulesPerToken = over(r.PowerMean*work.Length.Seconds(), float64(work.OutputTokens))
	r.CostPerMillion = Unsaid()
	if work.Price > 0 && len(seen) > 0 {
		r.CostPerMillion = over(work.Price*float64(len(seen))*work.Length.Hours()*1e6, float64(work.OutputTokens))
	}
	return r
}

// lookedEnough is the sampled share of a run from which on its energy counts as that of the whole.
const lookedEnough = 0.98

// SamplesMiss reports whether samples cover so little of the run that readers of Energy must know.
func (r *GPUReport) SamplesMiss(length time.Duration) bool {
	return Said(r.Energy) && r.Sampled.Seconds() < lookedEnough*length.Seconds()
}

// known reports whether the index is within bounds.
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
