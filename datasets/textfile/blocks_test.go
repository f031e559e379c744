package textfile

import (
	"testing"

	"benchtop/internal/assert"
)

func TestBlocks(t *testing.T) {
	var b Blocks[int]
	for i := range 2*blockLen + 1 {
		assert.Need(t, b.Len(), i, "values")
		b.Add(i)
	}
	for i := range b.Len() {
		assert.Need(t, *b.At(i), i, "value %d is %d", i, *b.At(i))
	}
}
