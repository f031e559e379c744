package panels

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"benchtop/internal/findings"
	"benchtop/metrics"
	"benchtop/tui/number"
)

// sample is the newest sample of the server, nil if there is none.
func (f *truth) sample() *metrics.ServerSecond {
	at, _ := f.cursor()
	return newestOf(f.run.run.Server, at, func(s *metrics.ServerSecond) time.Duration { return s.At })
}

// samples are those of the server in the figures.
func (f *truth) samples() (out []metrics.ServerSecond) {
	from, to, whole := f.stretch()
	if whole {
		from = f.s.Plan.Warmup
	}
	for _, s := range f.run.run.Server {
		if s.At > from && s.At <= min(to, f.s.At) {
			out = append(out, s)
		}
	}
	return out
}

// meanOver is the mean of a figure in samples of a second, and its maximum, after the warm-up.
func (f *truth) meanOver(of func(*metrics.ServerSecond) float64) string {
	sum, most, n := 0.0, 0.0, 0.0
	for _, s := range f.samples() {
		sum, most, n = sum+of(&s), max(most, of(&s)), n+1
	}
	return said(sum/n) + ", max " + said(most)
}

func (f *truth) serverQueue() {
	s := f.sample()
	if s == nil {
		return
	}
	if f.over() {
		f.want(`━ running (\S+, max \S+)`, f.meanOver(func(s *metrics.ServerSecond) float64 { return s.Running }))
		f.want(`━ waiting (\S+, max \S+)`, f.meanOver(func(s *metrics.ServerSecond) float64 { return s.Waiting }))
		f.want(`━ waiting \(client\) (\S+, max \S+)`, f.levelsOver()[1])
		return
	}
	_, waiting, _ := f.levels()
	f.want(`━ running (\S+)`, fmt.Sprint(s.Running))
	f.want(`━ waiting (\d+)`, fmt.Sprint(s.Waiting))
	f.want(`━ waiting \(client\) (\d+)`, number.Count(waiting))
}

func (f *truth) kv() {
	s := f.sample()
	if s == nil {
		return
	}
	if f.over() {
		kv := func(kind string) string { return saidShare(f.at("benchtop", "server", "kv_usage", kind)) }
		f.want(`━ used (\S+, max \S+)`, kv("mean")+", max "+kv("max"))
	} else {
		f.want(`━ used (\S+)%`, fmt.Sprintf("%.0f", 100*s.KVUsage))
	}
	if all := f.samples(); len(all) > 0 {
		n := 0.0
		for _, s := range all {
			n += s.Preemptions
		}
		if f.over() {
			n = f.at("benchtop", "server", "preemptions")
		}
		f.want(`━ preempted (\S+)`, fmt.Sprint(n))
	}
}

func (f *truth) serverTokens() {
	s := f.sample()
	if s == nil {
		return
	}
	if f.over() {
		f.want(`━ out (\S+, max \S+)`, f.meanOver(func(s *metrics.ServerSecond) float64 { return s.OutputTokens }))
		f.want(`━ prompt (\S+, max \S+)`, f.meanOver(func(s *metrics.ServerSecond) float64 { return s.PromptTokens }))
		f.want(`━ out \(client\) (\S+)`, said(f.at("output_throughput")))
		return
	}
	f.want(`━ out (\S+)`, number.Short(s.OutputTokens))
	f.want(`━ prompt (\S+)`, number.Short(s.PromptTokens))
	f.want(`━ out \(client\) (\S+)`, said(f.mean(outputTokens)))
}

func (f *truth) serverTTFT() {
	s := f.sample()
	if s == nil {
		return
	}
	if f.over() {
		for name, key := range map[string]string{"server": "ttft_ms", "client": "ttft_here_ms"} {
			ms := f.at("benchtop", "server", key, "mean")
			f.want(`━ `+name+` (\S+)`, orDash(!math.IsNaN(ms), number.Latency, time.Duration(ms*1e6)))
		}
		return
	}
	f.want(`━ server (\S+)`, number.Latency(s.TTFT.Mean))
}

func (f *truth) cache() {
	f.cached()
	all := f.samples()
	if len(all) == 0 {
		return
	}
	var hits, queries, accepted, drafted, preempted float64
	for _, s := range all {
		hits, queries, preempted = hits+s.PrefixHits, queries+s.PrefixQueries, preempted+s.Preemptions
		accepted, drafted = accepted+s.AcceptedTokens, drafted+s.DraftTokens
	}
	hitRate, acceptance := hits/queries, accepted/drafted
	if f.over() {
		hitRate, acceptance = f.at("benchtop", "server", "prefix_cache_hit_rate"),
			f.at("benchtop", "server", "spec_acceptance")
	}
	f.want(`│prefix hits .*?(\d+%)`, saidShare(hitRate))
	f.want(`│draft.*?(\d+%)`, saidShare(acceptance))
	f.want(`│prefix hits .*% +(\S+ of \S+?) *│`, said(hits)+" of "+said(queries))
	f.want(`│preemptions +(\S+)`, said(preempted))
}

