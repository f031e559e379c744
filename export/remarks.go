package export

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"benchtop/metrics"
)

// Remarks writes what a reader of the report should know beside its figures, at most textWidth columns wide: that the
// run was cut short or steered, that requests were not sent, left out or held back, what failed or was sent again, which
// token counts are no real counts, what was wrong with the client or its stamps, how the run did under full load, which
// gates it missed. It starts with an empty line, or writes nothing at all if there is nothing to say.
func Remarks(w io.Writer, r metrics.Report) error {
	text := interruptedRemark(&r) + notSentRemark(&r) + damageRemark(&r) + warmupRemark(&r) + steeredRemark(&r) +
		objectivesRemark(&r) + heldRemark(&r) + cacheRemark(&r) +
		pacingRemark(&r) + failuresRemark(&r) + redialsRemark(&r) + firstChunkRemark(&r) + vllmRemark(&r) +
		lengthsRemark(&r) + tokensRemark("Input", r.InputSources, r.Completed) + tokensRemark("Output", r.OutputSources, r.Completed) +
		clientRemarks(&r) + steadyRemark(&r) + gpusRemark(&r) + priceRemark(&r) + gatesRemark(&r)
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w, "\n"+text)
	return err
}

func remark(format string, args ...any) string { return wrap(fmt.Sprintf(format, args...), textWidth) }

func interruptedRemark(r *metrics.Report) string {
	i := r.Interrupted
	if i == nil {
		return ""
	}
	reason := "the run ended before its plan"
	if i.Reason != "" {
		reason = cut(Clean(i.Reason), textWidth)
	}
	if i.Cancelled == 0 && i.Unsent == 0 {
		return remark("Interrupted: %s.", reason)
	}
	return remark("Interrupted: %s. %s cut in flight, %d never sent; they are in none of the figures above.",
		reason, count(i.Cancelled, "request"), i.Unsent)
}

// notSentRemark is about a plan with a duration: there, that requests were not sent is no interruption.
func notSentRemark(r *metrics.Report) string {
	n := r.NotSent
	switch {
	case r.Interrupted != nil || n == 0:
		return ""
	case r.Plan.Requests == 0: // as many as fit
		return remark("The time was over with %s due and not sent.", count(n, "request"))
	case n == 1:
		return remark("The time was over before 1 of the %d requests was sent.", r.Plan.Requests)
	}
	return remark("The time was over before %d of the %d requests were sent.", n, r.Plan.Requests)
}

func damageRemark(r *metrics.Report) string {
	if r.Damaged == 0 {
		return ""
	}
	return remark("Journal: %s could not be read; what stood there is in none of the figures.",
		count(r.Damaged, "damaged line"))
}

func warmupRemark(r *metrics.Report) string {
	if r.Plan.Warmup <= 0 {
		return ""
	}
	return remark("Warm-up: %s of the first %s were left out; they are in none of the figures above.",
		count(r.WarmedUp, "request"), metrics.Duration(r.Plan.Warmup))
}

// shortestSlotWait in milliseconds is the wait for a slot from which on the limit shaped the load.
const shortestSlotWait = 1

// heldRemark is about planned rates only: where everything is due at once, waiting for a slot is the plan.
func heldRemark(r *metrics.Report) string {
	p := &r.Plan
	if p.MaxConcurrency == 0 || !r.Plan.Paced() || !waitedForSlot(r) {
		return ""
	}
	limit := "at most " + count(p.MaxConcurrency, "request") + " in flight"
	if slices.ContainsFunc(r.Events, setUsers) {
		limit = "the limits that were set on requests in flight"
	}
	return remark("Held back: with %s, requests waited %.2f ms for a slot on average, %.2f ms at most."+
		" Counted from their scheduled start, requests took %.2f ms on average (E2EL: %.2f ms).",
		limit, r.Statistics[metrics.SlotWait].Mean, r.Statistics[metrics.SlotWait].Max, r.Statistics[metrics.ScheduledLatency].Mean, r.Statistics[metrics.E2EL].Mean)
}

// fellShort is the share of the scheduled rate below which sending was not what was planned.
const fellShort = 0.95

// fewestSent is the number of requests from which on a rate says something, where no slot held them back.
const fewestSent = 20

// waitedForSlot reports whether a limit held a request back long enough to shape the load.
func waitedForSlot(r *metrics.Report) bool {
	limited := r.Plan.MaxConcurrency > 0 ||
		slices.ContainsFunc(r.Plan.Stages, func(s metrics.Stage) bool { return s.Users > 0 }) ||
		slices.ContainsFunc(r.Events, setUsers)
	return limited && r.Statistics[metrics.SlotWait].Max >= shortestSlotWait
}

// setUsers reports whether an event set the limit of requests in flight.
func setUsers(e metrics.LogEntry) bool { return e.Set != nil && e.Set.Users > 0 }

