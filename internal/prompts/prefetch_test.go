package prompts

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"benchtop/datasets"
	"benchtop/internal/assert"
)

// slowPrompts makes a conversation in every so much time, so many in all, 0 for no end, and then fails with an error or
// is at its end.
type slowPrompts struct {
	each time.Duration
	n    int
	err  error
	text string
	at   atomic.Int64
}

func (s *slowPrompts) flow() datasets.Flow {
	return datasets.Flow{Next: s.Next, Len: s.n, About: "slow"}
}

func (s *slowPrompts) Next() (datasets.Conversation, error) {
	time.Sleep(s.each)
	if s.n > 0 && int(s.at.Load()) == s.n {
		if s.err != nil {
			return datasets.Conversation{}, s.err
		}
		return datasets.Conversation{}, io.EOF
	}
	s.at.Add(1)
	return datasets.Conversation{Turns: []datasets.Turn{{Text: s.text, InputTokens: 1}}}, nil
}

func silent(int) {}

// Prompts that fit into memory are all drawn before the run, in order, and then end.
func TestPrefetcherFillsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := prefetchers(t)
		s := all.Begin((&slowPrompts{each: 10 * time.Millisecond, n: 500}).flow(), prefetchBytes)
		var told []int
		fine(t, s.Fill(t.Context(), nil, time.Second, func(n int) { told = append(told, n) }))
		if len(told) != 5 || told[0] < 99 || told[0] > 100 {
			t.Errorf("%v were told of while 500 were drawn in 5 s", told)
		}
		if n, all := s.drawn(); n != 500 || !all {
			t.Errorf("%d are there, all: %t", n, all)
		}
		for range 500 {
			must(s.Next())(t)
		}
		for range 2 {
			if _, err := s.Next(); err != io.EOF {
				t.Error(err)
			}
		}
	})
}

// A source is stopped when the memory is full, Fill returns at once, and drawing goes on as prompts are taken.
func TestPrefetcherIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := prefetchers(t)
		source := &slowPrompts{text: strings.Repeat("x", 1000)}
		s := all.Begin(source.flow(), 10_000)
		began := time.Now()
		if err := s.Fill(t.Context(), after(time.Hour), time.Second, silent); err != nil || time.Since(began) > 0 {
			t.Fatalf("%v after %s", err, time.Since(began))
		}
		synctest.Wait()
		if _, all := s.drawn(); all {
			t.Error("what goes on is not all")
		}
		for taken := 1; taken <= 100; taken++ {
			must(s.Next())(t)
			synctest.Wait()
			if ahead := int(source.at.Load()) - taken; ahead != 10 { // of about 1,050 bytes each
				t.Fatalf("%d ahead", ahead)
			}
		}
	})
}

// One conversation larger than all that may be ahead still comes.
func TestPrefetcherOfGiants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := prefetchers(t)
		s := all.Begin((&slowPrompts{each: time.Second, n: 3, text: strings.Repeat("x", 1000)}).flow(), 10)
		for range 3 {
			must(s.Next())(t)
		}
	})
}

// A load without end begins when the patience does end, if there is a first prompt, and then drawing keeps to what is
// taken.
func TestPrefetcherPatience(t *testing.T) {
	for _, c := range []struct {
		each, want time.Duration
	}{
		{10 * time.Millisecond, 2 * time.Second},
		{30 * time.Second, 30 * time.Second}, // none before
	} {
		synctest.Test(t, func(t *testing.T) {
			all := prefetchers(t)
			source := &slowPrompts{each: c.each, text: strings.Repeat("x", moreBytes/100)}
			s := all.Begin(source.flow(), prefetchBytes)
			began := time.Now()
			fine(t, s.Fill(t.Context(), after(2*time.Second), time.Second, silent))
			if took := time.Since(began); took < c.want || took > c.want+time.Second {
				t.Errorf("the run began after %s, want %s", took, c.want)
			}
			synctest.Wait()
			before := source.at.Load()
			time.Sleep(time.Hour)
			synctest.Wait()
			if drawn := source.at.Load() - before; drawn > 101 {
				t.Errorf("%d were drawn that nobody took", drawn)
			}
		})
	}
}

// Nor does such a load wait for more prompts than a burst takes.
func TestPrefetcherHasEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := prefetchers(t).Begin((&slowPrompts{each: time.Millisecond}).flow(), prefetchBytes)
		began := time.Now()
		fine(t, s.Fill(t.Context(), after(time.Hour), time.Second, silent))
		if took := time.Since(began); took != amplePrompts*time.Millisecond {
			t.Errorf("the run began after %s", took)
		}
	})
}