// drafts compares the acceptance in the samples that have it by position.
func (f *truth) drafts() {
	var all metrics.SpecDecode
	positions := map[int]int{}
	for _, s := range f.samples() {
		if d := s.SpecDecode; d != nil {
			all.Drafts, all.AcceptedTokens = all.Drafts+d.Drafts, all.AcceptedTokens+d.AcceptedTokens
			for k, n := range d.AcceptedPerPosition {
				positions[k] += n
			}
		}
	}
	if all.Drafts == 0 {
		return
	}
	for k, n := range positions {
		f.want(fmt.Sprintf(`│%d +(\S+) `, k), fmt.Sprintf("%.0f", 100*float64(n)/float64(all.Drafts)))
	}
	f.want(`· length (\S+)`, fmt.Sprintf("%.2f", 1+float64(all.AcceptedTokens)/float64(all.Drafts)))
}

// cached is the hit rate by the usage of the answers that have it, and that of an ideal cache.
func (f *truth) cached() {
	var ideal, idealOf int
	for i := range f.run.requests {
		if q := &f.run.requests[i]; f.counts(q, q.Done) && q.OK() && q.IdealKnown {
			ideal, idealOf = ideal+q.IdealTokens, idealOf+q.InputTokens
		}
	}
	if idealOf > 0 {
		f.want(`│ *ideal .*?(\d+%)`, shareText(ideal, idealOf))
	}
	var tokens, of float64
	for i := range f.run.requests {
		if q := &f.run.requests[i]; f.counts(q, q.Done) && q.OK() && q.CachedKnown {
			tokens, of = tokens+float64(q.CachedTokens), of+float64(q.InputTokens)
		}
	}
	if of == 0 {
		if _, ok := f.find(`│ *by usage .*?(%)`); ok {
			f.failf("a hit rate of no answers")
		}
		return
	}
	rate := tokens / of
	if f.over() {
		rate = f.at("benchtop", "cached_tokens", "hit_rate")
	}
	f.want(`│ *by usage .*?(\d+%)`, saidShare(rate))
	f.want(`│ *by usage .*% +(\S+ of \S+?) *│`, said(tokens)+" of "+said(of))
}

func (f *truth) gpus() {
	s := newestOf(f.run.run.GPUs, f.s.At, func(s *metrics.GPUSecond) time.Duration { return s.At })
	if s == nil {
		return
	}
	for _, g := range s.GPUs {
		row := fmt.Sprintf(`^│ %d .*`, g.Index)
		f.want(row+`?(\d+%)`, saidShare(g.Use))
		f.want(row+` (\S+) of`, gib(g.MemoryUsed))
		f.want(row+` (\d+)/700W`, said(g.Power))
		f.want(row+` (\d+)°C`, said(g.Temperature))
		f.want(row+` (\d+)MHz`, fmt.Sprint(g.Clock))
	}
	if f.over() {
		f.want(`energy whole run (\S+)J`, said(f.at("benchtop", "gpus", "energy_j")))
		if f.run.run.Plan.Pooling {
			return
		}
		f.want(`· (\S+) J/token`, twoDigits(f.at("benchtop", "gpus", "joules_per_output_token")))
		if f.s.Plan.GPUPrice > 0 {
			f.want(`cost (\S+) per`, twoDigits(f.at("benchtop", "gpus", "cost_per_million_output_tokens")))
		}
	}
}

// why compares the parts of TTFT with those of the result. Before, those of the client alone are known without a rule,
// where the server tells nothing.
func (f *truth) why() {
	parts := map[string]time.Duration{}
	if f.over() {
		for name, key := range map[string]string{"queued here": "held_ms", "connect": "connect_ms",
			"server queue": "queue_ms", "prefill": "prefill_ms", "rest|server \\+ net": "rest_ms"} {
			if ms := f.at("benchtop", "ttft_split", key); ms == ms {
				parts[name] = time.Duration(ms * 1e6)
			}
		}
	} else {
		n, told := 0, len(f.run.run.Server) > 0
		var slot, connect time.Duration
		from, to, whole := f.stretch()
		if whole {
			from = f.s.Plan.Warmup
		}
		for i := range f.run.requests {
			q := &f.run.requests[i]
			told = told || q.ServerQueue != metrics.Never
			if q.FirstChunk == metrics.Never || q.FirstChunk > f.s.At || q.FirstChunk.Truncate(time.Second) < from ||
				q.FirstChunk >= to || q.Done <= f.s.At && !q.OK() {
				continue
			}
			n, slot, connect = n+1, slot+q.Admitted-q.Due, connect+q.Connect
		}
		if told || n == 0 {
			return
		}
		parts["queued here"], parts["connect"] = slot/time.Duration(n), connect/time.Duration(n)
	}
	for name, took := range parts {
		const rounded = time.Microsecond / 2 // in the result
		f.want(`│(?:`+name+`) .*?([\d.]+m?µ?s) +\d+%`, number.Latency(took), number.Latency(took-rounded),
			number.Latency(took+rounded))
	}
}

