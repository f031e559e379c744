package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"benchtop/internal/assert"
)

// tree is a structure of Thrift's compact protocol, to change a field of it and write it again.
type tree struct {
	id       int64 // of the field
	kind     byte
	number   int64
	bytes    []byte
	children []*tree // fields, or elements of a list
}

// parseTree reads a structure, and returns what is behind it.
func parseTree(t testing.TB, b []byte) (*tree, []byte) {
	t.Helper()
	r := &thrift{b: b}
	root := &tree{kind: thriftStruct, children: r.trees()}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return root, r.b
}

func (t *thrift) trees() (fields []*tree) {
	t.fields(func(id int64, kind byte) bool {
		fields = append(fields, t.tree(id, kind))
		return true
	})
	return fields
}

func (t *thrift) tree(id int64, kind byte) *tree {
	v := &tree{id: id, kind: kind}
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		v.number = int64(t.byte())
	case thriftInt16, thriftInt32, thriftInt64:
		v.number = t.int()
	case thriftDouble:
		for range 8 {
			v.bytes = append(v.bytes, t.byte())
		}
	case thriftBinary:
		v.bytes = t.bytes()
	case thriftList:
		v.number = int64(t.b[0] & 0xf)
		t.list(func(kind byte) {
			if kind == thriftTrue {
				kind = thriftByte
			}
			v.children = append(v.children, t.tree(0, kind))
		})
	case thriftStruct:
		v.children = t.trees()
	}
	return v
}

// append writes a value.
func (v *tree) append(b []byte) []byte {
	switch v.kind {
	case thriftByte:
		b = append(b, byte(v.number))
	case thriftInt16, thriftInt32, thriftInt64:
		b = binary.AppendVarint(b, v.number)
	case thriftDouble:
		b = append(b, v.bytes...)
	case thriftBinary:
		b = append(binary.AppendUvarint(b, uint64(len(v.bytes))), v.bytes...)
	case thriftList:
		b = binary.AppendUvarint(append(b, 0xf0|byte(v.number)), uint64(len(v.children)))
		for _, element := range v.children {
			b = element.append(b)
		}
	case thriftStruct:
		for _, field := range v.children {
			b = field.append(binary.AppendVarint(append(b, field.kind), field.id))
		}
		b = append(b, 0)
	}
	return b
}

// at is the value below fields and elements, nil where there is none.
func (v *tree) at(ids ...int64) *tree {
	for _, id := range ids {
		if v == nil {
			return nil
		}
		if v.kind == thriftList {
			v = v.children[id]
			continue
		}
		i := slices.IndexFunc(v.children, func(field *tree) bool { return field.id == id })
		if i < 0 {
			return nil
		}
		v = v.children[i]
	}
	return v
}

var longText = bytes.Repeat([]byte{'a'}, 1<<10)

// mutate calls do with the place of each wrong value at v and below it, one at a time, and puts the right one back.
func (v *tree) mutate(place string, do func(place string)) {
	was := *v
	defer func() { *v = was }()
	switch v.kind {
	case thriftTrue, thriftFalse:
		v.kind = thriftTrue + thriftFalse - v.kind
		do(place)
	case thriftInt16, thriftInt32, thriftInt64:
		for _, number := range []int64{0, 1, -1, 2, 7, 1 << 20, math.MaxInt32, math.MaxInt32 + 1, 1 << 62,
			math.MaxInt64, math.MinInt64,
			was.number + 1, was.number - 1, -was.number, was.number * 1000} {
			v.number = number
			do(place)
		}
	case thriftBinary:
		for _, b := range [][]byte{nil, []byte("\xff\xfe"), longText} {
			v.bytes = b
			do(place)
		}
	case thriftList, thriftStruct:
		for i, child := range was.children {
			below := place + "/" + strconv.Itoa(i)
			v.children = slices.Delete(slices.Clone(was.children), i, i+1)
			do(below)
			v.children = slices.Insert(slices.Clone(was.children), i, child)
			do(below)
			v.children = was.children
			child.mutate(below, do)
		}
	}
}

// parts are a file to change: what stands before its footer, and the footer.
type parts struct {
	body   []byte
	footer *tree
}

func partsOf(t testing.TB, data []byte) *parts {
	t.Helper()
	end := len(data) - 8
	begin := end - int(binary.LittleEndian.Uint32(data[end:]))
	footer, _ := parseTree(t, data[begin:end])
	return &parts{data[:begin], footer}
}

