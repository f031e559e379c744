package export

import (
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// JUnit's file has a case for the run and one for each gate, which fails with the value that it met.
func TestJUnit(t *testing.T) {
	gate := func(text string) metrics.Gate {
		g, err := metrics.ParseGate(text)
		assert.Fine(t, err)
		return g
	}
	r := metrics.Report{Plan: metrics.Plan{ModelID: "a<b", Started: time.Unix(1e9, 0)}, Duration: 12.5,
		Trouble: "5 of 8 requests failed", Gates: []metrics.GateResult{
			{Gate: gate("p99_ttft_ms>500"), Value: 812, Known: true, Missed: true},
			{Gate: gate("error_rate>1%"), Value: 0.001, Known: true},
			{Gate: gate("goodput<90%"), Value: math.NaN(), Missed: true}}}
	var b strings.Builder
	assert.Fine(t, Write(&b, r, "junit"))
	assert.Has(t, b.String(),
		`<testsuite name="benchtop" tests="4" failures="3" time="12.5" timestamp="2001-09-09T01:46:40">`,
		`<testcase name="run" classname="benchtop.a&lt;b" time="12.5">`,
		`<failure message="5 of 8 requests failed"></failure>`,
		`<testcase name="not p99_ttft_ms&gt;500" classname="benchtop.a&lt;b" time="12.5">`+"\n"+
			`    <failure message="it is 812"></failure>`,
		`<testcase name="not error_rate&gt;1%" classname="benchtop.a&lt;b" time="12.5"></testcase>`,
		`<failure message="it is unknown"></failure>`,
		`<system-out>`)
}
