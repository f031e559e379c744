package export

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

const (
	ms = time.Millisecond
	us = time.Microsecond
)

// sampleRun is the worked example of vLLM's report.
var sampleRun, sampleRequest, refused = eventtest.Sample, eventtest.Request, eventtest.Refused

func summarize(t *testing.T, run metrics.Run, qs []metrics.Request) metrics.Report {
	t.Helper()
	r := assert.Must(report.Summarize(eventtest.Each(qs), run))(t)
	return r
}

// written is what a form of the report writes.
func written(t *testing.T, form func(io.Writer, metrics.Report) error, r metrics.Report) string {
	t.Helper()
	var b strings.Builder
	assert.Fine(t, form(&b, r))
	return b.String()
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }
