package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/internal/text"
	"benchtop/metrics"
)

// Telemetry has the output speed of users, the metrics of server and GPUs, and the parts of TTFT, in the form of Text.
// The text starts with an empty line; it is empty without data.
func Telemetry(r metrics.Report) string { return telemetryOf(&r).w.String() }

// telemetryOf is empty without data.
func telemetryOf(r *metrics.Report) textReport {
	t := newTextReport()
	users, server, gpus, split := r.Speeds.N+r.AtOnce > 0, hasServer(r), hasGPUs(r.GPUs), hasSplit(r)
	good := r.Judges() && r.Plan.Generates() && r.Completed > 0
	if !users && !good && !server && !gpus && !split {
		return t
	}
	t.w.WriteByte('\n')
	if users {
		t.users(r)
	}
	if good {
		t.heading("Goodput", '-')
		t.float("Output token goodput (tok/s):", r.TokenGoodput(r.Duration))
	}
	if server {
		t.server(r)
	}
	if gpus {
		t.gpus(r)
	}
	if split {
		t.split(r)
	}
	t.heading("", '=')
	return t
}

// users writes the output speed of users, and ITL by token where the server counts the tokens of its chunks.
func (t textReport) users(r *metrics.Report) {
	t.heading("Output per User", '-')
	speed, itl := &r.Speeds, &r.Statistics[metrics.TokenITL]
	if speed.N == 0 {
		t.line("Mean output speed (tok/s/user):", "unknown")
	} else {
		fast := func(p metrics.Percentile) bool { return p.P > 10 }
		t.statistic("output speed (tok/s/user):", speed, slices.DeleteFunc(slices.Clone(speed.Percentiles), fast))
	}
	if n := r.AtOnce; n > 0 {
		t.note(fmt.Sprintf("No speed: the output of %d of %s came at once.", n, text.Count(r.Completed, "answer")))
	}
	if itl.N > 0 {
		t.statistic("per-token ITL (ms):", itl, itl.Percentiles)
	}
}

// optional writes a known figure.
func (t textReport) optional(label string, v float64) {
	if text.Finite(v) {
		t.float(label, v)
	}
}

// pair writes a mean and a maximum.
func (t textReport) pair(label string, mean, most float64) {
	if text.Finite(mean) && text.Finite(most) {
		t.line(label, fmt.Sprintf("%.1f / %s", mean, strconv.FormatFloat(math.Round(most*10)/10, 'f', -1, 64)))
	}
}

func anyKnown(figures ...float64) bool { return slices.ContainsFunc(figures, text.Finite) }

func hasServer(r *metrics.Report) bool {
	s := r.Server
	return r.Cached.Of+r.Cached.Tokens+r.Ideal.Of > 0 || s != nil && len(s.Seconds) > 0 &&
		anyKnown(s.RunningMean, s.WaitingMean, s.KVMean, s.Preemptions, s.PromptTokens, s.OutputTokens, s.HitRate,
			s.Acceptance)
}

func (t textReport) server(r *metrics.Report) {
	s := r.Server
	if s == nil || len(s.Seconds) == 0 {
		t.heading("Server", '-')
		t.cached(r)
		return
	}
	title := "Server"
	if len(r.Plan.Pages) > 1 {
		title = "All engines"
	} else if len(r.Plan.Pages) == 0 && len(r.Servers) > 0 {
		title = "All servers"
	}
	if s.Kind != "" {
		title += " (" + cutASCII(s.Kind, 20) + ")"
	}
	t.heading(title, '-')
	t.pair("Running requests (mean / max):", s.RunningMean, s.RunningMost)
	t.pair("Waiting requests (mean / max):", s.WaitingMean, s.WaitingMost)
	t.pair("KV cache in use (%, mean / max):", s.KVMean*100, s.KVMost*100)
	t.short("Preemptions:", s.Preemptions)
	t.optional("Prefix cache hit rate (%):", s.HitRate*100)
	t.cached(r)
	t.optional("Draft tokens accepted (%):", s.Acceptance*100)
	if r.ComparesTTFT() {
		theirs, ours := "Mean TTFT, server's clock (ms):", "Same requests, client's clock (ms):"
		if n := math.Round(s.TTFT.N); n != float64(s.First.Prompts()) { // the two counts differ: not the same requests
			theirs, ours = fmt.Sprintf("Mean TTFT, server's clock (ms, of %.0f):", n),
				fmt.Sprintf("Mean %s, client's clock (ms, of %d):", r.Plan.FirstWait().Naming().Title,
					s.First.Prompts())
		}
		t.float(theirs, milliseconds(s.TTFT.Mean))
		t.float(ours, milliseconds(s.First.MeanTTFT()))
	}
	if s.TooShort() {
		t.note(tooShort + ".")
	}
	if s.Absent != "" {
		t.note("Incomplete: " + cutASCII(s.Absent, 2*ruleWidth))
	}
}

