package export

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// resultSchema is the version of the "benchtop" object. It rises when a key changes its meaning or is removed.
const resultSchema = 2

// spec is what was asked for, flag by flag; several values of one are a list. It is missing where it is not known.
func spec(settings []metrics.Setting) object {
	values := map[string][]string{}
	for _, s := range settings {
		values[s.Flag] = append(values[s.Flag], s.Values...)
	}
	var flags object
	for _, s := range settings {
		if given := values[s.Flag]; len(given) == 1 {
			flags.set(s.Flag, given[0])
		} else {
			flags.set(s.Flag, given)
		}
	}
	if flags == nil {
		return nil
	}
	return object{{"spec", flags}}
}

func benchtopObject(r *metrics.Report) object {
	p := &r.Plan
	return slices.Concat(object{
		{"schema", resultSchema},
		{"version", p.Version},
		{"command", p.Command},
	}, spec(p.Spec), object{
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
		{"cached_tokens", when(r.Cached != metrics.TokenShare{}, cached(r))},
		{"answer_lengths", object{
			{"judged", r.Lengths.Judged}, {"shorter", lengthGap(&r.Lengths.Shorter)},
			{"longer", lengthGap(&r.Lengths.Longer)},
		}},
		{"client", client(r)},
	}, workers(r), object{
		{"queueing", object{{"held_ms", statistic(&r.Statistics[metrics.SlotWait], "")}}},
		{"pacing", object{
			{"scheduled_rps", orNull(r.ScheduledRate)}, {"sent_rps", orNull(r.SentRate)},
			{"done_rps", orNull(r.DoneRate)},
		}},
		{"too_few", each(r.TooFew(), tooFew)},
	}, ownStatistics(r), object{
		{"output_token_throughput_per_user", when(r.Plan.Measures(metrics.Pace), statistic(&r.Speeds, ""))},
		{"peak_output_tokens_1s", orNull(r.PeakOutputTokens)},
		{"peak_concurrency_exact", r.ExactPeakConcurrency},
		{"good", goodOrNull(r, r.Good)},
		{"output_token_goodput", when(r.Judges(), r.TokenGoodput(r.Duration))},
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
		{"audit", auditObject(r)},
		{"interrupted", ifPresent(r.Interrupted, func(i *metrics.Interruption) object {
			return object{{"reason", i.Reason}, {"cancelled", i.Cancelled}, {"unsent", i.Unsent}}
		})},
	}, way(r), groups(r), prefixCache(r), answers(r), checks(r), users(r))
}

// way is how requests got to the server, where that is not directly, or to which of several.
func way(r *metrics.Report) (o object) {
	p := &r.Plan
	if p.Proxy != "" {
		o = append(o, Arg{"proxy", p.Proxy})
	}
	if len(r.Servers) > 0 {
		servers := each(r.Servers, func(s *metrics.Group) object { return serverShare(r, s) })
		o = append(o, Arg{"url_strategy", p.Strategy}, Arg{"servers", servers})
	}
	return o
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
		o = append(o, Arg{key, statistic(&r.Statistics[l], unit)})
	}
	return o
}

// tooFew has the key of the percentile in vLLM's result.
func tooFew(p *metrics.TooFew) object {
	return object{{"metric", "p" + pythonNumber(p.P) + "_" + p.Latency.Key() + "_ms"}, {"requests", p.Observed},
		{"needed", p.Needed}}
}

// sortedObject is a map with its keys in order.
func sortedObject[K cmp.Ordered, V any](m map[K]V, name func(K) string) object {
	o := object{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		o = append(o, Arg{name(key), m[key]})
	}
	return o
}

// cached are the hits of the server's prefix cache by the usage of its answers. The share is of all input tokens, the
// hit rate of those alone of which the usage says so.
func cached(r *metrics.Report) object {
	h := &r.Cached
	return object{
		{"tokens", h.Tokens}, {"share", metrics.Share(h.Tokens, r.InputTokens)},
		{"requests", h.Requests}, {"prompt_tokens", h.Of}, {"hit_rate", finiteOrNull(h.Rate())},
	}
}

func sourceName(s metrics.TokenSource) string { return cmp.Or(string(s), "unknown") }

func lengthGap(g *metrics.LengthGap) object {
	return object{
		{"n", g.Count}, {"median_tokens", orNull(g.Tokens)}, {"median_asked", orNull(g.Asked)},
		{"finish_stop", g.Stopped}, {"finish_length", g.Limited},
	}
}

// statistic writes null for figures without samples. The unit is a suffix of the keys if the name of the object does
// not end in it.
func statistic(s *metrics.Statistic, unit string) object {
	ms := func(v float64) any { return when(s.N != 0, v) }
	o := object{
		{"n", s.N},
		{"mean" + unit, ms(s.Mean)}, {"median" + unit, ms(s.Median)}, {"std" + unit, ms(s.Std)},
		{"min" + unit, ms(s.Min)}, {"max" + unit, ms(s.Max)},
	}
	for _, p := range s.Percentiles {
		o = append(o, Arg{"p" + pythonNumber(p.P) + unit, ms(p.Value)})
	}
	return o
}

