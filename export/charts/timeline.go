package charts

import (
	"io"
	"iter"

	"benchtop/metrics"
)

// Timeline draws all requests of a run, failed ones too, as a Gantt chart: a page of HTML that needs no network, with
// Apache ECharts in it. Requests may come in any order; the rows are in data-set order, the first at the top, and times
// are relative to the earliest start.
//
// A request's row has the time to its first chunk and then every gap between chunks, in colours by the two thresholds in
// milliseconds (a gap that equals a threshold belongs to the slower side). What a failed or cancelled request still waited
// after its last chunk has a colour of its own. Beyond some millions of segments neighbouring gaps are joined, and the page
// says so. The marks of events are lines across the rows.
//
// It returns how many segments the page holds. If there is nothing to draw it is 0 and nothing was written. The error is
// that of the requests or of w.
func Timeline(
	w io.Writer, requests iter.Seq2[metrics.Request, error], plan metrics.Plan, events []metrics.LogEntry, thresholdsMS [2]float64,
) (segments int, err error) {
	g, err := gather(requests, thresholds{lowMS: thresholdsMS[0], highMS: thresholdsMS[1]}, maxSegments)
	if err != nil || g.segments == 0 {
		return 0, err
	}
	return g.segments, writePage(w, g, &plan, events)
}
