package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"benchtop/internal/assert"
)

// round is a profile with which times can be added up by hand.
func round() Profile {
	p := Defaults()
	p.MaxModelLen = 1024
	p.Blocks = 64
	p.MaxSequences = 4
	p.MaxBatchedTokens = 256
	p.StepBase = 10 * time.Millisecond
	p.PrefillToken = 100 * time.Microsecond
	p.DecodeSequence = time.Millisecond
	p.ContextToken = time.Microsecond
	p.PrefixCache = false // prompts of these tests are alike
	return p
}

// newcomer is one sequence of an engine test.
type newcomer struct {
	at            time.Duration
	prompt, limit int
	abort         time.Duration // when its client leaves, 0 for never
}

// play runs the arrivals on an engine and returns when each token came, as offsets from the start. It must be called in
// a bubble.
func play(t *testing.T, p Profile, arrivals []newcomer) ([][]time.Duration, *engine) {
	t.Helper()
	e := newEngine(p)
	start := time.Now()
	tokens := make([][]time.Duration, len(arrivals))
	var clients sync.WaitGroup
	for i, a := range arrivals {
		clients.Go(func() {
			time.Sleep(a.at)
			seq := newSequence(a.prompt, a.limit, "length", uint64(i))
			if p.PrefixCache {
				seq.names = newBlockNames(p.BlockSize, "", randomPrompt(a.prompt, uint64(i)), randomAnswer(uint64(i)))
			}
			if err := e.submit(seq); err != nil {
				t.Error(err)
				return
			}
			if a.abort > 0 {
				time.AfterFunc(a.abort-a.at, func() { e.abort(seq) })
			}
			for n := range seq.out {
				for range n {
					tokens[i] = append(tokens[i], time.Since(start))
				}
			}
		})
	}
	clients.Wait()
	e.stop()
	return tokens, e
}

// randomPrompt shares nothing with that of another key.
func randomPrompt(n int, key uint64) []int {
	draws := rand.New(rand.NewPCG(key, 1))
	ids := make([]int, n)
	for i := range ids {
		ids[i] = firstTriple + draws.IntN(vocabulary-firstTriple)
	}
	return ids
}

func randomAnswer(key uint64) prose { return prose{draws: rand.New(rand.NewPCG(key, 2))} }

