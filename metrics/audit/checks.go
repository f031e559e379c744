package audit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// The limits of the checks that are nobody else's.
const (
	// steadyMost is the share of each load that has to be steady: the requests meet an empty server first.
	steadyMost = 0.9
	// fasterBy is the part by which repeated prompts are faster if a cache answers them, as in MLPerf's test of caching
	// (TEST04).
	fasterBy = 0.1
	// notSentMost is the share of requests that a run of a duration may leave unsent.
	notSentMost = 0.05
	// atOnceMost is the share of answers that may come at once.
	atOnceMost = 0.05
	// otherMost is the share of requests, of samples and of tokens that may be of others, otherSamples the fewest
	// samples that show them.
	otherMost    = 0.05
	otherSamples = 3
	// tailMost is the share of a run that may be after its load, when throughputs fall.
	tailMost = 0.1
	// fewestRepeats are compared.
	fewestRepeats = 20
	// longestReason is the room for the reason of an early end, in columns.
	longestReason = 60
)

// repeated stands in the description of a data set whose prompts are sent again and again.
const repeated = ", repeated to make "

var checks = []check{
	{"plan", "ends by its plan, 95 % of the requests sent", plan},
	{"records", "a row for each request sent", records},
	{"failures", "no failed request", failures},
	{"client", "within the limits of its health", client},
	{"load", "one load of the plan throughout", load},
	{"steering", "nothing changed by hand", steering},
	{"pacing", "95 % of the rate sent, no wait for a slot", pacing},
	{"steady", "90 % of each load without a change", steady},
	{"duration", "1m of load or more, longer than its warm-up", duration},
	{"percentiles", "1/(1-p) observations of each", percentiles},
	{"lengths", "95 % of the answers as long as asked for; without --ignore-eos they may end before", lengths},
	{"prompts", "95 % of the prompts read in full", prompts},
	{"tokens", "counted by the server or a tokenizer", tokens},
	{"stream", "answers come as they are made", stream},
	{"cache", "hits only what the prompts share, without whole repeats", cache},
	{"clock", "the wall clock was not set", clock},
	{"server", "the same process throughout", server},
	{"other load", "at most 5 % of the server's", others},
	{"proxy", "none on the way", proxy},
}

func valid(format string, args ...any) finding {
	return finding{Valid, fmt.Sprintf(format, args...), ""}
}
func invalid(format string, args ...any) finding {
	return finding{Invalid, fmt.Sprintf(format, args...), ""}
}
func unknown(figure, tell string) finding { return finding{Unknown, figure, tell} }

// partMissing is the finding where it is not known what all machines of a run sent.
var partMissing = unknown("a part of the load is missing", "the journals of all parts")

func plan(r *metrics.Report) finding {
	leftover := r.Plan.ClosedLoop() && r.Plan.Duration > 0 // what users did not come to in their time was never due
	switch i := r.Interrupted; {
	case r.Completed == 0:
		return invalid("no request succeeded")
	case i != nil && i.Cancelled+i.Unsent == 0:
		return invalid("%s", text.Fit(text.Clean(i.Reason), longestReason))
	case i != nil:
		return invalid("ended early, %s cut, %d not sent", text.Count(i.Cancelled, "request"), i.Unsent)
	case len(r.Plan.MissingParts(r.Client.Seconds)) > 0:
		return partMissing
	case !leftover && float64(r.NotSent) > notSentMost*float64(r.NotSent+r.Counts.Ended()): // some were due at the end
		return invalid("%s due and not sent", text.Count(r.NotSent, "request"))
	case r.Sessions != nil && r.Sessions.NotSent > 0:
		return invalid("%s of conversations not sent", text.Count(r.Sessions.NotSent, "turn"))
	}
	return valid("%s", text.Count(r.Counts.Ended(), "request"))
}

func records(r *metrics.Report) finding {
	sent, sampled, twice := 0, 0, 0
	for i := range r.Timeline {
		sent += r.Timeline[i].Sent
	}
	for i := range r.Client.Seconds {
		sampled += r.Client.Seconds[i].Sent
	}
	for i := 1; i < len(r.Rows); i++ {
		if r.Rows[i].Index == r.Rows[i-1].Index {
			twice++
		}
	}
	switch {
	case r.Damaged > 0:
		return invalid("%s", text.Count(r.Damaged, "damaged line"))
	case twice > 0:
		return invalid("%s twice", text.Count(twice, "row"))
	case r.Missing > 0 || sampled > sent:
		return invalid("%s missing", text.Count(max(r.Missing, sampled-sent), "row"))
	}
	return valid("%s", text.Count(sent, "row"))
}

func failures(r *metrics.Report) finding {
	if r.Failed > 0 {
		return invalid("%d of %d requests failed", r.Failed, r.Counts.Ended())
	}
	return valid("none")
}

