package textfile

// Blocks is a list that grows in blocks: a slice that grows is copied, and takes twice as much memory meanwhile. The
// zero value is empty.
type Blocks[T any] struct{ blocks [][]T }

const blockLen = 1 << 14

// Add appends a value.
func (b *Blocks[T]) Add(v T) {
	last := len(b.blocks) - 1
	if last < 0 || len(b.blocks[last]) == blockLen {
		var block []T
		if last >= 0 { // a list of few values takes no more than it needs
			block = make([]T, 0, blockLen)
		}
		b.blocks = append(b.blocks, block)
		last++
	}
	b.blocks[last] = append(b.blocks[last], v)
}

// At is value i, good until the next Add.
func (b *Blocks[T]) At(i int) *T { return &b.blocks[i/blockLen][i%blockLen] }

// Len is the number of values.
func (b *Blocks[T]) Len() int {
	last := len(b.blocks) - 1
	if last < 0 {
		return 0
	}
	return last*blockLen + len(b.blocks[last])
}
