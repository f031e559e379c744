package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"benchtop/internal/assert"
	"benchtop/metrics"
)

// onPod is a request that was sent at a second and answered by a pod, "" for none.
func onPod(i int, pod string) *metrics.Request {
	q := metrics.NewRequest(i)
	at := time.Duration(i) * time.Second
	q.Scheduled, q.Due, q.Admitted, q.Sent = at, at, at, at
	if pod != "" {
		q.Served = []string{pod}
	}
	return &q
}

// A request has its place once its answer begins, or at its end, and is in flight there from then to its end.
func TestPlacesOfRequests(t *testing.T) {
	line := metrics.Timeline{Plan: &metrics.Plan{Metrics: []metrics.Latency{metrics.TTFT}, Axes: []metrics.Axis{
		{By: metrics.AxisHeader, Header: "x-pod"}, {By: metrics.AxisAdapter}}}}
	want := func(when, all string) {
		t.Helper()
		got := ""
		for _, groups := range line.Groups.Axes(line.Plan) {
			for i := range groups {
				g := &groups[i]
				got += fmt.Sprintf("%s: %d sent, %d in flight, %d done, %d failed\n", g.Name(), g.Sent, g.InFlight,
					g.Completed, g.Failed)
			}
		}
		assert.Equal(t, got, all, "%s", when)
	}
	answered, silent, cut, unsent := onPod(0, "pod 2"), onPod(1, ""), onPod(2, ""), onPod(3, "")
	answered.Model, unsent.Sent = "sql", metrics.Never
	for _, q := range []*metrics.Request{answered, silent, cut, unsent} {
		if line.Due(q); q.Sent != metrics.Never {
			line.Sent(q)
		}
	}
	want("sent", "sql: 1 sent, 1 in flight, 0 done, 0 failed\n")
	answered.Add(metrics.Chunk{At: 4 * time.Second, Tokens: 1})
	line.Chunk(answered, 0)
	want("answering", "pod 2: 1 sent, 1 in flight, 0 done, 0 failed\n"+
		"sql: 1 sent, 1 in flight, 0 done, 0 failed\n")
	silent.Failure, cut.Failure, unsent.Failure = metrics.FailedTimeout, metrics.Cancelled, metrics.FailedConnect
	for _, q := range []*metrics.Request{answered, silent, cut, unsent} {
		q.Done = 5 * time.Second
		line.Done(q)
	}
	end := "pod 2: 1 sent, 0 in flight, 1 done, 0 failed\nnone: 1 sent, 0 in flight, 0 done, 2 failed\n" +
		"sql: 1 sent, 0 in flight, 1 done, 0 failed\n"
	want("ended", end)
	line = metrics.Timeline{Plan: line.Plan}
	for _, q := range []*metrics.Request{answered, silent, cut, unsent} {
		line.Replay(q)
	}
	want("replayed", end)
}

// A thousand places take the room of 64, and their names come in the order of their numbers.
func TestManyPlaces(t *testing.T) {
	line := metrics.Timeline{Plan: &metrics.Plan{Axes: slices.Repeat(
		[]metrics.Axis{{By: metrics.AxisHeader, Header: "x-pod"}}, 2*metrics.MostAxes)}}
	for i := range 1000 {
		q := onPod(i, fmt.Sprint("pod ", 1000-i))
		q.Done = q.Sent + time.Second
		line.Replay(q)
	}
	all := line.Groups.Axes(line.Plan)
	if len(all) != metrics.MostAxes || len(all[0]) != metrics.MostClasses {
		t.Fatalf("%d axes, %d places", len(all), len(all[0]))
	}
	first, last := &all[0][0], &all[0][metrics.MostClasses-1]
	if first.Place != "pod 938" || last.Place != metrics.OtherClasses || last.Completed != 937 {
		t.Errorf("the first is %s, the last %s with %d", first.Place, last.Place, last.Completed)
	}
	if all[1][0].Place != metrics.NoPlace { // the second header had no value
		t.Errorf("on the second axis %s", all[1][0].Place)
	}
}

// A name is short, valid text without blanks around it, and the same when it is read again.
func FuzzPlaceName(f *testing.F) {
	for _, s := range []string{"", " a ", strings.Repeat("é", 100), "\xff" + strings.Repeat("x", 126) + "é",
		strings.Repeat("\xff", 200), strings.Repeat("x", 127) + " y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := metrics.PlaceName(s)
		if len(name) > metrics.MostPlaceName || !utf8.ValidString(name) || name != strings.TrimSpace(name) ||
			metrics.PlaceName(name) != name {
			t.Errorf("%q becomes %q, and that %q", s, name, metrics.PlaceName(name))
		}
	})
}
