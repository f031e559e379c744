package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/internal/text"
	"benchtop/metrics"
	"benchtop/metrics/grid"
)

// Remarks are the remarks on a report, at most textWidth columns wide: an interrupted or steered run; requests not
// sent, left out or held back; users; failures and redials; token counts that are estimates; a limited client and odd
// stamps; the figures under full load; gates. The text starts with an empty line; it is empty without remarks.
func Remarks(r metrics.Report) string {
	if said := remarksOn(&r, textWidth, true); said != "" {
		return "\n" + said
	}
	return ""
}

// RemarkLines are the remarks, a line each, without the lists of failures and gates, which are among Tables.
func RemarkLines(r metrics.Report) []string {
	return strings.FieldsFunc(remarksOn(&r, math.MaxInt, false), func(c rune) bool { return c == '\n' })
}

func remarksOn(r *metrics.Report, width int, lists bool) string {
	t := remarks{r: r, width: width, lists: lists}
	for _, about := range []func(){
		t.completeness, t.asked, t.steering, t.confirmation, t.objectives, t.slotWaits, t.users, t.proxy,
		t.cache, t.conversations, t.pacing, t.failures, t.content, t.firstChunk, t.vllm, t.tokens,
		t.tokensOfChunks, t.peak, t.tooFew, t.client, t.steady,
		t.gpus, t.gates,
	} {
		about()
	}
	return t.text
}

// remarks collects the paragraphs about a report.
type remarks struct {
	r     *metrics.Report
	width int  // of paragraphs
	lists bool // failures and gates are listed
	text  string
}

func (t *remarks) add(format string, args ...any) {
	t.text += text.Wrap(fmt.Sprintf(format, args...), t.width)
}

// longestWords is the room for words of the plan.
const longestWords = 400

// asked reports what was left out of the data set, and where a run is not as the preset's source has it.
func (t *remarks) asked() {
	if left := t.r.Plan.LeftOut; left != "" {
		t.add("%s.", text.Fit(text.Clean(left), longestWords))
	}
	if p := t.r.Plan.Preset; p != nil && len(p.Changed) > 0 {
		t.add("%s.", text.Fit(text.Clean(fmt.Sprintf("Preset %s: %s, so the rules of %s are not kept", p.Name,
			strings.Join(p.Changed, ", "), p.Source)), longestWords))
	}
}

// completeness reports requests and lines that are missing: at the end of the run, in the warm-up, in the journal.
func (t *remarks) completeness() {
	r := t.r
	switch i, n := r.Interrupted, r.NotSent; {
	case i != nil:
		reason := "the run ended before its plan"
		if i.Reason != "" {
			reason = text.Fit(text.Clean(i.Reason), textWidth)
		}
		if i.Cancelled == 0 && i.Unsent == 0 {
			t.add("Interrupted: %s.", reason)
			break
		}
		t.add("Interrupted: %s. %s cancelled in flight, %d never sent; excluded from all figures above.",
			reason, text.Count(i.Cancelled, "request"), i.Unsent)
	case n == 0:
	case r.Plan.Requests == 0: // a plan with a duration alone
		t.add("Time ran out with %s due but not sent.", text.Count(n, "request"))
	case n == 1:
		t.add("Time ran out before 1 of the %d requests was sent.", r.Plan.Requests)
	default:
		t.add("Time ran out before %d of the %d requests were sent.", n, r.Plan.Requests)
	}
	if missing := r.Plan.MissingParts(r.Client.Seconds); r.Plan.Part.Split() {
		t.add("Part %s: the figures are of this part of the load alone; 'benchtop report' joins the journals of all "+
			"parts.", r.Plan.Part)
	} else if len(missing) > 0 {
		t.add("Parts: no samples of part %s for some of the run, so the load that the server had then is not known.",
			text.List(missing, 5))
	}
	if r.Damaged != 0 {
		t.add("Journal: the figures lack %s that could not be read.", text.Count(r.Damaged, "damaged line"))
	}
	if r.Plan.Warmup > 0 {
		t.add("Warm-up: %s in the first %s excluded from all figures above.",
			text.Count(r.WarmedUp, "request"), metrics.Duration(r.Plan.Warmup))
	}
}

