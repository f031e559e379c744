package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/datasets/numpy"
	"benchtop/export"
	"benchtop/loadgen"
	"benchtop/metrics"
)

// inTime says that the arrivals are a matter of time alone, so that the schedule says how many requests there are.
func (o *loadOptions) inTime() bool { return o.rampOver > 0 || len(o.stages.stages) > 0 }

// closed says that the next request is due when one has ended, without a schedule.
func (o *loadOptions) closed() bool {
	if o.find.searching() {
		return o.find.users
	}
	return len(o.users.stages) > 0 || o.duration > 0 && o.concurrency > 0 && math.IsInf(float64(o.rate), 1) && o.ramp == "" && !o.inTime()
}

// endless says that only the clock ends the run, or a search.
func (o *loadOptions) endless() bool {
	if o.find.searching() {
		return true
	}
	byClock := len(o.users.stages) > 0 || o.duration > 0 && math.IsInf(float64(o.rate), 1) && o.ramp == "" && !o.inTime()
	return byClock && !o.promptsGiven
}

// everyRow says that each row of the data set is sent once, however many there are.
func (o *loadOptions) everyRow() bool { return o.allRows && o.prompts == 0 }

// length is when sending ends by the clock, 0 if the number of requests ends it.
func (o *loadOptions) length() time.Duration {
	end := o.duration
	for _, d := range []time.Duration{o.stages.length(), o.users.length()} {
		if d > 0 && (end == 0 || d < end) {
			end = d
		}
	}
	if end == 0 && !o.promptsGiven {
		end = o.rampOver
	}
	return end
}

// planned is the number of requests as far as it is known before any draw.
func (o *loadOptions) planned() int {
	rate := float64(o.rate)
	if o.duration > 0 && rate > 0 && !math.IsInf(rate, 1) && !o.promptsGiven {
		// The last of n comes after n/rate. The small surplus makes up for products that are just below a whole number.
		return max(1, int(min(math.Floor(rate*o.duration.Seconds()+1e-9), math.MaxInt32)))
	}
	return o.prompts
}

// expected is how many requests a load that is a matter of time alone sends on average.
func (o *loadOptions) expected() float64 {
	if !o.inTime() {
		return 0
	}
	n := (o.rampFrom+o.rampTo)/2*o.rampOver.Seconds() + o.rampTo*max(0, (o.length()-o.rampOver).Seconds()) // more than any ramp
	if len(o.stages.stages) > 0 {
		n = 0
		for _, s := range o.plannedStages() {
			n += s.Rate * s.Length.Seconds()
		}
	}
	if o.promptsGiven && !o.everyRow() {
		n = min(n, float64(o.prompts))
	}
	return n
}

// plannedRamp is the ramp of the flags, nil for none.
func (o *loadOptions) plannedRamp() *metrics.Ramp {
	if o.ramp == "" {
		return nil
	}
	return &metrics.Ramp{Strategy: o.ramp, From: o.rampFrom, To: o.rampTo, Over: o.rampOver}
}

// plannedStages are the stages up to the end of the run.
func (o *loadOptions) plannedStages() []metrics.Stage {
	stages := slices.Concat(o.stages.stages, o.users.stages)
	for i := range stages {
		left := o.length() - stages[i].Start
		if left <= 0 {
			return stages[:i]
		}
		stages[i].Length = min(stages[i].Length, left)
	}
	return stages
}

// mostUsers is the limit of requests in flight at any time, 0 for none.
func (o *loadOptions) mostUsers() int {
	most := o.concurrency
	if o.find.users {
		most = int(o.find.from)
	}
	for _, s := range o.users.stages {
		most = max(most, s.Users)
	}
	return most
}

