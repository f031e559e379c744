package datasets

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchtop/internal/assert"
	"benchtop/internal/hf/numpy"
	"benchtop/internal/hf/tokenizer"
)

// fitOneByOne is vLLM's loop, the plain way.
func fitOneByOne(tok tokenizer.Tokenizer, ids []int, target int, draw func() int) (text string, fitted []int) {
	for left := fitRetries; ; left-- {
		text, _ = tok.Decode(ids)
		ids, _ = tok.Encode(text)
		if left <= 0 || len(ids) == target {
			return text, ids
		}
		ids = slices.Clone(ids[:min(len(ids), target)])
		for len(ids) < target {
			ids = append(ids, draw())
		}
	}
}

// oneByOne makes random prompts in the order of the draws, and calls check after each with the generator's state.
func oneByOne(o RandomOptions, tok tokenizer.Tokenizer, check func(i int, prompt Turn, gen numpy.Generator)) {
	gen := numpy.NewGenerator(uint64(o.Seed))
	inLo, inHi := bounds(max(0, o.InputLen-tok.SpecialTokensToAdd()), o.Ratio.Input)
	outLo, outHi := bounds(o.OutputLen, o.Ratio.Output)
	inputs := gen.IntegersArray(int64(inLo), int64(inHi)+1, o.Prompts)
	outputs := gen.IntegersArray(max(1, int64(outLo)), max(1, int64(outHi))+1, o.Prompts)
	offsets := gen.IntegersArray(0, int64(tok.VocabSize()), o.Prompts)
	allowed := Vocabulary{Size: tok.VocabSize(), Special: tok.SpecialIDs()}.IDs()
	draw := func() int { return gen.Choice(tok.VocabSize()) }
	var prefix []int
	for range o.PrefixLen {
		prefix = append(prefix, allowed[gen.Choice(len(allowed))])
	}
	if o.PrefixLen > 0 {
		_, prefix = fitOneByOne(tok, prefix, o.PrefixLen, draw)
	}
	for i := range o.Prompts {
		ids := slices.Clone(prefix)
		for k := range int(inputs[i]) {
			ids = append(ids, allowed[(int(offsets[i])+i+k)%len(allowed)])
		}
		text, ids := fitOneByOne(tok, ids, o.PrefixLen+int(inputs[i]), draw)
		check(i, Turn{Text: text, InputTokens: len(ids), MaxTokens: int(outputs[i])}, *gen)
	}
}

// parallelTokenizer is a tokenizer that says how many of its calls it can do at once.
type parallelTokenizer struct {
	tokenizer.Tokenizer
	calls int
}

func (c parallelTokenizer) Concurrency() int { return c.calls }

func compareWithOneByOne(t *testing.T, o RandomOptions, tok tokenizer.Tokenizer) {
	t.Helper()
	r := must(startRandom(o, tok))(t)
	f := r.flow()
	batch := Turn{}
	number := 0
	oneByOne(o, tok, func(i int, want Turn, gen numpy.Generator) {
		if o.Batch > 1 {
			want.MaxTokens = 0
			batch.InputTokens += want.InputTokens
			batch.Batch = append(batch.Batch, want)
			if len(batch.Batch) < o.Batch && i < o.Prompts-1 {
				return
			}
			want, batch = batch, Turn{}
		}
		got := must(f.Next())(t)
		if c := (Conversation{ID: fmt.Sprint("p", number), Turns: []Turn{want}}); !reflect.DeepEqual(c, got) {
			t.Fatalf("%+v, request %d: want -, got +\n%s", o, number, cmp.Diff(c, got))
		}
		number++
		assert.Need(t, r.gen, gen, "%+v: the generator differs after prompt %d", o, i)
	})
	same(t, "requests", f.Len, number)
	same(t, "requests left", len(drain(t, f)), 0)
}

// However many prompts are fitted at once, they are those of one after another, and so is the generator after each.
func TestAheadEqualsOneByOne(t *testing.T) {
	for _, name := range []string{"identity", "lossy", "grow"} {
		for seed := range int64(4) {
			for _, calls := range []int{1, 7, 64} {
				o := RandomOptions{Common: Common{Prompts: 1 + int(seed)*31, IDPrefix: "p", Seed: seed},
					InputLen: 4 + 8*int(seed), OutputLen: 9, PrefixLen: int(seed) % 3 * 5, Ratio: RangeRatio{0.3, 0.7},
					Batch: 1 + calls%3}
				compareWithOneByOne(t, o, parallelTokenizer{newToy(t, name, 997, []int{0, 996}, int(seed)%2), calls})
			}
		}
	}
}