// sentShort: much less was sent than asked for.
func sentShort(r *metrics.Report) bool {
	telling := r.Completed+r.Failed >= fewestSent || waitedForSlot(r)
	return telling && r.Plan.Paced() && r.SentRate > 0 && r.SentRate < fellShort*r.ScheduledRate
}

func pacingRemark(r *metrics.Report) string {
	if !sentShort(r) {
		return ""
	}
	return remark("Pacing: %.2f requests/s were sent where the schedule asked for %.2f%s.", r.SentRate, r.ScheduledRate, pacingCause(r))
}

// pacingCause is what the figures say of why less was sent than asked for, "" where they do not explain at least half of it.
func pacingCause(r *metrics.Report) string {
	n := float64(r.Completed + r.Failed)
	missing := n * (1 - r.SentRate/r.ScheduledRate)
	behind := 1000 * (n/r.SentRate - n/r.ScheduledRate) // in ms
	unconnected := 0
	for _, f := range r.Failures {
		if f.Kind == metrics.FailedConnect || f.Kind == metrics.FailedNoSocket {
			unconnected += f.Count
		}
	}
	dial, own := r.Statistics[metrics.Connect].Max, r.Statistics[metrics.OwnLateness].Max
	switch {
	case waitedForSlot(r):
		return "; requests waited for a slot"
	case 2*float64(unconnected) >= missing:
		return fmt.Sprintf("; %s got no connection", count(unconnected, "request"))
	case dial >= own && 2*dial >= behind:
		return fmt.Sprintf("; connections took up to %s to open", latency(dial))
	case own > dial && 2*own >= behind:
		return fmt.Sprintf("; this client sent requests up to %s late", latency(own))
	}
	return ""
}

func failuresRemark(r *metrics.Report) string {
	if len(r.Failures) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Failures:\n")
	for _, f := range r.Failures {
		kind := cut(Clean(string(f.Kind)), 30)
		if f.Kind == metrics.FailedStatus { // the others happened to an answer of 200, or to none
			kind += fmt.Sprintf(" %d", f.Status)
		}
		line := fmt.Sprintf("%8d  %-16s", f.Count, kind)
		if len(f.Examples) > 0 {
			line += "  " + Clean(f.Examples[0])
		}
		b.WriteString(strings.TrimRight(cut(line, textWidth), " ") + "\n")
	}
	if fields := r.Refused(); len(fields) > 0 {
		b.WriteString(remark("The server does not know %s. To leave out what it does not know, add", Listed(fields)))
		b.WriteString("  " + LeaveOut(fields, r.Plan.Command) + "\n") // one line, to be copied
	}
	return b.String()
}

// firstChunkRemark is about servers that send a chunk before they have a token.
func firstChunkRemark(r *metrics.Report) string {
	if !r.TokenAfterChunk() {
		return ""
	}
	return remark("TTFT: the first chunk came before the first token. The median is %.2f ms to the chunk, as vLLM counts, and %.2f ms to the token.",
		r.Statistics[metrics.TTFT].Median, r.Statistics[metrics.FirstToken].Median)
}

// vllmRemark is about reasoning under a name that vLLM 0.33 does not read.
func vllmRemark(r *metrics.Report) string {
	if r.VLLM == nil {
		return ""
	}
	text := "TTFT: reasoning_content counts as output here."
	if v := r.VLLM; v.TTFT.N > 0 && v.Unread == 0 && twoDecimals(v.TTFT.Median) == twoDecimals(r.Statistics[metrics.TTFT].Median) {
		return "" // the same figures
	} else if v.TTFT.N > 0 {
		text += fmt.Sprintf(" vLLM 0.33 does not read it and would report a median TTFT of %.2f ms, not %.2f ms.", v.TTFT.Median, r.Statistics[metrics.TTFT].Median)
	} else {
		text += " vLLM 0.33 does not read it."
	}
	if n := r.VLLM.Unread; n > 0 {
		text += fmt.Sprintf(" It would call %d of %s failed.", n, count(r.Completed, "successful request"))
	}
	return remark("%s", text)
}

// twoDecimals is a figure as it is printed.
func twoDecimals(v float64) string { return fmt.Sprintf("%.2f", v) }

// cacheRemark says that earlier runs were kept out of the server's prefix cache, and that it knew prompts all the same, which
// makes every figure too good.
func cacheRemark(r *metrics.Report) string {
	text := ""
	if r.Plan.Cache != "" {
		text = remark("Prefix cache: %s, to keep earlier runs out.", Clean(r.Plan.Cache))
	}
	for i := range r.Events {
		if r.Events[i].Mark == metrics.CacheMark {
			return text + remark("Prefix cache: %s.", cut(Clean(r.Events[i].Text), 5*textWidth))
		}
	}
	return text
}

func lengthsRemark(r *metrics.Report) string {
	text := ""
	for _, words := range r.Lengths.Words(&r.Plan) {
		text += remark("Lengths: %s.", words)
	}
	return text
}

