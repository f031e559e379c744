package textfile

import "testing"

func TestBlocks(t *testing.T) {
	var b Blocks[int]
	for i := range 2*blockLen + 1 {
		if b.Len() != i {
			t.Fatalf("%d values, want %d", b.Len(), i)
		}
		b.Add(i)
	}
	for i := range b.Len() {
		if *b.At(i) != i {
			t.Fatalf("value %d is %d", i, *b.At(i))
		}
	}
}
