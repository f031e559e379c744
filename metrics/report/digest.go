package report

import (
	"encoding/binary"
	"iter"
	"math"
	"time"

	"benchtop/metrics"
	"benchtop/metrics/judge"
)

// digests keep what a report needs of each request once its chunks are summed up, in about fifty bytes: levels,
// samples of the server and steady windows are known at the end only, and percentiles are exact.
type digests struct {
	pages [][]byte
	last  digest // from which the next one differs little
	line  []byte // memory
}

const digestPage = 1 << 16

// digest is a request without its chunks and most of its texts.
type digest struct {
	metrics.Request
	tangled int // 1 if it is tangled
}

// tangled is 1 for chunks that say more than the first and the last of them: those of other programs' journals may be
// missing, or in disorder.
func tangled(q *metrics.Request) int {
	first, last := metrics.Never, metrics.Never
	for i, c := range q.Chunks {
		if first, last = min(first, c.At), max(last, c.At); i == 0 {
			first, last = c.At, c.At
		}
	}
	if first != q.FirstChunk || last != q.LastChunk {
		return 1
	}
	return 0
}

// times are those of a request, in the order in which they mostly come; numbers and texts are the rest of a digest.
func (d *digest) times() [10]*time.Duration {
	return [...]*time.Duration{&d.Scheduled, &d.Due, &d.Admitted, &d.Sent, &d.LastTry, &d.FirstChunk, &d.FirstToken,
		&d.FirstAnswer, &d.LastChunk, &d.Done}
}

func (d *digest) numbers() (all [5 + metrics.NumTallies]*int) {
	for i := range d.Tallies {
		all[i] = &d.Tallies[i]
	}
	copy(all[metrics.NumTallies:], []*int{&d.InputTokens, &d.OutputTokens, &d.Turn, &d.Inputs, &d.tangled})
	return all
}

func (d *digests) add(q *metrics.Request) {
	now := digest{*q, tangled(q)}
	b, at := binary.AppendVarint(d.line[:0], int64(q.Index-d.last.Index)), d.last.Done
	for _, v := range now.times() {
		b, at = binary.AppendVarint(b, int64(*v-at)), *v
	}
	b = binary.AppendVarint(b, int64(q.Connect))
	for _, v := range now.numbers() {
		b = binary.AppendVarint(b, int64(*v))
	}
	for _, text := range []string{string(q.Failure), q.Class} {
		b = append(binary.AppendVarint(b, int64(len(text))), text...)
	}
	n := len(d.pages) - 1
	if n < 0 || cap(d.pages[n])-len(d.pages[n]) < len(b) {
		d.pages, n = append(d.pages, make([]byte, 0, max(digestPage, len(b)))), n+1
	}
	d.pages[n] = append(d.pages[n], b...)
	d.line, d.last.Index, d.last.Done = b, q.Index, q.Done
}

// all ranges over the digests. Each is valid until the next one.
func (d *digests) all() iter.Seq[*digest] {
	return func(yield func(*digest) bool) {
		q := new(digest)
		for _, b := range d.pages {
			for len(b) > 0 {
				if b = q.read(b); !yield(q) {
					return
				}
			}
		}
	}
}

// read replaces a digest by the next one, and returns what follows that.
func (d *digest) read(b []byte) []byte {
	number := func() int64 {
		v, n := binary.Varint(b)
		b = b[n:]
		return v
	}
	text := func() (s string) {
		n := number()
		s, b = string(b[:n]), b[n:]
		return s
	}
	d.Index += int(number())
	at := d.Done
	for _, v := range d.times() {
		at += time.Duration(number())
		*v = at
	}
	d.Connect = time.Duration(number())
	for _, v := range d.numbers() {
		*v = int(number())
	}
	d.Failure, d.Class = metrics.Failure(text()), text()
	return b
}

// cells hold the gaps between the chunks of the successes of each second of load times, since the levels to which they
// belong are known at the end only.
type cells []cell

// packBehind is the number of seconds after which hardly any request of a second is still to end.
const packBehind = 120

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
		if old := len(*c) - packBehind; old >= 0 {
			(*c)[old].gaps.Pack()
		}
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
