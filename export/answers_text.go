package export

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/findings"
	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Answers says how many answers had the form that they had to have, and why others had not; how known answers changed
// under load; and which answers are garbage. Each text starts with an empty line; it is empty where no answer was
// judged.
func Answers(r metrics.Report) string { return formsText(&r) + checksText(&r) + garbageText(&r) }

func formsText(r *metrics.Report) string {
	if r.Judged == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "\nCorrect answers: %d of %d (%s)", r.Correct, r.Judged,
		percent(metrics.Share(r.Correct, r.Judged)))
	if r.Lenient != r.Correct {
		fmt.Fprintf(&out, "; %s by the rule of vLLM's benchmark", percent(metrics.Share(r.Lenient, r.Judged)))
	}
	return out.String() + "\n" + reasons(r.Wrong)
}

// reasons has a line for each, with an example.
func reasons(all []metrics.WrongAnswers) string {
	var out strings.Builder
	for _, x := range all {
		fmt.Fprintf(&out, "%7d %s, as request %d", x.Count, text.Clean(x.Reason), x.Index)
		if x.Detail != "" {
			fmt.Fprintf(&out, ": %s", text.Fit(text.Clean(x.Detail), textWidth/2))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// checksText is the table of checks, and what follows from them.
func checksText(r *metrics.Report) string {
	if r.Plan.CheckAnswers == 0 {
		return ""
	}
	t := checksTable(r)
	said := slices.IndexFunc(t.Rows, func(row []table.Cell) bool { return len(row) == 1 })
	out, words := "\n"+text.Wrap(t.Rows[said][0].Text, textWidth), t.Rows[said+1:]
	t.Title, t.Rows = "", t.Rows[:said]
	out += t.String()
	for _, row := range words {
		out += text.Wrap(row[0].Text, textWidth)
	}
	return out
}

func checksHead(r *metrics.Report) string {
	c := cmp.Or(r.Checks, new(metrics.AnswerChecks))
	head := fmt.Sprintf("Known answers: %d of %s alone", c.Sent, text.Count(r.Plan.CheckAnswers, "prompt"))
	if c.Compared > 0 {
		head += fmt.Sprintf(", compared %s under load by %s: %d changed (%s, %s with 95 %% confidence)",
			times(c.Compared), c.By, c.Changed, percent(c.Share()), findings.Interval(c.ChangedShare))
	}
	if share := checksCost(r); metrics.Said(share) && c.Tokens > 0 {
		head += fmt.Sprintf("; they cost %.2f %% of the load's tokens", 100*share)
	}
	return head + "."
}

// checksCost are the tokens of checks beside the load, as a share of those of the load.
func checksCost(r *metrics.Report) float64 {
	if load := r.InputTokens + r.OutputTokens; r.Checks != nil && load > 0 {
		return float64(r.Checks.Tokens) / float64(load)
	}
	return metrics.Unsaid()
}

// checksTable has a row for each number of requests in flight, and the sentences about all.
func checksTable(r *metrics.Report) *table.Table {
	t := table.New("Known answers", "in flight", "compared", "changed", "share", "95 % confidence")
	if r.Plan.CheckAnswers == 0 {
		return t
	}
	if c := r.Checks; c != nil {
		for _, l := range c.Levels() {
			name := strconv.Itoa(l.From)
			if l.To > l.From {
				name += "-" + strconv.Itoa(l.To)
			}
			t.Add(name, l.Compared, l.Changed, percent(l.Share()), findings.Interval(l.ChangedShare))
		}
	}
	for _, words := range append([]string{checksHead(r)}, findings.OfReport(r).AnswerWords()...) {
		t.Add(words)
	}
	return t
}

// garbageTable has a row for each reason, and the sentences about all.
func garbageTable(r *metrics.Report) *table.Table {
	t := table.List("Garbage", "reason", "answers", "first request", "example")
	for _, g := range r.Garbage {
		t.Add(text.Clean(g.Reason), g.Count, g.Index, text.Fit(text.Clean(g.Detail), textWidth/2))
	}
	for _, words := range garbageWords(r) {
		t.Add(words)
	}
	return t
}

// garbageWords are how many answers are garbage, and what that may mean.
func garbageWords(r *metrics.Report) []string {
	n, all := 0, text.Count(r.Completed, "answer")
	for _, g := range r.Garbage {
		n += g.Count
	}
	head := fmt.Sprintf("Garbage: %d of %s (%s)", n, all, percent(metrics.Share(n, r.Completed)))
	switch words := findings.GarbageWords(r.Garbage, r.Plan.IgnoreEOS); {
	case r.Plan.CheckAnswers == 0:
		return nil
	case n == 0:
		return []string{fmt.Sprintf("Garbage: none in %s.", all)}
	case words != "":
		return []string{head, words}
	}
	return []string{head}
}

func garbageText(r *metrics.Report) string {
	words := garbageWords(r)
	if len(words) == 0 {
		return ""
	}
	out := "\n" + words[0] + "\n" + reasons(r.Garbage)
	for _, w := range words[1:] {
		out += text.Wrap(w, textWidth)
	}
	return out
}

// checks are known answers under load, and garbage; none for a run that checks no answers.
func checks(r *metrics.Report) object {
	if r.Plan.CheckAnswers == 0 {
		return nil
	}
	c := cmp.Or(r.Checks, new(metrics.AnswerChecks))
	run := findings.OfReport(r)
	cached, known := c.Cached(run.FastestTPOT)
	share := func(s metrics.ChangedShare) object {
		low, high := s.Bounds()
		return object{{"compared", s.Compared}, {"changed", s.Changed}, {"changed_share", finiteOrNull(s.Share())},
			{"low", low}, {"high", high}}
	}
	return object{{"answer_checks", slices.Concat(object{
		{"prompts", r.Plan.CheckAnswers}, {"alone", c.Sent}, {"unsteady", c.Unsteady}, {"empty", c.Empty},
		{"failed", c.Failed}, {"failed_beside", c.FailedBeside}, {"sampled", c.Sampled},
		{"compared_by", orNull(string(c.By))}, {"tokens", c.Tokens}, {"cost", finiteOrNull(checksCost(r))},
	}, share(c.ChangedShare), object{
		{"by_load", each(c.Levels(), func(l *metrics.CheckLevel) object {
			return append(object{{"in_flight_from", l.From}, {"in_flight_to", l.To}}, share(l.ChangedShare)...)
		})},
		{"common_share", finiteOrNull(c.CommonShare())}, {"ties", c.Ties}, {"no_ties", c.NoTies},
		{"answers_cached", when(known, cached)},
		{"words", each(run.AnswerWords(), func(s *string) string { return *s })},
		{"garbage", wrongList(r.Garbage)},
	})}}
}