// file is the whole of them.
func (p *parts) file() []byte {
	b := p.footer.append(slices.Clone(p.body))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)-len(p.body)))
	return append(b, Magic...)
}

// chunk is the entry of a column of a row group.
func (p *parts) chunk(group, column int) *tree { return p.footer.at(4, int64(group), 1, int64(column)) }

// with is the file with other pages of a column, which stand behind the others.
func (p *parts) with(column *tree, pages []byte) []byte {
	meta := column.at(3)
	whole, index := *meta, column.at(4)
	defer func() {
		*meta = whole
		if index != nil {
			index.id = 4
		}
	}()
	if index != nil {
		index.id = 40 // which is not known
	}
	meta.children = nil
	for _, field := range whole.children {
		changed := *field
		switch field.id {
		case 7: // the size
			changed.number = int64(len(pages))
		case 9: // the first page of data
			changed.number = int64(len(p.body))
		case 11: // the dictionary
			continue
		}
		meta.children = append(meta.children, &changed)
	}
	longer := parts{append(slices.Clone(p.body), pages...), p.footer}
	return longer.file()
}

// pages calls do with each page of a column: those before it, its head, and itself with those behind it.
func (p *parts) pages(t testing.TB, column *tree, do func(before []byte, head *tree, rest []byte)) {
	t.Helper()
	meta := column.at(3)
	start := meta.at(9).number
	if dictionary := meta.at(11); dictionary != nil && dictionary.number > 0 {
		start = min(start, dictionary.number)
	}
	all := p.body[start:][:meta.at(7).number]
	for at := 0; at < len(all); {
		head, rest := parseTree(t, all[at:])
		do(all[:at:at], head, rest)
		at = len(all) - len(rest) + int(head.at(3).number)
	}
}

// Files in which a value of the footer or of the head of a page is wrong give an error or rows.
func TestMutations(t *testing.T) {
	tried := 0
	for _, name := range []string{"hub_snappy_v2", "polars", "lists_older"} {
		p := partsOf(t, files(t)[name+".parquet"])
		try := func(every int, data func() []byte) func(place string) {
			return func(place string) {
				if tried++; tried%every == 0 {
					hold(t, name+place, data(), largePage)
				}
			}
		}
		p.footer.mutate("", try(701, p.file))
		for group := range p.footer.at(4).children {
			for number, column := range p.footer.at(4, int64(group), 1).children {
				p.pages(t, column, func(before []byte, head *tree, rest []byte) {
					head.mutate(fmt.Sprintf(", group %d, column %d", group, number),
						try(401, func() []byte { return p.with(column, append(head.append(before), rest...)) }))
				})
			}
		}
	}
}

// Parts of a file that contradict each other are errors: rows would be missing or wrong, or memory taken for nothing.
func TestContradictions(t *testing.T) {
	const flat = 6 // a column without levels of repetition
	set := func(p *parts, number int64, path ...int64) { p.footer.at(path...).number = number }
	page := func(change func(head *tree)) func(*testing.T, *parts) []byte {
		return func(t *testing.T, p *parts) (data []byte) {
			column := p.chunk(0, flat)
			p.pages(t, column, func(before []byte, head *tree, rest []byte) {
				if head.at(1).number == dataPage2 { // the last one counts
					change(head)
					data = p.with(column, append(head.append(before), rest...))
				}
			})
			return data
		}
	}
	footer := func(change func(p *parts)) func(*testing.T, *parts) []byte {
		return func(_ *testing.T, p *parts) []byte {
			change(p)
			return p.file()
		}
	}
	tests := []struct {
		name  string
		bytes func(*testing.T, *parts) []byte
		want  string
	}{
		{"rows of the file", footer(func(p *parts) { set(p, 31, 3) }), "it claims 31 rows, and its row groups have 30"},
		{"a row group left out", footer(func(p *parts) { p.footer.at(4).children = nil }),
			"it claims 30 rows, and its row groups have 0"},
		{"rows of a group", footer(func(p *parts) { set(p, 29, 4, 0, 3); set(p, 29, 3) }),
			"the column claims 30 values, and its row group 29 rows"},
		{"values of a column", footer(func(p *parts) { set(p, 31, 4, 0, 1, flat, 3, 5) }),
			"the column claims 31 values, and its row group 30 rows"},
		{"a column without metadata", footer(func(p *parts) { p.footer.at(4, 0, 1, flat, 3).id = 30 }),
			"a column of a row group has no metadata"},
		{"a list outside of one", footer(func(p *parts) { set(p, repeated, 2, 1, 3) }),
			"its runs of numbers break off"},
		{"columns in one place", footer(func(p *parts) {
			for _, column := range p.footer.at(4, 0, 1).children {
				column.at(3, 9).number, column.at(3, 7).number = 4, int64(len(p.body))/2
			}
		}), "its columns claim more than the"},
		{"levels of a page", page(func(head *tree) {
			head.at(8, 5).number, head.at(8, 6).number = math.MaxInt64,
				math.MaxInt64
		}), "its levels break off"},
		{"levels of a page, one", page(func(head *tree) { head.at(8, 6).number = math.MaxInt64 }),
			"its levels break off"},
		{"values of a page", page(func(head *tree) { head.at(8, 1).number = 31 }),
			"it claims 31 values, and its row group has 30 rows"},
		{"values of pages", page(func(head *tree) { head.at(8, 1).number++ }),
			"it has more than the 30 values that its column claims"},
		{"rows of a page", page(func(head *tree) { head.at(8, 3).number = math.MaxInt64 }),
			"it claims 9223372036854775807 rows, and its row group has 30"},
		{"no rows of a page", page(func(head *tree) { head.at(8, 3).number = -1 }),
			"it claims -1 rows, and its row group has 30"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := test.bytes(t, partsOf(t, files(t)["hub_snappy_v2.parquet"]))
			if used, err := taken(data, ""); err == nil || !strings.Contains(err.Error(), test.want) ||
				used > manyBytes {
				t.Errorf("%d bytes, %v, want %q", used, err, test.want)
			}
		})
	}
}

