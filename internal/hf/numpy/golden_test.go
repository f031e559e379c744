package numpy

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"benchtop/internal/assert"
)

var same = assert.Same

// load reads a golden file: values that numpy and Python gave for the seeds named in it. A field that no test knows
// fails, so that a test cannot leave out a part of the file.
func load(t *testing.T, name string, into any) {
	t.Helper()
	file := assert.Must(os.Open(filepath.Join("testdata", name)))(t)
	defer file.Close()
	dec := json.NewDecoder(file)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// integer is a whole number of any size, written as a JSON number or, above 2^53, as a string.
type integer struct{ big.Int }

func (n *integer) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	return n.UnmarshalText(b)
}

// wrapped is the number modulo 2^64.
func (n *integer) wrapped() uint64 {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	return mask.And(&n.Int, mask).Uint64()
}

func (n *integer) int64() int64 { return int64(n.wrapped()) }

// words are the 32-bit words of the absolute value, least significant first.
func (n *integer) words() []uint32 {
	rest := new(big.Int).Abs(&n.Int)
	words := []uint32{}
	for len(words) == 0 || rest.Sign() > 0 {
		words = append(words, uint32(new(big.Int).And(rest, big.NewInt(math.MaxUint32)).Uint64()))
		rest.Rsh(rest, 32)
	}
	return words
}

// times calls draw n times.
func times[T any](n int, draw func() T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = draw()
	}
	return values
}

func int64s(values []integer) []int64 {
	out := make([]int64, len(values))
	for i := range values {
		out[i] = values[i].int64()
	}
	return out
}

// near compares values that went through a logarithm, whose last bits belong to the platform's library.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	assert.Need(t, len(got), len(want), "%s: values", what)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*math.Abs(want[i]) {
			t.Errorf("%s: value %d: got %v, want %v", what, i, got[i], want[i])
		}
	}
}
