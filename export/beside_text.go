package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"benchtop/metrics"
)

// Beside writes what was seen beside the requests, in the form of Text: what the server and the accelerators said of
// themselves, and where the time until the first chunk went. It starts with an empty line, or writes nothing at all where
// nobody said anything.
func Beside(w io.Writer, r metrics.Report) error {
	t := textReport{bufio.NewWriter(w)}
	sections := []func(*metrics.Report){t.server, t.gpus, t.split}
	shown := []bool{saysServer(&r), saysGPUs(r.GPUs), saysSplit(&r)}
	first := true
	for i, section := range sections {
		if !shown[i] {
			continue
		}
		if first {
			t.w.WriteByte('\n')
			first = false
		}
		section(&r)
	}
	if !first {
		t.heading("", '=')
	}
	return t.w.Flush()
}

// said writes a line only for a figure that was given.
func (t textReport) said(label string, v float64) {
	if finite(v) {
		t.float(label, v)
	}
}

// pair writes a mean and the most.
func (t textReport) pair(label string, mean, most float64) {
	if finite(mean) && finite(most) {
		fmt.Fprintf(t.w, "%-40s %-10s\n", label, fmt.Sprintf("%.1f / %s", mean, strconv.FormatFloat(math.Round(most*10)/10, 'f', -1, 64)))
	}
}

func anySaid(figures ...float64) bool {
	for _, v := range figures {
		if finite(v) {
			return true
		}
	}
	return false
}

func saysServer(r *metrics.Report) bool {
	s := r.Server
	return r.CachedTokens > 0 || s != nil && len(s.Seconds) > 0 &&
		anySaid(s.RunningMean, s.WaitingMean, s.KVMean, s.Preemptions, s.PromptTokens, s.OutputTokens, s.HitRate, s.Acceptance)
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
	t.said("Prefix cache hit rate (%):", s.HitRate*100)
	t.cached(r)
	t.said("Draft tokens accepted (%):", s.Acceptance*100)
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
		t.float("Prompt cached, by the answers (%):", 100*float64(r.CachedTokens)/float64(r.InputTokens))
	}
}

// note wraps a sentence below the figures.
func (t textReport) note(text string) {
	for _, line := range wrapAt(text, "  ", ruleWidth) {
		t.w.WriteString(line + "\n")
	}
}

func saysGPUs(g *metrics.GPUReport) bool {
	return g != nil && len(g.Seconds) > 0 && anySaid(g.UseMean, g.PowerMean, g.MemoryMost, g.TemperatureMost, g.CostPerMillion)
}

func (t textReport) gpus(r *metrics.Report) {
	g := r.GPUs
	t.heading(gpuTitle(g.Names), '-')
	t.said("Mean use (%):", g.UseMean*100)
	t.said("Most memory in use (GiB):", g.MemoryMost/(1<<30))
	t.said("Highest temperature (C):", g.TemperatureMost)
	told := ""
	if g.Powered < g.Seen {
		told = fmt.Sprintf(", %d of %d", g.Powered, g.Seen)
	}
	t.said("Mean power (W"+told+"):", g.PowerMean)
	looked := ""
	if g.LooksMiss(r.Ended - r.Plan.Warmup) {
		looked = fmt.Sprintf(", of %.1f s looked at", g.LookedAt.Seconds())
	}
	t.said("Energy (J"+told+looked+"):", g.Energy)
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
	fmt.Fprintf(t.w, "%-40s %-10s\n", label, text)
}

// gpuTitle names the accelerators that were looked at, if they are all of one kind.
func gpuTitle(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return "GPU"
	}
	for _, name := range names {
		if name != names[0] {
			return fmt.Sprintf("GPU (%d of several kinds)", len(names))
		}
	}
	name := cutASCII(names[0], 30)
	if len(names) > 1 {
		name = fmt.Sprintf("%d x %s", len(names), name)
	}
	return "GPU (" + name + ")"
}
