package export

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

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
	wait := r.Plan.FirstWait().Naming().Title
	title := "Servers, " + text.Clean(r.Plan.Strategy)
	width := utf8.RuneCountInString(title)
	for i := range r.Servers {
		width = max(width, utf8.RuneCountInString(text.Clean(r.Servers[i].URL)))
	}
	width = min(width, longestServer)
	var page strings.Builder
	row := func(name string, cells ...string) {
		fmt.Fprintf(&page, "%-*s %6s %6s %9s %7s %8s %9s %8s\n", width, name, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6])
	}
	row(title, "done", "failed", "in flight", "req/s", "tok/s", wait+" p50", "p99 ms")
	for i := range r.Servers {
		s := &r.Servers[i]
		output, waits := "-", [2]string{"-", "-"}
		if r.Plan.Generates() {
			output = decimals(s.OutputThroughput)
		}
		if s.FirstWait.N > 0 {
			for k, p := range []float64{50, 99} {
				v, _ := s.FirstWait.Percentile(p)
				waits[k] = decimals(v)
			}
		}
		row(cutMiddle(text.Clean(s.URL), width), strconv.Itoa(s.Completed), strconv.Itoa(s.Failed), decimals(s.InFlight),
			decimals(s.RequestThroughput), output, waits[0], waits[1])
	}
	_, err := io.WriteString(w, "\n"+page.String())
	return err
}

func decimals(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// cutMiddle shortens a URL in its middle, since its ends tell servers apart.
func cutMiddle(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	head := (most - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(most-1-head):])
}
