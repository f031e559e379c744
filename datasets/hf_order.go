package datasets

import (
	"cmp"
	"iter"
	"strconv"
	"strings"

	"benchtop/internal/hf/numpy"
)

// hfRow is the place of a row in the shards of a data set.
type hfRow struct{ shard, number int32 }

// hfOrder puts the rows of a data set into an order by their places alone, so that rows in a buffer cost nothing.
type hfOrder struct {
	shards int
	length func(shard int) (int, error) // the rows of a shard, each counted only when the order comes to it
}

// inFile is the order of the files.
func (o hfOrder) inFile() iter.Seq2[hfRow, error] { return o.through(o.all()) }

// all are the shards.
func (o hfOrder) all() []int {
	shards := make([]int, o.shards)
	for i := range shards {
		shards[i] = i
	}
	return shards
}

// through is the rows of shards, one shard after another.
func (o hfOrder) through(shards []int) iter.Seq2[hfRow, error] {
	return func(yield func(hfRow, error) bool) {
		for _, shard := range shards {
			n, err := o.length(shard)
			if err != nil {
				yield(hfRow{}, err)
				return
			}
			for row := range n {
				if !yield(hfRow{int32(shard), int32(row)}, nil) {
					return
				}
			}
		}
	}
}

// whole is the order of a data set that is shuffled as a whole.
func (o hfOrder) whole(seed uint64) iter.Seq2[hfRow, error] {
	return func(yield func(hfRow, error) bool) {
		var rows []hfRow
		for row, err := range o.inFile() {
			if err != nil {
				yield(row, err)
				return
			}
			rows = append(rows, row)
		}
		shuffleRows(numpy.NewGenerator(seed), rows)
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func shuffleRows(gen *numpy.Generator, rows []hfRow) {
	gen.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// hfStream is how a version of the datasets library shuffles a data set that it streams: rows come from a few groups of
// shards in turn, some at a time, and go through a buffer.
//
//	shards, shuffled ──▶ groups of shards ──▶ some rows of each in turn ──▶ a buffer of 1,000 ──▶ order
type hfStream struct {
	groups int // at most
	batch  int // rows of a group at a time
	// the full buffer is shuffled and half of it leaves; otherwise each new row takes the place of a random one
	halves bool
}

const hfBuffer = 1000 // rows

// hfNewest is the newest version of the datasets library that was compared.
const hfNewest = "5.2"

// hfStreamOf is the way of a version such as 5.0.1.
func hfStreamOf(version string) (s hfStream, known bool) {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	minor, err2 := strconv.Atoi(cmp.Or(second, "0"))
	switch {
	case err != nil || err2 != nil || major < 0 || minor < 0:
		return s, false
	case major < 5:
		return hfStream{groups: 1, batch: 1}, true
	case major == 5 && minor == 0:
		return hfStream{groups: 10, batch: 1}, true
	}
	return hfStream{groups: 10, batch: hfBuffer / 10, halves: true}, true
}

// streamed is the order of a data set that is shuffled while it is streamed. It reaches a shard only when a row of it
// is near.
func (o hfOrder) streamed(seed uint64, s hfStream) iter.Seq2[hfRow, error] {
	return func(yield func(hfRow, error) bool) {
		gen := *numpy.NewGenerator(seed)
		b := hfShuffleBuffer{gen: gen, yield: yield}
		for rows, err := range o.interleaved(gen, s) {
			switch {
			case err != nil:
				yield(hfRow{}, err)
				return
			case s.halves && !b.addHalving(rows), !s.halves && !b.add(rows):
				return
			}
		}
		b.finish()
	}
}

// interleaved yields rows of the groups in turn. The generator is a copy.
func (o hfOrder) interleaved(gen numpy.Generator, s hfStream) iter.Seq2[[]hfRow, error] {
	return func(yield func([]hfRow, error) bool) {
		shards := o.all()
		gen.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
		// Groups have about the same number of shards.
		var groups []func() (hfRow, error, bool)
		for left := min(s.groups, len(shards)); left > 0; left-- {
			each := (len(shards) + left - 1) / left
			next, stop := iter.Pull2(o.through(shards[:each]))
			defer stop()
			groups, shards = append(groups, next), shards[each:]
		}
		rows := make([]hfRow, 0, s.batch)
		for left := true; left; {
			left = false
			for _, next := range groups {
				var err error
				if rows, err = hfBatch(rows[:0], next); err != nil {
					yield(nil, err)
					return
				}
				if len(rows) > 0 && !yield(rows, nil) {
					return
				}
				left = left || len(rows) > 0
			}
		}
	}
}

// hfBatch appends the next rows up to the capacity.
func hfBatch(rows []hfRow, next func() (hfRow, error, bool)) ([]hfRow, error) {
	for len(rows) < cap(rows) {
		row, err, more := next()
		if err != nil || !more {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// hfShuffleBuffer holds rows back, to let them go in random order. Its methods report whether more rows are wanted.
type hfShuffleBuffer struct {
	gen   numpy.Generator
	yield func(hfRow, error) bool
	rows  []hfRow
	slots []int64 // that rows leave from, drawn ahead by the thousand
}

// add lets a row go for each one that does not fit.
func (b *hfShuffleBuffer) add(rows []hfRow) bool {
	for _, row := range rows {
		if len(b.rows) < hfBuffer {
			b.rows = append(b.rows, row)
			continue
		}
		if len(b.slots) == 0 {
			b.slots = b.gen.IntegersArray(0, hfBuffer, hfBuffer)
		}
		slot := b.slots[0]
		b.slots = b.slots[1:]
		if !b.yield(b.rows[slot], nil) {
			return false
		}
		b.rows[slot] = row
	}
	return true
}

// addHalving lets all but half a buffer go as soon as it is full.
func (b *hfShuffleBuffer) addHalving(rows []hfRow) bool {
	if b.rows = append(b.rows, rows...); len(b.rows) < hfBuffer {
		return true
	}
	b.permute()
	leave := len(b.rows) - hfBuffer/2
	for _, row := range b.rows[:leave] {
		if !b.yield(row, nil) {
			return false
		}
	}
	b.rows = b.rows[:copy(b.rows, b.rows[leave:])]
	return true
}

func (b *hfShuffleBuffer) permute() { shuffleRows(&b.gen, b.rows) }

// finish lets the rest go.
func (b *hfShuffleBuffer) finish() {
	b.permute()
	for _, row := range b.rows {
		if !b.yield(row, nil) {
			return
		}
	}
}