// goodOrNull is null in a run without objectives, where every success would be good.
func goodOrNull(r *metrics.Report, n int) any { return when(r.Judges(), n) }

func logLine(e *metrics.LogEntry) object {
	return object{
		{"t_s", atSeconds(e.At)}, {"level", string(e.Level)}, {"text", e.Text}, {"mark", orNull(e.Mark)},
		{"count", max(1, e.Count)}, {"set", ifPresent(e.Set, loadSetting)},
		{"objectives", ifPresent(e.Objectives, objectiveChange)},
	}
}

func failures(f *metrics.FailureCount) object {
	return object{
		{"kind", string(f.Kind)}, {"status", orNull(f.Status)}, {"count", f.Count}, {"last_s", atSeconds(f.Last)},
		{"examples", f.Examples},
	}
}

func atSeconds(d time.Duration) any { return when(d != metrics.Never, d.Seconds()) }

func stage(s *metrics.Stage) object {
	o := object{{"start_s", s.Start.Seconds()}, {"length_s", s.Length.Seconds()}}
	if s.Unit == metrics.Users {
		return append(o, Arg{"users", s.Users()})
	}
	return append(o, Arg{"rate_rps", s.Rate()})
}

func ramp(r *metrics.Ramp) object {
	return object{
		{"strategy", r.Strategy}, {"from_rps", r.From}, {"to_rps", r.To},
		{"over_s", orNull(r.Over.Seconds())}, // null: over the number of requests
		{"over_requests", orNull(r.Requests)},
	}
}

// objectives are those in force at the end, with the share of successes that met each of them, null without successes.
func objectives(r *metrics.Report) list {
	return each(r.Objectives, func(o *metrics.Objective) object {
		var share any
		if o.Metric < metrics.NumObjectives {
			share = when(r.Completed > 0, metrics.Share(r.Met[o.Metric], r.Completed))
		}
		return object{{"metric", o.Metric.Key()}, {"limit_ms", limitOrNull(o.LimitMS)}, {"share", share}}
	})
}

// level writes null for a latency without samples.
func level(r *metrics.Report, l *metrics.LoadLevel) object {
	wait := r.Plan.FirstWait().Key()
	return append(object{
		{"from_s", l.From.Seconds()}, {"to_s", l.To.Seconds()}, {"offered", l.Offered}, {"unit", l.Unit.String()},
		{"requests", l.Requests}, {"good", goodOrNull(r, l.Good)}, {"done_rps", l.Done},
		{wait + "_p50_ms", orNull(l.TTFTp50)}, {wait + "_p99_ms", orNull(l.TTFTp99)}, {"itl_p99_ms", orNull(l.ITLp99)},
		{"wait_p99_ms", orNull(l.WaitP99)}, {"completed_share", when(l.Requests > 0, l.Completed)},
		{"standing", orNull(string(l.Standing))},
		{"client_limited", orNull(strings.Join(l.Limited, "; "))},
		{"steady", ifPresent(l.Steady, steadyWindow)},
	}, append(evidenceOf(&l.LevelVerdict), tierLevels(r, l)...)...)
}

func answer(r *metrics.Report) object {
	a := &r.Answer
	at, close := a.At()
	levelOrNull := func(i int) any {
		return when(a.Saturates, ifPresent(levelAt(r, i), func(l *metrics.LoadLevel) object { return level(r, l) }))
	}
	return append(append(object{
		{"rule", metrics.AnswerRule},
		{"bends", a.Saturates}, {"at", when(close && a.Unit != metrics.Users, at)},
		{"bent_at_s", when(a.Saturates, atSeconds(a.SaturatedAt))},
		{"unit", a.Unit.String()}, {"before", levelOrNull(a.Before)}, {"after", levelOrNull(a.After)},
		{"capacity", loadRange(&a.Capacity)}, {"drifting", a.Drifting},
	}, tierAnswer(&a.TierAnswer)...), append(object{
		{"why", orNull(a.Why)},
		{"limit", when(a.Bottleneck.Known(), bottleneck(&a.Bottleneck))},
		{"peak_output_tokens_per_s", orNull(a.PeakOutput)}, {"text", Answer(*r)},
	}, tierAnswers(r)...)...)
}

func bottleneck(b *metrics.Bottleneck) object {
	return object{{"part", b.Part.Key()}, {"share", finiteOrNull(b.Share)}, {"of", b.Of}}
}

