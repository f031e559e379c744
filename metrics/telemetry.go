package metrics

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Unsaid stands for a figure that a server or a GPU does not give. It is NaN, so that arithmetic on it gives no number.
func Unsaid() float64 { return math.NaN() }

// Said reports whether a figure is given.
func Said(v float64) bool { return !math.IsNaN(v) }

// ServerSecond is a sample of the server's metrics page, summed over its engines: its gauges, and the changes of its
// counters since the sample before. Figures that the server does not give are Unsaid.
type ServerSecond struct {
	// At is the moment of the sample, Took the time since the one before.
	At, Took time.Duration
	// Running and Waiting requests, and the share of the key-value cache in use, from 0 to 1.
	Running, Waiting, KVUsage float64
	// Preemptions since the sample before.
	Preemptions float64
	// PrefixQueries are the prompt tokens looked up in the prefix cache, PrefixHits those found there. HitRate is their
	// quotient, from 0 to 1, or the rate that the server itself gives.
	PrefixQueries, PrefixHits, HitRate float64
	// PromptTokens computed and OutputTokens generated, for all clients.
	PromptTokens, OutputTokens float64
	// DraftTokens of speculative decoding, and AcceptedTokens of them.
	DraftTokens, AcceptedTokens float64
	// SpecDecode has them by position, nil where the server does not, or drafted nothing since the sample before.
	SpecDecode *SpecDecode
	// TTFT, Queue and Prefill are the server's own clocks: TTFT of the requests whose first token came since the sample
	// before, Queue and Prefill of those that ended since then where WaitsAtEnd, else of the same as TTFT.
	TTFT, Queue, Prefill ServerLatency
	// WaitsAtEnd, PromptAtEnd and OutputAtEnd: this server counts waits and tokens when a request ends, so that their
	// changes follow the ends of requests rather than the work.
	WaitsAtEnd, PromptAtEnd, OutputAtEnd bool
	// Engines are the samples of each engine where there are several, at most MostEngines; nil for one.
	Engines []Engine
	// First and Ended are the client's own account of the time since the sample before: of the requests whose first
	// chunk came in it, whatever their outcome, and of those that succeeded in it. They follow from the requests; no
	// journal keeps them.
	First, Ended TTFTParts
}

// waited is the client's own account of the requests of Queue and Prefill.
func (s *ServerSecond) waited() *TTFTParts {
	if s.WaitsAtEnd {
		return &s.Ended
	}
	return &s.First
}

// gauges are Running, Waiting, KVUsage and HitRate.
func (s *ServerSecond) gauges() [4]*float64 {
	return [...]*float64{&s.Running, &s.Waiting, &s.KVUsage, &s.HitRate}
}

// changes are the figures that add up: of Preemptions, PromptTokens, OutputTokens, PrefixQueries, PrefixHits,
// DraftTokens and AcceptedTokens.
func (s *ServerSecond) changes() [7]*float64 {
	return [...]*float64{
		&s.Preemptions, &s.PromptTokens, &s.OutputTokens, &s.PrefixQueries, &s.PrefixHits,
		&s.DraftTokens, &s.AcceptedTokens,
	}
}

// latencies are TTFT, Queue and Prefill.
func (s *ServerSecond) latencies() [3]*ServerLatency {
	return [...]*ServerLatency{&s.TTFT, &s.Queue, &s.Prefill}
}

// Counted reports whether the sample has changes since the one before. The first one has none, nor has one after a
// counter reset.
func (s *ServerSecond) Counted() bool {
	if s.Took <= 0 {
		return false
	}
	for _, moved := range [...]float64{s.Preemptions, s.PrefixQueries, s.PromptTokens, s.OutputTokens, s.DraftTokens} {
		if Said(moved) {
			return true
		}
	}
	return s.TTFT.N > 0 || s.Queue.N > 0 || s.Prefill.N > 0
}

// ServerLatency is the mean of some latencies by the server's own clock.
type ServerLatency struct {
	// N of them, 0 for none: then there is no mean.
	N    float64
	Mean time.Duration
}

