package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"benchtop/internal/findings"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// longestClass is the room for the name of a class.
const longestClass = 24

// Groups writes a line for each class of requests and for each turn of conversations, and a few on the conversations. The text starts
// with an empty line; it is empty where requests have no classes and are no turns of several.
func Groups(w io.Writer, r metrics.Report) error {
	return cmp.Or(writeClasses(w, &r), writeTurns(w, &r), writeSessions(w, r.Sessions))
}

// groupColumn is a column of a table of groups.
type groupColumn struct {
	name string
	of   func(g *metrics.Group) string
}

func writeGroups(w io.Writer, title string, all []metrics.Group, columns []groupColumn) error {
	if len(all) == 0 {
		return nil
	}
	rows := [][]string{metrics.Each(columns, func(c groupColumn) string { return c.name })}
	for i := range all {
		rows = append(rows, metrics.Each(columns, func(c groupColumn) string { return c.of(&all[i]) }))
	}
	return table(w, title, rows)
}

func writeClasses(w io.Writer, r *metrics.Report) error {
	columns := slices.Concat([]groupColumn{
		{"class", func(g *metrics.Group) string { return cutMiddle(text.Clean(g.Class), longestClass) }}, groupDone, groupFailed,
		{"req/s", func(g *metrics.Group) string { return decimals(g.RequestThroughput) }},
		{"tok/s", func(g *metrics.Group) string { return decimals(g.OutputThroughput) }},
	}, ttftColumns, []groupColumn{
		{"TPOT p50", func(g *metrics.Group) string { return groupPercentile(&g.TPOT, 50) }},
		{"p99", func(g *metrics.Group) string { return groupPercentile(&g.TPOT, 99) }},
		{"good", func(g *metrics.Group) string {
			return wholePercent(r.Plan.JudgesGroup(&g.GroupCounts, r.Objectives), g.GoodShare())
		}},
	}, cacheColumns(r.Classes))
	if slices.ContainsFunc(r.Classes, func(g metrics.Group) bool { return g.Judged > 0 }) {
		columns = append(columns, groupColumn{"correct", func(g *metrics.Group) string {
			if g.Judged == 0 {
				return absent
			}
			return percent(float64(g.Correct) / float64(g.Judged))
		}})
	}
	return writeGroups(w, "Requests by class, latencies in ms", r.Classes, columns)
}

func writeTurns(w io.Writer, r *metrics.Report) error {
	return writeGroups(w, "Requests by turn, latencies in ms", r.Turns, slices.Concat([]groupColumn{
		{"turn", (*metrics.Group).Name}, groupDone, groupFailed,
		{"tokens in", func(g *metrics.Group) string {
			if g.Completed == 0 {
				return absent
			}
			return strconv.Itoa(int(metrics.Share(g.InputTokens, g.Completed) + 0.5))
		}},
	}, ttftColumns, []groupColumn{{"TPOT p50", func(g *metrics.Group) string { return groupPercentile(&g.TPOT, 50) }}}, cacheColumns(r.Turns)))
}

var (
	groupDone   = groupColumn{"done", func(g *metrics.Group) string { return strconv.Itoa(g.Completed) }}
	groupFailed = groupColumn{"failed", func(g *metrics.Group) string { return strconv.Itoa(g.Failed) }}
	ttftColumns = []groupColumn{
		{"TTFT p50", func(g *metrics.Group) string { return groupPercentile(&g.TTFT, 50) }},
		{"p99", func(g *metrics.Group) string { return groupPercentile(&g.TTFT, 99) }},
	}
)

// cacheColumns are the hits of the prefix cache, as far as they are known of any group.
func cacheColumns(all []metrics.Group) (out []groupColumn) {
	for _, c := range []struct {
		name string
		of   func(g *metrics.Group) metrics.CacheHits
	}{
		{"cached", func(g *metrics.Group) metrics.CacheHits { return g.Cached }}, {"ideal", func(g *metrics.Group) metrics.CacheHits { return g.Ideal }},
	} {
		if slices.ContainsFunc(all, func(g metrics.Group) bool { return c.of(&g).Of > 0 }) {
			out = append(out, groupColumn{c.name, func(g *metrics.Group) string { return wholePercent(true, c.of(g).Rate()) }})
		}
	}
	return out
}

func groupPercentile(s *metrics.Statistic, p float64) string {
	v, ok := s.Percentile(p)
	if !ok || s.N == 0 {
		return absent
	}
	return decimals(v)
}

func wholePercent(known bool, share float64) string {
	if !known || !metrics.Said(share) {
		return absent
	}
	return strconv.Itoa(int(100*share+0.5)) + " %"
}

// writeSessions writes nothing where no conversation has several turns.
func writeSessions(w io.Writer, s *metrics.Sessions) error {
	if s == nil {
		return nil
	}
	text := fmt.Sprintf("\nConversations: %d completed, %d failed, %d unfinished; %.1f of %.1f turns on average\n", s.Completed, s.Failed, s.Unfinished, s.Turns, s.Planned)
	line := func(name string, of *metrics.Statistic, write func(float64) string) {
		if of.N == 0 {
			return
		}
		p50, _ := of.Percentile(50)
		p99, _ := of.Percentile(99)
		text += fmt.Sprintf("  %-22s mean %s, p50 %s, p99 %s\n", name, write(of.Mean), write(p50), write(p99))
	}
	line("makespan", &s.Makespan, findings.Milliseconds)
	line("waiting for the model", &s.Waiting, findings.Milliseconds)
	line("cached share", &s.CachedShare, percent)
	_, err := io.WriteString(w, text)
	return err
}
