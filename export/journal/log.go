package journal

import (
	"math"
	"strconv"
	"time"

	"benchtop/metrics"
)

// appendLog appends a line of the log.
func appendLog(b []byte, e *metrics.LogEntry) []byte {
	b = appendMoment(b, "at_us", e.At)
	b = appendText(b, "level", string(e.Level))
	b = appendText(b, "text", e.Text)
	b = appendText(b, "mark", e.Mark)
	b = appendCount(b, "count", e.Count)
	if s := e.Set; s != nil {
		b = append(appendSetting(append(appendKey(b, "set"), '{'), s), '}')
	}
	if slo := e.Objectives; slo != nil {
		b = appendObjectives(appendKey(b, "objectives"), *slo)
	}
	return b
}

// log reads what appendLog wrote.
func (f *fields) log() metrics.LogEntry {
	e := metrics.LogEntry{
		At: f.moment("at_us"), Level: metrics.Level(f.text("level")), Text: f.text("text"),
		Mark: f.text("mark"), Count: f.count("count"),
	}
	if inner := f.optional("set"); inner != nil {
		s := inner.setting()
		e.Set = &s
		f.inherit(inner)
	}
	if f.o.Get("objectives") != nil {
		slo := f.objectives()
		e.Objectives = &slo
	}
	return e
}

// appendSetting appends a load that was set. A rate may be unlimited, and so may the goal of a ramp be.
func appendSetting(b []byte, s *metrics.LoadSetting) []byte {
	b = appendReal(b, "rate", s.Rate)
	b = appendNatural(b, "users", s.Users)
	b = appendTruth(b, "paused", s.Paused)
	b = appendReal(b, "ramp_to", s.RampTo)
	b = appendLength(b, "ramp_over_ns", s.RampOver)
	return appendText(b, "by", s.By)
}

// setting reads what appendSetting wrote.
func (f *fields) setting() metrics.LoadSetting {
	return metrics.LoadSetting{
		Rate: f.real("rate"), Users: f.natural("users"), Paused: f.truth("paused"),
		RampTo: f.real("ramp_to"), RampOver: f.length("ramp_over_ns"), By: f.text("by"),
	}
}

// appendObjectives appends a list, which is empty where nothing is asked of a request any more.
func appendObjectives(b []byte, slo metrics.SLO) []byte {
	b = append(b, '[')
	for i, o := range slo {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = appendText(b, "metric", o.Metric.Key())
		b = appendReal(b, "limit_ms", o.LimitMS)
		b = append(b, '}')
	}
	return append(b, ']')
}

// mostObjectives is what there are metrics for, and room.
const mostObjectives = 16

func (f *fields) objectives() metrics.SLO {
	var slo metrics.SLO
	list := f.array("objectives")
	if len(list) > mostObjectives {
		f.fail("objectives", "at most "+strconv.Itoa(mostObjectives)+" of them")
		return nil
	}
	for _, v := range list {
		o, err := v.Object()
		if err != nil {
			f.fail("objectives", "an object for each of them")
			return nil
		}
		inner := fields{o: o}
		limit := inner.real("limit_ms")
		metric, known := metrics.LatencyOf(inner.text("metric"))
		if !known {
			inner.fail("metric", "the name of a latency")
		}
		slo = append(slo, metrics.Objective{Metric: metric, LimitMS: limit})
		f.inherit(&inner)
	}
	return slo
}

// appendReal is appendNumber for what may be infinite, as the header has it.
func appendReal(b []byte, key string, v float64) []byte {
	if math.IsInf(v, 1) {
		return append(appendKey(b, key), `"inf"`...)
	}
	return appendNumber(b, key, v)
}

func (f *fields) real(key string) float64 {
	if v := f.o.Get(key); v != nil && string(v.GetStringBytes()) == "inf" {
		return math.Inf(1)
	}
	return f.number(key)
}

// appendEnd appends how a run ended and what was measured beside its requests.
func appendEnd(b []byte, end *metrics.End) []byte {
	b = appendMoment(b, "ended_us", end.Ended)
	b = appendText(b, "reason", end.Reason)
	b = appendCount(b, "unsent", end.Unsent)
	if p := end.Probes; p != nil {
		b = append(appendKey(b, "probes"), '{')
		b = appendCount(b, "completed", p.Completed)
		b = appendCount(b, "failed", p.Failed)
		b = appendEach(b, "latencies_us", p.Latencies, time.Duration.Microseconds)
		b = append(b, '}')
	}
	if s := end.SpecDecode; s != nil {
		b = append(appendKey(b, "spec_decode"), '{')
		b = appendCount(b, "drafts", s.Drafts)
		b = appendCount(b, "draft_tokens", s.DraftTokens)
		b = appendCount(b, "accepted_tokens", s.AcceptedTokens)
		b = appendEach(b, "accepted_per_position", s.AcceptedPerPosition, func(n int) int64 { return int64(n) })
		b = append(b, '}')
	}
	if d := end.Diffusion; d != nil {
		b = append(appendKey(b, "diffusion"), '{')
		b = appendCount(b, "committed_tokens", d.CommittedTokens)
		b = appendCount(b, "denoising_steps", d.DenoisingSteps)
		b = appendCount(b, "canvas_positions", d.CanvasPositions)
		b = append(b, '}')
	}
	if s := end.Stamps; s != nil {
		b = appendStamps(appendKey(b, "stamps"), s)
	}
	return b
}

// appendEach leaves out an empty list.
func appendEach[T any](b []byte, key string, values []T, number func(T) int64) []byte {
	if len(values) == 0 {
		return b
	}
	b = append(appendKey(b, key), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, number(v), 10)
	}
	return append(b, ']')
}

// end reads what appendEnd wrote.
func (f *fields) end() metrics.End {
	end := metrics.End{
		Ended: f.moment("ended_us"), Reason: f.text("reason"), Unsent: f.count("unsent"),
	}
	if inner := f.optional("probes"); inner != nil {
		end.Probes = &metrics.Probes{Completed: inner.count("completed"), Failed: inner.count("failed")}
		for _, v := range inner.array("latencies_us") {
			end.Probes.Latencies = append(end.Probes.Latencies, inner.microseconds("latencies_us", v))
		}
		f.inherit(inner)
	}
	if inner := f.optional("spec_decode"); inner != nil {
		end.SpecDecode = &metrics.SpecDecode{
			Drafts: inner.count("drafts"), DraftTokens: inner.count("draft_tokens"), AcceptedTokens: inner.count("accepted_tokens"),
		}
		for _, v := range inner.array("accepted_per_position") {
			end.SpecDecode.AcceptedPerPosition = append(end.SpecDecode.AcceptedPerPosition, inner.whole("accepted_per_position", v))
		}
		f.inherit(inner)
	}
	if inner := f.optional("diffusion"); inner != nil {
		end.Diffusion = &metrics.Diffusion{
			CommittedTokens: inner.count("committed_tokens"), DenoisingSteps: inner.count("denoising_steps"),
			CanvasPositions: inner.count("canvas_positions"),
		}
		f.inherit(inner)
	}
	if inner := f.optional("stamps"); inner != nil {
		stamps := inner.stamps()
		end.Stamps = &stamps
		f.inherit(inner)
	}
	return end
}
