package loadgen

import (
	"fmt"
	"io"
	"math"
	"time"

	"benchtop/datasets"
	"benchtop/internal/hf/numpy"
	"benchtop/loadgen/shape"
)

// backlogMost bounds the queue of prompts that wait for a slot.
const backlogMost = 10_000

// closeBehind is the distance of two arrivals below which the second waits until the first runs: goroutines that are
// made together run in any order, and a prompt that overtakes another finds a different cache. The dispatcher does not
// wait, since its thread is slow to wake.
const closeBehind = time.Millisecond

// dispatcher hands conversations over as they become due. It has a goroutine of its own, and one that prepares them.
type dispatcher struct {
	*Engine
	planned bool          // arrivals follow the plan
	before  *conversation // the last one, if it was started and not queued
	last    time.Duration

	// Of the goroutine that prepares, while there is one.
	prompts       datasets.Flow
	left          []*job // prepared for a schedule that was left
	index, number int    // of the next conversation
}

// dispatch follows the plan's schedule, and after the plan is left, arrivals at the rate in force.
func (e *Engine) dispatch(prompts datasets.Flow) error {
	defer e.pacer.Close()
	if err := e.pacer.Open(e.options.Pacer); err != nil {
		return err
	}
	d := dispatcher{Engine: e, prompts: prompts, planned: true, last: math.MinInt64 / 2}
	if err := d.follow(e.options.Schedule); err != nil {
		return err
	}
	if e.options.GoesOn && !e.pacer.PlanLeft() {
		e.planSent.Store(true)
		e.pacer.Wait(e.stopping, math.MaxInt64, true) // until the plan is left
	}
	if !e.pacer.PlanLeft() || e.stopping.Err() != nil {
		return nil
	}
	if d.planned = false; e.options.ClosedLoop {
		return d.follow(shape.Immediately())
	}
	return d.follow(func(yield func(time.Duration) bool) {
		for at := max(0, e.options.Steered()); yield(shape.Nanoseconds(at)); at += max(0, e.options.Steered()) {
		}
	})
}

// follow hands over a conversation at each time of a schedule, until there are no more.
func (d *dispatcher) follow(schedule shape.Schedule) error {
	coming := d.arrivals(schedule)
	defer coming.stop()
	for late := false; d.awaitBacklog(); {
		a, ok := coming.next(d.stopping, late)
		if !ok && d.stopping.Err() == nil && coming.err != nil && coming.err != io.EOF {
			return fmt.Errorf("after %d requests: %w", d.index, coming.err)
		}
		if !ok {
			return nil
		}
		due, ok := d.pacer.Wait(d.stopping, a.at, d.planned)
		if !ok {
			d.leave(coming, a.job)
			return nil
		}
		late = d.clock.Now() > due+closeBehind
		if !d.handOver(a.job, due) {
			return nil
		}
	}
	return nil
}

// leave keeps a job and those behind it for another schedule, unless the sending has ended.
func (d *dispatcher) leave(coming *arrivals, first *job) {
	if coming.stop(); d.stopping.Err() != nil {
		return
	}
	left := []*job{first}
	for a := range coming.ready {
		left = append(left, a.job)
	}
	d.left = append(left, d.left...)
}

// mayGoOn reports whether something else than the prompts ends the run.
func (d *dispatcher) mayGoOn() bool {
	otherwise := d.options.GoesOn || d.options.Until > 0 || d.options.SteeredUntil > 0
	return otherwise && d.prompts.More != nil && !d.planned
}

// handOver starts or queues a conversation, unless another part of the run has it; false after the end of the sending.
func (d *dispatcher) handOver(j *job, due time.Duration) bool {
	e, c := d.Engine, j.conversation
	e.dispatched.Store(int64(c.index + len(c.Turns)))
	if !e.options.Part.Has(c.number) {
		return true
	}
	if d.before != nil && due-d.last < closeBehind {
		c.behind = d.before
	}
	if !e.options.ClosedLoop {
		j.begin(due)
	}
	e.limiter.enter()
	started, ok := e.limiter.submit(j)
	if !ok {
		j.cancel()
		return false
	}
	if d.before, d.last = nil, due; started {
		d.before = c
	}
	return true
}

// awaitBacklog waits until another request may be queued; false when the sending ends first.
func (e *Engine) awaitBacklog() bool {
	most := backlogMost
	if e.options.ClosedLoop {
		most = 1
	}
	for {
		shorter := e.limiter.backlog(most)
		if shorter == nil {
			return e.stopping.Err() == nil
		}
		select {
		case <-shorter:
		case <-e.stopping.Done():
			return false
		}
	}
}

// RoundRobinModels gives the conversations the modules in turn, for Options.ModelFor, each as often as its share says:
// the next is the one that is furthest behind. modules must not be empty; shares may be nil for equal ones.
func RoundRobinModels(modules []string, shares []float64) func(index int) string {
	if shares == nil {
		return func(index int) string { return modules[index%len(modules)] }
	}
	given := make([]float64, len(modules))
	return func(int) string {
		next := 0
		for i := range given {
			if (given[i]+1)/shares[i] < (given[next]+1)/shares[next] {
				next = i
			}
		}
		given[next]++
		return modules[next]
	}
}

// RandomModels draws a module for each conversation, for Options.ModelFor, as vLLM does: one choice of Python's
// generator a conversation, whatever its number, and with shares one of its numbers. The generator is the function's
// from then on. modules must not be empty.
func RandomModels(modules []string, shares []float64, draws *numpy.Python) func(index int) string {
	if shares == nil {
		return func(int) string { return modules[draws.Choice(len(modules))] }
	}
	sum := 0.0
	for _, share := range shares {
		sum += share
	}
	return func(int) string {
		at := sum * draws.Random()
		for i, share := range shares {
			if at -= share; at < 0 {
				return modules[i]
			}
		}
		return modules[len(modules)-1]
	}
}
