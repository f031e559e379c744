package datasets

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"benchtop/datasets/table"
	"benchtop/datasets/textfile"
	"benchtop/internal/hf/hub"
)

// hfTables are the shards of a data set, each fetched and opened when it is needed. One goroutine uses them.
type hfTables struct {
	root    string // the data set's name or path
	shards  []hub.Shard
	lengths map[int]int // of those that were opened once
	open    []openShard // the one used last comes last
	opening func(shard int)
}

type openShard struct {
	shard int
	table.Table
}

// mostOpen bounds the files that are open at once, each with some megabytes of its pages.
const mostOpen = 4

// table opens a shard.
func (t *hfTables) table(ctx context.Context, shard int) (table.Table, error) {
	at := slices.IndexFunc(t.open, func(o openShard) bool { return o.shard == shard })
	if at >= 0 {
		found := t.open[at]
		t.open = append(slices.Delete(t.open, at, at+1), found)
		return found, nil
	}
	place, err := t.shards[shard].Fetch(ctx)
	if err != nil {
		return nil, err
	}
	if t.opening != nil {
		t.opening(shard)
	}
	opened, err := table.Open(ctx, place)
	if err != nil {
		return nil, t.in(shard, err)
	}
	if len(t.open) == mostOpen {
		_ = t.open[0].Close() // it was only read
		t.open = slices.Delete(t.open, 0, 1)
	}
	t.open = append(t.open, openShard{shard, opened})
	if t.lengths == nil {
		t.lengths = map[int]int{}
	}
	t.lengths[shard] = opened.Len()
	return opened, nil
}

// in says which shard an error is about.
func (t *hfTables) in(shard int, err error) error {
	name := t.shards[shard].Name
	if name != t.root { // it is not the file that was given
		name = path.Join(t.root, name)
	}
	return textfile.At(name, err)
}

func (t *hfTables) length(ctx context.Context, shard int) (int, error) {
	if n, known := t.lengths[shard]; known {
		return n, nil
	}
	opened, err := t.table(ctx, shard)
	if err != nil {
		return 0, err
	}
	return opened.Len(), nil
}

// array reports whether the shards are JSON arrays. Other files need not be fetched to tell.
func (t *hfTables) array(ctx context.Context) (bool, error) {
	if !strings.HasSuffix(t.shards[0].Name, ".json") {
		return false, nil
	}
	place, err := t.shards[0].Fetch(ctx)
	if err != nil {
		return false, err
	}
	return textfile.Read(place, "a JSON file", func(r io.Reader) (bool, error) {
		head, err := io.ReadAll(io.LimitReader(r, 1<<10))
		return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))), []byte{'['}), err
	})
}

// rows calls do with each of the rows, in the order in which they stand in the files. columns name those that a file
// may lack with false.
func (t *hfTables) rows(ctx context.Context, rows []hfRow, columns map[string]bool,
	do func(i int, object []byte) error) error {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if rows[i].shard != rows[j].shard {
			return int(rows[i].shard - rows[j].shard)
		}
		return int(rows[i].number - rows[j].number)
	})
	for len(order) > 0 {
		shard := int(rows[order[0]].shard)
		var numbers []int
		for _, i := range order {
			if int(rows[i].shard) != shard {
				break
			}
			numbers = append(numbers, int(rows[i].number))
		}
		opened, err := t.table(ctx, shard)
		if err != nil {
			return err
		}
		names, err := namesIn(ctx, opened, columns)
		if err == nil {
			next := 0
			err = opened.Rows(ctx, numbers, names, func(_ int, object []byte) error {
				next++
				return do(order[next-1], object)
			})
		}
		if err != nil {
			return t.in(shard, err)
		}
		order = order[len(numbers):]
	}
	return nil
}

// namesIn are the columns to read from a table.
func namesIn(ctx context.Context, t table.Table, columns map[string]bool) (names []string, err error) {
	for name, required := range columns {
		if !required {
			err := t.Rows(ctx, nil, []string{name}, nil)
			if errors.Is(err, table.ErrNoColumn) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// close closes the files.
func (t *hfTables) close() {
	for _, o := range t.open {
		_ = o.Close() // they were only read
	}
}
