package numpy

import (
	"fmt"
	"math/big"
	"testing"
)

type pcgFile struct {
	Meta         struct{ Numpy, Python string } `json:"meta"`
	SeedSequence []struct {
		Entropy integer   `json:"entropy"`
		Pool    [4]uint32 `json:"pool"`
		Words32 []uint32  `json:"generate_state_uint32_8"`
		Words64 []integer `json:"generate_state_uint64_4"`
	} `json:"seed_sequence"`
	Streams []pcgStream `json:"streams"`
}

type pcgStream struct {
	Seed     integer   `json:"seed"`
	State    integer   `json:"initial_state"`
	Inc      integer   `json:"initial_inc"`
	Raw      []integer `json:"raw_uint64"`
	Random   []float64 `json:"random"`
	Uint32   []uint32  `json:"uint32"`
	Integers []struct {
		Low, High integer
		Values    []integer
	} `json:"integers"`
	Scalar struct {
		Low, High int64
		Values    []int64
	} `json:"integers_scalar_calls"`
	Bounds struct {
		Low, High, Values []int64
	} `json:"integers_array_bounds"`
	Mixed []pcgOp `json:"mixed"`
	Uint8 struct {
		Shape  []int
		Values []int
	} `json:"uint8"`
	Permutation []struct {
		N      int
		Values []int
	} `json:"permutation"`
	Shuffle struct {
		N      int
		Values []int
	} `json:"shuffle_list"`
	ChoiceP struct {
		P      []float64
		Values []int
	} `json:"choice_p"`
	ChoiceUniform struct {
		N      int
		Values []int
	} `json:"choice_uniform"`
}

type pcgOp struct {
	Op        string
	Low, High int64
	Size, N   int
	P         []float64
	Value     int
	Values    []float64
}

func TestSeedSequence(t *testing.T) {
	var file pcgFile
	load(t, "rng_pcg64.json", &file)
	for _, c := range file.SeedSequence {
		s := newSeedSequence(c.Entropy.words())
		same(t, "pool of "+c.Entropy.String(), s.pool, c.Pool)
		same(t, "32-bit words of "+c.Entropy.String(), s.words32(8), c.Words32)
		want := make([]uint64, len(c.Words64))
		for i := range want {
			want[i] = c.Words64[i].Uint64()
		}
		same(t, "64-bit words of "+c.Entropy.String(), s.words64(4), want)
	}
	if len(file.SeedSequence) == 0 {
		t.Error("the golden file holds no seed sequences")
	}
}

func TestGeneratorStreams(t *testing.T) {
	var file pcgFile
	load(t, "rng_pcg64.json", &file)
	if len(file.Streams) == 0 {
		t.Fatal("the golden file holds no streams")
	}
	for _, s := range file.Streams {
		t.Run(s.Seed.String(), func(t *testing.T) { checkStream(t, s) })
	}
}

func checkStream(t *testing.T, s pcgStream) {
	fresh := func() *Generator { return newGenerator(s.Seed.words()) }
	if s.Seed.IsUint64() {
		same(t, "NewGenerator", *NewGenerator(s.Seed.Uint64()) == *fresh(), true)
	}
	g := fresh()
	same(t, "state", wide(g.hi, g.lo), s.State.String())
	same(t, "increment", wide(g.incHi, g.incLo), s.Inc.String())
	for i, want := range s.Raw {
		same(t, fmt.Sprint("raw word ", i), g.Uint64(), want.Uint64())
	}
	same(t, "doubles", times(len(s.Random), fresh().Float64), s.Random)
	same(t, "half words", times(len(s.Uint32), fresh().Uint32), s.Uint32)
	checkIntegers(t, s, fresh)
	checkChoices(t, s, fresh)
	g = fresh()
	for i, op := range s.Mixed {
		same(t, fmt.Sprintf("mixed operation %d, %s", i, op.Op), op.draw(t, g), op.want())
	}
}

