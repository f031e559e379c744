package audit

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"gonum.org/v1/gonum/mathext"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// probeTokens are the most that a probe generates.
const probeTokens = 32

// others looks for requests at the server that this run did not send: more of them in flight than it had in the last
// three seconds, since gauges lag; and more output tokens than came here.
func others(r *metrics.Report) finding {
	switch {
	case !sampled(r):
		return unknown("no counters", "the server's /metrics")
	case len(r.Plan.MissingParts(r.Client.Seconds)) > 0:
		return partMissing
	case r.Plan.SeveralRoles():
		return unknown("a request counts at each engine that has a part in it", "--metrics-url of one role")
	}
	more, known, most := 0, 0, 0.0
	made, counted := 0.0, false
	for i := range r.Server.Seconds {
		s := &r.Server.Seconds[i]
		if metrics.Said(s.OutputTokens) {
			made, counted = made+s.OutputTokens, true
		}
		if !metrics.Said(s.Running) || s.At > r.Ended {
			continue
		}
		known++
		there := s.Running
		if metrics.Said(s.Waiting) {
			there += s.Waiting
		}
		if own := inFlight(r, s.At); there > own+1+otherMost*own {
			more, most = more+1, max(most, there-own)
		}
	}
	own := 0.0
	for i := range r.Timeline {
		own += float64(r.Timeline[i].TokensOut)
	}
	if ended := r.Completed + r.WarmedUp; ended > 0 { // what the server made of those that did not end is not known
		own += float64(r.Failed+r.Cancelled+r.Abandoned) * own / float64(ended)
	}
	if r.Probes != nil {
		own += probeTokens * float64(r.Probes.Completed+r.Probes.Failed)
	}
	if r.Checks != nil {
		own += float64(r.Checks.Tokens)
	}
	switch {
	case more >= otherSamples && float64(more) > otherMost*float64(known):
		return invalid("up to %.0f requests of others in flight", most)
	case counted && r.OutputSources[metrics.TokensFromUsage] == r.Completed && made > (1+otherMost)*own+probeTokens:
		return invalid("others had %.0f %% of its output tokens", 100*(1-own/made))
	case known == 0 && !counted:
		return unknown("no gauges of requests or tokens", "the server's /metrics")
	}
	return valid("none seen")
}

// inFlight is the most that were in flight in the seconds before a moment.
func inFlight(r *metrics.Report, at time.Duration) float64 {
	most := 0
	for k := max(0, metrics.SecondOf(at)-2); k <= metrics.SecondOf(at) && k < len(r.Timeline); k++ {
		w := r.Timeline[k]
		n := w.Sent
		if k > 0 {
			n += r.Timeline[k-1].Waiting + r.Timeline[k-1].Running
		}
		most = max(most, n)
	}
	return float64(most)
}

const (
	// stopConfidence, leastRun and overFewest are those of MLPerf Inference's server scenario.
	stopConfidence = 0.99
	leastRun       = 10 * time.Minute
	overFewest     = 1
)

// preset says whether a run keeps the flags of the published preset that it names, to the end.
func preset(r *metrics.Report) []Check {
	p := r.Plan.Preset
	if p == nil {
		return nil
	}
	figure := "flags as published"
	switch {
	case len(p.Changed) > 0:
		figure = strings.Join(p.Changed, ", ")
	case r.Interrupted != nil:
		figure += fmt.Sprintf(", ended after %s", text.Count(r.Counts.Ended(), "request"))
	}
	clean := func(s string) string { return text.Fit(text.Clean(s), longestReason) }
	kept := len(p.Changed) == 0 && r.Interrupted == nil
	return []Check{{clean("preset " + p.Name), outcomeOf(kept), clean(figure), clean(p.Source)}}
}

// mlperf are rules of MLPerf Inference: its minimum duration, and early stopping, by which t of n requests over a limit
// are few enough for its percentile p if I(p; n-t, t+1) <= 1 - c, with the regularized incomplete beta function I and
// the confidence c = 0.99. Without objectives the rule gives the least number of requests for a percentile.
func mlperf(r *metrics.Report) []Check {
	length := time.Duration(r.Duration * float64(time.Second)).Round(100 * time.Millisecond)
	all := []Check{{"MLPerf duration", outcomeOf(length >= leastRun), metrics.Duration(length), "10m or more"}}
	p := 0.0
	for _, v := range r.Plan.Percentiles {
		if v < 100 {
			p = max(p, v/100)
		}
	}
	if !(p > 0) {
		return all
	}
	stop := func(over int, figure string) {
		needed := 1 + sort.Search(metrics.LargestCount, func(n int) bool {
			return n >= over && mathext.RegIncBeta(float64(n+1-over), float64(over+1), p) <= 1-stopConfidence
		})
		rule := fmt.Sprintf("p%g of %d or more requests", 100*p, needed)
		all = append(all, Check{"MLPerf early stopping", outcomeOf(r.Counts.Ended() >= needed), figure, rule})
	}
	if len(r.Objectives) == 0 {
		stop(overFewest, text.Count(r.Counts.Ended(), "request"))
	}
	for _, o := range r.Objectives {
		if over := r.Counts.Ended() - r.Met[o.Metric]; o.Metric < metrics.NumObjectives && over >= 0 {
			stop(over, fmt.Sprintf("%d over the limit of %s", over, o.Metric.Naming().Label))
		}
	}
	return all
}

func outcomeOf(kept bool) Outcome {
	if kept {
		return Valid
	}
	return Invalid
}