func tokensRemark(which string, sources map[metrics.TokenSource]int, completed int) string {
	var b strings.Builder
	for _, s := range []struct {
		source metrics.TokenSource
		what   string
	}{
		{metrics.TokensFromEstimate, "estimated from the length of the text, not counted"},
		{metrics.TokensFromChunks, "counted as one token per chunk, which is too low where a chunk holds several"},
		{metrics.TokensUnknown, "not counted"},
		{metrics.TokensFromTokenizer, "no usage came, so the tokenizer here counted their text"},
		{metrics.TokensFromServer, "no usage came, so the server's tokenizer counted their text after the run"},
	} {
		ofPrompt := which == "Input" && (s.source == metrics.TokensFromTokenizer || s.source == metrics.TokensFromServer)
		if n := sources[s.source]; n > 0 && !ofPrompt {
			b.WriteString(remark("%s tokens of %d of %s: %s.", which, n, count(completed, "request"), s.what))
		}
	}
	return b.String()
}

// redialsRemark stands beside the failures: without its redial each request would be one.
func redialsRemark(r *metrics.Report) string {
	if r.Redials == 0 {
		return ""
	}
	return remark("Redials: %s sent again on a new connection, as an idle one failed right after the write; the time it took"+
		" is part of the latencies.", count(r.Redials, "request"))
}

// steadyRemark gives the figures of the time of full load, without its beginning and end.
func steadyRemark(r *metrics.Report) string {
	s := r.SteadyState
	if s == nil {
		return ""
	}
	text := ""
	switch {
	case s.End > s.Start && s.Completed == 0: // as many requests as users, or a run that was cut
		return remark("Steady state: no figures, because no request completed in the %s of full load.", (s.End - s.Start).Round(time.Millisecond))
	case s.End > s.Start:
		text = fmt.Sprintf("Steady state: from %.1f s to %.1f s, with at least %d of %s in flight: %.2f requests/s,"+
			" %.2f output tokens/s, TTFT %.2f ms on average (median %.2f ms), TPOT %.2f ms.",
			s.Start.Seconds(), s.End.Seconds(), s.ThresholdAbs, count(s.Target, "request"), s.RequestThroughput,
			s.OutputThroughput, s.TTFT.Mean, s.TTFT.Median, s.TPOT.Mean)
		if r.Plan.Pooling {
			text = fmt.Sprintf("Steady state: from %.1f s to %.1f s, with at least %d of %s in flight: %.2f requests/s,"+
				" %.2f input tokens/s.",
				s.Start.Seconds(), s.End.Seconds(), s.ThresholdAbs, count(s.Target, "request"), s.RequestThroughput, s.InputThroughput)
		}
		text = wrap(text, textWidth)
	}
	if s.Warning != "" {
		text += remark("Steady state: %s.", strings.TrimSuffix(cut(Clean(s.Warning), 2*textWidth), "."))
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// steeredRemark says that the load was not, or not all the time, the plan's.
func steeredRemark(r *metrics.Report) string {
	if r.Steered == 0 {
		return ""
	}
	by := map[string]int{}
	for i := range r.Events {
		if s := r.Events[i].Set; s != nil {
			by[s.By]++
		}
	}
	who := ""
	switch hand, search := by[metrics.ByHand], by[metrics.BySearch]; {
	case hand > 0 && search > 0:
		who = fmt.Sprintf(" (%d by hand, %d by the search)", hand, search)
	case hand > 0:
		who = " (by hand)"
	case search > 0:
		who = " (by the search)"
	}
	return remark("Steered: the load was set %s while the run was on%s, so it was not the plan's.", times(r.Steered), who)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// objectivesRemark says by which objectives requests were judged, where those are not the plan's.
func objectivesRemark(r *metrics.Report) string {
	if slices.Equal(r.Objectives, r.Plan.Goodput) {
		return ""
	}
	if len(r.Objectives) == 0 {
		return remark("Objectives: they were taken away while the run was on, so no request was judged.")
	}
	var words []string
	for _, o := range r.Objectives {
		words = append(words, fmt.Sprintf("%s of at most %s", strings.ToUpper(o.Metric.Key()), latency(o.LimitMS)))
	}
	return remark("Objectives: changed while the run was on. All requests are judged by those in force at the end: %s.",
		strings.Join(words, ", "))
}

// priceRemark says why there is no cost though there is a price.
func priceRemark(r *metrics.Report) string {
	g := r.GPUs
	if r.Plan.GPUPrice <= 0 || g != nil && finite(g.CostPerMillion) || r.Completed == 0 {
		return ""
	}
	why := "nobody looked at the GPUs"
	if g != nil && g.Absent != "" {
		why = strings.TrimSuffix(cut(Clean(g.Absent), 2*textWidth), ".")
	}
	return remark("Cost: unknown, though there is a price: %s.", why)
}