// conversations reports turns that were not sent because an earlier one failed.
func (t *remarks) conversations() {
	s := t.r.Sessions
	if s == nil || s.NotSent == 0 {
		return
	}
	t.add("Conversations: %s not sent because an earlier one failed, in %s, so the load was lighter than planned.",
		wereTurns(s.NotSent), text.Count(s.Failed, "conversation"))
}

func wereTurns(n int) string {
	if n == 1 {
		return "1 turn was"
	}
	return fmt.Sprintf("%d turns were", n)
}

// steering reports changes of the load during the run.
func (t *remarks) steering() {
	if t.r.Steered == 0 {
		return
	}
	by := map[string]int{}
	for _, e := range t.r.Events {
		if e.Set != nil {
			by[e.Set.By]++
		}
	}
	who := ""
	switch hand, search, confirm := by[metrics.ByUser], by[metrics.BySearch], by[metrics.ByConfirm]; {
	case confirm > 0 && hand == 0 && search == 0:
		who = " (by the confirmation)"
	case hand > 0 && search > 0:
		who = fmt.Sprintf(" (%d manually, %d by the search)", hand, search)
	case hand > 0:
		who = " (manually)"
	case search > 0:
		who = " (by the search)"
	}
	t.add("Load: changed %s during the run%s, so it differs from the plan.", times(t.r.Steered), who)
}

// confirmation says how the confirmation ended.
func (t *remarks) confirmation() {
	if t.r.Plan.Confirm == 0 {
		return
	}
	for _, e := range slices.Backward(t.r.Events) {
		if how, ok := strings.CutPrefix(e.Text, metrics.ConfirmationEnded); ok {
			t.add("Confirmation: %s.", cutASCII(strings.TrimLeft(how, ": "), 2*textWidth))
			return
		}
	}
}

// objectives reports the objectives in force at the end if they differ from the plan's.
func (t *remarks) objectives() {
	words := metrics.Each(t.r.Objectives, func(o metrics.Objective) string {
		return fmt.Sprintf("%s of at most %s", strings.ToUpper(o.Metric.Key()), findings.Milliseconds(o.LimitMS))
	})
	switch {
	case slices.Equal(t.r.Objectives, t.r.Plan.Goodput):
	case len(words) == 0 && t.r.Judges():
		t.add("Objectives: removed during the run but for those of workloads.")
	case len(words) == 0:
		t.add("Objectives: removed during the run, so no request was judged.")
	default:
		t.add("Objectives: changed during the run. All requests are judged by the final ones: %s.",
			strings.Join(words, ", "))
	}
}

// slotWaits is for planned rates only: if all requests are due at once, the wait for a slot is part of the plan.
func (t *remarks) slotWaits() {
	r, p := t.r, &t.r.Plan
	if p.MaxConcurrency == 0 || !p.Paced() || !r.WaitedForSlot() {
		return
	}
	limit := "at most " + text.Count(p.MaxConcurrency, "request") + " in flight"
	if slices.ContainsFunc(r.Events, metrics.LogEntry.SetsUsers) {
		limit = "the limits set on requests in flight during the run"
	}
	t.add("Client queue: with %s, requests waited %.2f ms for a slot on average, %.2f ms at most."+
		" From their scheduled start, requests took %.2f ms on average (E2EL: %.2f ms).",
		limit, r.Statistics[metrics.SlotWait].Mean, r.Statistics[metrics.SlotWait].Max,
		r.Statistics[metrics.ScheduledLatency].Mean, r.Statistics[metrics.E2EL].Mean)
}

