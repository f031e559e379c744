package agents

// AppendBlocks appends blocks with consecutive numbers, and joins them to the last row where they continue it.
func AppendBlocks(runs []Run, first uint64, count int) []Run {
	if count < 1 {
		return runs
	}
	if n := len(runs); n > 0 && runs[n-1].First+uint64(runs[n-1].Count) == first {
		runs[n-1].Count += count
		return runs
	}
	return append(runs, Run{first, count})
}

// RadixTree holds prompts by their blocks, as the index of a prefix cache without limits does. An edge stands for a row
// of blocks, so that time and memory grow with the rows and not with the blocks.
//
//	root ──1,2,3──▶ a ──4,5──▶ b      [1,5] and [1,3],[9,2] were added
//	                └──9,10──▶ c
//
// The zero value is empty.
type RadixTree struct {
	edges map[fork]edge
	nodes int // besides the root, which is 0
}

// fork is a node and the first block on one of its edges.
type fork struct {
	node  int
	block uint64
}

type edge struct{ count, to int }

// Len is the number of edges.
func (t *RadixTree) Len() int { return len(t.edges) }

// Add adds a prompt, and returns how many of its first blocks begin a prompt that was added before.
func (t *RadixTree) Add(blocks []Run) (shared int) {
	if t.edges == nil {
		t.edges = map[fork]edge{}
	}
	node := 0
	for i := 0; i < len(blocks); {
		run := blocks[i]
		for i++; i < len(blocks) && run.First+uint64(run.Count) == blocks[i].First; i++ {
			run.Count += blocks[i].Count
		}
		for run.Count > 0 {
			at := fork{node, run.First}
			e, ok := t.edges[at]
			if !ok {
				node = t.add(at, run.Count)
				break
			}
			common := min(e.count, run.Count)
			if common < e.count {
				e = t.split(at, e, common)
			}
			node = e.to
			shared += common
			run.First += uint64(common)
			run.Count -= common
		}
	}
	return shared
}

// add makes an edge to a new node.
func (t *RadixTree) add(at fork, count int) int {
	t.nodes++
	t.edges[at] = edge{count, t.nodes}
	return t.nodes
}

// split puts a node into an edge, behind so many blocks, and returns the part before it.
func (t *RadixTree) split(at fork, e edge, count int) edge {
	t.nodes++
	t.edges[at] = edge{count, t.nodes}
	t.edges[fork{t.nodes, at.block + uint64(count)}] = edge{e.count - count, e.to}
	return t.edges[at]
}

// Ideal is, for each request in order, how many tokens of its prompt a prefix cache without limits would hold: those
// that begin an earlier prompt of the session, in whole blocks. At least one token is left, as a server computes the
// last one always.
func (s *Session) Ideal() (shared []int) {
	var t RadixTree
	return s.IdealIn(&t)
}

// IdealIn is Ideal with the prompts of earlier sessions too, those in the tree; the session's own are added to it.
// Blocks must be of one size and mean the same in all of these sessions.
func (s *Session) IdealIn(t *RadixTree) (shared []int) {
	shared = make([]int, len(s.Requests))
	for i := range s.Requests {
		q := &s.Requests[i]
		shared[i] = min(t.Add(q.Blocks), (q.Input-1)/s.BlockSize) * s.BlockSize
	}
	return shared
}
