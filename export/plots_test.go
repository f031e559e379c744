package export

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"benchtop/metrics"
)

func plots(t *testing.T, r metrics.Report, o PlotOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Plots(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tenSeconds climbs to 900 tokens per second and 18 requests in flight, with two marks.
func tenSeconds() metrics.Report {
	r := metrics.Report{Completed: 1, Duration: 10}
	for i := range 10 {
		r.Timeline = append(r.Timeline, metrics.Window{
			Start: time.Duration(i) * time.Second, OutputTokens: 100 * i, Waiting: i, Running: i,
		})
	}
	r.Events = []metrics.Event{
		{At: 0, Mark: "8 req/s"}, {At: metrics.Never, Mark: "never"}, {At: 2 * time.Second, Text: "no mark"},
		{At: 5500 * ms, Mark: "16 \x1b[31mreq/s"}, {At: time.Hour, Mark: "late 日本"},
	}
	return r
}

var _ = fmt.Sprint
var _ = strings.Cut
var _ = utf8.RuneLen
