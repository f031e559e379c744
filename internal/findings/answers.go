package findings

import (
	"fmt"
	"strings"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// answers are how the answers to known prompts changed under load, of a run that checks them.
func (r *Run) answers() (Finding, bool) {
	if r.Plan.CheckAnswers == 0 || r.Checks == nil && !r.Over {
		return Finding{}, false
	}
	f, value, brief := Finding{ID: Answers, Name: "answers"}, "none was compared under load", "not compared"
	switch c := r.Checks; {
	case c == nil || c.Sent == 0:
		value, brief = "no known prompt was answered alone", "not known"
	case c.Unsteady == c.Sent:
		value, brief = "not the same with itself alone", "not the same alone"
	case c.Compared > 0:
		brief = fmt.Sprintf("%d of %d changed", c.Changed, c.Compared)
		value = brief + " under load (" + Interval(c.ChangedShare) + ")"
		switch {
		case c.Changed == 0 && c.Known():
			f.Severity = Good
		case c.NoTies > 0 && c.MoreThanAlone():
			f.Severity = Bad
		case c.Changed > 0:
			f.Severity = Open
		}
	}
	if cached, _ := r.cached(); cached {
		f.Severity = Bad
		value, brief = value+", repeated ones from a cache", brief+", cached"
	}
	return f.say("answers: ", "answers ", value, brief), true
}

func (r *Run) cached() (cached, known bool) {
	if r.Checks == nil {
		return false, false
	}
	return r.Checks.Cached(r.FastestTPOT)
}

// garbage are the answers of the load that are none for a reader.
func (r *Run) garbage() (Finding, bool) {
	if len(r.Garbage) == 0 {
		return Finding{}, false
	}
	n := 0
	for _, g := range r.Garbage {
		n += g.Count
	}
	brief := fmt.Sprintf("%s garbage", text.Grouped(n))
	value := fmt.Sprintf("%s of %s answers", text.Grouped(n), text.Grouped(r.Done))
	if mostly := r.Garbage[0]; len(r.Garbage) == 1 {
		value += ", " + mostly.Reason
	} else {
		value += ", mostly " + mostly.Reason
	}
	return Finding{ID: Garbage, Name: "garbage", Severity: Open}.say("garbage: ", "", value, brief), true
}

// Interval writes the bounds of a share, with 95 % confidence.
func Interval(s metrics.ChangedShare) string {
	low, high := s.Bounds()
	return fmt.Sprintf("%.0f–%.0f %%", 100*low, 100*high)
}

// AnswerWords say what the checks of answers show, and what they leave open, a sentence each.
func (r *Run) AnswerWords() (out []string) {
	say := func(ok bool, format string, args ...any) {
		if ok {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	c := r.Checks
	if c == nil || c.Sent == 0 {
		return []string{"No known prompt was answered alone, so there is nothing to compare with."}
	}
	say(c.Failed > 0, "%s of known prompts failed.", text.Count(c.Failed, "request"))
	say(c.Unsteady > 0, "%d of %d known prompts had two different answers alone: the server is not the same with "+
		"itself even without a load. They are not compared.", c.Unsteady, c.Sent)
	say(c.Compared == 0 && c.Unsteady < c.Sent,
		"None was compared under load: a longer run has room for more within 1 %% of its tokens.")
	say(c.Compared > 0 && !c.Known(), "%d are few: a condition of --fail-on takes %d, or five that changed.",
		c.Compared, metrics.EnoughChecks)
	say(c.Changed > 0 && !c.MoreThanAlone(), "No more are shown to change under load than alone (%s, %s alone): the "+
		"load need not be the cause.", Interval(c.ChangedShare), Interval(c.Alone()))
	say(c.Changed > 0, "Those that changed were the same for %.0f %% of their length on average.", 100*c.CommonShare())
	at := func(n int, words string) { say(n > 0, "At the first difference of %d, "+words+".", n) }
	at(c.Ties, "two tokens were about as likely, and rounding decides, which depends on the batch; a server that is "+
		"invariant to batches has no such changes")
	at(c.NoTies, "one token was likely alone and another one under load, which rounding does not explain")
	at(c.Changed-c.Ties-c.NoTies, "the log probabilities are not known, so neither is the reason; a server that tells "+
		"them, or one that is invariant to batches, would settle it")
	cached, known := r.cached()
	say(cached, "The same prompt again is answered in less than a quarter of the time per output token of other "+
		"answers: a prefix cache shortens the wait for the first token alone, so these come from a cache of answers.")
	say(!known, "Whether repeated prompts are answered from a cache of answers is not known: too few answers have a "+
		"time per output token.")
	return out
}

// GarbageWords say what the reasons of garbage may mean.
func GarbageWords(all []metrics.WrongAnswers, ignoreEOS bool) string {
	var words []string
	for _, g := range all {
		switch g.Reason {
		case metrics.GarbageRepetition, metrics.GarbageBroken, metrics.GarbageEmpty:
			words = append(words, g.Reason)
		}
	}
	if len(words) == 0 {
		return ""
	}
	why := "prompts without sense or a model without training do it"
	if ignoreEOS {
		why = "prompts without sense, and answers that have to go on past their end (ignore_eos), do it"
	}
	return fmt.Sprintf("Of %s the model itself can be the cause: %s. If there is none of it under a light load, it is "+
		"the server.", strings.Join(words, ", "), why)
}
