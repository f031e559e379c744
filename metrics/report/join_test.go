package report

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

// split are the pieces of a run that three machines load, and the run as one machine would have it, with the samples of
// each client.
func split(seed uint64, sessions bool) (pieces []event.Piece, whole event.Events) {
	run, _ := eventtest.Sample()
	run.Events, run.Plan.Detailed, run.Plan.Tiers = nil, false, nil
	requests := eventtest.DrawRun(seed, 300)
	if sessions {
		run.Plan.Conversations = &metrics.Conversations{}
		requests = eventtest.DrawSessions(seed, 40)
	} else {
		for i := range requests {
			requests[i].Conversation = i
		}
	}
	client := run.Client
	run.Client, run.Plan.Requests, run.Ended = nil, len(requests), eventtest.LastDone(requests)
	run.Plan.Part.N = 3
	all := run
	for k := 1; k <= 3; k++ {
		part := run
		part.Plan.Part.K, part.Ended = k, run.Ended-time.Duration(k-1)*time.Second
		if part.Probes = nil; k == 1 {
			part.Probes = run.Probes
		} else {
			part.Telemetry, part.SpecDecode = metrics.Telemetry{ServerAbsent: "asked by the first"}, nil
		}
		part.Stamps = &metrics.Stamps{Chunks: k, DelayP50: 21_000, DelayP99: 310_499, DelayP999: 400_000,
			DelayMax: 412_000}
		for _, s := range client {
			s.Part, s.CPU = k, float64(k)/10
			part.Client = append(part.Client, s)
		}
		own := slices.DeleteFunc(slices.Clone(requests),
			func(q metrics.Request) bool { return !part.Plan.Part.Has(q.Conversation) })
		piece, err := event.NewPiece(func(event.Pick) event.Events { return eventtest.Of(part, sorted(own)) })
		if err != nil {
			panic(err)
		}
		pieces = append(pieces, piece)
	}
	for i := range client {
		for k := 1; k <= 3; k++ {
			s := client[i]
			s.Part, s.CPU = k, float64(k)/10
			all.Client = append(all.Client, s)
		}
	}
	all.Stamps = &metrics.Stamps{Chunks: 6, DelayP50: 21_000, DelayP99: 310_499, DelayP999: 400_000, DelayMax: 412_000}
	all.Plan.Command = []string{"benchtop", "serve", "--model", "org/M", "--header", "***"}
	return pieces, eventtest.Of(all, sorted(requests))
}

func sorted(all []metrics.Request) iter.Seq2[metrics.Request, error] {
	all = slices.SortedStableFunc(slices.Values(all),
		func(a, b metrics.Request) int { return int(a.Done - b.Done) })
	return func(yield func(metrics.Request, error) bool) {
		for _, q := range all {
			if !yield(q, nil) {
				return
			}
		}
	}
}

// The report of the joined parts of a run is that of the run, whatever their order.
func TestReportOfParts(t *testing.T) {
	for seed := range uint64(6) {
		pieces, whole := split(seed, seed%3 == 2)
		want := assert.Must(Of(whole))(t)
		if seed%2 == 0 {
			slices.Reverse(pieces)
		}
		got := assert.Must(From(event.Join(pieces)))(t)
		if diff := gocmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
			gocmp.Comparer(eventtest.SameHistogram)); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// Clocks that began at other times are brought together, and what is missing is told.
func TestPartsApart(t *testing.T) {
	pieces, _ := split(1, false)
	late := pieces[1].Plan.Started.Add(1500 * time.Millisecond)
	pieces[1].Plan.Started = late
	pieces = []event.Piece{pieces[2], pieces[1]}
	var log []string
	var last time.Duration
	for e, err := range event.Join(pieces)(event.Pick{}) {
		assert.Fine(t, err)
		if x, ok := e.Value.(metrics.LogEntry); ok {
			log = append(log, x.Text)
		}
		if e.Kind == event.Done {
			if e.At < last {
				t.Errorf("a request of %s comes after one of %s", e.At, last)
			}
			last = e.At
			if q := e.Request; q.Conversation%3 == 1 && q.Due < 1500*time.Millisecond {
				t.Errorf("request %d of the late part was due at %s", q.Index, q.Due)
			}
		}
	}
	const want = "part 2 began 1.5s after the first, by the clocks of their machines\n" +
		"part 1 of 3 is missing: its requests are in no figure, so the load that the server had is not known"
	if got := strings.Join(log, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Files of different runs are not one.
func TestPartsOfDifferentRuns(t *testing.T) {
	pieces, _ := split(1, false)
	for _, c := range []struct {
		change func(*metrics.Plan)
		want   string
	}{
		{func(p *metrics.Plan) { p.Part.K = 1 }, "both are part 1/3"},
		{func(p *metrics.Plan) { p.Part.N = 4 }, "one is of 3 parts, the other of 4"},
		{func(p *metrics.Plan) { p.Seed = 5 }, "their plans differ in seed"},
		{func(p *metrics.Plan) { p.Stages = []metrics.Stage{{}} }, "their plans differ in stages"},
		{func(p *metrics.Plan) { p.BaseURL, p.Started = "http://b", time.Now() }, ""},
	} {
		other := pieces[1]
		if c.change(&other.Plan); pieces[0].Apart(&other) != c.want {
			t.Errorf("%q, want %q", pieces[0].Apart(&other), c.want)
		}
	}
}
