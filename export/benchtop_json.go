package export

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// resultSchema is the version of the "benchtop" object. It rises when a key changes its meaning or is removed.
const resultSchema = 2

func benchtopObject(r *metrics.Report) object {
	p := &r.Plan
	return slices.Concat(object{
		{"schema", resultSchema},
		{"version", p.Version},
		{"command", p.Command},
		{"seed", p.Seed},
		{"definitions", sortedObject(p.Definitions, strings.Clone)},
		{"dataset", p.Dataset},
		{"cache", orNull(p.Cache)},
		{"load", p.Load},
		{"stages", each(p.Stages, stage)},
		{"ramp", ifPresent(p.Ramp, ramp)},
		{"find", ifPresent(p.Find, find)},
		{"steered", r.Steered},
		{"warmup_s", p.Warmup.Seconds()},
		{"warmed_up", r.WarmedUp},
		{"objectives", objectives(r)},
		{"token_sources", object{
			{"dataset", sourceName(p.InputSource)},
			{"input", sortedObject(r.InputSources, sourceName)},
			{"output", sortedObject(r.OutputSources, sourceName)},
		}},
		{"cached_tokens", when(r.CachedTokens > 0, object{{"tokens", r.CachedTokens}, {"share", cachedShare(r)}})},
		{"answer_lengths", object{
			{"judged", r.Lengths.Judged}, {"shorter", lengthGap(&r.Lengths.Shorter)}, {"longer", lengthGap(&r.Lengths.Longer)},
		}},
		{"client", client(r)},
		{"queueing", object{{"held_ms", statistic(&r.Statistics[metrics.SlotWait], "")}}},
		{"pacing", object{
			{"scheduled_rps", orNull(r.ScheduledRate)}, {"sent_rps", orNull(r.SentRate)}, {"done_rps", orNull(r.DoneRate)},
		}},
	}, ownStatistics(r), object{
		{"peak_concurrency_exact", r.ExactPeakConcurrency},
		{"good", goodOrNull(r, r.Good)},
		{"steady_state", ifPresent(r.SteadyState, steadyState)},
		{"levels", each(r.Levels, func(l *metrics.LoadLevel) object { return level(r, l) })},
		{"answer", answer(r)},
		{"gates", each(r.Gates, gate)},
		{"probes", ifPresent(r.Probes, probeObject)},
		{"ttft_split", split(&r.Split)},
		{"server", ifPresent(r.Server, server)},
		{"gpus", ifPresent(r.GPUs, func(g *metrics.GPUReport) object { return gpus(r, g) })},
		{"timeline", timeline(r)},
		{"events", each(r.Events, logLine)},
		{"failures", each(r.Failures, failures)},
		{"damaged_journal_lines", r.Damaged},
		{"not_sent", r.NotSent},
		{"interrupted", ifPresent(r.Interrupted, func(i *metrics.Interrupted) object {
			return object{{"reason", i.Reason}, {"cancelled", i.Cancelled}, {"unsent", i.Unsent}}
		})},
	})
}

// ownStatistics are the latencies without a key in vLLM's result.
func ownStatistics(r *metrics.Report) (o object) {
	for l := range metrics.Latencies() {
		key := l.Naming().Statistic
		if key == "" {
			continue
		}
		unit := "_ms"
		if strings.HasSuffix(key, unit) {
			unit = ""
		}
		o = append(o, field{key, statistic(&r.Statistics[l], unit)})
	}
	return o
}

// sortedObject is a map with its keys in order.
func sortedObject[K cmp.Ordered, V any](m map[K]V, name func(K) string) object {
	o := object{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		o = append(o, field{name(key), m[key]})
	}
	return o
}

// cachedShare is the share of prompt tokens that the server found in its prefix cache, according to its answers.
func cachedShare(r *metrics.Report) float64 { return float64(r.CachedTokens) / float64(r.InputTokens) }

func sourceName(s metrics.TokenSource) string { return cmp.Or(string(s), "unknown") }

func lengthGap(g *metrics.LengthGap) object {
	return object{
		{"n", g.Count}, {"median_tokens", orNull(g.Tokens)}, {"median_asked", orNull(g.Asked)},
		{"finish_stop", g.Stopped}, {"finish_length", g.Limited},
	}
}

// statistic writes null for figures without samples. The unit is a suffix of the keys if the name of the object does not end
// in it.
func statistic(s *metrics.Statistic, unit string) object {
	ms := func(v float64) any { return when(s.N != 0, v) }
	o := object{
		{"n", s.N},
		{"mean" + unit, ms(s.Mean)}, {"median" + unit, ms(s.Median)}, {"std" + unit, ms(s.Std)},
		{"min" + unit, ms(s.Min)}, {"max" + unit, ms(s.Max)},
	}
	for _, p := range s.Percentiles {
		o = append(o, field{"p" + pythonNumber(p.P) + unit, ms(p.Value)})
	}
	return o
}

// goodOrNull is null in a run without objectives, where every success would be good.
func goodOrNull(r *metrics.Report, n int) any { return when(len(r.Objectives) > 0, n) }

func logLine(e *metrics.LogEntry) object {
	return object{
		{"t_s", atSeconds(e.At)}, {"level", string(e.Level)}, {"text", e.Text}, {"mark", orNull(e.Mark)},
		{"count", max(1, e.Count)}, {"set", ifPresent(e.Set, loadSetting)}, {"objectives", ifPresent(e.Objectives, objectiveChange)},
	}
}

func failures(f *metrics.FailureCount) object {
	return object{
		{"kind", string(f.Kind)}, {"status", orNull(f.Status)}, {"count", f.Count}, {"last_s", atSeconds(f.Last)},
		{"examples", f.Examples},
	}
}

func atSeconds(d time.Duration) any { return when(d != metrics.Never, d.Seconds()) }
