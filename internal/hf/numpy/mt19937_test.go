package numpy

import (
	"fmt"
	"testing"
)

type mtFile struct {
	Meta   struct{ Numpy, Python string } `json:"meta"`
	Numpy  []legacyStream                 `json:"numpy"`
	Python []pythonStream                 `json:"python"`
}

type legacyStream struct {
	Seed        uint32    `json:"seed"`
	First8      []uint32  `json:"key_first8"`
	Last4       []uint32  `json:"key_last4"`
	Uint32      []uint32  `json:"uint32"`
	Random      []float64 `json:"random_sample"`
	Normal      []float64 `json:"standard_normal"`
	Exponential []float64 `json:"standard_exponential"`
	Gamma       []struct {
		Shape, Scale float64
		Values       []float64
	} `json:"gamma"`
	GammaMixed []struct {
		Shape, Scale, Value float64
	} `json:"gamma_mixed"`
	Randint []struct {
		Low, High int64
		Values    []int64
	} `json:"randint"`
	Permutation []indices `json:"permutation"`
	Distinct    []indices `json:"choice_without_replacement"`
	Repeating   []indices `json:"choice_with_replacement"`
}

type indices struct {
	N, K   int
	Values []int
}

type pythonStream struct {
	Seed    integer   `json:"seed"`
	First8  []uint32  `json:"state_first8"`
	Index   int       `json:"state_index"`
	Uint32  []uint32  `json:"uint32"`
	Random  []float64 `json:"random"`
	Randint []struct {
		A, B   integer
		Values []int64
	} `json:"randint"`
	Shuffle []indices  `json:"shuffle"`
	Choice  []indices  `json:"choice"`
	Choices []indices  `json:"choices"`
	Mixed   []pythonOp `json:"mixed"`
}

type pythonOp struct {
	Op     string
	N, K   int
	A, B   int64
	Values []float64
}

func TestLegacy(t *testing.T) {
	var file mtFile
	load(t, "rng_mt19937_legacy.json", &file)
	if len(file.Numpy) == 0 {
		t.Fatal("the golden file holds no streams")
	}
	for _, s := range file.Numpy {
		t.Run(fmt.Sprint(s.Seed), func(t *testing.T) {
			checkLegacyWords(t, s)
			checkLegacyIndices(t, s)
			checkLegacyDistributions(t, s)
		})
	}
}

func checkLegacyWords(t *testing.T, s legacyStream) {
	l := NewLegacy(s.Seed)
	same(t, "first words of state", l.mt.key[:len(s.First8)], s.First8)
	same(t, "last words of state", l.mt.key[mtSize-len(s.Last4):], s.Last4)
	same(t, "words", times(len(s.Uint32), l.Uint32), s.Uint32)
	same(t, "doubles", times(len(s.Random), NewLegacy(s.Seed).Float64), s.Random)
}

func checkLegacyIndices(t *testing.T, s legacyStream) {
	for _, c := range s.Randint {
		got := NewLegacy(s.Seed).RandintArray(c.Low, c.High, len(c.Values))
		same(t, fmt.Sprintf("randint %d to %d", c.Low, c.High), got, c.Values)
	}
	for _, c := range s.Permutation {
		same(t, fmt.Sprint("permutation of ", c.N), NewLegacy(s.Seed).Permutation(c.N), c.Values)
	}
	for _, c := range s.Distinct {
		same(t, fmt.Sprint("distinct choice of ", c.N), NewLegacy(s.Seed).ChoiceDistinct(c.N, c.K), c.Values)
	}
	for _, c := range s.Repeating {
		same(t, fmt.Sprint("choice of ", c.N), NewLegacy(s.Seed).Choice(c.N, c.K), c.Values)
	}
}

