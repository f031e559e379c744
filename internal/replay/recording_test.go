package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/event/eventtest"
)

// Everything a request says is known again when it is done.
func TestNothingIsForgotten(t *testing.T) {
	past := metrics.NewRequest(3)
	v := reflect.ValueOf(&past).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		switch {
		case !v.Type().Field(i).IsExported():
		case field.CanInt():
			field.SetInt(int64(1000 * (i + 1)))
		case field.Kind() == reflect.String:
			field.SetString(fmt.Sprint("text ", i))
		}
	}
	past.Chunks = []metrics.Chunk{{At: 2000, Tokens: 2}, {At: 3001, Tokens: 1, Answer: true}, {At: 9000, Tokens: 1}}
	past.ReadDelay, past.Prompt = metrics.Never, "" // live only
	r, err := record(eventtest.Of(metrics.Run{End: metrics.End{Ended: time.Second}},
		eventtest.Each([]metrics.Request{past})))
	assert.Fine(t, err)
	f := r.playback()
	x := f.request(0)
	f.advance(endless, func() bool { return false })
	is := reflect.ValueOf(x.now).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Type().Field(i).IsExported() &&
			fmt.Sprint(is.Field(i)) != fmt.Sprint(v.Field(i)) {
			t.Errorf("%s is %v, was %v", name, is.Field(i), v.Field(i))
		}
	}
	assert.Equal(t, len(f.inFlight)+len(f.byIndex), 0, "a request that is done is still under way")
}

func TestNewOfAJournalThatEndsEarly(t *testing.T) {
	broken := errors.New("the disk is gone")
	run, all := drawRun(1, 20, 10*time.Second)
	until := func(n int) iter.Seq2[metrics.Request, error] {
		return func(yield func(metrics.Request, error) bool) {
			for _, q := range all[:n] {
				if !yield(q, nil) {
					return
				}
			}
			yield(metrics.Request{}, broken)
		}
	}
	assert.Is(t, assert.Failure(New(eventtest.Of(run, until(0)))), broken)
	p := assert.Must(New(eventtest.Of(run, until(5))))(t)
	assert.Equal(t, len(p.recording.requests), 5, "of five requests that could be read")
}

// A replay of a broken journal shows the report that the journal has, end and all, and logs once what was left out of
// it.
func TestBrokenJournal(t *testing.T) {
	broken := errors.New("the file was cut")
	run, all := drawRun(1, 20, 10*time.Second)
	run.Probes = &metrics.Probes{Completed: 3}
	all[3].Done = longestRun
	story := eventtest.Of(run, eventtest.Each(all))
	events := func(yield func(event.Event, error) bool) {
		for _, line := range []int{7, 9} {
			if !yield(event.Event{Kind: event.Fact, Value: event.Damage{Lines: 1, Err: fmt.Errorf("line %d", line)}},
				nil) {
				return
			}
		}
		for e, err := range story {
			if !yield(e, err) {
				return
			}
		}
		yield(event.Event{}, broken)
	}
	const words = "3 damaged journal lines skipped, the first: line 7"
	playingEvents(t, events, func(p *Player, next func() metrics.Snapshot) {
		next()
		p.Seek(endless)
		s := next()
		if !slices.ContainsFunc(s.Log, func(e metrics.LogEntry) bool { return e.Text == words }) {
			t.Errorf("the log is %+v, want %q in it", s.Log, words)
		}
		if r := s.Report; r == nil || r.Damaged != 3 || r.Probes == nil || r.Events[len(r.Events)-1].Text != words {
			t.Errorf("the report is %+v", r)
		}
	})
}

