package simulator

import "sync"

// LoggedBodies is what the request log has of the bodies of requests.
type LoggedBodies string

const (
	FullBodies LoggedBodies = "full" // as received, the default
	NoBodies   LoggedBodies = "none"
	// PrefixBodies are prompts as numbers of blocks: in prompts of two lines the same number stands for the same tokens
	// behind the same beginning, and other numbers for others.
	PrefixBodies LoggedBodies = "prefix"
)

// LogBodies selects what LogTo writes of bodies. Call it before the first request.
func (s *Server) LogBodies(b LoggedBodies) { s.log.bodies = b }

// blockNumbers gives the names of blocks short numbers, in the order in which they are first seen.
type blockNumbers struct {
	mu      sync.Mutex // guards numbers
	numbers map[uint64]int
}

// of returns the numbers of names as rows of a first number and how many follow each other. New names have numbers that
// follow each other, and share their beginning with others, so there are few rows.
func (b *blockNumbers) of(names []uint64) [][2]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.numbers == nil {
		b.numbers = map[uint64]int{}
	}
	rows := [][2]int{}
	for _, name := range names {
		number, ok := b.numbers[name]
		if !ok {
			number = len(b.numbers)
			b.numbers[name] = number
		}
		if last := len(rows) - 1; last >= 0 && rows[last][0]+rows[last][1] == number {
			rows[last][1]++
		} else {
			rows = append(rows, [2]int{number, 1})
		}
	}
	return rows
}

// describe notes the blocks of a prompt of the request.
func (l *requestLog) describe(a *arrival, names *blockNames) {
	a.BlockSize, a.PromptBlocks = names.size, l.blocks.of(names.hashed)
}