// ServerReport sums up the samples of the server in a run.
type ServerReport struct {
	// Kind of the server, such as "vLLM"; "" if it was not recognized. Absent is the reason for which there are no
	// figures, or for their early end; "" for neither.
	Kind, Absent string
	// Means and maxima over the run without its warm-up; Unsaid where the server does not give them, or no sample is of
	// the run.
	RunningMean, RunningMost, WaitingMean, WaitingMost, KVMean, KVMost float64
	// Sums over the run. HitRate and Acceptance are shares from 0 to 1.
	Preemptions, PromptTokens, OutputTokens, HitRate, Acceptance float64
	TTFT, Queue, Prefill                                         ServerLatency
	// SpecDecode of the samples that have it.
	SpecDecode SpecDecode
	// First is the client's own account of the requests of TTFT.
	First TTFTParts
	// Seconds of the run, in order of time, the warm-up included.
	Seconds []ServerSecond
}

// Behind joins a sample with the one before it: gauges and engines are those of the later one, changes add up.
func (s ServerSecond) Behind(before *ServerSecond) ServerSecond {
	s.Took += before.Took
	earlier := before.changes()
	for k, sum := range s.changes() {
		switch was := *earlier[k]; {
		case !Said(*sum):
			*sum = was
		case Said(was):
			*sum += was
		}
	}
	if s.PrefixQueries > 0 {
		s.HitRate = s.PrefixHits / s.PrefixQueries
	}
	first := before.latencies()
	for k, l := range s.latencies() {
		*l = first[k].join(*l)
	}
	if before.SpecDecode != nil {
		both := new(SpecDecode)
		both.Add(before.SpecDecode)
		both.Add(s.SpecDecode)
		s.SpecDecode = both
	}
	s.First.Merge(&before.First)
	s.Ended.Merge(&before.Ended)
	return s
}

func (l ServerLatency) join(o ServerLatency) ServerLatency {
	switch {
	case !(l.N > 0):
		return o
	case !(o.N > 0):
		return l
	}
	n := l.N + o.N
	return ServerLatency{N: n, Mean: time.Duration(float64(l.Mean)*(l.N/n) + float64(o.Mean)*(o.N/n))}
}

// TooShort reports whether the server gives its gauges, but no sample of them is of the run.
func (r *ServerReport) TooShort() bool {
	silent := !Said(r.RunningMean) && !Said(r.WaitingMean) && !Said(r.KVMean)
	return silent && slices.ContainsFunc(r.Seconds, func(s ServerSecond) bool {
		return Said(s.Running) || Said(s.Waiting) || Said(s.KVUsage)
	})
}

// ServerOver sums up the samples of the server after from and up to to, without its kind and its seconds. A gauge is
// weighted by the time of its sample, a latency by its number of requests.
func ServerOver(seconds []ServerSecond, from, to time.Duration) (r ServerReport) {
	var gauges [4]weightedMean
	var changes [7]weightedMean
	var latencies [3]weightedMean
	for i := range seconds {
		s := &seconds[i]
		if s.At <= from || s.At > to {
			continue
		}
		for k, v := range s.gauges() {
			gauges[k].add(*v, min(s.Took, s.At-from).Seconds())
		}
		for k, v := range s.changes() {
			changes[k].add(*v, 1)
		}
		r.SpecDecode.Add(s.SpecDecode)
		for k, l := range s.latencies() {
			latencies[k].latency(*l)
		}
		if s.Counted() {
			r.First.Merge(&s.First)
		}
	}
	r.RunningMean, r.RunningMost = gauges[0].mean(), gauges[0].highest()
	r.WaitingMean, r.WaitingMost = gauges[1].mean(), gauges[1].highest()
	r.KVMean, r.KVMost = gauges[2].mean(), gauges[2].highest()
	r.Preemptions, r.PromptTokens, r.OutputTokens = changes[0].sumOf(), changes[1].sumOf(), changes[2].sumOf()
	if r.HitRate = over(changes[4].sumOf(), changes[3].sumOf()); !Said(r.HitRate) {
		r.HitRate = gauges[3].mean() // a server may give the rate alone
	}
	r.Acceptance = over(changes[6].sumOf(), changes[5].sumOf())
	r.TTFT, r.Queue, r.Prefill = latencies[0].sum(), latencies[1].sum(), latencies[2].sum()
	return r
}

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
	// UseMean over all of them and the run; PowerMean in watts of all together; Energy in joules of all together over
	// the run; MemoryMost in bytes and TemperatureMost in °C of any one. The warm-up is left out. Unsaid where unknown.
	UseMean, PowerMean, Energy, MemoryMost, TemperatureMost float64
	// Sampled is the time with samples, which Energy is of.
	Sampled time.Duration
	// Seen counts the accelerators with samples, Powered those with a known power, which alone are in PowerMean, Energy
	// and JoulesPerToken.
	Seen, Powered int
	// JoulesPerToken is PowerMean over the length of the run by output tokens of successes. Unsaid where unknown.
	JoulesPerToken float64
	// CostPerMillion is at the plan's GPUPrice, in its currency.
	CostPerMillion TokenCost
	// Seconds of the run, in order of time, the warm-up included.
	Seconds []GPUSecond
}

