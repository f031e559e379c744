package journal

import (
	"errors"
	"math"
	"strings"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event"
)

// kinds are the lines of facts, {"key":{…}}.
var kinds = []kind{
	kindOf("recount", (*line).recount, func(*metrics.Recount) time.Duration { return metrics.Never }),
	kindOf("answer", (*line).answer, func(a *metrics.AnswerCheck) time.Duration { return a.At }),
	kindOf("event", (*line).log, func(e *metrics.LogEntry) time.Duration { return e.At }),
	kindOf("load", (*line).load, nil),
	kindOf("phase", (*line).phase, nil),
	kindOf("source", (*line).source, nil),
	kindOf("saving", (*line).saving, nil),
	kindOf("client", (*line).client, func(s *metrics.ClientSecond) time.Duration { return s.At }),
	kindOf("worker", (*line).worker, nil),
	kindOf("server", (*line).server, func(s *metrics.ServerSecond) time.Duration { return s.At }),
	kindOf("gpus", (*line).gpus, func(s *metrics.GPUSecond) time.Duration { return s.At }),
	kindOf("end", (*line).end, func(e *metrics.End) time.Duration { return e.Ended }),
}

// kind is a kind of facts and of their lines.
type kind struct {
	key string
	// write begins the line of a fact, and reports whether it is of this kind.
	write func(l *line, e *event.Event) bool
	// read returns the fact of a line, and its time.
	read func(l *line) (at time.Duration, fact any)
}

// kindOf is the kind of the facts that values writes or reads. own is the time that a fact has itself; nil for a line
// with a key for it.
func kindOf[T any](key string, values func(*line, *T), own func(*T) time.Duration) kind {
	return kind{
		key: key,
		write: func(l *line, e *event.Event) bool {
			fact, ok := e.Value.(T)
			if !ok {
				return false
			}
			l.b = append(append(append(l.b, `{"`...), key...), `":{`...)
			if own == nil {
				l.moment("at_us", &e.At)
			}
			values(l, &fact)
			return true
		},
		read: func(l *line) (at time.Duration, _ any) {
			var fact T
			if own == nil {
				l.moment("at_us", &at)
			}
			if values(l, &fact); own != nil {
				at = own(&fact)
			}
			return at, fact
		},
	}
}

var errUnknownKind = func() error {
	keys := metrics.Each(kinds, func(l kind) string { return l.key })
	return errors.New("expected a request (\"index\") or one of: " + strings.Join(keys, ", "))
}()

// appendFact appends the line of a fact. Facts without a line are skipped.
func appendFact(b []byte, e event.Event) []byte {
	l := line{b: b}
	for _, k := range kinds {
		if k.write(&l, &e) {
			return append(l.b, "}}\n"...)
		}
	}
	return b
}

// load is the load in force. A rate may be unlimited.
func (l *line) load(s *metrics.Steering) {
	l.setting(&s.LoadSetting)
	l.flag("steerable", &s.Steerable)
	inUsers := s.Unit == metrics.Users
	if l.flag("in_users", &inUsers); inUsers {
		s.Unit = metrics.Users
	}
	text(l, "why", &s.Why)
	l.natural("changes", &s.Changes)
	text(l, "search", &s.Search)
}

func (l *line) phase(p *metrics.Phase) {
	text(l, "state", &p.State)
	l.moment("drain_by_us", &p.DrainBy)
}

func (l *line) source(s *metrics.Source) {
	text(l, "name", &s.Name)
	text(l, "kind", &s.Kind)
	text(l, "absent", &s.Absent)
}

func (l *line) saving(s *metrics.Saving) {
	text(l, "path", &s.Path)
	text(l, "problem", &s.Problem)
}

func (l *line) recount(r *metrics.Recount) {
	l.count("index", &r.Index)
	l.count("output_tokens", &r.Tokens)
	text(l, "output_source", &r.Source)
}

// answer is a known prompt and its answer.
func (l *line) answer(a *metrics.AnswerCheck) {
	l.moment("at_us", &a.At)
	l.count("prompt", &a.Prompt)
	l.count("alone", &a.Alone)
	l.count("in_flight", &a.InFlight)
	text(l, "failure", &a.Failure)
	text(l, "error", &a.Error)
	l.flag("sampled", &a.Sampled)
	l.count("tokens", &a.Tokens)
	l.moment("tpot_us", &a.TPOT)
	text(l, "by", &a.By)
	l.flag("changed", &a.Changed)
	l.count("common", &a.Common)
	l.count("of", &a.Of)
	l.optional("logprob_before", &a.Before)
	l.optional("logprob_now", &a.Now)
}

// version1 derives the facts that a journal of version 1 has no lines for: the load in force from the loads that were
// set, the sources from the end line.
type version1 struct {
	steering     metrics.Steering
	server, gpus time.Duration // time of the last sample
}

