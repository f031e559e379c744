package export

import (
	"strconv"
	"time"

	"benchtop/metrics"
)

// appendEnd appends the line that says how a run ended and what was measured beside its requests.
func appendEnd(b []byte, run metrics.Run) []byte {
	b = append(b, `{"end":{`...)
	b = appendMoment(b, "ended_us", run.Ended)
	b = appendText(b, "reason", run.Reason)
	b = appendCount(b, "unsent", run.Unsent)
	if p := run.Probes; p != nil {
		b = append(appendKey(b, "probes"), '{')
		b = appendCount(b, "completed", p.Completed)
		b = appendCount(b, "failed", p.Failed)
		b = appendEach(b, "latencies_us", p.Latencies, time.Duration.Microseconds)
		b = append(b, '}')
	}
	if s := run.SpecDecode; s != nil {
		b = append(appendKey(b, "spec_decode"), '{')
		b = appendCount(b, "drafts", s.Drafts)
		b = appendCount(b, "draft_tokens", s.DraftTokens)
		b = appendCount(b, "accepted_tokens", s.AcceptedTokens)
		b = appendEach(b, "accepted_per_position", s.AcceptedPerPosition, func(n int) int64 { return int64(n) })
		b = append(b, '}')
	}
	if d := run.Diffusion; d != nil {
		b = append(appendKey(b, "diffusion"), '{')
		b = appendCount(b, "committed_tokens", d.CommittedTokens)
		b = appendCount(b, "denoising_steps", d.DenoisingSteps)
		b = appendCount(b, "canvas_positions", d.CanvasPositions)
		b = append(b, '}')
	}
	if s := run.Stamps; s != nil {
		b = appendStamps(appendKey(b, "stamps"), s)
	}
	b = appendText(b, "server_kind", run.ServerKind)
	b = appendText(b, "server_absent", run.ServerAbsent)
	b = appendText(b, "gpus_absent", run.GPUsAbsent)
	return append(b, "}}\n"...)
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
func (f *fields) end() metrics.Run {
	run := metrics.Run{
		Ended: f.moment("ended_us"), Reason: f.text("reason"), Unsent: f.count("unsent"),
		ServerKind: f.text("server_kind"), ServerAbsent: f.text("server_absent"), GPUsAbsent: f.text("gpus_absent"),
	}
	if inner := f.optional("probes"); inner != nil {
		run.Probes = &metrics.Probes{Completed: inner.count("completed"), Failed: inner.count("failed")}
		for _, v := range inner.array("latencies_us") {
			run.Probes.Latencies = append(run.Probes.Latencies, inner.microseconds("latencies_us", v))
		}
		f.inherit(inner)
	}
	if inner := f.optional("spec_decode"); inner != nil {
		run.SpecDecode = &metrics.SpecDecode{
			Drafts: inner.count("drafts"), DraftTokens: inner.count("draft_tokens"), AcceptedTokens: inner.count("accepted_tokens"),
		}
		for _, v := range inner.array("accepted_per_position") {
			run.SpecDecode.AcceptedPerPosition = append(run.SpecDecode.AcceptedPerPosition, inner.whole("accepted_per_position", v))
		}
		f.inherit(inner)
	}
	if inner := f.optional("diffusion"); inner != nil {
		run.Diffusion = &metrics.Diffusion{
			CommittedTokens: inner.count("committed_tokens"), DenoisingSteps: inner.count("denoising_steps"),
			CanvasPositions: inner.count("canvas_positions"),
		}
		f.inherit(inner)
	}
	if inner := f.optional("stamps"); inner != nil {
		stamps := inner.stamps()
		run.Stamps = &stamps
		f.inherit(inner)
	}
	return run
}