// TokenCost is what a million tokens of successes cost. Each kind bears all of the cost, as if the others were free, so
// that Input and Output do not add up. Good are the output tokens of those within their objectives. Unsaid where
// unknown.
type TokenCost struct{ Output, Input, Total, Good float64 }

// mostGPUs bounds the indices of accelerators, since a journal may hold any.
const mostGPUs = 1024

// GPUWork is the work of accelerators in a part of a run.
type GPUWork struct {
	// OutputTokens came out of them in Length, and InputTokens went in. GoodTokens are the output tokens of successes
	// within their objectives, 0 without any.
	OutputTokens, InputTokens, GoodTokens int
	Length                                time.Duration
	// Price of one accelerator an hour; 0 if that is not known.
	Price float64
}

// GPUsOver sums up the samples after from and up to to, in order of time, and relates them to the work. Seconds and
// Absent stay empty.
func GPUsOver(seconds []GPUSecond, from, to time.Duration, work GPUWork) (r GPUReport) {
	var use, energy, looked, memory, temperature weightedMean
	power := map[int]weightedMean{} // by accelerator, since samples may lack one
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
		var all weightedMean
		for i := range s.GPUs {
			g := &s.GPUs[i]
			if !g.known() {
				continue
			}
			use.add(g.Use, took)
			all.add(g.Power, 1)
			own := power[g.Index]
			own.add(g.Power, took)
			power[g.Index] = own
			memory.add(g.MemoryUsed, 1)
			temperature.add(g.Temperature, 1)
		}
		if watts := all.sumOf(); Said(watts) && took > 0 {
			energy.add(watts*took, 1)
			looked.add(took, 1)
		}
	}
	var together weightedMean
	for _, index := range slices.Sorted(maps.Keys(power)) {
		if own := power[index]; Said(own.mean()) {
			together.add(own.mean(), 1)
			r.Powered++
		}
	}
	r.UseMean, r.PowerMean, r.Energy, r.Seen = use.mean(), together.sumOf(), energy.sumOf(), len(seen)
	r.Sampled = time.Duration(min(looked.total*float64(time.Second), float64(longest)))
	r.MemoryMost, r.TemperatureMost = memory.highest(), temperature.highest()
	// Samples may cover a part of the time only.
	r.JoulesPerToken = over(r.PowerMean*work.Length.Seconds(), float64(work.OutputTokens))
	cost := Unsaid()
	if work.Price > 0 && len(seen) > 0 {
		cost = work.Price * float64(len(seen)) * work.Length.Hours() * 1e6
	}
	per := func(tokens int) float64 { return over(cost, float64(tokens)) }
	in, out := work.InputTokens, work.OutputTokens
	r.CostPerMillion = TokenCost{Output: per(out), Input: per(in), Total: per(in + out), Good: per(work.GoodTokens)}
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
