package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/text"
	"benchtop/metrics"
)

// Each class has its own figures, in the order of the numbers in its name; classes beyond the limit are counted
// together.
func TestClasses(t *testing.T) {
	run := metrics.Run{
		Plan: metrics.Plan{Requests: 5, Rate: 1, Metrics: []metrics.Latency{metrics.TTFT},
			Percentiles: []float64{50, 99},
			Goodput:     metrics.SLO{{Metric: metrics.TTFT, LimitMS: 250}}},
		End: metrics.End{Ended: 10 * time.Second},
	}
	var qs []metrics.Request
	for i, class := range []string{"priority 10", "priority 2", "priority 10", "priority 2", "priority -1"} {
		q := sampleRequest(i, 10, 4, 0, time.Duration(i)*time.Second, time.Duration(i+1)*100*ms, time.Second,
			time.Second, time.Second)
		q.Class = class
		qs = append(qs, q)
	}
	qs[3] = refused(3, 10, 3*time.Second, 3*time.Second, "no")
	qs[3].Class = "priority 2"
	r := summarize(t, run, qs)
	want := `
Requests by class, latencies in ms
class        done  failed  req/s  tok/s  TTFT p50     p99  TPOT p50      p99  good
priority -1     1       0   0.10   0.40    500.00  500.00   1000.00  1000.00   0 %
priority 2      1       1   0.10   0.40    200.00  200.00   1000.00  1000.00  50 %
priority 10     2       0   0.20   0.80    200.00  298.00   1000.00  1000.00  50 %
`
	assert.Equal(t, Groups(r), want, "Groups")
	if part := `{"class": "priority 2", "completed": 1, "failed": 1, "good": 1, "input_tokens": 10, "output_tokens": ` +
		`4, "cached_tokens": 0, "cached_share": null, "ideal_tokens": null, "ideal_share": null, ` +
		`"request_throughput": 0.1`; !strings.Contains(resultJSON(t, r), part) {
		t.Errorf("%s is not in the result: %s", part, resultJSON(t, r))
	}

	qs = nil
	for i := range 2 * metrics.MostClasses {
		q := sampleRequest(i, 10, 4, 0, time.Second, 100*ms, time.Second, time.Second, time.Second)
		q.Class = fmt.Sprint("tenant ", i)
		qs = append(qs, q)
	}
	r = summarize(t, run, qs)
	i := slices.IndexFunc(r.Classes, func(g metrics.Group) bool { return g.Class == metrics.OtherClasses })
	if len(r.Classes) != metrics.MostClasses || i < 0 || r.Classes[i].Completed != metrics.MostClasses+1 {
		t.Errorf("%d classes, the others at %d", len(r.Classes), i)
	}
	assert.Equal(t, Groups(summarize(t, run, nil)), "", "without classes")
}

// The figures that not all runs have are in every table of groups and in the result, where a run has them.
func TestColumns(t *testing.T) {
	run := metrics.Run{Plan: metrics.Plan{Requests: 4, Rate: 1, Abandon: "30%", Retry: "backoff",
		Servers: []string{"http://a", "http://b"}}, End: metrics.End{Ended: 10 * time.Second}}
	var qs []metrics.Request
	for i := range 4 {
		q := sampleRequest(i, 10, 4, 0, time.Duration(i)*time.Second, 100*ms, time.Second, time.Second, time.Second)
		q.Class, q.Turns, q.Turn, q.Server = "chat", 2, i%2, i%2
		q.CachedTokens, q.CachedKnown = 5, true
		q.Judgement.Judged = true
		qs = append(qs, q)
	}
	qs[0].Refusal, qs[1].Failure, qs[2].Judgement.Wrong = true, metrics.Abandoned, "not JSON"
	qs[2].Tallies[metrics.TooManyRequests] = 3
	r := summarize(t, run, qs)
	for _, table := range []string{classTable(&r).CSV(), turnTable(&r).CSV(), serverTable(&r).CSV()} {
		assert.Has(t, table, "left,retried,cached,correct,refusals\n")
	}
	assert.Has(t, classTable(&r).CSV(), ",1,1,50 %,66.6 %,1\n")
	assert.Has(t, turnTable(&r).CSV(), ",0,1,50 %,50.0 %,1\n", ",1,0,50 %,100.0 %,0\n")
	assert.Has(t, serverTable(&r).CSV(), ",0,1,50 %,50.0 %,1\n", ",1,0,50 %,100.0 %,0\n")
	got := resultJSON(t, r)
	assert.Equal(t, strings.Count(got, `"abandoned": 1, "retried": 1, "refusals": 1, "retries": 3`), 1, "in the class")
	assert.Equal(t, strings.Count(got, `"abandoned": 0, "retried": 1, "refusals": 1, "retries": 3`), 2,
		"in a turn and a server")
}

// The wrong answers are told by reason, each with its first request.
func TestAnswers(t *testing.T) {
	run := metrics.Run{Plan: metrics.Plan{Requests: 6, Rate: 1}, End: metrics.End{Ended: 10 * time.Second}}
	var qs []metrics.Request
	for i, j := range []metrics.Judgement{
		{Judged: true, Lenient: true}, {Judged: true, Wrong: "not JSON", Detail: "late"},
		{Judged: true, Wrong: "violates the schema", Detail: "at /age: type", Lenient: true},
		{}, {Judged: true, Wrong: "not JSON", Detail: "\x1b[31mred"}, {Judged: true, Wrong: "empty"},
	} {
		q := sampleRequest(i, 10, 4, 0, time.Duration(6-i)*time.Second, 100*ms, time.Second, time.Second, time.Second)
		q.Judgement, q.Class = j, "constrained"
		qs = append(qs, q)
	}
	qs[1].Index, qs[4].Index = 4, 1 // the first of the data set may end last
	r := summarize(t, run, qs)
	if got, want := Answers(r), "\nCorrect answers: 1 of 5 (20.0 %); 40.0 % by the rule of vLLM's benchmark\n"+
		"      2 not JSON, as request 1: "+text.Clean("\x1b[31mred")+"\n      1 empty, as request 5\n      1 violates "+
		"the schema, as request 2: at /age: type\n"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := Groups(r); !strings.Contains(got, "correct") || !strings.Contains(got, "20.0 %") {
		t.Error(got)
	}
	assert.Equal(t, Answers(summarize(t, run, nil)), "", "no answers")
}
