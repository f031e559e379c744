package journal

import (
	"bytes"
	"math"
	"time"

	"benchtop/metrics"
)

// cutChunks takes the chunks out of the line of a request, because the parser takes a hundred bytes for each number. A line in
// which they are not as appendChunks writes them stays whole, for the parser to read or to complain about.
func cutChunks(line []byte) (rest []byte, chunks []metrics.Chunk) {
	start := bytes.Index(line, []byte(`,"chunks_us":[`))
	if start < 0 {
		return line, nil
	}
	list := numbers(line[start+len(`,"chunks_us":[`):])
	n := list.count()
	if n == 0 || n > metrics.MostChunks {
		return line, nil
	}
	chunks = make([]metrics.Chunk, n)
	at := time.Duration(0)
	for i := range chunks {
		us, ok := list.next(i == n-1)
		at += time.Duration(us) * time.Microsecond
		if limit := longestRun.Microseconds(); !ok || us < -limit || us > limit || at < -longestRun || at > longestRun {
			return line, nil
		}
		chunks[i] = metrics.Chunk{At: at, Tokens: 1}
	}
	if after, found := bytes.CutPrefix(list, []byte(`,"chunk_tokens":[`)); found {
		if list = after; list.count() != n {
			return line, nil
		}
		for i := range chunks {
			v, ok := list.next(i == n-1)
			if !ok || v < math.MinInt32 || v > math.MaxInt32 {
				return line, nil
			}
			chunks[i].Tokens = int32(v)
		}
	}
	if elsewhere := []byte(`"chunk_tokens"`); bytes.Contains(line[:start], elsewhere) || bytes.Contains(list, elsewhere) {
		return line, nil
	}
	return append(line[:start], list...), chunks
}

// numbers is a line from within a list of whole numbers on.
type numbers []byte

// count is how many numbers the list has, if it is one of numbers.
func (l numbers) count() int {
	end := bytes.IndexByte(l, ']')
	if end <= 0 {
		return 0
	}
	return bytes.Count(l[:end], []byte{','}) + 1
}

// next reads a number and what follows it: a comma, or, after the last one, the end of the list.
func (l *numbers) next(last bool) (v int64, ok bool) {
	const mostDigits = 18
	b := *l
	i, sign, want := 0, int64(1), byte(',')
	if last {
		want = ']'
	}
	if i < len(b) && b[i] == '-' {
		i, sign = 1, -1
	}
	first := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if i-first == mostDigits {
			return 0, false
		}
		v = 10*v + int64(b[i]-'0')
	}
	if i == first || b[first] == '0' && i > first+1 || i == len(b) || b[i] != want {
		return 0, false
	}
	*l = b[i+1:]
	return sign * v, true
}
