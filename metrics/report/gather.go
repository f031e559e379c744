package report

import (
	"benchtop/metrics"
	"benchtop/metrics/event"
)

// gathering is what the events say about a run so far.
type gathering struct {
	run      metrics.Run
	recounts map[int]metrics.Recount // by the index of the request
	damage   event.Damage
}

// add takes a fact in.
func (g *gathering) add(fact any) {
	run := &g.run
	switch x := fact.(type) {
	case metrics.Plan:
		run.Plan = x
	case metrics.LogEntry:
		run.Events = append(run.Events, x)
	case metrics.Recount:
		if g.recounts == nil {
			g.recounts = map[int]metrics.Recount{}
		}
		g.recounts[x.Index] = x
	case metrics.ClientSecond:
		run.Client = append(run.Client, x)
	case metrics.ServerSecond:
		run.Server = append(run.Server, x)
	case metrics.GPUSecond:
		run.GPUs = append(run.GPUs, x)
	case metrics.Source:
		if x.Name == metrics.Accelerators {
			run.GPUsAbsent = x.Absent
		} else {
			run.ServerKind, run.ServerAbsent = x.Kind, x.Absent
		}
	case metrics.End:
		run.Ended, run.Reason, run.Unsent = x.Ended, x.Reason, x.Unsent
		run.Probes, run.SpecDecode, run.Diffusion, run.Stamps = x.Probes, x.SpecDecode, x.Diffusion, x.Stamps
	case event.Damage:
		g.damage.Add(x)
	}
}

// tellDamage logs that lines were left out.
func (g *gathering) tellDamage() {
	run := &g.run
	if run.Damaged = g.damage.Lines; run.Damaged == 0 {
		return
	}
	if run.Ended == metrics.Never && run.Reason == Killed {
		run.Reason = damaged
	}
	run.Events = append(run.Events, metrics.LogEntry{At: max(0, run.Ended), Level: metrics.Warn, Text: g.damage.String()})
}
