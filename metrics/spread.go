package metrics

import "iter"

// counted is the number of output tokens by chunk.
func (r *Request) counted() int {
	n := 0
	for _, c := range r.Chunks {
		n += int(c.Tokens)
	}
	return n
}

// spread gives each chunk its share of the request's output tokens, rounded so that the shares add up to them, where
// counting by chunk gave a total of counted. Where no chunk counted, the last one gets them all.
func (r *Request) spread(counted int) iter.Seq2[int, int] {
	return func(yield func(chunk, tokens int) bool) {
		var seen, given int
		for i, c := range r.Chunks {
			seen += int(c.Tokens)
			upTo := seen
			switch {
			case counted == 0 && i == len(r.Chunks)-1:
				upTo = r.OutputTokens
			case counted != 0 && counted != r.OutputTokens:
				upTo = int(float64(seen) / float64(counted) * float64(r.OutputTokens))
			}
			if !yield(i, upTo-given) {
				return
			}
			given = upTo
		}
	}
}