func FuzzAhead(f *testing.F) {
	f.Add(int64(0), uint16(40), uint8(10), uint8(0), uint8(30), uint8(1), uint8(4), uint16(997))
	f.Add(int64(7), uint16(100), uint8(3), uint8(9), uint8(90), uint8(3), uint8(130), uint16(50))
	f.Fuzz(func(t *testing.T, seed int64, prompts uint16, input, prefix, ratio, batch, calls uint8, vocab uint16) {
		o := RandomOptions{Common: Common{Prompts: int(prompts%64) + 1, IDPrefix: "p", Seed: seed},
			InputLen: int(input % 50), OutputLen: 5, PrefixLen: int(prefix % 20),
			Ratio: RangeRatio{float64(ratio%100) / 100, 0}, Batch: int(batch%5) + 1}
		if vocab %= 1000; o.Validate() != nil || vocab < 2 { // more would only take longer to list
			return
		}
		name := []string{"identity", "lossy", "grow"}[calls%3]
		compareWithOneByOne(t, o, parallelTokenizer{newToy(t, name, int(vocab), []int{1}, 0), int(calls)})
	})
}

// distant is a tokenizer that takes its time, and notes how many calls are in flight.
type distant struct {
	toy
	now, most *atomic.Int64
}

func (d distant) Concurrency() int { return 1000 }

func (d distant) Decode(ids []int) (string, error) {
	n := d.now.Add(1)
	defer d.now.Add(-1)
	for most := d.most.Load(); n > most && !d.most.CompareAndSwap(most, n); most = d.most.Load() {
	}
	time.Sleep(10 * time.Millisecond)
	return d.toy.Decode(ids)
}

func TestAheadKeepsManyCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tok := distant{newToy(t, "identity", 997, nil, 0), new(atomic.Int64), new(atomic.Int64)}
		o := RandomDefaults()
		o.Prompts, o.InputLen = 640, 20
		r := must(NewRandom(o, tok))(t)
		start := time.Now()
		same(t, "requests", len(drain(t, r)), 640)
		same(t, "time for 640 calls of 10 ms", time.Since(start), 100*time.Millisecond)
		same(t, "calls in flight", tok.most.Load(), int64(64))
	})
}

// failingTokenizer is a tokenizer that cannot do what begins with one id.
type failingTokenizer struct {
	toy
	id    int
	calls *atomic.Int64
}

func (f failingTokenizer) Decode(ids []int) (string, error) {
	f.calls.Add(1)
	if ids[0] == f.id {
		return "", errors.New("no server")
	}
	return f.toy.Decode(ids)
}

// Prompts before a failure are handed on, those after it are not asked for, and the failure stays.
func TestAheadFails(t *testing.T) {
	o := RandomDefaults()
	o.Prompts, o.InputLen = 500, 3
	healthy := newToy(t, "identity", 100_000, nil, 0)
	r := must(NewRandom(o, healthy))(t)
	all := drain(t, r)
	const bad = 5
	calls := new(atomic.Int64)
	r = must(NewRandom(o, failingTokenizer{healthy, parseIDs(all[bad].Turns[0].Text)[0], calls}))(t)
	for i := range bad {
		got := must(r.Next())(t)
		same(t, "prompt before the failure", got, all[i])
	}
	for range 2 {
		complains(t, failure(r.Next()), "dataset random, prompt 5: no server")
	}
	if most := int64(windowPrompts * runtime.GOMAXPROCS(0)); calls.Load() > max(most, bad+1) {
		t.Errorf("got %d calls, want no more than the window of %d", calls.Load(), most)
	}
}

// slow is a tokenizer that works for its tokens, about a million a second.
type slow struct{ toy }

func (s slow) Encode(text string) ([]int, error) {
	ids, err := s.toy.Encode(text)
	h := uint64(len(text))
	for range 500 * len(ids) {
		h = h*6364136223846793005 + 1442695040888963407
	}
	if h == 0 {
		return nil, errors.New("never")
	}
	return ids, err
}

// BenchmarkAhead makes 1000 prompts of 1024 tokens with 1, 2 and 4 calls at a time.
func BenchmarkAhead(b *testing.B) {
	tok := slow{toy{size: 50000, rewrite: func(id int) []int { return []int{id} }}}
	for _, calls := range []int{1, 2, 4} {
		b.Run(fmt.Sprint("calls=", calls), func(b *testing.B) {
			for b.Loop() {
				r := must(NewRandom(RandomDefaults(), parallelTokenizer{tok, calls}))(b)
				for range r.Len {
					if _, err := r.Next(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