// proxy reports a proxy, whose time is in every latency.
func (t *remarks) proxy() {
	if t.r.Plan.Proxy != "" {
		t.add("Proxy: requests went through %s, so its time is in all latencies.", text.Clean(t.r.Plan.Proxy))
	}
}

// cache reports how the prefix cache was kept cold, and cache hits in spite of it, which improve all figures.
func (t *remarks) cache() {
	if t.r.Plan.Cache != "" {
		t.add("Prefix cache: %s, so that earlier runs have no effect.", text.Clean(t.r.Plan.Cache))
	}
	t.marked("Prefix cache", metrics.CacheMark)
	if asked := t.r.Plan.CacheHit; asked > 0 {
		had, of := t.r.Cached.Rate(), "the answers"
		if s := t.r.Server; !metrics.Said(had) && s != nil {
			had, of = s.HitRate, "the server's counters"
		}
		words := "what it had is not known, since neither answers nor counters say it"
		if metrics.Said(had) {
			words = fmt.Sprintf("by %s it had %.1f %%", of, 100*had)
		}
		t.add("Prefix cache: asked to have %.4g %% of the prompt tokens; %s.", 100*asked, words)
	}
}

// marked reports the last event with a mark.
func (t *remarks) marked(about, mark string) {
	for _, e := range slices.Backward(t.r.Events) {
		if e.Mark == mark {
			t.add("%s: %s.", about, text.Fit(text.Clean(e.Text), 5*textWidth))
			return
		}
	}
}

func (t *remarks) pacing() {
	if t.r.SentShort() {
		t.add("Pacing: %.2f requests/s sent, %.2f scheduled%s.", t.r.SentRate, t.r.ScheduledRate, pacingCause(t.r))
	}
}

// pacingCause is the reason for a low sent rate according to the figures, "" if none explains half of it.
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
	case r.WaitedForSlot():
		return "; requests waited for a slot"
	case 2*float64(unconnected) >= missing:
		return fmt.Sprintf("; %s got no connection", text.Count(unconnected, "request"))
	case dial >= own && 2*dial >= behind:
		return fmt.Sprintf("; connections took up to %s to open", findings.Milliseconds(dial))
	case own > dial && 2*own >= behind:
		return fmt.Sprintf("; the client sent requests up to %s late", findings.Milliseconds(own))
	}
	return ""
}

// failures lists failures by kind, refused fields and redials: without its redial, a request would have failed.
func (t *remarks) failures() {
	if t.lists {
		t.failureList()
	}
	t.marked("Authorization", metrics.TokenMark)
	if fields := t.r.Refused(); len(fields) > 0 {
		t.add("The server does not support %s. To omit what it does not support, add", text.Join(fields, " and "))
		t.text += "  " + OmitFlag(fields, t.r.Plan.Command) + "\n" // one line, to copy
	}
	if t.r.Tallies[metrics.Redials] != 0 {
		t.add("Redials: %s sent again on a new connection after an idle one failed right after the write; the extra "+
			"time is part of the latencies.", text.Count(t.r.Tallies[metrics.Redials], "request"))
	}
}

func (t *remarks) failureList() {
	if len(t.r.Failures) > 0 {
		t.text += "Failures:\n"
	}
	for _, f := range t.r.Failures {
		kind := text.Fit(text.Clean(string(f.Kind)), 30)
		if f.Kind == metrics.FailedStatus { // other kinds have a status of 200 or none
			kind += fmt.Sprintf(" %d", f.Status)
		}
		line := fmt.Sprintf("%8d  %-16s", f.Count, kind)
		if len(f.Examples) > 0 {
			line += "  " + text.Clean(f.Examples[0])
		}
		t.text += strings.TrimRight(text.Fit(line, textWidth), " ") + "\n"
	}
}