// tooShort is the reason for missing levels of a server that exports them.
const tooShort = "The run was too short to sample the server's queue and cache"

// cached is the hit rate of the prefix cache by the usage of the answers that have it, and that of an ideal one.
func (t textReport) cached(r *metrics.Report) {
	h, of, rate := &r.Cached, "", r.Cached.Rate()
	switch {
	// an older journal, which does not say whose usage had it: the least that it was
	case h.Requests == 0 && h.Tokens > 0:
		rate = metrics.Share(h.Tokens, r.InputTokens)
	case h.Requests < r.Completed:
		of = fmt.Sprintf(" of %d of %d", h.Requests, r.Completed)
	}
	t.optional("Cached prompt tokens, by usage"+of+" (%):", 100*rate)
	t.optional("With an ideal prefix cache (%):", 100*r.Ideal.Rate())
}

// note writes a sentence below the figures.
func (t textReport) note(s string) {
	t.w.WriteString(text.Wrap(s, ruleWidth))
	t.row(s)
}

func hasGPUs(g *metrics.GPUReport) bool {
	return g != nil && len(g.Seconds) > 0 &&
		anyKnown(g.UseMean, g.PowerMean, g.MemoryMost, g.TemperatureMost, g.CostPerMillion.Output)
}

func (t textReport) gpus(r *metrics.Report) {
	g := r.GPUs
	t.heading(gpuTitle(g.Names), '-')
	t.optional("Mean use (%):", g.UseMean*100)
	t.optional("Max memory in use (GiB):", g.MemoryMost/(1<<30))
	t.optional("Max temperature (C):", g.TemperatureMost)
	told := ""
	if g.Powered < g.Seen {
		told = fmt.Sprintf(", %d of %d", g.Powered, g.Seen)
	}
	t.optional("Mean power (W"+told+"):", g.PowerMean)
	looked := ""
	if g.SamplesMiss(r.Ended - r.Plan.Warmup) {
		looked = fmt.Sprintf(", in %.1f s sampled", g.Sampled.Seconds())
	}
	t.optional("Energy (J"+told+looked+"):", g.Energy)
	t.short("Energy per output token (J"+told+"):", g.JoulesPerToken)
	t.short("Output tokens per joule"+told+":", 1/g.JoulesPerToken)
	t.short("Cost per million output tokens:", g.CostPerMillion.Output)
	t.short("Cost per million good output tokens:", g.CostPerMillion.Good)
	t.short("Cost per million input tokens:", g.CostPerMillion.Input)
	t.short("Cost per million tokens:", g.CostPerMillion.Total)
	t.short("Output tokens per unit of cost:", 1e6/g.CostPerMillion.Output)
	if g.Absent != "" {
		t.note("Incomplete: " + cutASCII(g.Absent, 2*ruleWidth))
	}
}

// short writes four significant digits, and no fraction from 1000 on.
func (t textReport) short(label string, v float64) {
	if !text.Finite(v) {
		return
	}
	text := strconv.FormatFloat(v, 'g', 4, 64)
	if math.Abs(v) >= 1000 {
		text = strconv.FormatFloat(v, 'f', 0, 64)
	}
	t.line(label, text)
}

// gpuTitle has the name of the GPUs if they are all of one kind.
func gpuTitle(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return "GPU"
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) > 1 {
		return fmt.Sprintf("GPU (%d, mixed models)", len(names))
	}
	name := cutASCII(names[0], 30)
	if len(names) > 1 {
		name = fmt.Sprintf("%d x %s", len(names), name)
	}
	return "GPU (" + name + ")"
}

// ttftPart is a part of the time to the first chunk.
type ttftPart struct {
	name   string
	letter byte
	took   time.Duration
}

// ttftPartsOf are the known parts in order of time.
func ttftPartsOf(s *metrics.TTFTSplit) []ttftPart {
	parts := []ttftPart{
		{"Slot wait", 'S', s.SlotWait}, {"Connect", 'C', s.Connect},
		{"Queue", 'Q', s.Queue}, {"Prefill", 'P', s.Prefill}, {"Rest", 'R', s.Rest},
	}
	if s.Queue < 0 && s.Prefill < 0 {
		parts = append(parts[:2:2], ttftPart{"Unknown", 'U', s.Rest})
	}
	return slices.DeleteFunc(parts, func(p ttftPart) bool { return p.took < 0 })
}

// hasSplit is false if only the rest is known: the server reports no parts, not even for some requests, and the client
// added no wait.
func hasSplit(r *metrics.Report) bool {
	s := &r.Split
	if s.N == 0 {
		return false
	}
	told := s.Source == metrics.SplitByRequests || s.Source == metrics.SplitByMetrics
	return told || partialMetrics(r) || max(s.SlotWait, s.Connect) >= metrics.MinSlotWaitMS*time.Millisecond
}

