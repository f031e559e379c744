package datasets

import (
	"errors"
	"iter"
	"strconv"
	"testing"
)

// hfOrderCase is an order that numpy's or the datasets library's own generators gave.
type hfOrderCase struct {
	Mode, Seed string
	N          int
	Shards     []int
	Order      []int
	First      []int `json:"first_200"`
	Last       []int `json:"last_50"`
}

// rows are the places of the case's rows in an order, as numbers of the whole data set.
func (c hfOrderCase) rows(t *testing.T, order func(hfOrder, uint64) iter.Seq2[hfRow, error]) []int {
	t.Helper()
	seed := must(strconv.ParseUint(c.Seed, 10, 64))(t)
	if c.Shards == nil {
		c.Shards = []int{c.N}
	}
	starts := []int{0}
	for _, length := range c.Shards {
		starts = append(starts, starts[len(starts)-1]+length)
	}
	var all []int
	o := hfOrder{len(c.Shards), func(shard int) (int, error) { return c.Shards[shard], nil }}
	for row, err := range order(o, seed) {
		fine(t, err)
		all = append(all, starts[row.shard]+int(row.number))
	}
	return all
}

func (c hfOrderCase) check(t *testing.T, got []int) {
	t.Helper()
	what := c.Mode + " of " + strconv.Itoa(len(got)) + " rows, seed " + c.Seed
	if c.Order != nil {
		same(t, what, got, c.Order)
		return
	}
	same(t, what+", beginning", got[:len(c.First)], c.First)
	same(t, what+", end", got[len(got)-len(c.Last):], c.Last)
}

func TestHFOrderGolden(t *testing.T) {
	streamed := func(version string) func(o hfOrder, seed uint64) iter.Seq2[hfRow, error] {
		s, known := hfStreamOf(version)
		if !known {
			t.Fatalf("version %s is not known", version)
		}
		return func(o hfOrder, seed uint64) iter.Seq2[hfRow, error] { return o.streamed(seed, s) }
	}
	for _, test := range []struct{ file, mode, version string }{
		{"hf_order.json", "no_stream", ""},
		{"hf_order.json", "stream_single_shard", "4.8.5"},
		{"hf_order.json", "stream_single_shard", "5.0"},
		{"hf_order.json", "stream_multi_shard_interleaved", "5.0.1"},
		{"hf_order.json", "stream_multi_shard_sequential", "4"},
		{"hf_order_5.2.json", "stream", "5.2.0"},
		{"hf_order_5.2.json", "stream", "6"},
	} {
		var file struct{ Cases []hfOrderCase }
		goldenCases(t, test.file, &file)
		cases := 0
		for _, c := range file.Cases {
			if c.Mode != test.mode {
				continue
			}
			cases++
			if test.version == "" {
				c.check(t, c.rows(t, hfOrder.whole))
			} else {
				c.check(t, c.rows(t, streamed(test.version)))
			}
		}
		if cases == 0 {
			t.Errorf("%s has no case of %s", test.file, test.mode)
		}
	}
	c := hfOrderCase{Shards: []int{2, 0, 3}, Seed: "0", Order: []int{0, 1, 2, 3, 4}}
	c.check(t, c.rows(t, func(o hfOrder, _ uint64) iter.Seq2[hfRow, error] { return o.inFile() }))
	for _, version := range []string{"", "x", "-1", "5.", "5.x", "5.1.x"} {
		if _, known := hfStreamOf(version); known != (version == "5." || version == "5.1.x") {
			t.Errorf("version %q: known %v", version, known)
		}
	}
}

// An order opens a shard only when it comes near it, ends where it is not wanted any more, and passes the error of a
// shard on.
func TestHFOrderIsLazy(t *testing.T) {
	opened := 0
	o := hfOrder{40, func(int) (int, error) { opened++; return 10, nil }}
	stream, _ := hfStreamOf("5.0")
	for _, test := range []struct {
		name string
		rows iter.Seq2[hfRow, error]
		want int // shards opened for the first row
	}{
		{"in the file", o.inFile(), 1},
		{"whole", o.whole(0), 40},
		{"streamed", o.streamed(0, stream), 40},
	} {
		opened = 0
		for range test.rows {
			break
		}
		same(t, test.name+": shards opened", opened, test.want)
	}
	o.length = func(int) (int, error) { opened++; return 2000, nil }
	opened = 0
	for range o.streamed(0, stream) {
		break
	}
	same(t, "shards opened to fill the buffer", opened, 10)

	broken := errors.New("broken")
	o.length = func(int) (int, error) { return 0, broken }
	for i, rows := range []iter.Seq2[hfRow, error]{o.inFile(), o.whole(0), o.streamed(0, stream)} {
		n := 0
		for _, err := range rows {
			n++
			if !errors.Is(err, broken) {
				t.Errorf("order %d: got error %v", i, err)
			}
		}
		same(t, "rows of a broken shard", n, 1)
	}
}

func BenchmarkHFOrder(b *testing.B) {
	o := hfOrder{20, func(int) (int, error) { return 50_000, nil }}
	stream, _ := hfStreamOf("5.0")
	for name, order := range map[string]iter.Seq2[hfRow, error]{"whole": o.whole(0),
		"streamed": o.streamed(0, stream)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for range order {
					n++
				}
				if n != 1_000_000 {
					b.Fatal(n)
				}
			}
		})
	}
}