func TestStepsLastExactlyTheirTime(t *testing.T) {
	const µs = time.Microsecond
	tests := []struct {
		name     string
		change   func(*Profile)
		arrivals []newcomer
		want     [][]time.Duration
		queries  int // tokens that were looked up in the prefix cache
	}{
		{
			name:     "alone: prefill, then steps that grow with the context",
			arrivals: []newcomer{{prompt: 100, limit: 4}},
			want:     [][]time.Duration{{20000 * µs, 31100 * µs, 42201 * µs, 53303 * µs}},
		},
		{
			name:     "arriving late: the idle engine starts at once",
			arrivals: []newcomer{{at: time.Hour + 1, prompt: 100, limit: 1}},
			want:     [][]time.Duration{{time.Hour + 1 + 20*time.Millisecond}},
		},
		{
			name:     "a prompt above the budget takes two steps, the second reads the first's context",
			arrivals: []newcomer{{prompt: 300, limit: 1}},
			want:     [][]time.Duration{{(10000 + 25600 + 10000 + 4400 + 256) * µs}},
		},
		{
			name: "a second request waits for the step in hand, and its prefill slows the first",
			arrivals: []newcomer{
				{prompt: 100, limit: 3},
				{at: 21 * time.Millisecond, prompt: 50, limit: 2},
			},
			// steps end at 20; 31.1; 31.1 + 10+1+.101+5 = 47.201; then the second alone: + 10+1+.05
			want: [][]time.Duration{{20000 * µs, 31100 * µs, 47201 * µs}, {47201 * µs, 58251 * µs}},
		},
		{
			name:     "arriving together: one step for both",
			arrivals: []newcomer{{prompt: 100, limit: 2}, {prompt: 60, limit: 2}},
			want:     [][]time.Duration{{26000 * µs, 38160 * µs}, {26000 * µs, 38160 * µs}},
		},
		{
			name:     "arriving at the very moment a step starts: it takes part",
			arrivals: []newcomer{{prompt: 100, limit: 2}, {at: 20 * time.Millisecond, prompt: 10, limit: 1}},
			want:     [][]time.Duration{{20000 * µs, 32100 * µs}, {32100 * µs}},
		},
		{
			name:     "a full batch makes others wait",
			change:   func(p *Profile) { p.MaxSequences = 1 },
			arrivals: []newcomer{{prompt: 100, limit: 2}, {at: 1, prompt: 100, limit: 1}},
			want:     [][]time.Duration{{20000 * µs, 31100 * µs}, {51100 * µs}},
		},
		{
			name:     "decodes come before prefill: a long prompt gets what they leave",
			change:   func(p *Profile) { p.MaxBatchedTokens = 101 },
			arrivals: []newcomer{{prompt: 1, limit: 3}, {at: 1 * time.Millisecond, prompt: 150, limit: 1}},
			// 10.1; + 10+1+.001+10 (100 of 150); + 10+1+.002+.1+5
			want: [][]time.Duration{{10100 * µs, 31101 * µs, 47203 * µs}, {47203 * µs}},
		},
		{
			name: "no room in the cache makes others wait, in order",
			arrivals: []newcomer{{prompt: 900, limit: 1}, {at: 1, prompt: 200, limit: 1},
				{at: 2, prompt: 16, limit: 1}},
			// The first needs 57 of 64 blocks and four steps; the second needs 13, and the third must not overtake it.
			want: [][]time.Duration{
				{(40000 + 90000 + 256 + 512 + 768) * µs},
				{(131536 + 10000 + 21600) * µs},
				{(131536 + 10000 + 21600) * µs},
			},
		},
		{
			name:   "preemption: the youngest starts again and repeats nothing",
			change: func(p *Profile) { p.MaxModelLen = 64; p.Blocks = 4 },
			// Both hold two blocks. When the older needs a third, the younger loses its two and comes back when the
			// older is done, to compute 33 known tokens again.
			arrivals: []newcomer{{prompt: 32, limit: 3}, {prompt: 32, limit: 3}},
			want: [][]time.Duration{
				{16400 * µs, 27432 * µs, 38465 * µs},
				{16400 * µs, 51765 * µs, 62798 * µs},
			},
		},
		{
			name:   "an abort frees the batch at the next step",
			change: func(p *Profile) { p.MaxSequences = 1 },
			arrivals: []newcomer{{prompt: 100, limit: 1000 - 100, abort: 25 * time.Millisecond},
				{at: 1, prompt: 100, limit: 1}},
			want: [][]time.Duration{{20000 * µs, 31100 * µs}, {51100 * µs}},
		},
		{
			name:   "an abort in the queue",
			change: func(p *Profile) { p.MaxSequences = 1 },
			arrivals: []newcomer{{prompt: 100, limit: 1}, {at: 1, prompt: 100, limit: 1, abort: 2},
				{at: 2, prompt: 100, limit: 1}},
			want: [][]time.Duration{{20000 * µs}, nil, {40000 * µs}},
		},
		{ // without the cache 33 tokens are computed again, here 17; being admitted again is no query
			name:     "a preempted sequence finds the part of its cache that others have not taken",
			change:   func(p *Profile) { p.MaxModelLen, p.Blocks, p.PrefixCache = 64, 4, true },
			arrivals: []newcomer{{prompt: 32, limit: 3}, {prompt: 32, limit: 3}},
			want:     [][]time.Duration{{16400 * µs, 27432 * µs, 38465 * µs}, {16400 * µs, 50181 * µs, 61214 * µs}},
			queries:  64,
		},
		{ // 10+10 for the prompt; then 10+1+.1·3, and the context read so far
			name: "a step that accepts its whole draft brings that many tokens more at once, and costs their " +
				"verification",
			change:   func(p *Profile) { p.SpecTokens, p.SpecAcceptance = 3, 1 },
			arrivals: []newcomer{{prompt: 100, limit: 7}},
			want: [][]time.Duration{{20000 * µs, 31400 * µs, 31400 * µs, 31400 * µs, 31400 * µs, 42804 * µs,
				42804 * µs}},
		},
		{
			name:     "no draft is accepted",
			change:   func(p *Profile) { p.SpecTokens, p.SpecAcceptance = 3, 0 },
			arrivals: []newcomer{{prompt: 100, limit: 7}},
			want: [][]time.Duration{{20000 * µs, 31400 * µs, 42801 * µs, 54203 * µs, 65606 * µs, 77010 * µs,
				88415 * µs}},
		},
		{
			name:     "four times as fast",
			change:   func(p *Profile) { p.Speed = 4 },
			arrivals: []newcomer{{prompt: 100, limit: 3}},
			want:     [][]time.Duration{{5000 * µs, 7775 * µs, 10550250}},
		},
		{
			name:     "half as fast",
			change:   func(p *Profile) { p.Speed = 0.5 },
			arrivals: []newcomer{{prompt: 100, limit: 3}},
			want:     [][]time.Duration{{40000 * µs, 62200 * µs, 84402 * µs}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := round()
				if tt.change != nil {
					tt.change(&p)
				}
				assert.Fine(t, p.Validate())
				got, e := play(t, p, tt.arrivals)
				for i := range tt.want {
					assert.EqualAll(t, got[i], tt.want[i], "sequence %d: tokens at", i)
				}
				if s := e.snapshot(); s.cacheUsage != 0 || s.running+s.waiting != 0 || s.prefixQueries != tt.queries ||
					s.prefixHits != 0 {
					t.Errorf("left behind: %v of the cache, %d running, %d waiting; %d queries, %d hits", s.cacheUsage,
						s.running, s.waiting,
						s.prefixQueries, s.prefixHits)
				}
			})
		})
	}
}