// row compares the figures of a request by the names of the columns or facts.
func (f *truth) figuresOf(q *metrics.Request) map[string]string {
	upTo := func(at, v time.Duration) string {
		return orDash(at != metrics.Never && at <= f.s.At && v >= 0, number.Latency, v)
	}
	ended, tokens := metrics.Never, 0
	for _, c := range q.Chunks {
		if c.At <= f.s.At {
			tokens += int(c.Tokens)
		}
	}
	if q.OK() {
		ended = q.Done
	}
	tpot := metrics.Never
	if q.OutputTokens > 1 {
		tpot = (q.Done - q.FirstChunk) / time.Duration(q.OutputTokens-1)
	}
	out := map[string]string{"TTFT": upTo(q.FirstChunk, q.FirstChunk-q.Sent), "TPOT": upTo(ended, tpot),
		"E2EL": upTo(ended, q.Done-q.Sent), "in": fmt.Sprint(q.InputTokens),
		"tok out": orDash(tokens > 0, number.Count, tokens)}
	if q.Sent <= f.s.At {
		out["sent"] = fmt.Sprintf("%02d:%02d.%d", int(q.Sent.Minutes()), int(q.Sent.Seconds())%60,
			int(q.Sent.Milliseconds()/100)%10)
	}
	return out
}

// list compares the rows of the list with the requests of their numbers.
func (f *truth) list() {
	columns := []string{"sent", "total", "TTFT", "TPOT", "tok out", "in"}
	switch {
	case f.s.Plan.Pooling:
		columns = []string{"sent", "total", "in"}
	case !f.large:
		columns = []string{"total", "TTFT", "TPOT"}
	}
	rows, names := f.table(columns...)
	for y, name := range names {
		var index int
		if n, _ := fmt.Sscan(strings.TrimPrefix(name, "→"), &index); n == 0 || index >= len(f.run.requests) {
			continue
		}
		q := &f.run.requests[index]
		figures := f.figuresOf(q)
		if q.OK() && q.Done <= f.s.At {
			figures["total"] = figures["E2EL"]
		}
		for i, c := range columns {
			if want, ok := figures[c]; ok && rows[y][i] != want {
				f.failf("request %d: %s is %s, want %s", index, c, rows[y][i], want)
			}
		}
		state, missed := f.missed(q)
		if !strings.Contains(name, state) || f.large && !strings.Contains(name, missed) {
			f.failf("request %d: %q, want %q and missed %q", index, name, state, missed)
		}
		f.read++
	}
	if f.large && f.s.Requests != nil && len(f.s.Requests) > 0 && f.read == 0 {
		f.failf("no request")
	}
}

// missed is the state of a request, where it is over and did not fail, and the names of the objectives that it missed.
func (f *truth) missed(q *metrics.Request) (state, names string) {
	if q.Done > f.s.At || !q.OK() {
		return "", ""
	}
	var missed []string
	took := map[metrics.Latency]time.Duration{metrics.TTFT: q.FirstChunk - q.Sent, metrics.E2EL: q.LastChunk - q.Sent}
	for _, l := range []metrics.Latency{metrics.TTFT, metrics.E2EL} {
		for _, o := range f.s.Plan.Goodput {
			if o.Metric == l && metrics.Milliseconds(took[l]) > o.LimitMS {
				missed = append(missed, map[metrics.Latency]string{metrics.TTFT: "TTFT", metrics.E2EL: "E2EL"}[l])
			}
		}
	}
	if len(missed) == 0 {
		return "✓ done", ""
	}
	return "! missed", "  " + strings.Join(missed, ", ")
}

// open compares the facts of the open request.
func (f *truth) open() {
	index := f.v.List.Picked - 1
	i := slices.IndexFunc(f.run.requests, func(q metrics.Request) bool { return q.Index == index })
	if i < 0 {
		return
	}
	f.want(`^╭─ request (\d+)`, fmt.Sprint(index))
	figures := f.figuresOf(&f.run.requests[i])
	for _, name := range []string{"sent", "TTFT", "TPOT", "E2EL"} {
		if want, ok := figures[name]; ok && !(f.s.Plan.Pooling && name[0] == 'T') {
			f.want(`[│ ]`+name+` +([\d–]\S*?)(?: |│)`, want)
		}
	}
	f.want(`tokens in +(\S+)`, figures["in"])
}

