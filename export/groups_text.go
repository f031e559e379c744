package export

import (
	"fmt"
	"strconv"

	"benchtop/internal/findings"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// longestClass is the room for the name of a class.
const longestClass = 24

// Groups has a line for each class of requests and for each turn of conversations, and a few on the conversations. The
// text starts with an empty line; it is empty where requests have no classes and are no turns of several.
func Groups(r metrics.Report) string {
	out := classTable(&r).String() + turnTable(&r).String()
	for i := range r.Compared {
		c := &r.Compared[i]
		all := findings.Places(c)
		if out += placeTable(&r, c).String(); len(all) > 0 {
			out += "\n"
		}
		for _, said := range all {
			out += text.Wrap(said, textWidth)
		}
	}
	return out + sessionsText(r.Sessions)
}

func classTable(r *metrics.Report) *table.Table { return groupTable(r, "class", r.Classes) }

// groupTable has a line for each group, with E2EL for those of places.
func groupTable(r *metrics.Report, by string, groups []metrics.Group) *table.Table {
	t := table.New("Requests by "+by+", latencies in ms", by, "done", "failed", "req/s", "tok/s",
		"TTFT p50", "p99", "TPOT p50", "p99", "good")
	more := columnsOf(t, r)
	t.Optional("E2EL p50", "p99")
	for i := range groups {
		g := &groups[i]
		t.Add(text.FitMiddle(text.Clean(g.Name()), longestClass), g.Completed, g.Failed,
			g.RequestThroughput(r.Duration), g.OutputThroughput(r.Duration),
			percentilesOf(&g.Statistics[metrics.TTFT], 50, 99), percentilesOf(&g.Statistics[metrics.TPOT], 50, 99),
			wholePercent(r.Plan.JudgesGroup(g, r.Objectives), g.GoodShare()), more(&g.Counts),
			when(g.Place != "", percentilesOf(&g.Statistics[metrics.E2EL], 50, 99)))
	}
	return t
}

// columnsOf adds the columns to a table of groups that not all runs have, and returns the cells of a group in them.
func columnsOf(t *table.Table, r *metrics.Report) func(*metrics.Counts) []any {
	columns := metrics.ColumnsOf(&r.Plan, &r.Counts)
	for _, c := range columns {
		t.Optional(c.Heading)
	}
	return func(of *metrics.Counts) []any {
		return metrics.Each(columns, func(c metrics.Column) any { return columnCell(&c, of) })
	}
}

func columnCell(c *metrics.Column, of *metrics.Counts) any {
	if c.Count != nil {
		return c.Count(of)
	}
	share := c.Share(of)
	if c.Strict && metrics.Said(share) {
		return percent(share)
	}
	return wholePercent(true, share)
}

// placeTable has a line for each place of an axis; none for servers, which have a table of their own.
func placeTable(r *metrics.Report, c *metrics.Comparison) *table.Table {
	switch c.By {
	case metrics.AxisServer:
		return new(table.Table)
	case metrics.AxisEngine:
		return engineTable(r, c.Engines)
	}
	return groupTable(r, text.FitMiddle(text.Clean(c.Name()), longestClass), c.Places)
}

// engineTable has a line for each of several engines, with the means of what the servers say of them.
func engineTable(r *metrics.Report, all []metrics.Engine) *table.Table {
	t := table.New("Engines by /metrics, means", "engine", "running", "waiting").Optional("KV", "tok/s in", "tok/s",
		"TTFT ms")
	for i := range all {
		e := &all[i]
		t.Add(text.FitMiddle(text.Clean(r.Plan.EngineName(e, all)), longestServer), e.Running, e.Waiting,
			wholePercent(true, e.KVUsage), e.PromptTokens/e.Took.Seconds(), e.OutputTokens/e.Took.Seconds(),
			when(e.TTFT.N > 0, milliseconds(e.TTFT.Mean)))
	}
	return t
}

func turnTable(r *metrics.Report) *table.Table {
	t := table.New("Requests by turn, latencies in ms", "turn", "done", "failed", "tokens in",
		"TTFT p50", "p99", "TPOT p50")
	more := columnsOf(t, r)
	for i := range r.Turns {
		g := &r.Turns[i]
		input := int(metrics.Share(g.InputTokens, g.Completed) + 0.5)
		t.Add(g.Name(), g.Completed, g.Failed, when(g.Completed > 0, input),
			percentilesOf(&g.Statistics[metrics.TTFT], 50, 99), percentileOf(&g.Statistics[metrics.TPOT], 50),
			more(&g.Counts))
	}
	return t
}

func wholePercent(known bool, share float64) string {
	if !known || !metrics.Said(share) {
		return table.Absent
	}
	return strconv.Itoa(int(100*share+0.5)) + " %"
}

// longestServer is the room for the URL of a server.
const longestServer = 40

// Servers has a line for each of several servers. The text starts with an empty line; it is empty with one server.
func Servers(r metrics.Report) string { return serverTable(&r).String() }

func serverTable(r *metrics.Report) *table.Table {
	t := table.New("", "Servers, "+text.Clean(r.Plan.Strategy), "done", "failed", "in flight", "req/s", "tok/s",
		r.Plan.FirstWait().Naming().Title+" p50", "p99 ms")
	t.Gap = 1
	for i, width := range []int{0, 6, 6, 9, 7, 8, 9, 8} {
		t.Columns[i].Width = width
	}
	more := columnsOf(t, r)
	for i := range r.Servers {
		s := &r.Servers[i]
		t.Add(text.FitMiddle(text.Clean(r.Plan.ServerURL(i)), longestServer), s.Completed, s.Failed,
			metrics.PerSecond(s.Busy, r.Duration), s.RequestThroughput(r.Duration),
			when(r.Plan.Generates(), s.OutputThroughput(r.Duration)),
			percentilesOf(&s.Statistics[r.Plan.FirstWait()], 50, 99), more(&s.Counts))
	}
	return t
}

// content is what answers hold beside text, as far as servers say it.
func (t *remarks) content() {
	for _, c := range metrics.ColumnsOf(&t.r.Plan, &t.r.Counts) {
		if c.Remark != "" {
			t.add(c.Remark, c.Count(&t.r.Counts), text.Count(t.r.Completed, "successful request"))
		}
	}
	of := func(n int) string { return text.Count(n, "answer") }
	if n := t.r.Calling; n > 0 {
		t.add("Tool calls: %d in %d of %s; the median time to the first is %s.", t.r.Calls, n, of(t.r.Completed),
			findings.Milliseconds(t.r.FirstCalls.Median))
	}
	if n := t.r.Reasoning; n.Tokens > 0 {
		t.add("Reasoning: %.0f %% of the output tokens, by the usage of %s.", 100*n.Rate(), of(n.Requests))
	}
	if n, by := t.r.Accepted, &t.r.Acceptance; n.Requests > 0 {
		t.add("Speculative decoding: %.0f %% of the draft tokens accepted, by %s; by answer from %.0f %% (p10) to "+
			"%.0f %% (p90).", 100*n.Rate(), of(n.Requests), 100*percentileOf(by, 10), 100*percentileOf(by, 90))
	}
}

// sessionsText is "" where no conversation has several turns.
func sessionsText(s *metrics.Sessions) string {
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("\nConversations: %d completed, %d failed, %d unfinished; %.1f of %.1f turns on average\n",
		s.Completed, s.Failed, s.Unfinished, s.Turns, s.Planned)
	line := func(name string, of *metrics.Statistic, write func(float64) string) {
		if of.N == 0 {
			return
		}
		text += fmt.Sprintf("  %-22s mean %s, p50 %s, p99 %s\n", name, write(of.Mean),
			write(percentileOf(of, 50)), write(percentileOf(of, 99)))
	}
	line("makespan", &s.Makespan, findings.Milliseconds)
	line("waiting for the model", &s.Waiting, findings.Milliseconds)
	line("cached share", &s.CachedShare, percent)
	return text
}