// partialMetrics reports whether the server's metrics cover the parts of too few requests.
func partialMetrics(r *metrics.Report) bool {
	return r.Split.Source == metrics.SplitUnknown && r.Server != nil && (r.Server.Queue.N > 0 || r.Server.Prefill.N > 0)
}

// split draws the parts as a bar of letters and names them below, those on the client's side first.
func (t textReport) split(r *metrics.Report) {
	s := &r.Split
	wait := r.Plan.FirstWait().Naming().Title
	t.heading("Where "+wait+" goes", '-')
	parts := ttftPartsOf(s)
	shown := parts
	if r.Plan.ClosedLoop() { // its requests wait for slots by plan, for longer than for anything else
		shown = slices.DeleteFunc(slices.Clone(parts), func(p ttftPart) bool { return p.letter == 'S' })
	}
	t.w.WriteString(bar(shown, ruleWidth) + "\n")
	var before, within []string
	for _, p := range parts {
		words := p.name + " " + digits(milliseconds(p.took)) + " ms"
		switch {
		case p.took < s.TTFT/100 || milliseconds(p.took) == 0: // too short to mention
		case p.letter == 'S' || p.letter == 'C':
			before = append(before, words)
		default:
			within = append(within, words)
		}
	}
	text := fmt.Sprintf("%s %s ms", wait, digits(milliseconds(s.TTFT)))
	if len(within) > 0 {
		text += ": " + strings.Join(within, ", ")
	}
	if len(before) > 0 {
		text = strings.Join(before, ", ") + ", then " + text
	}
	switch {
	case s.Source == metrics.SplitByRequests:
		text += "; source: per-request metrics"
	case s.Source == metrics.SplitByMetrics:
		text += "; source: /metrics" + countMismatch(s)
	case partialMetrics(r):
		text += "; /metrics covers too little of the run"
	case r.Plan.SeveralRoles():
		text += "; each engine has a part of a wait"
	default:
		text += "; the server reports no parts"
	}
	t.note(text)
}

// countMismatch gives both numbers of requests if the server's means cover others than this run's.
func countMismatch(s *metrics.TTFTSplit) string {
	if !s.OfOthers() {
		return ""
	}
	if s.OthersToo() {
		text := fmt.Sprintf(", which includes other requests (%d; this run had %d)", s.Seen, s.N+s.More)
		var most []string
		for _, p := range []struct {
			name        string
			known, most time.Duration
		}{{"Queue", s.Queue, s.QueueMost}, {"Prefill", s.Prefill, s.PrefillMost}} {
			if p.known >= 0 {
				most = append(most, fmt.Sprintf("%s at most %s ms", p.name, digits(milliseconds(p.most))))
			}
		}
		return text + "; of this run's alone: " + strings.Join(most, ", ")
	}
	return fmt.Sprintf(" (%d requests; this run had %d)", s.Seen, s.N+s.More)
}

// bar is width columns, divided among the parts by duration.
func bar(parts []ttftPart, width int) string {
	total := 0.0
	for _, p := range parts {
		total += float64(p.took)
	}
	var b strings.Builder
	sum := 0.0
	for _, p := range parts {
		sum += float64(p.took)
		for total > 0 && b.Len() < int(math.Round(sum/total*float64(width))) {
			b.WriteByte(p.letter)
		}
	}
	return b.String()
}

// MissingGPUs reports which of the GPUs in --gpu have no data, and why; "" if none is missing or --gpu is not set.
func MissingGPUs(r *metrics.Report) string {
	asked, g, why := cutASCII(r.Plan.GPUs, textWidth/2), r.GPUs, "the run ended before the first sample"
	if g != nil && g.Absent != "" {
		why = clause(g.Absent)
	}
	switch missing := neverSeen(r); {
	case r.Plan.GPUs == "":
		return ""
	case g == nil || len(g.Seconds) == 0:
		return fmt.Sprintf("--gpu %s: no GPU data: %s", asked, why)
	case len(missing) > 0:
		return fmt.Sprintf("--gpu %s: no data for GPU %s", asked, cutASCII(strings.Join(missing, ", "), textWidth))
	case g.Absent != "":
		return fmt.Sprintf("--gpu %s: GPU data incomplete: %s", asked, why)
	}
	return ""
}

// neverSeen are the requested indices without a sample.
func neverSeen(r *metrics.Report) (missing []string) {
	seen := map[int]bool{}
	if r.GPUs != nil {
		for _, look := range r.GPUs.Seconds {
			for _, g := range look.GPUs {
				seen[g.Index] = true
			}
		}
	}
	for word := range strings.SplitSeq(r.Plan.GPUs, ",") {
		if index, err := strconv.Atoi(word); err == nil && !seen[index] {
			missing = append(missing, strconv.Itoa(index))
		}
	}
	return missing
}