// Many sequences in a cache that holds a few, with and without drafts, up to the longest there may be: all finish,
// whole, and the same again.
func TestCacheExhaustion(t *testing.T) {
	drafting := speculative(5, 0.6)
	drafting.MaxSequences, drafting.MaxModelLen, drafting.Blocks = 8, 256, 20
	plain := round()
	plain.MaxSequences = 16
	for _, c := range []struct {
		p     Profile
		limit func(i, prompt int) int
	}{
		{plain, func(i, _ int) int { return 60 + i*13%200 }},
		{drafting, func(_, prompt int) int { return drafting.MaxModelLen - prompt }},
	} {
		arrivals, sum := make([]newcomer, 40), 0
		for i := range arrivals {
			prompt := 20 + i*7%90
			arrivals[i] = newcomer{at: time.Duration(i) * time.Millisecond, prompt: prompt, limit: c.limit(i, prompt)}
			sum += arrivals[i].limit
		}
		var runs [2]string
		for run := range runs {
			synctest.Test(t, func(t *testing.T) {
				tokens, e := play(t, c.p, arrivals)
				for i, a := range arrivals {
					assert.Equal(t, len(tokens[i]), a.limit, "sequence %d: tokens", i)
				}
				s := e.snapshot()
				if s.preemptions == 0 || s.cacheUsage != 0 || s.ends["length"] != len(arrivals) ||
					s.generationTokens != sum {
					t.Errorf("%d preemptions, %v of the cache left, %d ended by length, %d tokens", s.preemptions,
						s.cacheUsage, s.ends["length"], s.generationTokens)
				}
				runs[run] = fmt.Sprint(s.preemptions, s.speculation, tokens)
			})
		}
		assert.Equal(t, runs[0], runs[1], "two runs differ")
	}
}

func TestStopClosesWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := round()
		p.MaxSequences = 1
		e := newEngine(p)
		running, waiting, pending := newSequence(10, 100, "length", 1), newSequence(10, 100, "length", 2),
			newSequence(10, 1, "length", 3)
		for _, seq := range []*sequence{running, waiting} {
			assert.Fine(t, e.submit(seq))
		}
		time.Sleep(15 * time.Millisecond)
		assert.Fine(t, e.submit(pending))
		e.stop()
		e.stop()
		for i, want := range []int{1, 0, 0} {
			seq := []*sequence{running, waiting, pending}[i]
			got := 0
			for n := range seq.out {
				got += n
			}
			assert.Equal(t, got, want, "sequence %d: tokens", i)
		}
		if err := e.submit(newSequence(1, 1, "length", 0)); err != errStopped {
			t.Errorf("submit after stop: %v, want %v", err, errStopped)
		}
	})
}