// header compares the clock and the number of requests so far.
func (f *truth) header() {
	f.want(`(?:RUN|DONE|FAILED|MISSED|early|errors|missed) +(\d\d:\d\d)`, number.Clock(f.s.At))
	if planned := f.s.Plan.Requests; planned > 0 {
		n := 0
		for i := range f.run.requests {
			if f.run.requests[i].Done <= f.s.At {
				n++
			}
		}
		f.want(fmt.Sprintf(` (\d+)/%d`, planned), number.Count(n))
	}
}

var errorsPattern = regexp.MustCompile(`(\d+) errors?`)

// verdict compares the line of what is known so far, whose words are those of the findings.
func (f *truth) verdict() {
	f.known()
	parts := strings.Split(strings.TrimRight(f.lines[0], " "), " │ ")
	for i, part := range parts {
		said := slices.ContainsFunc(f.v.findings(), func(x findings.Finding) bool {
			cut := i == len(parts)-1 && strings.HasPrefix(x.Long, strings.TrimRight(part, " …│"))
			return part == x.Long || part == x.Short || cut
		})
		if !said && part != "measuring …" {
			f.failf("%q is no finding", part)
		}
	}
	if f.over() && f.at("benchtop", "answer", "peak_output_tokens_per_s") > 0 && !f.s.Plan.Pooling {
		f.want(`peak (\S+) tok/s`, number.Short(f.at("benchtop", "answer", "peak_output_tokens_per_s")))
	}
	if done, failed := f.ended(); failed > 0 {
		f.want(errorsPattern.String(), number.Count(failed))
		f.want(`errors?, (\S+ %)`, findings.Share(float64(failed)/float64(failed+done)))
	}
}

// known compares the highest load within the objectives, the saturation and its cause.
func (f *truth) known() {
	if !f.over() {
		if a := f.s.Answer; a != nil && a.Proven > 0 && len(f.s.Plan.Goodput) > 0 {
			f.want(`SLO:? (\S+) req/s (?:proven|\()`, findings.Number(a.Proven))
		}
		return
	}
	answer := f.result["benchtop"].(map[string]any)["answer"].(map[string]any)
	if answer["bends"] == true {
		f.headlines++
		if at, ok := answer["at"].(float64); ok {
			f.want(`saturat(?:es|ion) +(?:at )?([\d.]+k?)`, findings.Number(at))
		} else if before, ok := answer["before"].(map[string]any); ok && answer["after"] != nil {
			f.want(`saturat(?:es|ion) +(?:between )?(\S+?)(?:–| and)`, findings.Number(before["offered"].(float64)))
		}
		if limit, ok := answer["limit"].(map[string]any); ok {
			f.want(`(\d+) % of `, fmt.Sprintf("%.0f", math.Floor(100*limit["share"].(float64)+1e-9)))
		}
	}
	if e, ok := answer["estimate"].(map[string]any); ok && answer["proven"] == false && e["high"] != nil {
		f.headlines++
		f.want(`estimate ([\d.–k]+)`, findings.Bounds(e["low"].(float64), e["high"].(float64)))
	}
	if sure, ok := answer["sure"].(float64); ok {
		f.headlines++
		f.want(`SLO:? +(\S+) req/s (?:proven|\()`, findings.Number(answer["highest_within_slo"].(float64)))
		f.want(`SLO:? +\S+ req/s(?: proven)? \((\d+ %)\)`, findings.Confidence(sure))
	}
}

// card compares the results of a run that is over.
func (f *truth) card() {
	f.known()
	done, failed := f.ended()
	f.want(`(\d+) requests in`, number.Count(done+failed))
	f.want(`requests in (\d\d:\d\d)`, number.Clock(f.run.run.Ended))
	if int(f.at("completed")) != done {
		f.failf("the result has %v requests, want %d", f.at("completed"), done)
	}
	if failed > 0 {
		f.want(`(\d+) failed`, number.Count(failed))
	}
	f.want(`throughput +mean (\S+) req/s`, number.Rate(f.at("request_throughput")))
	if !f.s.Plan.Pooling {
		f.want(`· (\S+) tok/s`, number.Rate(f.at("output_throughput")))
	}
}

// tiny compares the figures of a very small screen, which are those of now.
func (f *truth) tiny() {
	now := *f.v
	now.Back = 0
	f.v = &now
	_, failed := f.ended()
	f.want(`err (\d+)`, number.Count(failed))
	f.want(`req/s (\S+)`, f.rate())
	f.want(f.v.firstWait().Naming().Title+` p99 (\S+)`, f.latencyText(f.v.firstWait(), "p99"))
	if !f.s.Plan.Pooling {
		f.want(`ITL p99 (\S+)`, f.latencyText(metrics.ITL, "p99"))
	}
}
