package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/event/eventtest"
)

// A digest has what it keeps of a request unchanged, whatever that is, and says whether chunks are in disorder.
func TestDigests(t *testing.T) {
	all := eventtest.DrawRun(3, 3000)
	all[1] = metrics.NewRequest(math.MaxInt32)
	all[2].Class, all[2].Failure = strings.Repeat("long ", 50_000), "of another program"
	all[3].Sent, all[3].Done, all[3].InputTokens = time.Duration(1), time.Duration(math.MaxInt64), math.MinInt
	all[4] = eventtest.Simple(4, time.Second, time.Second, time.Second, 3)
	all[4].Chunks[1].At = 0
	var d digests
	for i := range all {
		d.add(&all[i])
	}
	i := 0
	for got := range d.all() {
		q := &all[i]
		want := digest{*q, 0}
		if i == 4 {
			want.tangled = 1
		}
		same := got.Index == q.Index && got.Connect == q.Connect && got.Failure == q.Failure && got.Class == q.Class
		for k, v := range want.times() {
			same = same && *v == *got.times()[k]
		}
		for k, v := range want.numbers() {
			same = same && *v == *got.numbers()[k]
		}
		if !same {
			t.Fatalf("request %d: %+v, want %+v", i, got, want)
		}
		i++
	}
	if bytes := len(d.pages) * digestPage; i != len(all) || bytes > 100*len(all)+5*digestPage {
		t.Errorf("%d of %d requests, %d bytes", i, len(all), bytes)
	}
}

// The gaps of seconds long past take a few bytes, and count as before, also when one of them gets more.
func TestCellsPack(t *testing.T) {
	var all cells
	want := metrics.Histogram{}
	for i := range 3 * packBehind {
		q := eventtest.Simple(i, time.Duration(i)*time.Second, time.Millisecond, 20*time.Millisecond, 5)
		for _, load := range []time.Duration{time.Duration(i) * time.Second, 0} { // the first second gets one each time
			all.add(load, &q)
			for k := 1; k < len(q.Chunks); k++ {
				want.Add(q.Gap(k))
			}
		}
	}
	var got metrics.Histogram
	for i := range all {
		got.Merge(&all[i].gaps)
	}
	if got.Count() != want.Count() || got.Quantile(.5) != want.Quantile(.5) || got.Mean() != want.Mean() {
		t.Errorf("%d gaps, mean %s; want %d, %s", got.Count(), got.Mean(), want.Count(), want.Mean())
	}
}