// An error after the first prompts is returned by Fill if it occurs before the run, else in its turn.
func TestPrefetcherFails(t *testing.T) {
	bad := errors.New("line 3: bad")
	synctest.Test(t, func(t *testing.T) {
		all := prefetchers(t)
		if err := all.Begin((&slowPrompts{n: 2, err: bad}).flow(), prefetchBytes).Fill(t.Context(), nil, time.Second,
			silent); err != bad {
			t.Error(err)
		}
		s := all.Begin((&slowPrompts{each: time.Minute, n: 2, err: bad}).flow(), prefetchBytes)
		fine(t, s.Fill(t.Context(), after(time.Second), time.Second, silent))
		for _, want := range []error{nil, nil, bad, bad} {
			if _, err := s.Next(); err != want {
				t.Errorf("%v, want %v", err, want)
			}
		}
	})
}

// A person who stops the drawing waits for one prompt at most; nothing goes on behind.
func TestPrefetcherStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := NewPrefetchers()
		s := all.Begin((&slowPrompts{each: time.Second}).flow(), prefetchBytes)
		full := all.Begin((&slowPrompts{text: "x"}).flow(), 1)
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := s.Fill(ctx, nil, time.Second, silent); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != 3500*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		all.Close()
		all.Close()
		if took := time.Since(began); took > 4500*time.Millisecond {
			t.Errorf("stopped after %s", took)
		}
		for _, s := range []*Prefetcher{s, full} {
			err := error(nil)
			for err == nil {
				_, err = s.Next()
			}
			assert.Is(t, err, context.Canceled)
		}
		late := &slowPrompts{}
		if _, err := all.Begin(late.flow(), prefetchBytes).Next(); !errors.Is(err, context.Canceled) ||
			late.at.Load() > 0 {
			t.Errorf("%v after the end, %d Drawn", err, late.at.Load())
		}
	})
	(*Prefetchers)(nil).Close()
}

// Takers at once get each prompt once.
func TestPrefetcherTakersAtOnce(t *testing.T) {
	all := prefetchers(t)
	s := all.Begin((&slowPrompts{n: 1000, text: "x"}).flow(), 2000)
	var mu sync.Mutex
	taken := 0
	var takers sync.WaitGroup
	for range 8 {
		takers.Go(func() {
			for {
				if _, err := s.Next(); err != nil {
					return
				}
				for range s.queued {
				}
				all.Share(0)
				mu.Lock()
				taken++
				mu.Unlock()
			}
		})
	}
	takers.Wait()
	assert.Equal(t, taken, 1000, "taken")
}

// Prompts share what was drawn alike, and in a chat the server's template; repeated ones share everything.
func TestShareOfPrompts(t *testing.T) {
	for _, c := range []struct {
		name     string
		template float64 // tokens before each prompt
		sources  [][]datasets.Conversation
		again    bool
		want     float64
	}{
		{"nothing drawn ahead", 0, nil, false, 1},
		{"strangers", 0, [][]datasets.Conversation{{prompt(1, 160), prompt(2, 160)}}, false, 0},
		{"chats", 256, [][]datasets.Conversation{{prompt(1, 256), prompt(2, 256)}}, false, 0.25},
		{"chats with a short template", 20, [][]datasets.Conversation{{prompt(1, 60), prompt(2, 60)}}, false,
			20.0 / 160},
		{"oversampled", 0, [][]datasets.Conversation{{prompt(1, 160), prompt(1, 160)}}, false, 144.0 / 320},
		{"more, alike", 0, [][]datasets.Conversation{{prompt(1, 160)}, {prompt(1, 160), prompt(1, 160)}}, false,
			288.0 / 480},
		{"repeated in another round", 0, [][]datasets.Conversation{{prompt(1, 160), prompt(2, 160)}}, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := prefetchers(t)
			var next func() (datasets.Conversation, error)
			n := 0
			for _, x := range c.sources {
				supply := all.Begin(datasets.ListOf(x, "fixed"), 1<<20)
				fine(t, supply.Fill(t.Context(), nil, time.Second, func(int) {}))
				if next == nil {
					next, n = (&rounds{rest: supply}).next, len(x)
				}
			}
			for range n {
				must(next())(t)
			}
			if c.again {
				must(next())(t)
			}
			if got := all.Share(c.template); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("got %g, want %g", got, c.want)
			}
		})
	}
	assert.Equal(t, (*Prefetchers)(nil).Share(0), 1, "without any")
}

// Turns whose prompts are made later take memory, too: sessions of many turns are not drawn ahead without end.
func TestPrefetcherWeighsTurns(t *testing.T) {
	const turns = 1000
	c := datasets.Conversation{Turns: make([]datasets.Turn, turns)}
	for i := range c.Turns {
		c.Turns[i].Prompt.Compose = func(*datasets.Turn, []string) error { return nil }
	}
	p := pack(c)
	if n := p.weight(); n < turns*int(unsafe.Sizeof(datasets.Turn{})) {
		t.Errorf("%d turns weigh %d bytes", turns, n)
	}
}
