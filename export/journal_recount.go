package export

import (
	"fmt"
	"maps"

	"benchtop/metrics"
)

// recount is what the output tokens of a request were found to be after it was filed.
type recount struct {
	tokens int
	source metrics.TokenSource
}

// recounts are those of a run, by the index of the request.
type recounts map[int]recount

// mostRecounts bounds what a damaged journal can ask for.
const mostRecounts = 1 << 22

// apply corrects a request that was filed before; nil is none.
func (c recounts) apply(q *metrics.Request) {
	if q == nil {
		return
	}
	if r, ok := c[q.Index]; ok {
		q.OutputTokens, q.OutputSource = r.tokens, r.source
	}
}

// add takes those of a line. The error says that there are too many.
func (c *recounts) add(more recounts) error {
	if len(*c)+len(more) > mostRecounts {
		return fmt.Errorf("expected at most %d counts of answers", mostRecounts)
	}
	if *c == nil {
		*c = recounts{}
	}
	for index, r := range more {
		(*c)[index] = r
	}
	return nil
}

// Recount files the output tokens of a request that has been filed without a count better than its chunks; Records gives them
// from here on. After Close it does nothing.
func (j *Journal) Recount(index, tokens int, source metrics.TokenSource) {
	j.file(func(b []byte) []byte {
		_ = j.recounts.add(recounts{index: {tokens, source}}) // what there is no room for counts by its chunks
		b = append(b, `{"recount":{`...)
		b = appendCount(b, "index", index)
		b = appendCount(b, "output_tokens", tokens)
		b = appendText(b, "output_source", string(source))
		return append(b, "}}\n"...)
	})
}

// corrections are the recounts so far.
func (j *Journal) corrections() recounts {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.recounts)
}

// recount reads what Recount wrote.
func (f *fields) recount() recounts {
	return recounts{f.count("index"): {f.count("output_tokens"), metrics.TokenSource(f.text("output_source"))}}
}
