package export

import (
	"io"
	"slices"
	"strconv"

	"benchtop/metrics"
)

// longestClass is the room for the name of a class.
const longestClass = 24

// Classes writes a line for each class of requests. The text starts with an empty line; it is empty where requests have no classes.
func Classes(w io.Writer, r metrics.Report) error {
	if len(r.Classes) == 0 {
		return nil
	}
	judged := slices.ContainsFunc(r.Classes, func(c metrics.Group) bool { return c.Judged > 0 })
	rows := [][]string{{"class", "done", "failed", "req/s", "tok/s", "TTFT p50", "p99", "TPOT p50", "p99", "good"}}
	if judged {
		rows[0] = append(rows[0], "correct")
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		row := []string{cutMiddle(Clean(c.Class), longestClass), strconv.Itoa(c.Completed), strconv.Itoa(c.Failed), decimals(c.RequestThroughput), decimals(c.OutputThroughput)}
		for _, s := range []*metrics.Statistic{&c.TTFT, &c.TPOT} {
			for _, p := range []float64{50, 99} {
				figure := absent
				if v, ok := s.Percentile(p); ok && s.N > 0 {
					figure = decimals(v)
				}
				row = append(row, figure)
			}
		}
		good := absent
		if n := c.Completed + c.Failed; len(r.Objectives) > 0 && n > 0 {
			good = strconv.Itoa(int(100*float64(c.Good)/float64(n)+0.5)) + " %"
		}
		if row = append(row, good); judged {
			correct := absent
			if c.Judged > 0 {
				correct = percent(float64(c.Correct) / float64(c.Judged))
			}
			row = append(row, correct)
		}
		rows = append(rows, row)
	}
	return table(w, "Requests by class, latencies in ms", rows)
}
