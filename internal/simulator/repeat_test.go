package simulator

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"benchtop/internal/assert"
)

// Sixteen users who each ask again the moment they have their answer, on a cache too small for them: two runs give the
// same texts at the same virtual times, although goroutines take turns as they like; another seed gives another run.
func TestSameSeedSameRun(t *testing.T) {
	run := func(seed uint64) (transcript string) {
		p := round()
		p.MaxSequences, p.OutputMean, p.Seed = 16, 60, seed
		bubble(t, p, func(c *client) {
			var lines []string
			var mu sync.Mutex // guards lines
			var users sync.WaitGroup
			for user := range 16 {
				users.Go(func() {
					for turn := range 3 {
						_, events := c.stream("/v1/completions", fmt.Sprintf(
							`{"prompt":"user %d in turn %d %s","max_tokens":150,"stream":true}`, user, turn,
							strings.Repeat("bla ", user*3)))
						mu.Lock()
						for _, e := range events {
							_, text, _ := strings.Cut(e.data, `"choices"`) // ids count requests, whose order is free
							lines = append(lines, fmt.Sprintf("%02d %d %v %s", user, turn, e.at, text))
						}
						mu.Unlock()
					}
				})
			}
			users.Wait()
			if s := c.server.engine.snapshot(); s.preemptions == 0 || s.ends["stop"] == 0 {
				t.Errorf("%d preemptions and %d natural ends: the test does not test", s.preemptions, s.ends["stop"])
			}
			slices.Sort(lines)
			transcript = strings.Join(lines, "\n")
		})
		return transcript
	}
	first, again, other := run(1), run(1), run(2)
	assert.Equal(t, first, again, "two runs of one seed differ")
	if first == other {
		t.Error("another seed gave the same run")
	}
}
