package journal

import (
	"time"

	"benchtop/metrics"
)

// log is a line of the run's log.
func (l *line) log(e *metrics.LogEntry) {
	l.moment("at_us", &e.At)
	text(l, "level", &e.Level)
	text(l, "text", &e.Text)
	text(l, "mark", &e.Mark)
	l.count("count", &e.Count)
	if inner := optionalObject(l, "set", &e.Set); inner != nil {
		inner.setting(e.Set)
		l.close(inner)
	}
	const key = "objectives" // an empty list removes all objectives
	switch {
	case !l.reads() && e.Objectives == nil, l.reads() && l.o.Get(key) == nil:
		return
	case l.reads():
		e.Objectives = new(metrics.SLO)
	}
	list(l, key, (*[]metrics.Objective)(e.Objectives), maxObjectives, "of them", "of them", (*line).objective)
}

// setting is a load that was set. The rate and the goal of a ramp may be unlimited.
func (l *line) setting(s *metrics.LoadSetting) {
	l.unbounded("rate", &s.Rate)
	l.natural("users", &s.Users)
	l.flag("paused", &s.Paused)
	l.unbounded("ramp_to", &s.RampTo)
	l.length("ramp_over_ns", &s.RampOver)
	text(l, "by", &s.By)
}

// maxObjectives is above the number of metrics.
const maxObjectives = 16

func (l *line) objective(o *metrics.Objective) {
	metric := o.Metric.Key()
	text(l, "metric", &metric)
	l.unbounded("limit_ms", &o.LimitMS)
	if l.reads() {
		known := false
		if o.Metric, known = metrics.LatencyOf(metric); !known {
			l.fail("metric", "the name of a latency")
		}
	}
}

// end is the end of a run, with the measurements beside its requests.
func (l *line) end(end *metrics.End) {
	l.moment("ended_us", &end.Ended)
	text(l, "reason", &end.Reason)
	l.count("unsent", &end.Unsent)
	if inner := optionalObject(l, "probes", &end.Probes); inner != nil {
		inner.count("completed", &end.Probes.Completed)
		inner.count("failed", &end.Probes.Failed)
		wholes(inner, "latencies_us", &end.Probes.Latencies, time.Microsecond, inner.microseconds)
		l.close(inner)
	}
	if inner := optionalObject(l, "spec_decode", &end.SpecDecode); inner != nil {
		inner.count("drafts", &end.SpecDecode.Drafts)
		inner.count("draft_tokens", &end.SpecDecode.DraftTokens)
		inner.count("accepted_tokens", &end.SpecDecode.AcceptedTokens)
		wholes(inner, "accepted_per_position", &end.SpecDecode.AcceptedPerPosition, 1, inner.whole)
		l.close(inner)
	}
	if inner := optionalObject(l, "diffusion", &end.Diffusion); inner != nil {
		inner.count("committed_tokens", &end.Diffusion.CommittedTokens)
		inner.count("denoising_steps", &end.Diffusion.DenoisingSteps)
		inner.count("canvas_positions", &end.Diffusion.CanvasPositions)
		l.close(inner)
	}
	if inner := optionalObject(l, "stamps", &end.Stamps); inner != nil {
		inner.stamps(end.Stamps)
		l.close(inner)
	}
}
