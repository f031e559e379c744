package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"benchtop/metrics"
)

// answerWidth is how long the answer may become before a list in it is cut short, in columns.
const answerWidth = 150

// Answer is the one line a person came for, without a newline: where the server bends and what load it bears, or how it
// did under the one load there was; whether the client limited it; which gates were missed. There always is one, in ASCII,
// of at most 150 columns.
//
//	bends at ~38 req/s (p99 TTFT 0.41 -> 2.10 s); highest load within SLO: 34.2 req/s; client ok
//	8.0 req/s: p99 TTFT 0.41 s, p99 ITL 32 ms, 99.1 % within SLO; client LIMITED (p99 sent 24ms late)
//	no request succeeded: 200 failed (connect); FAILED p99_ttft_ms>500 (unknown)
func Answer(r metrics.Report) string {
	var parts []string
	if r.Completed == 0 {
		parts = []string{"no request succeeded: " + whyNone(&r)}
	} else {
		parts = append(verdict(&r), failedShare(&r), slotWait(&r), shortfall(&r))
	}
	line := joined(parts...)
	// That the client or a gate failed is never cut off for the sake of the rest; why the client did has the room that is left.
	room := func(taken ...string) int { return answerWidth - len(joined(taken...)) - len("; ") }
	missed := missedGates(&r, max(room(line, clientWords(&r, 0)), answerWidth/3))
	tail := joined(clientWords(&r, room(line, missed)), missed)
	if tail != "" {
		line = cutASCII(line, room(tail))
	}
	return cutASCII(joined(line, tail), answerWidth)
}

// joined leaves out empty parts.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// bend is the pair of levels between which the server bent, and the one that shows it.
type bend struct{ before, after, shown *metrics.LoadLevel }

// bendOf is nil without a bend, and for a report whose levels are not those of its answer.
func bendOf(r *metrics.Report) *bend {
	a, n := &r.Answer, len(r.Levels)
	if !a.Bends || min(a.Before, a.After, a.Shown) < 0 || max(a.Before, a.After, a.Shown) >= n {
		return nil
	}
	return &bend{&r.Levels[a.Before], &r.Levels[a.After], &r.Levels[a.Shown]}
}

// whyNone says why no request succeeded.
func whyNone(r *metrics.Report) string {
	switch {
	case r.Failed > 0:
		return fmt.Sprintf("%d failed (%s)", r.Failed, mainFailure(r))
	case r.Interrupted != nil:
		why, i := "the run was cut short", r.Interrupted
		if i.Cancelled > 0 || i.Unsent > 0 { // else nobody may know: a journal that was cut off does not say
			why += fmt.Sprintf(" with %d under way and %d not sent", i.Cancelled, i.Unsent)
		}
		if r.WarmedUp > 0 {
			why += fmt.Sprintf(", after %d of the warm-up", r.WarmedUp)
		}
		return why
	case r.WarmedUp > 0:
		why := fmt.Sprintf("all %d belonged to the warm-up", r.WarmedUp)
		if r.WarmedUp == 1 {
			why = "the only one belonged to the warm-up"
		}
		if r.NotSent > 0 {
			why += fmt.Sprintf(" (%d not sent)", r.NotSent)
		}
		return why
	case r.NotSent > 0:
		return "the time was over before one was sent"
	}
	return "none was sent"
}

// verdict is about the load.
func verdict(r *metrics.Report) []string {
	b := bendOf(r)
	switch {
	case r.Plan.Find != nil && highest(r) != "": // what was searched for comes first
		return []string{highest(r), bendText(r, b)}
	case b != nil:
		return []string{bendText(r, b), highest(r)}
	case len(r.Levels) > 1:
		return []string{withoutBend(r), highest(r)}
	}
	return []string{steady(r)}
}

// bendText is "" without a bend.
func bendText(r *metrics.Report, b *bend) string {
	if b == nil {
		return ""
	}
	pair := change(b.before.TTFTp99, b.shown.TTFTp99)
	if b.shown != b.after {
		pair += " at " + loadText(b.shown.Offered, b.shown.Users)
	}
	return fmt.Sprintf("bends at ~%s (p99 TTFT %s)", aboutText(r.Answer.At, r.Answer.Users), pair)
}