func checkLegacyDistributions(t *testing.T, s legacyStream) {
	near(t, "gaussians", times(len(s.Normal), NewLegacy(s.Seed).Gauss), s.Normal)
	near(t, "exponentials", times(len(s.Exponential), NewLegacy(s.Seed).Exponential), s.Exponential)
	for _, c := range s.Gamma {
		l := NewLegacy(s.Seed)
		got := times(len(c.Values), func() float64 { return l.Gamma(c.Shape, c.Scale) })
		near(t, fmt.Sprintf("gamma of shape %v", c.Shape), got, c.Values)
	}
	l := NewLegacy(s.Seed)
	for i, c := range s.GammaMixed {
		near(t, fmt.Sprint("gammas of changing shape, draw ", i), []float64{l.Gamma(c.Shape, c.Scale)},
			[]float64{c.Value})
	}
}

func TestGammaOfShapeZeroDrawsNothing(t *testing.T) {
	l := NewLegacy(1)
	same(t, "gamma", l.Gamma(0, 3), 0.0)
	same(t, "next word", l.Uint32(), NewLegacy(1).Uint32())
}

func TestLegacySeedForgetsTheSecondGaussian(t *testing.T) {
	l := NewLegacy(1)
	first := l.Gauss()
	l.Seed(1)
	same(t, "first gaussian after seeding again", l.Gauss(), first)
}

func TestPython(t *testing.T) {
	var file mtFile
	load(t, "rng_mt19937_legacy.json", &file)
	if len(file.Python) == 0 {
		t.Fatal("the golden file holds no streams")
	}
	for _, s := range file.Python {
		t.Run(s.Seed.String(), func(t *testing.T) { checkPython(t, s) })
	}
}

func checkPython(t *testing.T, s pythonStream) {
	fresh := func() *Python {
		p := &Python{}
		if s.Seed.IsInt64() {
			p.Seed(s.Seed.Int64())
		} else {
			p.mt.seedWords(s.Seed.words())
		}
		return p
	}
	p := fresh()
	same(t, "state", p.mt.key[:len(s.First8)], s.First8)
	same(t, "place in the state", p.mt.pos, s.Index)
	same(t, "words", times(len(s.Uint32), p.mt.Uint32), s.Uint32)
	same(t, "doubles", times(len(s.Random), fresh().Random), s.Random)
	for _, c := range s.Randint {
		p := fresh()
		got := times(len(c.Values), func() int64 { return p.Randint(c.A.int64(), c.B.int64()) })
		same(t, fmt.Sprintf("randint %v to %v", &c.A, &c.B), got, c.Values)
	}
	checkPythonIndices(t, s, fresh)
	p = fresh()
	for i, op := range s.Mixed {
		same(t, fmt.Sprintf("mixed operation %d, %s", i, op.Op), op.draw(t, p), op.Values)
	}
}

func checkPythonIndices(t *testing.T, s pythonStream, fresh func() *Python) {
	for _, c := range s.Shuffle {
		same(t, fmt.Sprint("shuffle of ", c.N), permutation(c.N, fresh().Shuffle), c.Values)
	}
	for _, c := range s.Choice {
		p := fresh()
		same(t, fmt.Sprint("choice of ", c.N), times(len(c.Values), func() int { return p.Choice(c.N) }), c.Values)
	}
	for _, c := range s.Choices {
		same(t, fmt.Sprint("choices of ", c.N), fresh().Choices(c.N, c.K), c.Values)
	}
}

func (op pythonOp) draw(t *testing.T, p *Python) []float64 {
	switch op.Op {
	case "shuffle":
		return doubles(permutation(op.N, p.Shuffle))
	case "choice":
		return doubles(times(len(op.Values), func() int { return p.Choice(op.N) }))
	case "random":
		return times(len(op.Values), p.Random)
	case "choices":
		return doubles(p.Choices(op.N, op.K))
	case "randint":
		return doubles(times(len(op.Values), func() int64 { return p.Randint(op.A, op.B) }))
	}
	t.Fatalf("unknown operation %q in the golden file", op.Op)
	return nil
}

func TestStreamsAreSeededAlike(t *testing.T) {
	s := NewStreams(42)
	same(t, "Python", s.Python.Random(), NewPython(42).Random())
	same(t, "legacy", s.Legacy.Uint32(), NewLegacy(42).Uint32())
}