// before returns the facts before an event, none for the current version. end is the end line.
func (o *version1) before(e event.Event, end *line) []event.Event {
	if o == nil {
		return nil
	}
	fact := func(at time.Duration, value any) event.Event {
		return event.Event{At: at, Kind: event.Fact, Value: value}
	}
	switch x := e.Value.(type) {
	case metrics.LogEntry:
		if x.Set == nil {
			return nil
		}
		unit := o.steering.Unit
		if o.steering.LoadSetting = *x.Set; !(x.Set.Value > 0) { // it says nothing of the unit
			o.steering.Unit = unit
		}
		o.steering.Changes++
		return []event.Event{fact(e.At, o.steering)}
	case metrics.ServerSecond:
		o.server = max(o.server, x.At)
	case metrics.GPUSecond:
		o.gpus = max(o.gpus, x.At)
	case metrics.End:
		kind := end.text("server_kind")
		return []event.Event{
			fact(0, metrics.Source{Name: metrics.ServerCounters, Kind: kind}),
			fact(o.server, metrics.Source{Name: metrics.ServerCounters, Kind: kind, Absent: end.text("server_absent")}),
			fact(o.gpus, metrics.Source{Name: metrics.Accelerators, Absent: end.text("gpus_absent")}),
		}
	}
	return nil
}

// client is a second of the client. Durations are in nanoseconds, the precision of the client's verdict.
func (l *line) client(s *metrics.ClientSecond) {
	l.length("at_ns", &s.At)
	l.length("took_ns", &s.Took)
	l.natural("part", &s.Part)
	l.number("cpu", &s.CPU)
	l.number("cpu_wait", &s.CPUWait)
	l.number("cores", &s.Cores)
	l.length("sched_ns", &s.Sched)
	l.length("stall_ns", &s.Stall)
	l.natural("gcs", &s.GCs)
	l.length("gc_pause_ns", &s.GCPause)
	memory := int(min(s.Memory, largestCount))
	l.natural("memory_bytes", &memory)
	s.Memory = uint64(memory)
	l.natural("sockets", &s.Sockets)
	l.natural("dialled", &s.Dialled)
	l.natural("redials", &s.Redials)
	l.flag("clock_step", &s.ClockStep)
	l.natural("sent", &s.Sent)
	l.length("late_p99_ns", &s.LateP99)
	l.length("late_max_ns", &s.LateMax)
	l.natural("chunks", &s.Chunks)
	l.natural("shared", &s.Shared)
	l.natural("unstamped", &s.Unstamped)
	l.delay("delay_p50_ns", &s.DelayP50)
	l.delay("delay_p99_ns", &s.DelayP99)
	l.delay("delay_max_ns", &s.DelayMax)
}

// worker is a machine of a run of several.
func (l *line) worker(w *metrics.Worker) {
	l.natural("part", &w.Part)
	name := w.Host[:min(len(w.Host), maxNameBytes)]
	text(l, "host", &name)
	w.Host = name[:min(len(name), maxNameBytes)]
	l.span("offset_us", &w.Offset)
	l.delay("bound_ns", &w.Bound)
}

// stamps are the stamps of a run.
func (l *line) stamps(s *metrics.Stamps) {
	l.natural("chunks", &s.Chunks)
	l.natural("shared", &s.Shared)
	l.natural("unstamped", &s.Unstamped)
	l.delay("delay_p50_ns", &s.DelayP50)
	l.delay("delay_p99_ns", &s.DelayP99)
	l.delay("delay_p999_ns", &s.DelayP999)
	l.delay("delay_max_ns", &s.DelayMax)
}

// server is a sample of the server's metrics. An unknown figure is not written; 0 is.
func (l *line) server(s *metrics.ServerSecond) {
	l.length("at_ns", &s.At)
	l.length("took_ns", &s.Took)
	l.optional("running", &s.Running)
	l.optional("waiting", &s.Waiting)
	l.optional("kv_usage", &s.KVUsage)
	l.optional("preemptions", &s.Preemptions)
	l.optional("prefix_queries", &s.PrefixQueries)
	l.optional("prefix_hits", &s.PrefixHits)
	l.optional("prefix_hit_rate", &s.HitRate)
	l.optional("prompt_tokens", &s.PromptTokens)
	l.optional("output_tokens", &s.OutputTokens)
	l.optional("draft_tokens", &s.DraftTokens)
	l.optional("accepted_tokens", &s.AcceptedTokens)
	optionalObject(l, "spec_decode", &s.SpecDecode, (*line).specDecode)
	l.latency("ttft", &s.TTFT)
	l.latency("queue", &s.Queue)
	l.latency("prefill", &s.Prefill)
	// Figures that a server updates at the end of a request.
	l.flag("waits_at_end", &s.WaitsAtEnd)
	l.flag("prompt_at_end", &s.PromptAtEnd)
	l.flag("output_at_end", &s.OutputAtEnd)
	if l.reads() || len(s.Engines) > 0 {
		list(l, "engines", &s.Engines, metrics.MostEngines, "engines", "engine", (*line).engine)
	}
}