// gate writes null for an unknown value. Shares are fractions of 1, as in the limit.
func gate(g *metrics.GateResult) object {
	return object{{"text", g.Gate.String()}, {"value", when(g.Known, g.Value)}, {"missed", g.Missed}}
}

// steadyState has the keys of vLLM.
func steadyState(s *metrics.SteadyState) object {
	ttft := func(ms float64) any { return when(s.TTFT.N != 0, ms) }
	tpot := func(ms float64) any { return when(s.TPOT.N != 0, ms) }
	return object{
		{"window", object{
			{"start_s", s.Start.Seconds()}, {"end_s", s.End.Seconds()}, {"duration_s", (s.End - s.Start).Seconds()},
			{"target_concurrency", s.Target}, {"threshold", s.Threshold}, {"threshold_abs", s.ThresholdAbs},
			{"observed_peak", s.Peak}, {"requests_started_in_window", s.Started},
			{"requests_completed_in_window", s.Completed}, {"requests_total", s.Total}, {"warning", orNull(s.Warning)},
		}},
		{"request_throughput", when(s.Completed > 0, s.RequestThroughput)}, // too short a window has no rate
		{"input_throughput", s.InputThroughput},
		{"output_throughput", s.OutputThroughput},
		{"total_token_throughput", s.TotalThroughput},
		{"mean_ttft_ms", ttft(s.TTFT.Mean)},
		{"median_ttft_ms", ttft(s.TTFT.Median)},
		{"percentiles_ttft_ms",
			each(s.TTFT.Percentiles, func(p *metrics.Percentile) []float64 { return []float64{p.P, p.Value} })},
		{"mean_tpot_ms", tpot(s.TPOT.Mean)},
		{"median_tpot_ms", tpot(s.TPOT.Median)},
		{"p90_tpot_ms", finiteOrNull(percentileOf(&s.TPOT, 90))},
		{"p99_tpot_ms", finiteOrNull(percentileOf(&s.TPOT, 99))},
	}
}

// steadyWindow has the figures of steadyState; null where the level was never steady.
func steadyWindow(s *metrics.SteadyWindow) object {
	known := s.Share > 0
	percentiles := func(l *metrics.Statistic) any { return when(known && l.N > 0, statistic(l, "_ms")) }
	return object{
		{"share", s.Share}, {"start_s", when(known, s.Start.Seconds())}, {"end_s", when(known, s.End.Seconds())},
		{"requests_completed", when(known, s.Completed)},
		{"request_throughput", when(known, s.RequestThroughput)},
		{"input_throughput", when(known, s.InputThroughput)},
		{"output_throughput", when(known, s.OutputThroughput)},
		{"total_token_throughput", when(known, s.TotalThroughput)},
		{"ttft", percentiles(&s.TTFT)}, {"tpot", percentiles(&s.TPOT)},
	}
}

func loadSetting(s *metrics.LoadSetting) object {
	return object{
		{"rate_rps", orNull(s.Rate())}, {"users", orNull(s.Users())}, {"paused", s.Paused},
		{"ramp_to", orNull(s.RampTo)}, {"ramp_over_s", orNull(s.RampOver.Seconds())}, {"by", orNull(s.By)},
	}
}

// objectiveChange is the list of objectives in force from an event on.
func objectiveChange(slo *metrics.SLO) list {
	return each(*slo, func(o *metrics.Objective) object {
		return object{{"metric", o.Metric.Key()}, {"limit_ms", limitOrNull(o.LimitMS)}}
	})
}

// limitOrNull writes NaN, as in a damaged journal, as null.
func limitOrNull(v float64) any { return when(!math.IsNaN(v), v) }

// find is the setup of a search for the highest load.
func find(f *metrics.Find) object {
	return object{
		{"from", limitOrNull(f.From)}, {"most", limitOrNull(f.Most)}, {"unit", f.Unit.String()},
		{"step_s", f.Step.Seconds()}, {"hold_s", f.Hold.Seconds()},
	}
}

// split is the time to the first chunk by its parts, in milliseconds.
func split(s *metrics.TTFTSplit) object {
	mean := func(d time.Duration) any { return when(s.N != 0 && d >= 0, milliseconds(d)) }
	return object{
		{"n", s.N},
		{"held_ms", mean(s.SlotWait)}, {"connect_ms", mean(s.Connect)}, {"ttft_ms", mean(s.TTFT)},
		{"queue_ms", mean(s.Queue)}, {"prefill_ms", mean(s.Prefill)}, {"rest_ms", mean(s.Rest)},
		{"source", orNull(string(s.Source))}, {"includes_other_requests", s.OthersToo()},
		{"queue_most_ms", when(s.OthersToo() && s.Queue >= 0, milliseconds(s.QueueMost))},
		{"prefill_most_ms", when(s.OthersToo() && s.Prefill >= 0, milliseconds(s.PrefillMost))},
	}
}
