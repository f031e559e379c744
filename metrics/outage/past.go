package outage

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"benchtop/metrics"
)

// Past finds the outages of requests that ended, in any order.
type Past struct {
	alive   []lifetime
	failed  []failure
	reached time.Duration // the last end of a request that the server answered, if with an error
}

// lifetime is a time in which the server was there: from the sending of a request to the last sign of its answer.
type lifetime struct{ from, to time.Duration }

// failure is a request that failed.
type failure struct {
	load, done time.Duration
	unreached  bool
}

// Answered counts the signs of life of a request that was sent at a moment: the last one, metrics.Never for none. Those
// of requests in order of their ends mostly overlap, and are joined at once.
func (p *Past) Answered(sent, last time.Duration) {
	if last == metrics.Never || last < sent {
		return // a damaged journal
	}
	if n := len(p.alive); n > 0 && sent <= p.alive[n-1].to && last >= p.alive[n-1].from {
		v := &p.alive[n-1]
		v.from, v.to = min(v.from, sent), max(v.to, last)
		return
	}
	p.alive = append(p.alive, lifetime{sent, last})
}

// Failed counts a request that failed.
func (p *Past) Failed(load, done time.Duration, unreached bool) {
	p.failed = append(p.failed, failure{load, done, unreached})
}

// Reached counts the end of a request that the server answered, if with an error. A part of an answer proves the server
// for its time only.
func (p *Past) Reached(done time.Duration) { p.reached = max(p.reached, done) }

// Gone is the number of requests in a row that failed as without a server until the end; 0 where the server was there.
func (p *Past) Gone() int {
	n := 0
	for _, f := range p.failed {
		if f.unreached && f.done > p.reached {
			n++
		}
	}
	return enough(n)
}

func enough(n int) int {
	if n < fewest {
		return 0
	}
	return n
}

// Outage is a time without the server.
type Outage struct {
	// Since is the end of the first request that it cost, Never where the server had not answered before.
	Since time.Duration
	// Lost are the load times of those that it cost: they say nothing about the load.
	Lost []time.Duration
}

// Outages are those of the run so far, in order of time.
func (p *Past) Outages() (all []Outage) {
	if enough(len(p.failed)) == 0 {
		return nil
	}
	slices.SortFunc(p.failed, func(a, b failure) int { return cmp.Compare(a.done, b.done) })
	slices.SortFunc(p.alive, func(a, b lifetime) int { return cmp.Compare(a.from, b.from) })
	const ever = math.MaxInt64 / 2
	since, next := time.Duration(-ever), 0 // the last sign of life so far, the first failure after those that were lost
	for _, v := range append(p.alive, lifetime{ever, ever}) {
		if p.unreached(since, v.from) > 0 {
			from := max(next, p.after(since-dying))
			next = p.after(v.from - 1)
			o := Outage{Since: metrics.Never}
			if since != -ever {
				o.Since = p.failed[from].done
			}
			for _, f := range p.failed[from:next] {
				o.Lost = append(o.Lost, f.load)
			}
			all = append(all, o)
		}
		since = max(since, v.to)
	}
	return all
}

// after is the index of the first failure after a moment.
func (p *Past) after(at time.Duration) int {
	return sort.Search(len(p.failed), func(i int) bool { return p.failed[i].done > at })
}

// unreached is the number of requests between two moments that failed as without a server; 0 where they are few.
func (p *Past) unreached(from, to time.Duration) (n int) {
	a, b := p.after(from), p.after(to-1)
	for _, f := range p.failed[a:max(a, b)] {
		if f.unreached {
			n++
		}
	}
	return enough(n)
}
