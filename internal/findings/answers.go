package findings

import (
	"fmt"

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
	case c.Compared > 0:
		brief = fmt.Sprintf("%d of %d changed", c.Changed, c.Compared)
		value = brief + " under load (" + Interval(c.ChangedShare) + ")"
		switch {
		case c.Sampled:
			value += ", sampled"
		case c.Changed == 0 && c.Known():
			f.Severity = Good
		case c.NoTies > 0 && c.MoreThanAlone():
			f.Severity = Bad
		case c.Changed > 0:
			f.Severity = Open
		}
	case c.Unsteady == c.Sent:
		value, brief = "not the same with itself alone", "not the same alone"
		if c.Sampled {
			value, brief = "not compared, as the server refuses temperature 0", "sampled"
		}
	case c.FailedBeside > 0:
		value, brief = fmt.Sprintf("%d of %d failed under load", c.FailedBeside, c.Beside), "failed under load"
		if f.Severity = Open; c.Failed == c.FailedBeside {
			f.Severity = Bad
		}
	case c.Empty == c.Sent:
		value, brief = "known answers are empty", "empty"
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
	if c == nil {
		c = new(metrics.AnswerChecks)
	}
	say(c.Failed > 0, "%s with known prompts failed, the first with %s.", text.Count(c.Failed, "request"),
		text.Clean(c.Error))
	if c.Sent == 0 {
		return append(out, "No known prompt was answered alone, so there is nothing to compare with.")
	}
	say(c.Empty > 0, "%d of %d known prompts had empty answers, which leave nothing to compare.", c.Empty, c.Sent)
	switch {
	case c.Compared > 0 || c.Unsteady == c.Sent || c.Empty == c.Sent:
	case c.FailedBeside > 0:
		say(true, "None was compared under load: all requests beside it failed.")
	case c.Unsteady == c.Repeated:
		say(true, "None was compared under load: no prompt had the same answer twice alone.")
	default:
		say(true, "None was compared under load: a longer run has room for more within 1 %% of its tokens.")
	}
	say(c.Compared > 0 && !c.Known(), "A condition of --fail-on needs %d compared answers, or five that changed; this "+
		"run has %d.", metrics.EnoughChecks, c.Compared)
	say(c.Changed > 0, "Those that changed were the same for %.0f %% of their length on average.", 100*c.CommonShare())
	if c.Sampled {
		say(true, "The server refuses temperature 0, so its answers are drawn at random, and a change tells nothing. "+
			"Alone %d of %d known prompts had two different ones, and are not compared.", c.Unsteady, c.Sent)
	} else {
		out = append(out, r.changeWords(c)...)
	}
	cached, known := r.cached()
	say(cached, "The same prompt again is answered in less than a quarter of the time per output token of other "+
		"answers: a prefix cache shortens the wait for the first token alone, so these come from a cache of answers.")
	why := "too few answers have a time per output token"
	if r.Plan.ReadRate != "" {
		why = "with --read-rate the times of the load are the reader's, and too few known answers have a time per " +
			"output token"
	}
	say(!known, "Whether repeated prompts are answered from a cache of answers is not known: %s.", why)
	return out
}

// changeWords say what may be the cause of changes.
func (r *Run) changeWords(c *metrics.AnswerChecks) (out []string) {
	say := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(c.Unsteady, "%d of %d known prompts had two different answers alone: the server is not the same with itself "+
		"even without a load. They are not compared.", c.Unsteady, c.Sent)
	if c.Changed > 0 && !c.MoreThanAlone() {
		say(1, "No more are shown to change under load than alone (%s, %s alone): the load need not be the cause.",
			Interval(c.ChangedShare), Interval(c.Alone()))
	}
	invariant := ""
	if c.Ties == c.Changed && len(r.Garbage) == 0 {
		invariant = ". A server that is invariant to batches has no such changes"
	}
	say(c.Ties, "Rounding may be the cause of %d of %d: the two tokens at the first difference were about as likely, "+
		"and rounding depends on the batch%s.", c.Ties, c.Changed, invariant)
	say(c.NoTies, "Rounding does not explain %d of %d: at the first difference one token was likely alone and another "+
		"one under load.", c.NoTies, c.Changed)
	unknown := c.Changed - c.Ties - c.NoTies
	say(unknown, "The cause of %d of %d is not known, because the log probabilities are not; a server that tells "+
		"them, or one that is invariant to batches, would settle it.", unknown, c.Changed)
	return out
}

// GarbageWords say what the reasons of garbage may mean.
func GarbageWords(all []metrics.WrongAnswers, ignoreEOS bool) string {
	var words []string
	for _, g := range all {
		switch g.Reason {
		case metrics.GarbageRepetition, metrics.GarbageBroken:
			words = append(words, g.Reason)
		case metrics.GarbageEmpty:
			words = append(words, "empty answers")
		}
	}
	if len(words) == 0 {
		return ""
	}
	why := "meaningless prompts and untrained models lead to such answers"
	if ignoreEOS {
		why = "meaningless prompts, and answers that must go on past their end (ignore_eos), lead to them"
	}
	return fmt.Sprintf("The model itself may be the cause of %s: %s. If a light load has none, the server is the "+
		"cause.", text.Join(words, " and "), why)
}
