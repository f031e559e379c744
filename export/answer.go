package export

import (
	"fmt"
	"slices"
	"strings"

	"benchtop/metrics"
)

// maxAnswerWidth is the width of the answer in columns.
const maxAnswerWidth = 150

// Answer is the headline result in one line, without a newline: the highest load within the objectives and where the server
// saturates, or the figures of a run at one load; whether the client limited it; the gates that were missed. It is never
// empty, ASCII, and at most maxAnswerWidth columns wide.
//
//	within SLO up to 34.2 req/s (97 % confidence); saturates at ~38 req/s (p99 TTFT 0.41 -> 2.10 s); limit: queue, 79 % of TTFT; client ok
//	8.0 req/s: p99 TTFT 0.41 s, p99 ITL 32 ms, 99.1 % within SLO; client OVERLOADED (p99 sent 24ms late)
//	no request succeeded: 200 failed (connect); FAILED p99_ttft_ms>500 (unknown)
func Answer(r metrics.Report) string {
	// The verdict on the client and the missed gates are never cut off; the reasons for a limited client get the remaining width.
	available := func(taken ...string) int { return maxAnswerWidth - len(joinParts(taken...)) - len("; ") }
	line, least := "", joinParts(clientVerdict(&r, 0), missedGates(&r, maxAnswerWidth/3))
	for _, line = range variants(&r) {
		if len(line) <= available(least) {
			break
		}
	}
	missed := missedGates(&r, max(available(line, clientVerdict(&r, 0)), maxAnswerWidth/3))
	tail := joinParts(clientVerdict(&r, available(line, missed)), missed)
	if tail != "" {
		line = cutASCII(line, available(tail))
	}
	return cutASCII(joinParts(line, tail), maxAnswerWidth)
}

// variants are the texts about the load, from the longest to the shortest, so that a part that does not fit is left out as a
// whole.
func variants(r *metrics.Report) []string {
	if r.Completed == 0 {
		return []string{"no request succeeded: " + whyNoSuccess(r)}
	}
	load, shown := loadVerdict(r, highestLoad(r))
	brief, _ := loadVerdict(r, highestLoads(r, true))
	failed, limit := failedShare(r), limit(r)
	detailed := joinParts(load+shown, failed)
	return []string{
		joinParts(load+shown, limit, failed, slotWait(r), shortfall(r)), joinParts(load+shown, limit, failed), detailed, joinParts(load, failed),
		joinParts(brief, failed),
	}
}

