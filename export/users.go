package export

import (
	"fmt"

	"benchtop/internal/findings"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// users is what users did other than wait, where the plan has it.
func users(r *metrics.Report) (o object) {
	p := &r.Plan
	if p.Abandon != "" {
		o = append(o, Arg{"abandon", object{
			{"rule", p.Abandon}, {"abandoned", r.Abandoned}, {"unanswered", r.Unanswered},
			{"wasted_output_tokens", r.WastedOutput}, {"wasted_input_tokens", r.WastedInput},
		}})
	}
	if p.Retry != "" {
		by := object{{"429", r.Tallies[metrics.TooManyRequests]}, {"503", r.Tallies[metrics.Unavailable]},
			{"connect", r.Tallies[metrics.Refused]}}
		perSecond := func(n int) any { return when(r.Judges(), metrics.PerSecond(float64(n), r.Duration)) }
		o = append(o, Arg{"retry", object{
			{"rule", p.Retry}, {"tries", tries(r)}, {"retries", by}, {"retried", r.Retried}, {"gave_up", r.GaveUp},
			{"good_users", goodOrNull(r, r.GoodUsers)}, {"user_goodput", perSecond(r.GoodUsers)},
			{"good_tries", goodOrNull(r, r.GoodTries)}, {"try_goodput", perSecond(r.GoodTries)},
			{"try_ttft_ms", statistic(&r.Tries, "")},
		}})
	}
	if p.ReadRate != "" {
		o = append(o, Arg{"read_rate", p.ReadRate})
	}
	return o
}

// tries are those of all requests, each of which had one beside its retries.
func tries(r *metrics.Report) int {
	n := r.Completed + r.Failed + r.Abandoned + r.Retries()
	if r.Interrupted != nil {
		n += r.Interrupted.Cancelled
	}
	return n
}

// columns are the counts of a group or a second that not all runs have.
func columns(r *metrics.Report, of *metrics.Counts) (o object) {
	for _, c := range metrics.ColumnsOf(&r.Plan, &r.Counts) {
		if c.Key != "" {
			o = append(o, Arg{c.Key, c.Count(of)})
		}
	}
	if r.Plan.Retry != "" {
		o = append(o, Arg{"retries", of.Retries()})
	}
	return o
}

// counts are those of the run that remarks tell.
func counts(r *metrics.Report) (o object) {
	for _, c := range metrics.ColumnsOf(&r.Plan, &r.Counts) {
		if c.Remark != "" {
			o = append(o, Arg{c.Key, c.Count(&r.Counts)})
		}
	}
	return o
}

// users tell of users who left, tried again, or read slowly.
func (t *remarks) users() {
	r, p := t.r, &t.r.Plan
	if p.Abandon != "" {
		unanswered := ""
		if r.Unanswered > 0 {
			unanswered = fmt.Sprintf(", and %s of the %d who left without a token",
				text.Count(r.WastedInput, "prompt token"), r.Unanswered)
		}
		t.add("Users who left (%s): %d, neither successes nor failures, but their TTFT and ITL count. Wasted on them: "+
			"%s%s.", p.Abandon, r.Abandoned, text.Count(r.WastedOutput, "output token"), unanswered)
	}
	if p.Retry != "" {
		t.add("Users who tried again (%s): %s%s", p.Retry, turnedAway(&r.Counts), t.tries())
	}
	if p.ReadRate != "" {
		t.add("Reading: users read at most %s. All times are of what they read, whenever it arrived.", p.ReadRate)
	}
}

// tries are the latencies and goodput of tries, beside those of users.
func (t *remarks) tries() string {
	r := t.r
	if r.Retried == 0 {
		return "" // users and tries are the same
	}
	out := " Latencies are of users, from the first try."
	if r.Tries.N > 0 {
		out += fmt.Sprintf(" TTFT of the answered tries alone, which 'Where TTFT goes' divides: mean %s, median %s.",
			findings.Milliseconds(r.Tries.Mean), findings.Milliseconds(r.Tries.Median))
	}
	if r.Judges() {
		out += fmt.Sprintf(" Within the objectives: %d users from their due time, %d tries by themselves.", r.GoodUsers,
			r.GoodTries)
	}
	return out
}

// turnedAway are the users who tried again, with the reasons.
func turnedAway(c *metrics.Counts) string {
	if c.Retried == 0 {
		return "none."
	}
	out := fmt.Sprintf("%d, after %s with status 429, %d with 503", c.Retried,
		text.Count(c.Tallies[metrics.TooManyRequests], "answer"), c.Tallies[metrics.Unavailable])
	if n := c.Tallies[metrics.Refused]; n > 0 {
		out += " and " + text.Count(n, "refused connection")
	}
	return fmt.Sprintf("%s; %d of them gave up.", out, c.GaveUp)
}