func TestStopBeforeUse(t *testing.T) {
	e := newEngine(round())
	e.stop() // would hang if it waited for a goroutine that never ran
}

// Delays of steps do not add up: a hundred steps last a hundred step times. Only a delay beyond maxLag is lost.
func TestLateStepsKeepPace(t *testing.T) {
	for _, c := range []struct {
		every int           // so many steps one is held up
		late  time.Duration // by so much
		want  time.Duration // when the last token comes
	}{
		{10, 0, 200 * time.Millisecond},
		{10, 5 * time.Millisecond, 200 * time.Millisecond},
		{60, 60 * time.Millisecond, 200 * time.Millisecond},
		{60, time.Second, 1200 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newEngine(steady())
			start := time.Now()
			seq := newSequence(1, 100, "length", 0)
			seq.out = make(chan int) // a late reader holds up the engine, as a busy machine does
			assert.Fine(t, e.submit(seq))
			var last time.Duration
			for n := 1; n <= 100; n++ {
				<-seq.out
				last = time.Since(start)
				if n%c.every == 0 {
					time.Sleep(2*time.Millisecond + c.late)
				}
			}
			e.stop()
			assert.Equal(t, last, c.want, "every %dth held up by %v, 100 steps of 2ms took", c.every, c.late)
		})
	}
}

// steady takes two milliseconds for any step.
func steady() Profile {
	p := round()
	p.StepBase, p.PrefillToken, p.DecodeSequence, p.ContextToken = 2*time.Millisecond, 0, 0, 0
	return p
}

// BenchmarkSteps is a hundred steps of two milliseconds in real time: more than 200 ms is the cost of late timers.
func BenchmarkSteps(b *testing.B) {
	for b.Loop() {
		e := newEngine(steady())
		seq := newSequence(1, 100, "length", 0)
		assert.Fine(b, e.submit(seq))
		for range seq.out {
		}
		e.stop()
	}
}

// relative is a sequence of many lengths. With the prefix cache, prompts and answers of every fourth begin alike.
func relative(p Profile, id uint64, longest int) *sequence {
	seq := newSequence(1+int(id*37%400), 1+int(id*101)%longest, "length", id)
	if p.PrefixCache {
		seq.names = newBlockNames(p.BlockSize, "", randomPrompt(seq.prompt, id%4), randomAnswer(id%4))
	}
	return seq
}

// passedOver counts the sequences that wait without a search for their prefixes, and checks that they would not have
// been admitted with one.
func passedOver(t *testing.T, s *scheduler) (n int) {
	t.Helper()
	for _, seq := range s.waiting {
		if !seq.want.pending(&s.pool) {
			continue
		}
		n++
		held := 0
		for _, i := range s.pool.beginning(seq) {
			held += int(min(s.pool.blocks[i].holders, 1))
		}
		if needs := blocksFor(seq.known, s.profile.BlockSize) - held; needs <= s.pool.free {
			t.Fatalf("a sequence that needs %d blocks waits with %d free", needs, s.pool.free)
		}
	}
	return n
}

