package fleet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
	"benchtop/metrics/live"
)

// sequence is a sink that checks the events of each request: each once, in their order.
type sequence struct {
	t    *testing.T
	seen map[int][]event.Kind
}

func (o *sequence) Take(e *event.Event) {
	if e.Kind == event.Fact {
		return
	}
	q := e.Request
	was := o.seen[q.Index]
	o.seen[q.Index] = append(was, e.Kind)
	n, last := len(was), event.Done
	if n > 0 {
		last = was[n-1]
	}
	switch {
	case (e.Kind == event.Due) != (n == 0),
		e.Kind == event.Sent && last != event.Due, e.Kind == event.Chunk && last != event.Sent && last != event.Chunk,
		n > 0 && last == event.Done:
		o.t.Errorf("request %d: event %d after %v", q.Index, e.Kind, was)
	case e.Kind == event.Chunk && (q.Chunks[len(q.Chunks)-1] != e.Chunk || q.LastChunk != e.Chunk.At):
		o.t.Errorf("request %d: chunk %v of %v", q.Index, e.Chunk, q.Chunks)
	}
}

// machine is one that sends a part: its feed and its journal, of which others get what was not sent before.
type machine struct {
	feed   feed
	told   []byte
	file   *journal.Writer
	copied int64
}

func newMachine(plan metrics.Plan) *machine {
	m := &machine{}
	m.file, _ = journal.NewWriter(nil, plan)
	m.feed.live = func(b []byte) { m.told = append(m.told, b...) }
	return m
}

func (m *machine) Take(e *event.Event) {
	if e.Kind != event.Fact && e.Kind != event.Done {
		m.feed.Take(e)
	} else {
		m.file.Take(e)
	}
}

// lines are those of the journal that were not copied yet, at most so many bytes.
func (m *machine) lines(most int) []byte {
	b := make([]byte, most)
	n, _ := m.file.ReadAt(b, m.copied)
	b = b[:bytes.LastIndexByte(b[:n], '\n')+1]
	m.copied += int64(len(b))
	return b
}

// Whatever the feed loses, each event of each request comes once, and the view ends up as that of one machine.
func TestFollower(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 3))
		run, _ := eventtest.Sample()
		all := eventtest.DrawRun(seed, 120)
		for i := range all {
			all[i].Conversation = i
		}
		start := run.Plan.Started
		want := live.NewView(start, &run.Plan)
		eventtest.Again(want, all, time.Hour)

		got, check := live.NewView(start, &run.Plan), &sequence{t, map[int][]event.Kind{}}
		stream := event.NewStream(start, got, check)
		merge := event.NewMerge(0)
		var machines []*machine
		var followers []*follower
		for k := range 3 {
			machines = append(machines, newMachine(run.Plan))
			followers = append(followers, newFollower(k+1, stream, merge))
		}
		at := 0
		step := sinkFunc(func(e *event.Event) {
			machines[e.Request.Conversation%3].Take(e)
			if at++; at%(1+r.IntN(60)) == 0 {
				k := r.IntN(3)
				hear(t, r, machines[k], followers[k])
			}
		})
		eventtest.Again(step, all, time.Hour)
		for k := range machines {
			for machines[k].copied < size(machines[k].file) {
				hear(t, r, machines[k], followers[k])
			}
		}
		assert.Equal(t, len(check.seen), len(all), "seed %d: requests", seed)
		for i, events := range check.seen {
			assert.Equal(t, events[len(events)-1], event.Done, "seed %d: request %d ends with %v", seed, i, events)
		}
		if diff := gocmp.Diff(want.Totals(), got.Totals(), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

type sinkFunc func(*event.Event)

func (f sinkFunc) Take(e *event.Event) { f(e) }

func size(file *journal.Writer) int64 {
	var b bytes.Buffer
	n, _ := file.WriteTo(&b)
	return n
}

// hear passes on what a machine has told, with losses of its feed.
func hear(t *testing.T, r *rand.Rand, m *machine, f *follower) {
	told := m.told
	m.told = nil
	switch r.IntN(4) {
	case 0:
	case 1:
		f.feed(told[:r.IntN(len(told)+1)])
	default:
		f.feed(told)
	}
	assert.Fine(t, f.lines(m.lines(1<<14+r.IntN(1<<16))))
}

// A viewer may look at any time: for the race detector.
func TestFollowerIsWatched(t *testing.T) {
	run, _ := eventtest.Sample()
	view := live.NewView(time.Now(), &run.Plan)
	view.Inspect(metrics.Inspection{Rows: true})
	m, f := newMachine(run.Plan), newFollower(1, event.NewStream(time.Now(), view), event.NewMerge(0))
	watched := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-watched:
				return
			default:
				view.Snapshot()
			}
		}
	})
	for i := range 300 {
		q := eventtest.Simple(i, time.Duration(i)*time.Millisecond, time.Millisecond, time.Millisecond, 3)
		eventtest.Again(m, []metrics.Request{q}, time.Hour)
		told := m.told
		m.told = nil
		f.feed(told)
		time.Sleep(time.Millisecond)
		assert.Fine(t, f.lines(m.lines(1<<16)))
	}
	close(watched)
	watching.Wait()
}

