package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/metrics"
)

// Telemetry writes what was seen beside the requests, in the form of Text: what the server and the accelerators said of
// themselves, and where the time until the first chunk went. It starts with an empty line, or writes nothing at all where
// nobody said anything.
func Telemetry(w io.Writer, r metrics.Report) error {
	t := textReport{bufio.NewWriter(w)}
	server, gpus, split := hasServer(&r), hasGPUs(r.GPUs), hasSplit(&r)
	if !server && !gpus && !split {
		return nil
	}
	t.w.WriteByte('\n')
	if server {
		t.server(&r)
	}
	if gpus {
		t.gpus(&r)
	}
	if split {
		t.split(&r)
	}
	t.heading("", '=')
	return t.w.Flush()
}

// optional writes a line only for a figure that was given.
func (t textReport) optional(label string, v float64) {
	if finite(v) {
		t.float(label, v)
	}
}

// pair writes a mean and the most.
func (t textReport) pair(label string, mean, most float64) {
	if finite(mean) && finite(most) {
		t.line(label, fmt.Sprintf("%.1f / %s", mean, strconv.FormatFloat(math.Round(most*10)/10, 'f', -1, 64)))
	}
}

func anyKnown(figures ...float64) bool { return slices.ContainsFunc(figures, finite) }

func hasServer(r *metrics.Report) bool {
	s := r.Server
	return r.CachedTokens > 0 || s != nil && len(s.Seconds) > 0 &&
		anyKnown(s.RunningMean, s.WaitingMean, s.KVMean, s.Preemptions, s.PromptTokens, s.OutputTokens, s.HitRate, s.Acceptance)
}

func (t textReport) server(r *metrics.Report) {
	s := r.Server
	if s == nil || len(s.Seconds) == 0 {
		t.heading("Server", '-')
		t.cached(r)
		return
	}
	title := "Server"
	if s.Kind != "" {
		title += " (" + cutASCII(s.Kind, 20) + ")"
	}
	t.heading(title, '-')
	t.pair("Running requests (mean / most):", s.RunningMean, s.RunningMost)
	t.pair("Waiting requests (mean / most):", s.WaitingMean, s.WaitingMost)
	t.pair("KV cache in use (%, mean / most):", s.KVMean*100, s.KVMost*100)
	t.short("Preemptions:", s.Preemptions)
	t.optional("Prefix cache hit rate (%):", s.HitRate*100)
	t.cached(r)
	t.optional("Draft tokens accepted (%):", s.Acceptance*100)
	if r.ComparesTTFT() {
		theirs, ours := "Mean TTFT by the server's clock (ms):", "The same requests by this client's (ms):"
		if n := math.Round(s.TTFT.N); n != float64(s.First.Prompts()) { // nobody can tell whose they are
			theirs, ours = fmt.Sprintf("Mean TTFT, server's clock (ms, of %.0f):", n), fmt.Sprintf("Mean %s, this client's (ms, of %d):", r.Plan.FirstWait().Naming().Title, s.First.Prompts())
		}
		t.float(theirs, milliseconds(s.TTFT.Mean))
		t.float(ours, milliseconds(s.First.MeanTTFT()))
	}
	if s.TooShort() {
		t.note(tooShort + ".")
	}
	if s.Absent != "" {
		t.note("Not to the end: " + cutASCII(s.Absent, 2*ruleWidth))
	}
}

// tooShort is why a server's levels are not known though its page tells them.
const tooShort = "The run was too short for a look at the server's levels"

// cached is what the answers say of the prefix cache.
func (t textReport) cached(r *metrics.Report) {
	if r.CachedTokens > 0 {
		t.float("Prompt cached, by the answers (%):", 100*cachedShare(r))
	}
}

// note wraps a sentence below the figures.
func (t textReport) note(text string) { t.w.WriteString(wrap(text, ruleWidth)) }

func hasGPUs(g *metrics.GPUReport) bool {
	return g != nil && len(g.Seconds) > 0 && anyKnown(g.UseMean, g.PowerMean, g.MemoryMost, g.TemperatureMost, g.CostPerMillion)
}

func (t textReport) gpus(r *metrics.Report) {
	g := r.GPUs
	t.heading(gpuTitle(g.Names), '-')
	t.optional("Mean use (%):", g.UseMean*100)
	t.optional("Most memory in use (GiB):", g.MemoryMost/(1<<30))
	t.optional("Highest temperature (C):", g.TemperatureMost)
	told := ""
	if g.Powered < g.Seen {
		told = fmt.Sprintf(", %d of %d", g.Powered, g.Seen)
	}
	t.optional("Mean power (W"+told+"):", g.PowerMean)
	looked := ""
	if g.LooksMiss(r.Ended - r.Plan.Warmup) {
		looked = fmt.Sprintf(", of %.1f s looked at", g.LookedAt.Seconds())
	}
	t.optional("Energy (J"+told+looked+"):", g.Energy)
	t.short("Energy per output token (J"+told+"):", g.JoulesPerToken)
	t.short("Cost per million output tokens:", g.CostPerMillion)
	if g.Absent != "" {
		t.note("Not to the end: " + cutASCII(g.Absent, 2*ruleWidth))
	}
}