// A name in the schema is not repeated for each of the columns below it.
func TestLongNames(t *testing.T) {
	p := partsOf(t, files(t)["int96.parquet"])
	schema := p.footer.at(2)
	leaf := *schema.children[1]
	group := &tree{kind: thriftStruct, children: []*tree{{id: 4, kind: thriftBinary, bytes: make([]byte, 1<<17)},
		{id: 5, kind: thriftInt32, number: 1000}}}
	schema.children[0].at(5).number = 1
	schema.children = append(schema.children[:1], group)
	for range 1000 {
		schema.children = append(schema.children, &leaf)
	}
	p.footer.at(4).children, p.footer.at(3).number = nil, 0
	if used, err := taken(p.file(), ""); err == nil || !strings.Contains(err.Error(), "longer names than 1024 bytes") ||
		used > manyBytes {
		t.Errorf("%d bytes, %v", used, err)
	}
}

// Packed bytes become as many as the head of their page says and no more, and memory is not taken before.
func TestBombs(t *testing.T) {
	zeros := make([]byte, 24<<20)
	var gz bytes.Buffer
	z, _ := gzip.NewWriterLevel(&gz, gzip.BestSpeed)
	_, _ = z.Write(zeros) // into memory
	_ = z.Close()
	encoder := assert.Must(zstd.NewWriter(nil))(t)
	small := encoder.EncodeAll([]byte("small"), nil)
	sized := encoder.EncodeAll(zeros, nil)
	var stream bytes.Buffer // without its size at the head
	encoder.Reset(&stream)
	_, _ = encoder.Write(zeros)
	_ = encoder.Close()
	lying := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 3}, 1, 0, 0) // one frame of 48 MiB, empty
	tests := []struct {
		name   string
		codec  int64
		packed []byte
		size   int
		want   string
	}{
		{"gzip", codecGzip, gz.Bytes(), 5, "more bytes than its head says"},
		{"zstd", codecZstd, sized, 5, "more bytes than its head says"},
		{"zstd of no size", codecZstd, stream.Bytes(), 5, "more bytes than its head says"},
		{"zstd in a second frame", codecZstd, append(slices.Clone(small), sized...), 5,
			"more bytes than its head says"},
		{"zstd that claims", codecZstd, lying, 5, "more bytes than its head says"},
		{"zstd that claims with its page", codecZstd, lying, 200 << 20, "12 bytes cannot become"},
		{"a gigabyte of a kilobyte", codecGzip, make([]byte, 1<<10), 1 << 30,
			"its 1024 bytes claim to unpack to 1024 MiB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var u unpacker
			_, err := u.unpack(nil, test.codec, test.packed, test.size)
			u.close()
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > manyBytes || err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%d bytes, %v, want %q", used, err, test.want)
			}
		})
	}
}