// At every step the tokens fit the budget, the sequences the batch, the blocks the cache, no sequence decodes behind a
// prefill, and sequences that share a block have the same tokens in it.
func TestSchedulerInvariants(t *testing.T) {
	for _, shared := range []bool{false, true} {
		p := round()
		p.MaxSequences, p.PrefixCache = 8, shared
		s := newScheduler(p)
		id, hits, skipped := uint64(0), 0, 0
		for step := 0; step < 2500 || len(s.running)+len(s.waiting) > 0; step++ {
			if len(s.waiting) < 5 && step < 2500 {
				id++
				s.waiting = append(s.waiting, relative(p, id, 300))
			}
			plan := s.plan()
			total, prefilling := 0, false
			for _, sh := range plan.shares {
				total += sh.tokens
				if sh.tokens < 1 || sh.tokens > sh.seq.pending() {
					t.Fatalf("step %d: a share of %d of %d pending", step, sh.tokens, sh.seq.pending())
				}
				if len(sh.seq.blocks)*p.BlockSize < sh.seq.computed+sh.tokens {
					t.Fatalf("step %d: %d blocks for %d tokens", step, len(sh.seq.blocks), sh.seq.computed+sh.tokens)
				}
				// with the cache, a sequence that comes back may have one token left
				if sh.seq.decoding() && prefilling && !shared {
					t.Fatalf("step %d: a decode after a prefill", step)
				}
				prefilling = !sh.seq.decoding()
				if sh.seq.generated() == 0 && sh.seq.computed > 0 {
					hits++
				}
			}
			if total > p.MaxBatchedTokens || len(s.running) > p.MaxSequences {
				t.Fatalf("step %d: %d tokens, %d running", step, total, len(s.running))
			}
			if total == 0 && len(s.running)+len(s.waiting) > 0 {
				t.Fatalf("step %d: nothing done with %d running and %d waiting", step, len(s.running), len(s.waiting))
			}
			if err := s.pool.check(slices.Concat(s.running, s.waiting)); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			for _, sh := range plan.shares {
				sh.seq.advance(sh.tokens, p.verify(sh))
			}
			skipped += passedOver(t, s)
			s.drop((*sequence).done)
		}
		if shared && skipped < 100 {
			t.Errorf("only %d times a sequence was passed over without a search", skipped)
		}
		if len(s.running)+len(s.waiting) > 0 || s.pool.free != s.pool.total || s.preemptions == 0 ||
			shared && hits == 0 {
			t.Errorf("at the end %d running, %d waiting, %d blocks free, %d preemptions, %d hits",
				len(s.running), len(s.waiting), s.pool.free, s.preemptions, hits)
		}
	}
}

// check reports an inconsistency of the pool, given all sequences.
func (b *blockPool) check(all []*sequence) error {
	held := map[int32]uint64{} // names, 0 for blocks that are not full
	holders := map[int32]int32{}
	for _, seq := range all {
		for k, i := range seq.blocks {
			name := uint64(0)
			if k < seq.named {
				name = seq.names.hashed[k]
			}
			if other, ok := held[i]; ok && (other != name || name == 0) {
				return fmt.Errorf("block %d is held by two for different tokens", i)
			}
			held[i] = name
			holders[i]++
		}
	}
	free := b.total - (len(b.blocks) - 1) // those that were never held
	for i := b.blocks[0].next; i != 0; i = b.blocks[i].next {
		free++
		if free > b.total || b.blocks[i].holders != 0 || b.blocks[b.blocks[i].next].prev != i {
			return fmt.Errorf("the ring is broken at block %d", i)
		}
	}
	if free != b.free || free+len(held) != b.total {
		return fmt.Errorf("%d blocks in the ring, %d free, %d held, %d in all", free, b.free, len(held), b.total)
	}
	for i := range b.blocks {
		if b.blocks[i].holders != holders[int32(i)] {
			return fmt.Errorf("block %d has %d holders, counts %d", i, holders[int32(i)], b.blocks[i].holders)
		}
		if name := b.blocks[i].name; name != 0 && b.found[name] != int32(i) {
			return fmt.Errorf("block %d cannot be found by its name", i)
		}
	}
	for name, i := range b.found {
		if b.blocks[i].name != name {
			return fmt.Errorf("block %d is found by a name that is not its own", i)
		}
	}
	return nil
}

func BenchmarkStep(b *testing.B) {
	p := Defaults()
	p.MaxSequences = 256
	p.Blocks = 1 << 16
	e := newEngine(p)
	start := time.Now()
	fill := func() {
		for len(e.sched.running)+len(e.pending) < p.MaxSequences {
			seq := newSequence(128, 1024, "length", 0)
			seq.arrived = start
			e.pending = append(e.pending, seq)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		fill()
		plan, length := e.begin(start)
		start = start.Add(length)
		e.finish(plan, start)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
