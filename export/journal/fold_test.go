package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/internal/ci"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/report"
)

// madeUp is a made-up run, and whether its fold has to be read from the journal after all.
type madeUp struct {
	run      metrics.Run
	requests []metrics.Request
	recounts []metrics.Recount
	anew     bool
}

// drawFold makes up a run: of every kind of load, with and without a warm-up, settings of the load, other objectives,
// counts of tokens that come later, samples of the server, workloads and conversations; half of them with details.
func drawFold(seed uint64) (out madeUp) {
	r := rand.New(rand.NewPCG(seed, 7))
	one := func(of int) bool { return r.IntN(of) == 0 }
	run, _ := eventtest.Sample()
	run.Events, run.Server = nil, nil
	p := &run.Plan
	p.Detailed, p.Tiers = seed%2 == 1, nil
	out.requests = eventtest.DrawRun(seed, 500)
	if p.Conversations = nil; one(6) {
		p.Conversations = &metrics.Conversations{}
		out.requests = eventtest.DrawSessions(seed, 60)
	}
	switch r.IntN(5) {
	case 0:
		p.Rate, p.MaxConcurrency = 10, 0
	case 1:
		p.Rate, p.MaxConcurrency = metrics.Rate(math.Inf(1)), 2+r.IntN(6)
	case 2:
		p.Requests, p.Ramp = len(out.requests), &metrics.Ramp{Strategy: "linear", From: 5, To: 20}
	case 3:
		p.Ramp = &metrics.Ramp{Strategy: "linear", From: 5, To: 20, Over: 40 * time.Second}
	case 4:
		p.Stages = []metrics.Stage{{Length: 13_500 * ms, Load: metrics.RequestsPerSecond.Of(8)},
			{Start: 13_500 * ms, Length: 20 * time.Second, Load: metrics.RequestsPerSecond.Of(12)}}
	}
	if one(2) {
		p.Warmup = time.Duration(r.IntN(9_000)) * ms
	}
	if one(4) {
		p.Workloads = []metrics.Workload{{Name: "class 1", Goodput: atMost(300)}}
	}
	if one(3) {
		for range 1 + r.IntN(3) {
			set := metrics.LoadSetting{By: metrics.ByUser, Load: metrics.RequestsPerSecond.Of(float64(r.IntN(20)))}
			run.Events = append(run.Events, metrics.LogEntry{At: time.Duration(r.IntN(40_000)) * ms, Set: &set})
		}
	}
	if one(6) {
		slo := atMost(float64(r.IntN(900)))
		run.Events = append(run.Events, metrics.LogEntry{At: 9 * time.Second, Objectives: &slo})
		out.anew = true
	}
	if one(6) {
		i := slices.IndexFunc(out.requests, func(q metrics.Request) bool { return q.OK() })
		out.recounts = []metrics.Recount{{Index: out.requests[i].Index, Tokens: 3, Source: metrics.TokensFromServer}}
		out.anew = true
	}
	if one(2) {
		for at := range 60 {
			s := eventtest.Server()[2]
			s.At, s.Took = time.Duration(at+1)*time.Second, time.Second
			run.Server = append(run.Server, s)
		}
	}
	if p.Engines = one(2); one(2) {
		p.Axes = []metrics.Axis{{By: metrics.AxisHeader, Header: "x-pod"}, {By: metrics.AxisAdapter}}
		for i := range out.requests {
			q := &out.requests[i]
			if q.Model = fmt.Sprint("m", r.IntN(3)); q.FirstChunk != metrics.Never {
				q.Served = []string{metrics.PlaceName(fmt.Sprint("pod\xff ", r.IntN(4)))}
			}
		}
	}
	for i := range out.requests {
		q := &out.requests[i]
		if q.Text = fmt.Sprintf("answer\n%d \u4e2d", q.Index); q.Index%7 == 0 {
			q.Text += "\xff\xfe" // as of a server that cuts a character
		}
	}
	run.Ended = eventtest.LastDone(out.requests)
	out.run = run
	first := slices.MinFunc(out.sent(), func(a, b *metrics.Request) int { return cmp.Compare(a.Sent, b.Sent) })
	out.anew = out.anew || !first.OK()
	return out
}

