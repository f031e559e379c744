package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"benchtop/internal/steering"
	"benchtop/loadgen/shape"
	"benchtop/metrics"
)

// steer follows orders until ctx ends, which it does when nothing new is sent any more.
func (s *session) steer(ctx context.Context) {
	h := s.helm
	defer h.connecting.Wait()
	defer h.leave()
	h.tell()
	tick := time.NewTimer(h.pause())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-h.orders:
			h.follow(ctx, o)
		case <-tick.C:
			h.move(ctx)
		}
		tick.Reset(h.pause())
	}
}

// pause is how long the load stays as it is unless somebody changes it.
func (h *helm) pause() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.session.plan
	switch {
	case h.ramp != nil:
		return rampEvery
	case !h.loadSet && !h.state.Paused && (p.Ramp != nil || len(p.Stages) > 0):
		return min(planEvery, h.untilNextStage())
	}
	return time.Hour // nothing moves by itself
}

// untilNextStage is how long it takes until a stage of rates begins that a pause has moved. The lock is held.
func (h *helm) untilNextStage() time.Duration {
	stages := h.session.plan.Stages
	if next := h.stageOn + 1; h.state.Changes > 0 && !h.inUsers && next < len(stages) {
		return max(0, stages[next].Start+h.shift-h.now())
	}
	return time.Hour
}

// follow carries out an order of the user's, which ends a search. One that was given in time but comes too late, because nothing
// new is sent any more, is forgotten: the run was not steered by it.
func (h *helm) follow(ctx context.Context, o metrics.Command) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting--
	if ctx.Err() != nil || !h.session.engine.Sending() {
		return
	}
	if h.giveUp != nil {
		h.giveUp()
		h.giveUp, h.state.Search = nil, ""
		words := "the search for the highest load is given up: the load was set by hand"
		if h.session.plan.Duration == 0 { // the search would have ended it
			words += "; the run goes on until q"
		}
		h.session.log(metrics.Warn, words)
	}
	switch o.Do {
	case metrics.Pause:
		h.hold(metrics.ByHand, "arrivals are paused")
	case metrics.Resume:
		h.goOn()
		h.follows(metrics.ByHand)
		h.state.Changes++
		h.file(metrics.LogEntry{Level: metrics.Info, Text: "arrivals go on at " + h.words(h.load()), Mark: h.words(h.load()), Set: h.setting()})
	case metrics.SetLoad:
		h.set(ctx, o.Value, metrics.ByHand, "load set by hand: "+h.words(o.Value), h.words(o.Value))
	case metrics.RampLoad:
		h.begin(ctx, o)
	}
}

// set puts a load in force and ends pauses and ramps. The lock is held.
func (h *helm) set(ctx context.Context, load float64, by, text, mark string) {
	h.ramp = nil
	h.state.RampTo, h.state.RampOver = 0, 0
	h.force(ctx, load)
	h.goOn()
	h.changed(by, text, mark)
}

// hold stops the arrivals. The lock is held.
func (h *helm) hold(by, text string) {
	if h.ramp != nil {
		text += fmt.Sprintf(", and the ramp ends at %s", h.words(h.load()))
	}
	h.ramp = nil
	h.state.RampTo, h.state.RampOver = 0, 0
	if !h.state.Paused {
		h.state.Paused, h.pausedAt = true, h.now()
		h.session.engine.Pause()
	}
	h.changed(by, text, "paused")
}

// goOn ends a pause. The lock is held.
func (h *helm) goOn() {
	if !h.state.Paused {
		return
	}
	h.state.Paused = false
	h.session.engine.Resume()
	if !h.inUsers {
		h.shift += h.now() - h.pausedAt
	}
}

// begin begins a ramp from what is in force. The lock is held.
func (h *helm) begin(ctx context.Context, o metrics.Command) {
	from := h.load()
	h.force(ctx, from) // the plan is left at once, and the ramp begins where it stood
	h.goOn()
	h.ramp = &steering.Ramp{From: from, To: o.Value, Start: h.now(), Over: o.Over}
	h.state.RampTo, h.state.RampOver = o.Value, o.Over
	if h.inUsers {
		h.connectFor(ctx, int(o.Value))
	}
	h.changed(metrics.ByHand, fmt.Sprintf("ramp by hand from %s to %s in %s", shape.Number(from), h.words(o.Value), metrics.Duration(o.Over)), "→ "+h.words(o.Value))
}

