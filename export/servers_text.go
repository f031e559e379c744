package export

import (
	"io"

	"benchtop/internal/table"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// longestServer is the room for the URL of a server.
const longestServer = 40

// Servers writes a line for each of several servers. The text starts with an empty line; it is empty with one server.
func Servers(w io.Writer, r metrics.Report) error {
	if len(r.Servers) == 0 {
		return nil
	}
	t := table.New("", "Servers, "+text.Clean(r.Plan.Strategy), "done", "failed", "in flight", "req/s", "tok/s",
		r.Plan.FirstWait().Naming().Title+" p50", "p99 ms")
	t.Gap = 1
	for i, width := range []int{0, 6, 6, 9, 7, 8, 9, 8} {
		t.Columns[i].Width = width
	}
	for i := range r.Servers {
		s := &r.Servers[i]
		output := any(table.Absent)
		if r.Plan.Generates() {
			output = s.OutputThroughput
		}
		t.Add(text.FitMiddle(text.Clean(s.URL), longestServer), s.Completed, s.Failed, s.InFlight,
			s.RequestThroughput, output, percentileOf(&s.FirstWait, 50), percentileOf(&s.FirstWait, 99))
	}
	_, err := io.WriteString(w, t.String())
	return err
}