func atMost(ms float64) metrics.SLO { return metrics.SLO{{Metric: metrics.TTFT, LimitMS: ms}} }

// sent are the requests that were sent after the warm-up.
func (a *madeUp) sent() (sent []*metrics.Request) {
	for i := range a.requests {
		if q := &a.requests[i]; q.Sent != metrics.Never && !a.run.Plan.Warming(q) {
			sent = append(sent, q)
		}
	}
	return sent
}

// play passes the events to sinks, as they come.
func (a *madeUp) play(sinks ...event.Sink) {
	type moment struct {
		at time.Duration
		event.Event
	}
	var all []moment
	for _, e := range eventtest.Facts(a.run)[1:] { // the journal has the plan
		all = append(all, moment{e.At, e})
	}
	for i := range a.requests {
		q := &a.requests[i]
		if q.Sent != metrics.Never {
			all = append(all, moment{q.Sent, event.Event{Kind: event.Sent, Request: q}})
		}
		all = append(all, moment{q.Done, event.Event{Kind: event.Done, Request: q}})
	}
	for _, c := range a.recounts {
		all = append(all, moment{a.run.Ended, event.Event{Kind: event.Fact, Value: c}})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	all = append(all, moment{a.run.Ended, event.Event{Kind: event.Fact, Value: a.run.End}})
	for i := range all {
		all[i].At = all[i].at
		for _, s := range sinks {
			s.Take(&all[i].Event)
		}
	}
}

var sameReports = []gocmp.Option{cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(metrics.Request{}),
	gocmp.Comparer(eventtest.SameHistogram)}

// The report of a run that is folded while it is on is that of its journal, bit for bit. Where nothing is known at the
// end that the fold did not assume, the journal is not read for it, but for a few requests.
func TestFoldIsThatOfTheJournal(t *testing.T) {
	ci.SkipUnderRace(t)
	dir := os.Getenv("FOLD_JOURNALS") // to compare with the reports of other programs
	folded := 0
	for seed := range uint64(12) {
		a := drawFold(seed)
		j := assert.Must(NewWriter(nil, a.run.Plan))(t)
		f := report.NewFold(&a.run.Plan)
		a.play(j, f)
		anew := false
		got, err := f.Report(func(some event.Pick) event.Events {
			anew = anew || some.Only == nil
			return j.Source()(some)
		})
		want, e := report.From(j.Source())
		if err = errors.Join(err, e); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got, sameReports...); diff != "" {
			t.Errorf("seed %d (-of the journal +folded):\n%s", seed, diff)
		}
		assert.Equal(t, anew, a.anew, "seed %d: read anew", seed)
		if !anew {
			folded++
		}
		if dir != "" {
			var b bytes.Buffer
			_, err := j.WriteTo(&b)
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprint(seed, ".jsonl")), b.Bytes(), 0o600))
			assert.Fine(t, err)
		}
	}
	if folded < 3 {
		t.Errorf("%d runs were folded", folded)
	}
}

// Requests may end on many goroutines at once.
func TestFoldOfManyGoroutines(t *testing.T) {
	a := madeUp{requests: eventtest.DrawRun(1, 400)}
	a.run.Plan = metrics.Plan{Rate: metrics.Rate(math.Inf(1)), MaxConcurrency: 4}
	a.run.Ended = eventtest.LastDone(a.requests)
	j := assert.Must(NewWriter(nil, a.run.Plan))(t)
	f := report.NewFold(&a.run.Plan)
	var all sync.WaitGroup
	for k := range 4 {
		part := a
		part.requests = nil
		for i := k; i < len(a.requests); i += 4 {
			part.requests = append(part.requests, a.requests[i])
		}
		all.Go(func() {
			for i := range part.requests {
				q := &part.requests[i]
				for _, s := range []event.Sink{j, f} {
					if q.Sent != metrics.Never && s == f {
						eventtest.Step(s, event.Sent, q)
					}
					eventtest.Step(s, event.Done, q)
				}
			}
		})
	}
	all.Wait()
	eventtest.Tell(j, a.run.End)
	got, err := f.Report(j.Source())
	want, e := report.From(j.Source())
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, got, sameReports...); diff != "" {
		t.Errorf("(-of the journal +folded):\n%s", diff)
	}
}