func checkIntegers(t *testing.T, s pcgStream, fresh func() *Generator) {
	for _, c := range s.Integers {
		// Through upTo, because the widest range ends at 2^63, which no int64 holds.
		g, lo := fresh(), c.Low.wrapped()
		last := c.High.wrapped() - 1 - lo
		name := fmt.Sprintf("integers %v to %v", &c.Low, &c.High)
		got := times(len(c.Values), func() int64 { return int64(lo + g.upTo(last)) })
		same(t, name, got, int64s(c.Values))
		if c.High.IsInt64() {
			same(t, name+" as array", fresh().IntegersArray(c.Low.int64(), c.High.int64(), len(c.Values)), got)
		}
	}
	g := fresh()
	for _, want := range s.Scalar.Values {
		same(t, "scalar call", g.Integers(s.Scalar.Low, s.Scalar.High), want)
	}
	g = fresh()
	for i, want := range s.Bounds.Values {
		same(t, fmt.Sprint("bounds ", i), g.Integers(s.Bounds.Low[i], s.Bounds.High[i]), want)
	}
}

func checkChoices(t *testing.T, s pcgStream, fresh func() *Generator) {
	bytes := make([]int, len(s.Uint8.Values))
	for i, b := range fresh().Bytes(len(bytes)) {
		bytes[i] = int(b)
	}
	same(t, "bytes", bytes, s.Uint8.Values)
	for _, c := range s.Permutation {
		same(t, fmt.Sprint("permutation of ", c.N), fresh().Permutation(c.N), c.Values)
	}
	list := make([]int, s.Shuffle.N)
	for i := range list {
		list[i] = i
	}
	fresh().Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	same(t, "shuffle", list, s.Shuffle.Values)
	g := fresh()
	same(t, "weighted choice", times(len(s.ChoiceP.Values), func() int { return g.ChoiceWeighted(s.ChoiceP.P) }),
		s.ChoiceP.Values)
	g = fresh()
	same(t, "choice", times(len(s.ChoiceUniform.Values), func() int { return g.Choice(s.ChoiceUniform.N) }),
		s.ChoiceUniform.Values)
}

// want is the operation's result, all kinds as doubles: the integers among them are below 2^53.
func (op pcgOp) want() []float64 {
	if op.Op == "choice_p" {
		return []float64{float64(op.Value)}
	}
	return op.Values
}

func (op pcgOp) draw(t *testing.T, g *Generator) []float64 {
	switch op.Op {
	case "integers":
		return doubles(g.IntegersArray(op.Low, op.High, op.Size))
	case "random":
		return times(op.Size, g.Float64)
	case "uint8":
		return doubles(g.Bytes(op.Size))
	case "permutation":
		return doubles(g.Permutation(op.N))
	case "choice_p":
		return doubles([]int{g.ChoiceWeighted(op.P)})
	}
	t.Fatalf("unknown operation %q in the golden file", op.Op)
	return nil
}

func doubles[T int | int64 | byte](values []T) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

func wide(hi, lo uint64) string {
	n := new(big.Int).SetUint64(hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo)).String()
}

func TestEmptyRangesPanic(t *testing.T) {
	for name, call := range map[string]func(){
		"Integers":       func() { NewGenerator(0).Integers(5, 5) },
		"Choice":         func() { NewGenerator(0).Choice(0) },
		"ChoiceWeighted": func() { NewGenerator(0).ChoiceWeighted(nil) },
		"Randint":        func() { NewLegacy(0).Randint(5, 5) },
		"Randbelow":      func() { NewPython(0).Randbelow(0) },
		"Python Randint": func() { NewPython(0).Randint(2, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("got a value, want a panic")
				}
			}()
			call()
		})
	}
}

func BenchmarkIntegers(b *testing.B) {
	g := NewGenerator(0)
	b.ReportAllocs()
	for b.Loop() {
		g.Integers(0, 50257)
	}
}

func BenchmarkBytes(b *testing.B) {
	g, image := NewGenerator(1), make([]byte, 1920*1080*3)
	b.SetBytes(int64(len(image)))
	for b.Loop() {
		g.Fill(image)
	}
}