func client(r *metrics.Report) finding {
	switch v := r.Client.Verdict; {
	case v.Limited():
		return invalid("%s", v)
	case len(r.Client.Seconds) == 0:
		return unknown("no samples of the client", "a journal with samples")
	}
	return valid("%s", r.Client.Verdict)
}

func load(r *metrics.Report) finding {
	switch {
	case r.Plan.Find != nil:
		return invalid("a search, %d loads", len(r.Levels))
	case r.Plan.Ramp != nil:
		return invalid("a ramp, %g to %g req/s", r.Plan.Ramp.From, r.Plan.Ramp.To)
	case len(r.Levels) > 1 || r.Steered > 0:
		return invalid("%d loads", len(r.Levels))
	case len(r.Levels) == 0:
		return unknown("no load to tell", "a run of 2 s or more")
	}
	return valid("%s", r.Levels[0].Unit.Words(text.Digits(r.Levels[0].Offered, 4)))
}

func steering(r *metrics.Report) finding {
	hand := 0
	for i := range r.Events {
		if set := r.Events[i].Set; set != nil && set.By == metrics.ByUser {
			hand++
		}
	}
	switch {
	case hand > 0:
		return invalid("load set %s", text.Count(hand, "time"))
	case !slices.Equal(r.Objectives, r.Plan.Goodput):
		return invalid("objectives changed")
	}
	return valid("none")
}

func pacing(r *metrics.Report) finding {
	sent := fmt.Sprintf("%s of %s req/s sent", text.Digits(r.SentRate, 4), text.Digits(r.ScheduledRate, 4))
	switch {
	case !r.Plan.Paced():
		return valid("no rate asked for")
	case r.WaitedForSlot():
		return invalid("waits of up to %s ms for a slot, not in TTFT",
			text.Digits(r.Statistics[metrics.SlotWait].Max, 4))
	case r.SentShort():
		return invalid("%s", sent)
	}
	return valid("%s", sent)
}

func steady(r *metrics.Report) finding {
	known, least := 0, 1.0
	for i := range r.Levels {
		if s := r.Levels[i].Steady; s != nil {
			known, least = known+1, min(least, s.Share)
		}
	}
	switch {
	case r.Plan.Ramp != nil && r.Steered == 0:
		return invalid("the load of a ramp changes")
	case known == 0 || known < len(r.Levels):
		return unknown(fmt.Sprintf("%d of %d loads long enough to tell", known, len(r.Levels)),
			fmt.Sprintf("%s of each load", metrics.Duration(judge.SteadyShortest)))
	case r.Answer.Drifting:
		return invalid("the server became slower")
	case least == 0:
		return invalid("never")
	case least < steadyMost:
		return invalid("%.0f %% of the load", math.Floor(100*least))
	}
	return valid("%.0f %%", math.Floor(100*least))
}

func duration(r *metrics.Report) finding {
	lasted := time.Duration(r.Duration * float64(time.Second)).Round(100 * time.Millisecond)
	loaded := time.Duration(0)
	for i := range r.Levels {
		loaded += r.Levels[i].To - r.Levels[i].From
	}
	if len(r.Levels) == 0 {
		loaded = lasted
	}
	loaded = loaded.Round(100 * time.Millisecond)
	switch tail := lasted - loaded; {
	case loaded < judge.ShortestProof:
		return invalid("%s of load", metrics.Duration(loaded))
	case tail > time.Duration(tailMost*float64(lasted)):
		return invalid("%s of %s after the load, which lower throughputs", metrics.Duration(tail),
			metrics.Duration(lasted))
	case r.Plan.Warmup > lasted:
		return invalid("%s after a warm-up of %s", metrics.Duration(lasted), metrics.Duration(r.Plan.Warmup))
	}
	return valid("%s", metrics.Duration(lasted))
}

func percentiles(r *metrics.Report) finding {
	few := r.TooFew()
	if len(few) == 0 {
		return valid("enough of all")
	}
	lacks := func(f metrics.TooFew) int { return f.Needed - f.Observed }
	most := slices.MaxFunc(few, func(a, b metrics.TooFew) int { return lacks(a) - lacks(b) })
	return invalid("%d of %d observations for p%g %s", most.Observed, most.Needed, most.P, most.Latency.Naming().Label)
}

func lengths(r *metrics.Report) finding {
	l := &r.Lengths
	switch words := l.Describe(&r.Plan); {
	case !r.Plan.Generates():
		return valid("no answers of tokens")
	case !r.Plan.IgnoreEOS && l.Longer.Count == 0 && 2*l.Shorter.Stopped > l.Shorter.Count:
		return valid("%d of %d ended before their limit, as they may", l.Shorter.Count, l.Judged)
	case len(words) > 0:
		return invalid("%d shorter, %d longer of %d", l.Shorter.Count, l.Longer.Count, l.Judged)
	case l.Judged == 0 && r.OutputSources[metrics.TokensFromUsage] == r.Completed:
		return valid("no length asked for")
	case l.Judged == 0:
		return unknown("no usage in the answers", "a server that returns usage")
	}
	return valid("%d of %d", l.Judged-l.Shorter.Count-l.Longer.Count, l.Judged)
}