// OmitFlag is the flag that omits fields from the requests of a command line, to be copied into it. Only the last of
// several objects for --extra-body counts, so a command that has one gets a flag for each field.
func OmitFlag(fields, command []string) string {
	given := func(arg string) bool {
		name, _, _ := strings.Cut(strings.ReplaceAll(arg, "_", "-"), "=")
		return name == "--extra-body"
	}
	if slices.ContainsFunc(command, given) {
		return "--extra-body." + strings.Join(fields, " null --extra-body.") + " null"
	}
	return `--extra-body '{"` + strings.Join(fields, `":null,"`) + `":null}'`
}

// firstChunk is for servers that send a chunk before the first token.
func (t *remarks) firstChunk() {
	if t.r.TokenAfterChunk() {
		t.add("TTFT: the first chunk arrives before the first token. The median is %.2f ms to the chunk, as in vLLM, "+
			"and %.2f ms to the token.",
			t.r.Statistics[metrics.TTFT].Median, t.r.Statistics[metrics.FirstToken].Median)
	}
}

// vllm is for output in fields that vLLM 0.33 does not read.
func (t *remarks) vllm() {
	v := t.r.VLLM
	if v == nil {
		return
	}
	what, verb, it, ours := []string{"reasoning_content"}, "counts", "it", t.r.Statistics[metrics.TTFT].Median
	if t.r.Refusals > 0 {
		what = append(what, "refusals")
	}
	if t.r.Calls > 0 && t.r.Plan.Backend == "openai-responses" {
		what = append(what, "arguments of tool calls")
	}
	if len(what) > 1 {
		verb, it = "count", "them"
	}
	ignored := " vLLM 0.33 ignores " + it + "."
	switch {
	case v.TTFT.N > 0 && v.Unread == 0 && rounded(v.TTFT.Median) == rounded(ours):
		return // the same figures
	case v.TTFT.N > 0:
		ignored = fmt.Sprintf(" vLLM 0.33 ignores %s and would report a median TTFT of %.2f ms, not %.2f ms.", it,
			v.TTFT.Median, ours)
	}
	if v.Unread > 0 {
		ignored += fmt.Sprintf(" It would count %d of %s as failed.", v.Unread,
			text.Count(t.r.Completed, "successful request"))
	}
	t.add("TTFT: %s %s as output here.%s", text.Join(what, " and "), verb, ignored)
}

// rounded is a figure as printed.
func rounded(v float64) string { return fmt.Sprintf("%.2f", v) }

// tokenSourceNotes describe the token counts that do not come from usage. Prompts counted by a tokenizer are exact.
var tokenSourceNotes = []struct {
	source     metrics.TokenSource
	outputOnly bool
	words      string
}{
	{metrics.TokensFromEstimate, false, "estimated from the length of the text"},
	{metrics.TokensFromChunks, false, "counted as one per chunk, which is too low if a chunk holds several"},
	{metrics.TokensUnknown, false, "not counted"},
	{metrics.TokensFromTokenizer, true, "counted by the local tokenizer, since the server returned no usage"},
	{metrics.TokensFromServer, true, "counted by the server's tokenizer after the run, since it returned no usage"},
}

// tokens reports answers of unexpected lengths and inexact token counts.
func (t *remarks) tokens() {
	for _, words := range t.r.Lengths.Describe(&t.r.Plan) {
		t.add("Lengths: %s.", words)
	}
	for _, s := range tokenSourceNotes {
		if n := t.r.InputSources[s.source]; n > 0 && !s.outputOnly {
			t.add("Input tokens of %d of %s: %s.", n, text.Count(t.r.Completed, "request"), s.words)
		}
	}
	for _, s := range tokenSourceNotes {
		if n := t.r.OutputSources[s.source]; n > 0 {
			t.add("Output tokens of %d of %s: %s.", n, text.Count(t.r.Completed, "request"), s.words)
		}
	}
}

// tokensOfChunks reports chunks of several tokens whose number the server did not say.
func (t *remarks) tokensOfChunks() {
	if mean, several := t.r.TokensPerChunk(); several {
		t.add("ITL: chunks hold %.1f tokens on average, and ITL is the gap between chunks. With --continuous-usage "+
			"servers such as vLLM and SGLang"+
			" count the tokens of each chunk of completions and chat, which gives ITL per token.", mean)
	}
}