// Journals are files: whatever numbers stand in them, the player gets to the end and back.
func TestForeignNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	wild := []time.Duration{metrics.Never, math.MinInt64, -2, 0, 1, 500 * time.Microsecond, time.Second, time.Minute,
		math.MaxInt64}
	any := func() time.Duration { return wild[r.IntN(len(wild))] }
	at := func() time.Duration { // mostly not in the far future, since requests that are there are left out
		if r.IntN(100) == 0 {
			return math.MaxInt64
		}
		return wild[r.IntN(len(wild)-1)]
	}
	for round := range 8 {
		var all []metrics.Request
		for i := range 40 {
			q := metrics.NewRequest(i - 20)
			q.Scheduled, q.Due, q.Admitted, q.Sent, q.Encode, q.Connect = any(), at(), any(), at(), any(), any()
			q.FirstChunk, q.FirstToken, q.FirstAnswer, q.LastChunk, q.Done = at(), at(), at(), at(), at()
			q.InputTokens, q.OutputTokens = int(any()), int(any())
			q.Failure = []metrics.Failure{"", metrics.Cancelled, "odd"}[r.IntN(3)]
			for range r.IntN(4) {
				q.Chunks = append(q.Chunks, metrics.Chunk{At: at(), Tokens: int32(any()), Answer: r.IntN(2) > 0})
			}
			all = append(all, q)
		}
		run := metrics.Run{End: metrics.End{Ended: time.Duration(round-1) * time.Second}}
		for range 5 {
			run.Events = append(run.Events, metrics.LogEntry{At: any(), Text: "x", Mark: "x",
				Set: &metrics.LoadSetting{Load: metrics.Load{Value: math.NaN()}}})
			run.Client = append(run.Client,
				metrics.ClientSecond{At: any(), Took: any(), Unstamped: int(any()), DelayP50: any()})
			run.Server = append(run.Server, metrics.ServerSecond{At: any(), Took: any(), KVUsage: math.Inf(1)})
			run.GPUs = append(run.GPUs, metrics.GPUSecond{At: any(), Took: any()})
		}
		playing(t, run, all, func(p *Player, next func() metrics.Snapshot) {
			next()
			for _, at := range []time.Duration{endless, 0, time.Second, endless} {
				p.Seek(at)
				if s := next(); at == endless && (s.Report == nil || s.At != s.Report.Ended) || s.Replay.Length < 0 ||
					s.Replay.Length > longestRun {
					t.Errorf("length %v", s.Replay.Length)
				}
			}
		})
	}
}

// A run without requests is over at once.
func TestEmptyRun(t *testing.T) {
	playing(t, metrics.Run{End: metrics.End{Ended: metrics.Never}}, nil, func(p *Player, next func() metrics.Snapshot) {
		time.Sleep(every)
		if s := next(); s.State != metrics.Finished || s.Report == nil || s.Replay.Length != 0 {
			t.Errorf("state %q, %+v", s.State, s.Replay)
		}
	})
}

// The events of a recording end where their reader stops, where its context ends, and with the error of a broken
// journal.
func TestEventsOfARecording(t *testing.T) {
	run, all := drawRun(1, 20, 10*time.Second)
	broken := errors.New("the file was cut")
	r, err := record(eventtest.Of(run, eventtest.Each(all)))
	assert.Fine(t, err)
	whole := len(r.facts) + len(r.requests)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		broken error
		most   int
		n      int
		err    error
	}{
		{"all", t.Context(), nil, whole, whole, nil},
		{"a part of the facts", t.Context(), nil, 1, 1, nil},
		{"a part of the requests", t.Context(), nil, len(r.facts) + 1, len(r.facts) + 1, nil},
		{"a context that has ended", ended, nil, whole + 1, len(r.facts) + 1, context.Canceled},
		{"a broken journal", t.Context(), broken, whole + 1, whole + 1, broken},
	} {
		r.broken = c.broken
		n, last := 0, error(nil)
		for _, err := range r.all(c.ctx) {
			if n++; err != nil {
				last = err
			}
			if n == c.most {
				break
			}
		}
		if n != c.n || last != c.err {
			t.Errorf("%s: %d events, error %v; want %d, %v", c.name, n, last, c.n, c.err)
		}
	}
	r.broken = nil
	computed := r.summarize(ended)
	if <-computed.ready; computed.now() != nil {
		t.Error("there is a report though the context has ended")
	}
	if _, err := record(func(yield func(event.Event, error) bool) { yield(event.Event{}, broken) }); !errors.Is(err,
		broken) {
		t.Errorf("a journal without a plan: %v", err)
	}
}