func prompts(r *metrics.Report) finding {
	l := &r.Lengths
	switch {
	case uncounted[r.Plan.InputSource] != "" || l.Prompts == 0:
		return unknown("not counted by both sides", "--tokenizer, and a server that returns usage")
	case float64(l.Cut) > (1-0.95)*float64(l.Prompts):
		return invalid("%d of %d read shorter by 5 %% or more", l.Cut, l.Prompts)
	}
	return valid("%d of %d", l.Prompts-l.Cut, l.Prompts)
}

// uncounted are the sources of tokens that are no count.
var uncounted = map[metrics.TokenSource]string{metrics.TokensFromEstimate: "estimated",
	metrics.TokensFromChunks: "counted by chunks", metrics.TokensUnknown: "not counted"}

func tokens(r *metrics.Report) finding {
	for _, source := range slices.Sorted(maps.Keys(uncounted)) {
		if n := r.OutputSources[source]; n > 0 {
			return invalid("output of %d of %d requests %s", n, r.Completed, uncounted[source])
		}
		if n := r.InputSources[source]; n > 0 {
			return invalid("input of %d of %d requests %s", n, r.Completed, uncounted[source])
		}
	}
	return valid("all counted")
}

func stream(r *metrics.Report) finding {
	switch mean, several := r.TokensPerChunk(); {
	case !r.Plan.Generates() || r.Plan.Whole:
		return valid("none asked for")
	case float64(r.AtOnce) > atOnceMost*float64(r.Completed):
		return invalid("%d of %d answers came at once", r.AtOnce, r.Completed)
	case several:
		return unknown(fmt.Sprintf("%.1f tokens in a chunk, so ITL is not per token", mean), "--continuous-usage")
	}
	return valid("as made")
}

func cache(r *metrics.Report) finding {
	marked := slices.ContainsFunc(r.Events, func(e metrics.LogEntry) bool { return e.Mark == metrics.CacheMark })
	share, source := r.CachedShare()
	common, told := 0.0, r.Ideal.Of > 0
	if told {
		common = r.Ideal.Rate()
	}
	if strings.HasSuffix(r.Plan.Backend, "chat") && r.InputTokens > 0 {
		common = min(1, common+metrics.MostTemplate*float64(r.Completed)/float64(r.InputTokens))
	}
	more := source != metrics.CacheUnknown && metrics.CacheKnowsMore(share, float64(r.InputTokens), common)
	p := &r.Repeats
	switch {
	case p.Again >= fewestRepeats && p.First >= fewestRepeats && p.AgainTTFT < (1-fasterBy)*p.FirstTTFT:
		return invalid("%d prompts sent again, TTFT %s instead of %s ms", p.Again, text.Digits(p.AgainTTFT, 4),
			text.Digits(p.FirstTTFT, 4))
	case p.Again >= fewestRepeats && p.First < fewestRepeats && share > 0:
		return invalid("%d prompts sent again, %.0f %% from the cache", p.Again, 100*share)
	case more && (told || marked):
		return invalid("%.0f %% of the prompt tokens, more than prompts share", 100*share)
	case source == metrics.CacheUnknown && marked:
		return invalid("more than prompts share")
	case source == metrics.CacheUnknown:
		return unknown("the server does not say", "its /metrics, or cached tokens in its usage")
	case more && strings.Contains(r.Plan.Dataset, repeated):
		return invalid("%.0f %% of the prompt tokens, of prompts that are sent again", 100*share)
	case more:
		return unknown(fmt.Sprintf("%.0f %% of the prompt tokens", 100*share),
			"a data set whose shared prefixes are known")
	}
	return valid("%.0f %% of the prompt tokens", 100*share)
}

func clock(r *metrics.Report) finding {
	switch n := r.Client.ClockSteps; {
	case n > 0:
		return invalid("set in %d s", n)
	case len(r.Client.Seconds) == 0:
		return unknown("no samples of the client", "a journal with samples")
	}
	return valid("not set")
}

// sampled reports whether there are samples of the server.
func sampled(r *metrics.Report) bool { return r.Server != nil && len(r.Server.Seconds) > 1 }

func server(r *metrics.Report) finding {
	drops := 0
	for i := range r.Events {
		if m := r.Events[i].Mark; m == metrics.RestartMark || m == metrics.InTurnMark {
			drops++
		}
	}
	switch {
	case drops > 0:
		return invalid("counters dropped %s", text.Count(drops, "time"))
	case r.ServerGone():
		return invalid("gone at the end")
	case !sampled(r):
		return unknown("no counters", "the server's /metrics")
	}
	return valid("counters never dropped")
}

func proxy(r *metrics.Report) finding {
	if r.Plan.Proxy != "" {
		return invalid("its time is in all latencies")
	}
	return valid("none")
}