// engine is one of several engines in a sample.
func (l *line) engine(e *metrics.Engine) {
	l.count("server", &e.Server)
	name := e.Name[:min(len(e.Name), maxNameBytes)]
	text(l, "name", &name)
	e.Name = name[:min(len(name), maxNameBytes)]
	l.length("took_ns", &e.Took)
	l.optional("running", &e.Running)
	l.optional("waiting", &e.Waiting)
	l.optional("kv_usage", &e.KVUsage)
	l.optional("prompt_tokens", &e.PromptTokens)
	l.optional("output_tokens", &e.OutputTokens)
	l.latency("ttft", &e.TTFT)
}

// latency is not written without samples.
func (l *line) latency(key string, v *metrics.ServerLatency) {
	inner := l.object(key, v.N > 0 && !math.IsInf(v.N, 1) && v.Mean >= 0)
	if inner == nil {
		return
	}
	inner.number("n", &v.N)
	inner.delay("mean_ns", &v.Mean)
	v.Mean = max(0, v.Mean)
	l.close(inner)
}

// maxGPUs bounds the GPUs of a sample.
const maxGPUs = 1024

// maxNameBytes bounds the name of a GPU, or of an engine.
const maxNameBytes = 256

// gpus is a sample of all GPUs.
func (l *line) gpus(s *metrics.GPUSecond) {
	l.length("at_ns", &s.At)
	l.length("took_ns", &s.Took)
	list(l, "each", &s.GPUs, maxGPUs, "accelerators", "accelerator", (*line).gpu)
}

func (l *line) gpu(g *metrics.GPU) {
	l.natural("index", &g.Index)
	name := g.Name[:min(len(g.Name), maxNameBytes)]
	if text(l, "name", &name); l.reads() {
		g.Name = strings.ToValidUTF8(name[:min(len(name), maxNameBytes)], "")
	}
	l.optional("use", &g.Use)
	l.optional("memory_bytes", &g.MemoryUsed)
	l.optional("memory_total_bytes", &g.MemoryTotal)
	l.optional("power_w", &g.Power)
	l.optional("power_limit_w", &g.PowerLimit)
	l.optional("temperature_c", &g.Temperature)
	l.optional("clock_mhz", &g.Clock)
}

// log is a line of the run's log.
func (l *line) log(e *metrics.LogEntry) {
	l.moment("at_us", &e.At)
	text(l, "level", &e.Level)
	text(l, "text", &e.Text)
	text(l, "mark", &e.Mark)
	l.count("count", &e.Count)
	optionalObject(l, "set", &e.Set, (*line).setting)
	optionalObject(l, "search", &e.Search, (*line).search)
	const key = "objectives" // an empty list removes all objectives
	switch {
	case !l.reads() && e.Objectives == nil, l.reads() && l.o.Get(key) == nil:
		return
	case l.reads():
		e.Objectives = new(metrics.SLO)
	}
	list(l, key, (*[]metrics.Objective)(e.Objectives), maxObjectives, "of them", "of them", (*line).objective)
}

// search is a step of a search.
func (l *line) search(s *metrics.SearchStep) {
	text(l, "phase", &s.Phase)
	l.number("tested", &s.Tested)
	list(l, "tiers", &s.Tiers, metrics.MostTiers, "tiers", "tier", func(l *line, t *metrics.SearchTier) {
		l.natural("requests", &t.Requests)
		l.natural("good", &t.Good)
		l.flag("within", &t.Within)
		l.number("passed", &t.Passed)
		l.number("failed", &t.Failed)
	})
}

// setting is a load that was set. The rate and the goal of a ramp may be unlimited.
func (l *line) setting(s *metrics.LoadSetting) {
	rate, users := s.Rate(), s.Users()
	l.unbounded("rate", &rate)
	if l.natural("users", &users); users > 0 {
		s.Load = metrics.Users.Of(float64(users))
	} else {
		s.Load = metrics.RequestsPerSecond.Of(rate)
	}
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

func (l *line) specDecode(s *metrics.SpecDecode) {
	l.count("drafts", &s.Drafts)
	l.count("draft_tokens", &s.DraftTokens)
	l.count("accepted_tokens", &s.AcceptedTokens)
	wholes(l, "accepted_per_position", &s.AcceptedPerPosition, 1, l.whole)
}

// end is the end of a run, with the measurements beside its requests.
func (l *line) end(end *metrics.End) {
	l.moment("ended_us", &end.Ended)
	text(l, "reason", &end.Reason)
	l.count("unsent", &end.Unsent)
	optionalObject(l, "probes", &end.Probes, func(l *line, p *metrics.Probes) {
		l.count("completed", &p.Completed)
		l.count("failed", &p.Failed)
		wholes(l, "latencies_us", &p.Latencies, time.Microsecond, l.microseconds)
	})
	optionalObject(l, "spec_decode", &end.SpecDecode, (*line).specDecode)
	optionalObject(l, "diffusion", &end.Diffusion, func(l *line, d *metrics.Diffusion) {
		l.count("committed_tokens", &d.CommittedTokens)
		l.count("denoising_steps", &d.DenoisingSteps)
		l.count("canvas_positions", &d.CanvasPositions)
	})
	optionalObject(l, "stamps", &end.Stamps, (*line).stamps)
}
