package metrics

import "iter"

// Spread gives each chunk its share of the request's output tokens, rounded so that the shares add up to them. Where no chunk
// has any, the last one gets them all.
func (r *Request) Spread() iter.Seq2[int, int] {
	return func(yield func(chunk, tokens int) bool) {
		counted := 0
		for _, c := range r.Chunks {
			counted += int(c.Tokens)
		}
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