// move goes on along the ramp, or tells what the plan asks for meanwhile.
func (h *helm) move(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ramp != nil {
		load, over := h.ramp.At(h.now())
		if over {
			h.set(ctx, load, metrics.ByHand, "the ramp has come to "+h.words(load), h.words(load))
			return
		}
		h.force(ctx, load)
		h.tellState()
		return
	}
	if h.loadSet || h.state.Paused {
		return
	}
	before := h.stageOn
	h.follows(h.state.By)
	if h.state.Changes > 0 && !h.inUsers && h.stageOn > before {
		h.state.By = metrics.ByPlan
		h.file(h.session.stageEvent(h.stageOn, h.setting()))
		return
	}
	h.tellState()
}

// follows takes over what the plan asks for now, unless a load was set. The lock is held.
func (h *helm) follows(by string) {
	if !h.loadSet {
		at := h.now() - h.shift
		p := &h.session.plan
		h.state.LoadSetting, h.stageOn = p.LoadAt(at, h.session.engine.Dispatched()), p.StageAt(at)
	}
	h.state.By = by
}

// setting is the load in force for an event: without a number where the plan moves it in a way that an event cannot say. The
// lock is held.
func (h *helm) setting() *metrics.LoadSetting {
	set := h.state.LoadSetting
	if r := h.session.plan.Ramp; !h.loadSet && r != nil && (r.Over == 0 || r.Strategy != "linear" && set.RampTo > 0) {
		set = metrics.LoadSetting{By: set.By}
	}
	return &set
}

// file tells the load in force, and an event. The lock is held.
func (h *helm) file(e metrics.LogEntry) {
	h.tellState()
	h.session.stream.Tell(e)
}

// tellState tells the load in force, unless it is known. The lock is held.
func (h *helm) tellState() {
	if h.state != h.told {
		h.told = h.state
		h.session.stream.Tell(h.state)
	}
}

// force makes the engine send at a load. The lock is held.
func (h *helm) force(ctx context.Context, load float64) {
	h.loadSet = true
	if !h.inUsers {
		h.state.Rate = load
		h.session.engine.SetRate(load)
		return
	}
	n := max(1, int(math.Round(load)))
	if n > h.state.Users {
		h.connectFor(ctx, n)
	}
	h.state.Users = n
	h.session.engine.SetLimit(n)
}

// connectFor opens what more users will need, beside the run. What is missing is dialled when it is needed.
func (h *helm) connectFor(ctx context.Context, users int) {
	h.connecting.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, connectAhead)
		defer cancel()
		_ = h.session.load.Connections.Open(ctx, users)
	})
}

// changed files a change of the load. The lock is held.
func (h *helm) changed(by, text, mark string) {
	h.state.By = by
	h.state.Changes++
	set := h.state.LoadSetting
	h.file(metrics.LogEntry{Level: metrics.Info, Text: text, Mark: mark, Set: &set})
}

// load is the one in force. The lock is held.
func (h *helm) load() float64 {
	if h.inUsers {
		return float64(h.state.Users)
	}
	return h.state.Rate
}

func (h *helm) now() time.Duration { return time.Since(h.session.load.Start) }

// steered says that the plan no longer tells how many requests there will be.
func (h *helm) steered() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state.Changes > 0
}

// stage lets the plan set a number of users; on is false where its stages no longer are what happens at its times: the load
// was set, or, for rates, moved by a pause. set is for the event, where there was a pause before.
func (h *helm) stage(users int) (set *metrics.LoadSetting, on bool) {
	if h == nil {
		return nil, true // nobody can steer it
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.loadSet || h.state.Changes > 0 && !h.inUsers {
		return nil, false
	}
	if users <= 0 {
		return nil, true
	}
	h.session.engine.SetLimit(users)
	h.state.Users = users
	h.tellState()
	if h.state.Changes == 0 {
		return nil, true
	}
	set = h.setting()
	set.By = metrics.ByPlan
	return set, true
}

// tell shows what is in force.
func (h *helm) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tellState()
}

// leave shows that nothing can be steered any more.
func (h *helm) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Steerable, h.state.Why = false, cmp.Or(h.why, "nothing new is sent any more")
	h.state.RampTo, h.state.RampOver = 0, 0
	h.tellState()
}
