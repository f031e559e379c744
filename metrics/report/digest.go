package report

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// digests keep what a report needs of each request once its chunks are summed up, in about forty bytes: levels,
// samples of the server and steady windows are known at the end only, and percentiles are exact.
type digests struct {
	pages [][]byte
	names []string // failures and classes
	place map[string]int
	last  metrics.Request // the last one, from which the index and the times of the next differ little
}

// digest is a request without its chunks and its texts.
type digest struct {
	metrics.Request
	tangled bool // see tangled
}

const (
	digestPage = 1 << 16
	digestMost = 256 // bytes
)

// tangled reports whether the chunks of a request say more than their first and their last: those of other programs'
// journals may be missing, or in disorder.
func tangled(q *metrics.Request) bool {
	if len(q.Chunks) == 0 {
		return q.FirstChunk != metrics.Never || q.LastChunk != metrics.Never
	}
	first, last := q.Chunks[0].At, q.Chunks[0].At
	for i := range q.Chunks {
		first, last = min(first, q.Chunks[i].At), max(last, q.Chunks[i].At)
	}
	return first != q.FirstChunk || last != q.LastChunk
}

// moments are the times of a request, each of which may be metrics.Never, in the order in which they mostly come.
func moments(q *metrics.Request) [9]*time.Duration {
	return [...]*time.Duration{&q.Scheduled, &q.Due, &q.Admitted, &q.Sent, &q.FirstChunk, &q.FirstToken,
		&q.FirstAnswer, &q.LastChunk, &q.Done}
}

// numbers are the other numbers of a digest but for the index.
func numbers(q *metrics.Request) [5]*int {
	return [...]*int{&q.InputTokens, &q.OutputTokens, &q.Turn, &q.Inputs, &q.Redials}
}

// add keeps a request, with its class where the report needs it.
func (d *digests) add(q *metrics.Request, class bool) {
	if n := len(d.pages); n == 0 || cap(d.pages[n-1])-len(d.pages[n-1]) < digestMost {
		d.pages = append(d.pages, make([]byte, 0, digestPage))
	}
	b := &d.pages[len(d.pages)-1]
	there, at := uint64(0), d.last.Done
	for i, v := range moments(q) {
		if *v != metrics.Never {
			there |= 1 << i
		}
	}
	if tangled(q) {
		there |= 1 << len(moments(q))
	}
	*b = binary.AppendUvarint(*b, there)
	*b = binary.AppendVarint(*b, int64(q.Index-d.last.Index))
	for _, v := range moments(q) {
		if *v != metrics.Never {
			*b = binary.AppendVarint(*b, int64(*v-at))
			at = *v
		}
	}
	*b = binary.AppendVarint(*b, int64(q.Connect))
	for _, v := range numbers(q) {
		*b = binary.AppendVarint(*b, int64(*v))
	}
	failure := q.Failure
	if failure != "" && failure != metrics.Cancelled && !slices.Contains(metrics.Failures, failure) {
		failure = metrics.FailedInternal // one of another program, which counts alike
	}
	*b = binary.AppendUvarint(*b, d.named(string(failure)))
	if class {
		*b = binary.AppendUvarint(*b, d.named(q.Class))
	} else {
		*b = append(*b, 0)
	}
	d.last.Index, d.last.Done = q.Index, at
}

// named is the place of a name, 0 for none.
func (d *digests) named(name string) uint64 {
	if name == "" {
		return 0
	}
	at := d.place[name]
	if at == 0 {
		if d.place == nil {
			d.place = map[string]int{}
		}
		d.names = append(d.names, name)
		at = len(d.names)
		d.place[name] = at
	}
	return uint64(at)
}

// all ranges over the digests. Each is valid until the next one.
func (d *digests) all() iter.Seq[*digest] {
	return func(yield func(*digest) bool) {
		var before metrics.Request
		q := new(digest)
		for _, b := range d.pages {
			for len(b) > 0 {
				b = d.read(b, q, &before)
				if !yield(q) {
					return
				}
			}
		}
	}
}

// read reads the digest after another one and returns what follows it.
func (d *digests) read(b []byte, q *digest, before *metrics.Request) []byte {
	unsigned := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	name := func() string {
		if at := unsigned(); at > 0 {
			return d.names[at-1]
		}
		return ""
	}
	there, at := unsigned(), before.Done
	q.Index = before.Index + int(signed())
	for i, v := range moments(&q.Request) {
		if *v = metrics.Never; there&(1<<i) != 0 {
			at += time.Duration(signed())
			*v = at
		}
	}
	q.tangled = there&(1<<len(moments(&q.Request))) != 0
	q.Connect = time.Duration(signed())
	for _, v := range numbers(&q.Request) {
		*v = int(signed())
	}
	q.Failure, q.Class = metrics.Failure(name()), name()
	before.Index, before.Done = q.Index, at
	return b
}

// cells hold the gaps between the chunks of the successes of each second of load times, since the levels to which they
// belong are known at the end only.
type cells []cell

type cell struct {
	first, last time.Duration // load times
	gaps        metrics.Histogram
}

// add takes a success.
func (c *cells) add(load time.Duration, q *metrics.Request) {
	if load == metrics.Never || len(q.Chunks) < 2 {
		return
	}
	k := metrics.SecondOf(load)
	for len(*c) <= k {
		*c = append(*c, cell{first: math.MaxInt64, last: math.MinInt64})
	}
	of := &(*c)[k]
	of.first, of.last = min(of.first, load), max(of.last, load)
	for i := 1; i < len(q.Chunks); i++ {
		of.gaps.Add(q.Gap(i))
	}
}

// sort adds the gaps to the levels, and returns the seconds whose successes are of more than one.
func (c cells) sort(l *judge.Levels) (split map[int]bool) {
	for k := range c {
		if of := &c[k]; of.first <= of.last && !l.MergeGaps(of.first, of.last, &of.gaps) {
			if split == nil {
				split = map[int]bool{}
			}
			split[k] = true
		}
	}
	return split
}
