package replay

import (
	"time"

	"benchtop/metrics"
)

// delays makes up how long chunks waited between the kernel and the client, of which the journal has the figures of each
// second, but not of each chunk. So the verdict on the client is about what it was: one chunk of a second waited longest, one
// in fifty as long as the 99th percentile, all others as long as the median.
type delays struct {
	second *metrics.ClientSecond // that comes next; nil where the client said nothing
	n      int                   // chunks with output in it so far
}

// begin starts the first of some seconds.
func (d *delays) begin(rest []metrics.ClientSecond) {
	*d = delays{}
	if len(rest) > 0 {
		d.second = &rest[0]
	}
}

// next is the delay of the chunk that comes next, Never for none.
func (d *delays) next(c metrics.Chunk) time.Duration {
	if d.second == nil || c.Tokens <= 0 {
		return metrics.Never
	}
	n := d.n - d.second.Unstamped
	d.n++
	switch {
	case n < 0:
		return metrics.Never
	case n == 0:
		return d.second.DelayMax
	case n%50 == 0:
		return d.second.DelayP99
	}
	return d.second.DelayP50
}