// The machine tells of itself, and of trouble; what concerns the run is told by the one that leads it.
func TestFactsOfMachine(t *testing.T) {
	var got []string
	stream := event.NewStream(time.Time{},
		sinkFunc(func(e *event.Event) { got = append(got, fmt.Sprintf("%T", e.Value)) }))
	f := newFollower(2, stream, event.NewMerge(0))
	m := newMachine(metrics.Plan{Percentiles: []float64{99}, Metrics: []metrics.Latency{metrics.TTFT}})
	for _, fact := range []any{
		metrics.Steering{Steerable: true}, metrics.LogEntry{Level: metrics.Info, Text: "the load"},
		metrics.LogEntry{Level: metrics.Warn, Text: "trouble"},
		metrics.ClientSecond{At: time.Second, Took: time.Second, Part: 2},
		metrics.Phase{State: metrics.Draining}, metrics.Saving{Path: "x"}, metrics.Worker{Part: 2},
		metrics.End{Ended: time.Second},
	} {
		m.Take(&event.Event{Kind: event.Fact, Value: fact})
	}
	assert.Fine(t, f.lines(m.lines(1<<20)))
	assert.EqualAll(t, got, []string{"metrics.LogEntry", "metrics.ClientSecond"}, "facts")
	if f.end == nil || f.end.Ended != time.Second {
		t.Errorf("end %v", f.end)
	}
}

// Foreign bytes neither panic nor grow.
func FuzzRecords(f *testing.F) {
	var told []byte
	fed := &feed{live: func(b []byte) { told = append(told, b...) }}
	eventtest.Again(sinkFunc(func(e *event.Event) {
		if e.Kind != event.Done {
			fed.Take(e)
		}
	}), eventtest.DrawRun(1, 3), time.Hour)
	f.Add(told)
	f.Add([]byte("d\x03{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x := newFollower(1, event.NewStream(time.Time{}), event.NewMerge(0))
		x.feed(b)
		if len(x.flights) > len(b) {
			t.Errorf("%d requests of %d bytes", len(x.flights), len(b))
		}
	})
}

// A machine that leads a hundred: what a chunk of a feed and a request of a journal cost it, with its live view.
func BenchmarkFollowers(b *testing.B) {
	const machines, requests, chunks = 100, 20, 200
	run, _ := eventtest.Sample()
	start := run.Plan.Started
	feeds, journals := make([][]byte, machines), make([][]byte, machines)
	for k := range machines {
		m := newMachine(run.Plan)
		for i := range requests {
			q := eventtest.Request(k*requests+i, 32, chunks, 0, 10*time.Millisecond,
				slices.Repeat([]time.Duration{20 * time.Millisecond}, chunks)...)
			eventtest.Again(m, []metrics.Request{q}, time.Hour)
		}
		feeds[k], journals[k] = m.told, m.lines(16<<20)
	}
	for name, feed := range map[string]bool{"fed": true, "journal alone": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				stream := event.NewStream(start, live.NewView(start, &run.Plan))
				merge := event.NewMerge(0)
				for k := range machines {
					f := newFollower(k+1, stream, merge)
					if feed {
						f.feed(feeds[k])
					}
					assert.Fine(b, f.lines(journals[k]))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*machines*requests*chunks), "ns/chunk")
		})
	}
}

// What a chunk costs a machine to tell the one that leads.
func BenchmarkFeed(b *testing.B) {
	var told []byte
	fed := feed{live: func(record []byte) { told = append(told, record...) }}
	gaps := slices.Repeat([]time.Duration{20 * time.Millisecond}, 200)
	q := eventtest.Request(12_345, 32, len(gaps), 0, time.Second, gaps...)
	e := event.Event{Kind: event.Chunk, Request: &q}
	n := 0
	for b.Loop() {
		if n++; n%10_000 == 0 {
			told = told[:0]
		}
		fed.Take(&e)
	}
	b.ReportMetric(float64(len(told))/float64(n%10_000), "B/chunk")
}