// joinParts joins the parts that are not empty.
func joinParts(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// saturation is the pair of levels around the saturation point, and the level that shows it.
type saturation struct{ before, after, shown *metrics.LoadLevel }

// saturationOf is nil without saturation, and for a report whose answer refers to missing levels.
func saturationOf(r *metrics.Report) *saturation {
	a, n := &r.Answer, len(r.Levels)
	if !a.Saturates || min(a.Before, a.After, a.Shown) < 0 || max(a.Before, a.After, a.Shown) >= n {
		return nil
	}
	return &saturation{&r.Levels[a.Before], &r.Levels[a.After], &r.Levels[a.Shown]}
}

func whyNoSuccess(r *metrics.Report) string {
	switch {
	case r.Failed > 0:
		return fmt.Sprintf("%d failed (%s)", r.Failed, mainFailure(r))
	case r.Interrupted != nil:
		why, i := "the run was interrupted", r.Interrupted
		if i.Cancelled > 0 || i.Unsent > 0 { // a journal that was cut off has neither count
			why += fmt.Sprintf(" with %d in flight and %d not sent", i.Cancelled, i.Unsent)
		}
		if r.WarmedUp > 0 {
			why += fmt.Sprintf(", after %d warm-up requests", r.WarmedUp)
		}
		return why
	case r.WarmedUp > 0:
		why := fmt.Sprintf("all %d were warm-up", r.WarmedUp)
		if r.WarmedUp == 1 {
			why = "the only one was warm-up"
		}
		if r.NotSent > 0 {
			why += fmt.Sprintf(" (%d not sent)", r.NotSent)
		}
		return why
	case r.NotSent > 0:
		return "time ran out before the first was sent"
	}
	return "none was sent"
}

// loadVerdict is the result for the load, of which the highest within the objectives is a part; shown, in brackets, is the latency that shows saturation.
func loadVerdict(r *metrics.Report, highest string) (load, shown string) {
	s := saturationOf(r)
	switch {
	case s != nil:
		return joinParts(highest, "saturates "+saturationLoad(&r.Answer)), evidence(r, s)
	case r.Plan.Find != nil && highest != "":
		return highest, ""
	case len(r.Levels) > 1:
		why, shown := unsaturated(r)
		return joinParts(highest, why), shown
	}
	return steadyLoad(r), ""
}

// slotWaitDominates reports whether requests waited so long for a slot of this client that TTFT understates the wait.
func slotWaitDominates(r *metrics.Report, l *metrics.LoadLevel) bool {
	return waitedForSlot(r) && l.WaitP99 > 2*l.TTFTp99
}

// evidence is the latency that shows saturation: TTFT, or E2EL for answers in one piece, or the wait since the scheduled time
// where the wait for a slot dominates.
func evidence(r *metrics.Report, s *saturation) string {
	name, pair := "p99 "+r.Plan.FirstWait().Naming().Title, change(s.before.TTFTp99, s.shown.TTFTp99)
	if slotWaitDominates(r, s.shown) {
		name, pair = "p99 scheduled to first chunk", change(s.before.WaitP99, s.shown.WaitP99)
	}
	if s.shown != s.after {
		pair += " at " + loadText(s.shown.Offered, s.shown.Users)
	}
	return fmt.Sprintf(" (%s %s)", name, pair)
}

// limit is the bottleneck past saturation.
func limit(r *metrics.Report) string {
	if b := r.Answer.Bottleneck; b.Known() && saturationOf(r) != nil {
		return "limit: " + b.String()
	}
	return ""
}

// saturationLoad is one load if it is known closely enough, else a range.
func saturationLoad(a *metrics.Answer) string {
	if at, close := a.At(); close {
		return "at ~" + aboutText(at, a.Users)
	}
	from, unit, _ := strings.Cut(loadText(a.From, a.Users), " ")
	to, _, _ := strings.Cut(loadText(a.To, a.Users), " ")
	return fmt.Sprintf("between %s and %s %s", from, to, unit)
}

// unsaturated is the reason why no saturation was seen, and the longest p99 of levels that are evidence.
func unsaturated(r *metrics.Report) (why, shown string) {
	why = cutASCII(r.Answer.Why, maxAnswerWidth/3)
	if !strings.Contains(why, "saturat") {
		return strings.TrimSuffix("saturation unknown: "+why, ": "), ""
	}
	var slowest metrics.LoadLevel
	for i := range r.Levels {
		if l := &r.Levels[i]; l.Standing.Evidence() {
			slowest.TTFTp99, slowest.WaitP99 = max(slowest.TTFTp99, l.TTFTp99), max(slowest.WaitP99, l.WaitP99)
		}
	}
	switch {
	case slotWaitDominates(r, &slowest):
		shown = fmt.Sprintf(" (p99 scheduled to first chunk up to %s)", latency(slowest.WaitP99))
	case slowest.TTFTp99 > 0:
		shown = fmt.Sprintf(" (p99 %s up to %s)", r.Plan.FirstWait().Naming().Title, latency(slowest.TTFTp99))
	}
	return why, shown
}

// steadyLoad sums up a run of one load.
func steadyLoad(r *metrics.Report) string {
	var figures []string
	if !r.Plan.Paced() && r.RequestThroughput > 0 { // the rate is a result, not a setting
		figures = append(figures, loadText(r.RequestThroughput, false))
	}
	shown := []metrics.Latency{r.Plan.FirstWait(), metrics.ITL}
	if r.Plan.Pooling {
		shown = shown[:1]
	}
	for _, l := range shown {
		if v, known := p99(&r.Statistics[l]); known {
			figures = append(figures, "p99 "+l.Naming().Title+" "+latency(v))
		}
	}
	if r.Judged() {
		good, of := r.Good, r.Completed+r.Failed
		if len(r.Levels) == 1 && r.Levels[0].Requests > 0 {
			good, of = r.Levels[0].Good, r.Levels[0].Requests // counted from the scheduled time, as for all levels
		}
		figures = append(figures, goodShare(good, of)+" within "+r.Plan.TiersUnder(r.Objectives)[0].Title())
		if len(r.Levels) == 1 {
			figures = append(figures, otherShares(r)...)
		}
	}
	if len(figures) == 0 {
		figures = []string{count(r.Completed, "request") + " succeeded"}
	}
	return loadName(r) + ": " + strings.Join(figures, ", ")
}

// p99 is unknown without samples.
func p99(s *metrics.Statistic) (ms float64, known bool) {
	ms, known = s.Percentile(99)
	return ms, known && s.N > 0
}

// loadName describes the load of a run at one load.
func loadName(r *metrics.Report) string {
	p := &r.Plan
	switch {
	case p.Trace:
		return count(r.Completed+r.Failed, "request") + " of the trace"
	case p.Ramp != nil:
		return fmt.Sprintf("%s to %s", rateText(p.Ramp.From), loadText(p.Ramp.To, false))
	case len(r.Levels) == 1 && finite(r.Levels[0].Offered) && r.Levels[0].Offered > 0 && (r.Levels[0].Users || r.Plan.Paced()):
		return loadText(r.Levels[0].Offered, r.Levels[0].Users)
	case len(p.Stages) > 0:
		return count(len(p.Stages), "stage")
	case !p.Rate.Unlimited():
		return loadText(float64(p.Rate), false)
	case p.MaxConcurrency > 0:
		return loadText(float64(p.MaxConcurrency), true)
	}
	return count(r.Completed+r.Failed, "request") + " at once"
}

func failedShare(r *metrics.Report) string {
	if r.Failed == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d failed (%s)", r.Failed, r.Completed+r.Failed, mainFailure(r))
	if r.ServerGone() {
		text += fmt.Sprintf(", the last %d without an answer", r.Unreached)
	}
	return text
}

// mainFailure is the most frequent kind of failure.
func mainFailure(r *metrics.Report) string {
	if len(r.Failures) == 0 {
		return "cause unknown"
	}
	f := &r.Failures[0]
	text := cutASCII(string(f.Kind), 20)
	if f.Kind == metrics.FailedStatus {
		text = fmt.Sprintf("HTTP %d", f.Status)
	}
	if len(r.Failures) > 1 {
		return "mostly " + text
	}
	return text
}

// p99OfSlotWait is the p99 of the wait for a slot, and 0 if that wait did not shape the load. In a closed loop, and if all
// requests are due at once, the wait is part of the plan.
func p99OfSlotWait(r *metrics.Report) float64 {
	wait, ok := r.Statistics[metrics.SlotWait].Percentile(99)
	if !ok || wait < minSlotWaitMS || r.Plan.MaxConcurrency == 0 || !r.Plan.Paced() {
		return 0
	}
	return wait
}

// slotWait reports the wait for a slot, unless the evidence of saturation includes it.
func slotWait(r *metrics.Report) string {
	wait, s := p99OfSlotWait(r), saturationOf(r)
	if wait == 0 || s != nil && slotWaitDominates(r, s.shown) {
		return ""
	}
	return fmt.Sprintf("waited p99 %s for a slot", latency(wait))
}

// shortfall reports that fewer requests were sent than planned, unless slotWait explains it.
func shortfall(r *metrics.Report) string {
	if !sentShort(r) || p99OfSlotWait(r) > 0 {
		return ""
	}
	return fmt.Sprintf("sent only %s", loadText(r.SentRate, false))
}
