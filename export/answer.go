package export

import (
	"fmt"
	"slices"
	"strings"

	"benchtop/internal/findings"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// maxAnswerWidth is the width of the answer in columns.
const maxAnswerWidth = 150

// Answer is the headline result in one line, without a newline: the findings; whether the client limited them; the
// gates that were missed. It is never empty, ASCII, and at most maxAnswerWidth columns wide.
//
//	within SLO: 24 req/s proven (97 %); saturates between 24 and 48 req/s (p99 TTFT 0.41 -> 2.10 s); client ok
//	8 req/s: TTFT p50 46.0 ms, p99 410 ms; ITL p50 15.7 ms, p99 32.0 ms; client OVERLOADED (p99 sent 24ms late)
//	no request succeeded: 200 failed (connect); FAILED p99_ttft_ms>500 (unknown)
func Answer(r metrics.Report) string {
	// The verdict on the client and the missed gates are never cut off; the reasons for a limited client get the
	// remaining width.
	available := func(taken ...string) int { return maxAnswerWidth - len(joinParts(taken...)) - len("; ") }
	line, least := "", joinParts(clientVerdict(&r, 0), missedGates(&r, maxAnswerWidth/3))
	for left := range mostLeftOut + 1 {
		if line = headline(&r, left); len(line) <= available(least) {
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

// mostLeftOut is the highest degree of shortening of a headline.
const mostLeftOut = 7

// shortened are the degrees from which on findings are in their short form.
var shortened = map[findings.ID]int{findings.Limit: 3, findings.Answers: 3, findings.Garbage: 3, findings.Latency: 4,
	findings.Saturation: 6, findings.Within: 7}

// headline are the findings in one line. Of what is needed least so many kinds are shortened or left out, as a whole.
func headline(r *metrics.Report, left int) string {
	if r.Completed == 0 {
		return "no request succeeded: " + whyNoSuccess(r)
	}
	run := findings.OfReport(r)
	alone := "" // what is said before the latencies of a run at one load
	if run.Steady() {
		alone = loadName(r) + ": " + ownRate(r)
	}
	var parts []string
	for _, f := range run.Findings() {
		text := f.Long
		if least, ok := shortened[f.ID]; ok && left >= least {
			text = f.Short
		}
		switch {
		case f.ID == findings.Errors, left >= 2 && f.ID == findings.Peak, left >= 5 && f.ID == findings.Limit:
			continue
		case f.ID == findings.Latency:
			text, alone = alone+text, ""
		case f.ID == findings.Saturation && left < 4:
			text += evidence(r)
		}
		parts = append(parts, ascii(text))
	}
	if alone != "" && !r.Judges() {
		parts = append(parts, alone+text.Count(r.Completed, "request")+" succeeded")
	}
	if run.Steady() && left < 5 {
		parts = append(parts, goodShares(r))
	}
	parts = append(parts, failedShare(r))
	if left < 3 {
		parts = append(parts, usersWho(r))
	}
	if left == 0 {
		parts = append(parts, slotWait(r), shortfall(r))
	}
	return joinParts(parts...)
}

// ascii writes a finding, which may hold foreign text.
func ascii(finding string) string {
	return cutASCII(strings.ReplaceAll(finding, "–", "-"), maxAnswerWidth)
}

// joinParts joins the parts that are not empty.
func joinParts(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// levelAt is a level of the answer; nil for none, and for one that the report does not have.
func levelAt(r *metrics.Report, i int) *metrics.LoadLevel {
	if i < 0 || i >= len(r.Levels) {
		return nil
	}
	return &r.Levels[i]
}

func whyNoSuccess(r *metrics.Report) string {
	switch {
	case r.Failed > 0:
		return fmt.Sprintf("%d failed (%s)", r.Failed, mainFailure(r))
	case r.Abandoned > 0:
		return "all users left"
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

// slotWaitDominates reports whether requests waited so long for a slot of this client that TTFT understates the wait.
func slotWaitDominates(r *metrics.Report, l *metrics.LoadLevel) bool {
	return r.WaitedForSlot() && l.WaitP99 > 2*l.TTFTp99
}

// evidence is the latency that shows saturation, or that there is none: TTFT, or E2EL for answers in one piece, or the
// wait since the scheduled time where the wait for a slot dominates. It is empty where no level shows it.
func evidence(r *metrics.Report) string {
	a := &r.Answer
	if !a.Saturates {
		return unsaturated(r)
	}
	before, shown := levelAt(r, a.Before), levelAt(r, a.Shown)
	if before == nil || shown == nil || before == shown || a.Drifting {
		return ""
	}
	name, pair := "p99 "+r.Plan.FirstWait().Naming().Title, change(before.TTFTp99, shown.TTFTp99)
	if slotWaitDominates(r, shown) {
		name, pair = "p99 scheduled to first chunk", change(before.WaitP99, shown.WaitP99)
	}
	if a.Shown != a.After {
		pair += " at " + findings.Load(shown.Unit.Of(shown.Offered))
	}
	return fmt.Sprintf(" (%s %s)", name, pair)
}

// unsaturated is the longest p99 of levels that are evidence.
func unsaturated(r *metrics.Report) string {
	if !strings.Contains(r.Answer.Why, "saturat") {
		return ""
	}
	var slowest metrics.LoadLevel
	for i := range r.Levels {
		if l := &r.Levels[i]; l.Standing.Evidence() {
			slowest.TTFTp99, slowest.WaitP99 = max(slowest.TTFTp99, l.TTFTp99), max(slowest.WaitP99, l.WaitP99)
		}
	}
	switch {
	case slotWaitDominates(r, &slowest):
		return fmt.Sprintf(" (p99 scheduled to first chunk up to %s)", findings.Milliseconds(slowest.WaitP99))
	case slowest.TTFTp99 > 0:
		name := r.Plan.FirstWait().Naming().Title
		return fmt.Sprintf(" (p99 %s up to %s)", name, findings.Milliseconds(slowest.TTFTp99))
	}
	return ""
}

// ownRate is the rate of a closed loop, which is a result; "" where it is a setting.
func ownRate(r *metrics.Report) string {
	if r.Plan.Paced() || !(r.RequestThroughput > 0) {
		return ""
	}
	return findings.Load(metrics.Load{Value: r.RequestThroughput}) + ", "
}

// goodShares are the shares of good requests of a run at one load, for each tier; "" without objectives.
func goodShares(r *metrics.Report) string {
	tiers := r.Plan.TiersUnder(r.Objectives)
	var all []string
	for i, tier := range tiers {
		good, of := r.Good, r.Counts.Ended()
		if len(r.Levels) == 1 && r.Levels[0].Requests > 0 { // counted from the scheduled time, as for all levels
			good, of = r.Levels[0].Tier(i).Good, r.Levels[0].Tier(i).Requests
		} else if i > 0 {
			break
		}
		if of > 0 {
			all = append(all, percent(float64(good)/float64(of))+" within "+cutASCII(tier.Title(), textWidth/4))
		}
	}
	return strings.Join(all, ", ")
}

// loadName describes the load of a run at one load.
func loadName(r *metrics.Report) string {
	p := &r.Plan
	switch {
	case p.Trace:
		return text.Count(r.Counts.Ended(), "request") + " of the trace"
	case p.Ramp != nil:
		return fmt.Sprintf("%s to %s", findings.Number(p.Ramp.From), findings.Load(metrics.Load{Value: p.Ramp.To}))
	case len(r.Levels) == 1 && text.Finite(r.Levels[0].Offered) && r.Levels[0].Offered > 0 &&
		(r.Levels[0].Unit == metrics.Users || r.Plan.Paced()):
		return findings.Load(r.Levels[0].Unit.Of(r.Levels[0].Offered))
	case len(p.Stages) > 0:
		return text.Count(len(p.Stages), "stage")
	case !p.Rate.Unlimited():
		return findings.Load(metrics.Load{Value: float64(p.Rate)})
	case p.MaxConcurrency > 0:
		return findings.Load(metrics.Users.Of(float64(p.LoopUsers())))
	}
	return text.Count(r.Counts.Ended(), "request") + " at once"
}

// usersWho are users who left, and those who tried again.
func usersWho(r *metrics.Report) string {
	if r.Abandoned+r.Retried == 0 {
		return ""
	}
	return "users: " + r.OfUsers(&r.Plan)
}

func failedShare(r *metrics.Report) string {
	if r.Failed == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d failed (%s)", r.Failed, r.Counts.Ended(), mainFailure(r))
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

// p99OfSlotWait is the p99 of the wait for a slot, and 0 if that wait did not shape the load. In a closed loop, and if
// all requests are due at once, the wait is part of the plan.
func p99OfSlotWait(r *metrics.Report) float64 {
	wait, ok := r.Statistics[metrics.SlotWait].Percentile(99)
	if !ok || wait < metrics.MinSlotWaitMS || r.Plan.MaxConcurrency == 0 || !r.Plan.Paced() {
		return 0
	}
	return wait
}

// slotWait reports the wait for a slot, unless the evidence of saturation includes it.
func slotWait(r *metrics.Report) string {
	wait, shown := p99OfSlotWait(r), levelAt(r, r.Answer.Shown)
	if wait == 0 || r.Answer.Saturates && shown != nil && slotWaitDominates(r, shown) {
		return ""
	}
	return fmt.Sprintf("waited p99 %s for a slot", findings.Milliseconds(wait))
}

// shortfall reports that fewer requests were sent than planned, unless slotWait explains it.
func shortfall(r *metrics.Report) string {
	if !r.SentShort() || p99OfSlotWait(r) > 0 {
		return ""
	}
	return fmt.Sprintf("sent only %s", findings.Load(metrics.Load{Value: r.SentRate}))
}