func withoutBend(r *metrics.Report) string {
	line := cutASCII(r.Answer.Why, answerWidth/3)
	if !strings.Contains(line, "bend") {
		line = strings.TrimSuffix("no bend to be seen: "+line, ": ")
	}
	slowest := 0.0
	for i := range r.Levels {
		slowest = max(slowest, r.Levels[i].TTFTp99)
	}
	if slowest > 0 {
		line += fmt.Sprintf(" (p99 TTFT up to %s)", latency(slowest))
	}
	return line
}

// highest does not call a load too high of which every request was good: there were too few to tell.
func highest(r *metrics.Report) string {
	switch {
	case len(r.Objectives) == 0:
		return ""
	case !r.Answer.Within && slices.ContainsFunc(r.Levels, func(l metrics.LoadLevel) bool { return l.Good < l.Requests }):
		return "no load within SLO"
	case !r.Answer.Within:
		return ""
	}
	text := "highest load within SLO: "
	if f := r.Plan.Find; f != nil && f.Most > 0 && r.Answer.Highest >= f.Most {
		text += "at least " // the search was not to try more
	}
	text += loadText(r.Answer.Highest, r.Answer.Users)
	if r.Plan.Find != nil && r.Answer.Sure > 0 {
		text += fmt.Sprintf(" (%.0f %% sure)", math.Floor(min(r.Answer.Sure*100+1e-9, 99))) // nothing measured is certain
	}
	if r.Answer.Bends && r.Answer.Highest > r.Answer.At {
		text += " (past the bend)" // a queue takes time to hurt
	}
	return text
}

// steady sums up a run of one load.
func steady(r *metrics.Report) string {
	var figures []string
	if !paced(r) && r.RequestThroughput > 0 { // nobody asked for this rate, so it is a finding
		figures = append(figures, loadText(r.RequestThroughput, false))
	}
	for _, s := range []struct {
		name string
		of   *metrics.Statistic
	}{{"TTFT", &r.TTFT}, {"ITL", &r.ITL}} {
		if v, ok := s.of.Percentile(99); ok && s.of.N > 0 {
			figures = append(figures, "p99 "+s.name+" "+latency(v))
		}
	}
	if len(r.Objectives) > 0 {
		// Rounded down, so that 100.0 % means all of them.
		share := r.Good * 1000 / (r.Completed + r.Failed)
		figures = append(figures, fmt.Sprintf("%.1f %% within SLO", float64(share)/10))
	}
	if len(figures) == 0 {
		figures = []string{count(r.Completed, "request") + " succeeded"}
	}
	return loadOf(r) + ": " + strings.Join(figures, ", ")
}

// loadOf names the one load of a run.
func loadOf(r *metrics.Report) string {
	p := &r.Plan
	switch {
	case p.Ramp != nil:
		return fmt.Sprintf("%s to %s", rateText(p.Ramp.From), loadText(p.Ramp.To, false))
	case len(r.Levels) == 1 && finite(r.Levels[0].Offered) && r.Levels[0].Offered > 0 && (r.Levels[0].Users || paced(r)):
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
		text += fmt.Sprintf(", the last %d with the server gone", r.Unreached)
	}
	return text
}

// mainFailure is the most frequent kind of failure.
func mainFailure(r *metrics.Report) string {
	if len(r.Failures) == 0 {
		return "of unknown causes"
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

// slotWait says how long requests waited for a slot, which shaped the load. Where all requests are due at once, or users
// follow their own last request, waiting is the plan.
func slotWait(r *metrics.Report) string {
	held, ok := r.ClientQueue.Percentile(99)
	if !ok || held < shortestHeld || r.Plan.MaxConcurrency == 0 || !paced(r) {
		return ""
	}
	return fmt.Sprintf("waited p99 %s for a slot", latency(held))
}

// shortfall says that less was sent than planned, unless the wait for a slot says it.
func shortfall(r *metrics.Report) string {
	if !sentShort(r) || slotWait(r) != "" {
		return ""
	}
	return fmt.Sprintf("sent only %s", loadText(r.SentRate, false))
}

// paced reports whether requests were to start at times of a schedule.
func paced(r *metrics.Report) bool {
	p := &r.Plan
	if len(p.Stages) > 0 {
		return slices.ContainsFunc(p.Stages, func(s metrics.Stage) bool { return s.Users == 0 })
	}
	return p.Ramp != nil || !p.Rate.Unlimited()
}
