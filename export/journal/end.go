package journal

import (
	"strconv"
	"time"

	"benchtop/metrics"
)

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