// arrivals draws the offsets of a load that is a matter of time alone.
func (o *loadOptions) arrivals(draws *numpy.Legacy) []time.Duration {
	var offsets []time.Duration
	burstiness := float64(o.burstiness)
	if len(o.stages.stages) > 0 {
		offsets = before(loadgen.InStages(o.plannedStages(), burstiness, draws), o.length())
	} else {
		end := o.length()
		if end == 0 { // the number ends it; gaps may be long
			end = o.rampOver + time.Minute + time.Duration(min(10*float64(o.prompts)/o.rampTo, longestRun.Seconds())*float64(time.Second))
		}
		offsets = loadgen.RampInTime(*o.plannedRamp(), end, burstiness, draws)
	}
	if o.promptsGiven && !o.everyRow() {
		offsets = offsets[:min(len(offsets), o.prompts)]
	}
	return offsets
}

// schedule sets the arrivals of n conversations and returns how many requests they are, 0 if only the clock ends them.
// offsets are those of arrivals where the load is a matter of time alone, or those of a trace.
func (o *loadOptions) schedule(load *loadgen.Options, n int, offsets []time.Duration, draws *numpy.Legacy) int {
	load.Limit = o.mostUsers()
	if len(o.users.stages) > 0 {
		load.Limit = o.users.stages[0].Users
	}
	if load.Limit > 0 {
		load.Until = o.length()
	}
	if o.closed() {
		load.Schedule, load.ClosedLoop = loadgen.Immediately(), true
		if o.endless() {
			return 0
		}
		return n
	}
	switch ramp := o.plannedRamp(); {
	case o.find.searching():
		load.Schedule = loadgen.At(nil) // the search sets the rate
		return 0
	case o.inTime(), o.selfTimed:
		offsets = offsets[:min(len(offsets), n)]
	case ramp != nil:
		offsets = loadgen.RampOverRequests(n, *ramp, float64(o.burstiness), draws)
	default:
		offsets = loadgen.Gamma(n, float64(o.rate), float64(o.burstiness), draws)
	}
	if o.duration > 0 && (o.promptsGiven || o.ramp != "" || o.selfTimed) {
		offsets = before(offsets, o.duration)
	}
	load.Schedule = loadgen.At(offsets)
	return len(offsets)
}

// before keeps the offsets that come before a moment.
func before(offsets []time.Duration, end time.Duration) []time.Duration {
	for i, at := range offsets {
		if at >= end {
			return offsets[:i]
		}
	}
	return offsets
}

// inWords is the load for a person; n is the number of requests, 0 if only the clock ends them.
func (o *loadOptions) inWords(n int) string {
	limit := ""
	if o.concurrency > 0 {
		limit = fmt.Sprintf(", at most %d in flight", o.concurrency)
	}
	switch {
	case o.selfTimed:
		return "at the times of the trace" + limit
	case len(o.users.stages) > 0:
		return stagesInWords(o.plannedStages(), "users")
	case len(o.stages.stages) > 0:
		return stagesInWords(o.plannedStages(), "req/s") + limit
	case o.rampOver > 0:
		return fmt.Sprintf("%s ramp %g to %g req/s over %s%s", o.ramp, o.rampFrom, o.rampTo, export.Duration(o.rampOver), limit)
	case o.ramp != "":
		return fmt.Sprintf("%s ramp %g to %g req/s over %d requests%s", o.ramp, o.rampFrom, o.rampTo, n, limit)
	case o.endless():
		return fmt.Sprintf("%d users without pause for %s", o.concurrency, export.Duration(o.duration))
	case math.IsInf(float64(o.rate), 1):
		return "all at once" + limit
	}
	how := map[bool]string{true: "Poisson", false: "burstiness " + o.burstiness.String()}[o.burstiness == 1]
	return fmt.Sprintf("%s req/s (%s)%s", &o.rate, how, limit)
}

func stagesInWords(stages []metrics.Stage, unit string) string {
	const most = 6
	if len(stages) > most {
		return fmt.Sprintf("%d stages from %s to %s", len(stages), stages[0], stages[len(stages)-1])
	}
	var loads []string
	for _, s := range stages {
		if s.Users > 0 {
			loads = append(loads, strconv.Itoa(s.Users))
		} else {
			loads = append(loads, fmt.Sprintf("%g", s.Rate))
		}
	}
	return fmt.Sprintf("stages of %s %s", strings.Join(loads, ", "), unit)
}