// short writes a figure with as many digits as it needs: a small one has four that count, a large one no fraction.
func (t textReport) short(label string, v float64) {
	if !finite(v) {
		return
	}
	text := strconv.FormatFloat(v, 'g', 4, 64)
	if math.Abs(v) >= 1000 {
		text = strconv.FormatFloat(v, 'f', 0, 64)
	}
	t.line(label, text)
}

// gpuTitle names the accelerators that were looked at, if they are all of one kind.
func gpuTitle(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return "GPU"
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) > 1 {
		return fmt.Sprintf("GPU (%d of several kinds)", len(names))
	}
	name := cutASCII(names[0], 30)
	if len(names) > 1 {
		name = fmt.Sprintf("%d x %s", len(names), name)
	}
	return "GPU (" + name + ")"
}

// ttftPart of the time until the first chunk.
type ttftPart struct {
	name   string
	letter byte
	took   time.Duration
}

// ttftPartsOf are in order of time; those that nobody knows are not among them.
func ttftPartsOf(s *metrics.TTFTSplit) []ttftPart {
	parts := []ttftPart{
		{"Held", 'H', s.SlotWait}, {"Connect", 'C', s.Connect},
		{"Queue", 'Q', s.Queue}, {"Prefill", 'P', s.Prefill}, {"Rest", 'R', s.Rest},
	}
	if s.Queue < 0 && s.Prefill < 0 {
		parts = append(parts[:2:2], ttftPart{"Unknown", 'U', s.Rest})
	}
	return slices.DeleteFunc(parts, func(p ttftPart) bool { return p.took < 0 })
}

// hasSplit: where nobody tells what the server did, only a wait on this side of it is worth a line, and that its page told of
// a part of the run alone.
func hasSplit(r *metrics.Report) bool {
	s := &r.Split
	if s.N == 0 {
		return false
	}
	told := s.Source == metrics.SplitByRequests || s.Source == metrics.SplitByMetrics
	return told || partialMetrics(r) || max(s.SlotWait, s.Connect) >= minSlotWaitMS*time.Millisecond
}

// partialMetrics reports whether the server's page told something of the parts, but not of enough requests.
func partialMetrics(r *metrics.Report) bool {
	return r.Split.Source == metrics.SplitUnknown && r.Server != nil && (r.Server.Queue.N > 0 || r.Server.Prefill.N > 0)
}

// split draws the parts as one bar of letters, and names them below with those letters first.
func (t textReport) split(r *metrics.Report) {
	s := &r.Split
	wait := r.Plan.FirstWait().Naming().Title
	t.heading("Where "+wait+" goes", '-')
	parts := ttftPartsOf(s)
	t.w.WriteString(bar(parts, ruleWidth) + "\n")
	var before, within []string
	for _, p := range parts {
		words := p.name + " " + digits(milliseconds(p.took)) + " ms"
		switch {
		case p.took < s.TTFT/100 || milliseconds(p.took) == 0: // not worth a word
		case p.letter == 'H' || p.letter == 'C':
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
		text += ", as the server told with each answer"
	case s.Source == metrics.SplitByMetrics:
		text += ", as its metrics page says" + countMismatch(s)
	case partialMetrics(r):
		text += ", as the server's metrics page saw too little of the run"
	default:
		text += ", as the server does not tell"
	}
	t.note(text)
}

// countMismatch says how many requests the page's means are of, where that is not this run's number.
func countMismatch(s *metrics.TTFTSplit) string {
	if !s.OfOthers() {
		return ""
	}
	return fmt.Sprintf(" of %d requests; this run had %d", s.Seen, s.N+s.More)
}

// bar is width columns, of which each part has its share.
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

// MissingGPUs says in words what was not seen of the accelerators that --gpu asked for, and why; "" if nothing is missing, or
// nobody asked for any.
func MissingGPUs(r *metrics.Report) string {
	asked, g, why := cutASCII(r.Plan.GPUs, textWidth/2), r.GPUs, "the run was over before anybody looked"
	if g != nil && g.Absent != "" {
		why = clause(g.Absent)
	}
	switch missing := neverSeen(r); {
	case r.Plan.GPUs == "":
		return ""
	case g == nil || len(g.Seconds) == 0:
		return fmt.Sprintf("--gpu %s: nothing was seen of the GPUs: %s", asked, why)
	case len(missing) > 0:
		return fmt.Sprintf("--gpu %s: never seen was GPU %s", asked, cutASCII(strings.Join(missing, ", "), textWidth))
	case g.Absent != "":
		return fmt.Sprintf("--gpu %s: the GPUs were not seen to the end: %s", asked, why)
	}
	return ""
}

// neverSeen are the indices that were asked for and are in no look.
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