// steady reports the figures under full load, without the beginning and the end of the run, those of the steady part of
// the only load where that is not all of it, and the loads that were never steady.
func (t *remarks) steady() {
	if s := t.r.SteadyState; s != nil {
		what := fmt.Sprintf("with at least %d of %s in flight", s.ThresholdAbs, text.Count(s.Target, "request"))
		if t.window(s, what) && s.Warning != "" {
			t.add("Steady state: %s.", clause(s.Warning))
		}
	}
	var never []string
	for i := range t.r.Levels {
		l := &t.r.Levels[i]
		switch s := l.Steady; {
		case s == nil:
		case s.Share == 0:
			never = append(never, findings.Load(l.Unit.Of(l.Offered)))
		case len(t.r.Levels) == 1 && s.Share < 1:
			t.window(&s.SteadyState, wholePercent(true, s.Share)+" of the load, without a change")
		}
	}
	if len(never) > 0 {
		t.add("Steady state: never at %s: requests in flight or throughput changed to the end.",
			text.Join(never, " and "))
	}
}

// window reports the figures of a steady part, or, with false, that no request completed in it.
func (t *remarks) window(s *metrics.SteadyState, what string) bool {
	if s.End > s.Start && s.Completed == 0 { // as many requests as users, or an interrupted run
		t.add("Steady state: no figures, since no request completed in the %s at full load.",
			(s.End - s.Start).Round(time.Millisecond))
		return false
	}
	if s.End <= s.Start {
		return true
	}
	figures := fmt.Sprintf("%.2f output tokens/s", s.OutputThroughput)
	if !t.r.Plan.Generates() {
		figures = fmt.Sprintf("%.2f input tokens/s", s.InputThroughput)
	} else if t.r.Plan.Measures(metrics.TTFT) {
		figures += fmt.Sprintf(", mean TTFT %.2f ms (median %.2f ms), TPOT %.2f ms", s.TTFT.Mean, s.TTFT.Median,
			s.TPOT.Mean)
	}
	t.add("Steady state: from %.1f s to %.1f s, %s: %.2f requests/s, %s.", s.Start.Seconds(), s.End.Seconds(), what,
		s.RequestThroughput, figures)
	return true
}

// gpus reports GPUs without data, unless the figures above already give the reason, and the cost, or that there is
// none, where these GPUs have none.
func (t *remarks) gpus() {
	g := t.r.GPUs
	if words := MissingGPUs(t.r); words != "" && !(hasGPUs(g) && len(neverSeen(t.r)) == 0) {
		t.add("GPUs: %s.", words)
	}
	if t.r.Plan.GPUPrice <= 0 || g != nil && text.Finite(g.CostPerMillion.Output) || t.r.Completed == 0 {
		return
	}
	gpus, said := grid.GPUs(func(key string) float64 {
		i := slices.IndexFunc(t.r.Plan.Metadata, func(m metrics.Pair) bool { return m.Key == key })
		if i < 0 {
			return math.NaN()
		}
		v, _ := strconv.ParseFloat(t.r.Plan.Metadata[i].Value, 64)
		return v
	})
	if cost := 1e6 * t.r.Plan.GPUPrice * gpus / 3600 / t.r.OutputThroughput; said && text.Finite(cost) {
		t.add("Cost: %.4g per million output tokens, of %g GPUs by --metadata.", cost, gpus)
		return
	}
	why := "the GPUs were not monitored"
	if g != nil && g.Absent != "" {
		why = clause(g.Absent)
	}
	t.add("Cost: unknown despite --gpu-price: %s; tell the server's GPUs, as --metadata tensor_parallel_size=8.", why)
}

// clause is foreign text as part of a sentence.
func clause(foreign string) string {
	return strings.TrimSuffix(text.Fit(text.Clean(foreign), 2*textWidth), ".")
}
