package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"benchtop/internal/assert"
)

const manyBytes = 16 << 20 // for any file of kilobytes

// taken are the bytes that are allocated to read a column of the first hundred rows, each column where none is named,
// and the error.
func taken(data []byte, column string) (uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		defer f.Close()
		for i, name := range f.Columns() {
			for n := 0; n < min(f.Len(), 100) && err == nil && (column == name || column == ""); n++ {
				_, err = f.Row(context.Background(), nil, n, []int{i})
			}
		}
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// The head of a page may claim anything: memory is taken for the bytes that are there.
func TestLyingHeads(t *testing.T) {
	const most = math.MaxInt32
	number := func(b []byte, v int64) []byte { return binary.AppendVarint(append(b, 5|1<<4), v) } // of the next field
	head := func(packed, plain, values int64) []byte {
		b := append(number(number(number(nil, dataPage), plain), packed), 12|2<<4) // the fields 1, 2, 3 and 5
		return number(number(number(number(b, values), encodingPlain), encodingRLE), encodingRLE)
	}
	runs := append(binary.AppendUvarint([]byte{6, 0, 0, 0}, most<<1), 0) // of nulls: a length, one run
	tests := []struct {
		name string
		page []byte
		want string
	}{
		{"bytes as stored", append(head(most, 100, 10), 0, 0), "it claims 2147483647 bytes"},
		{"bytes unpacked", append(head(100, most, 10), 0, 0), "it is larger than"},
		{"values", append(head(100, 100, most), 0, 0), "it claims 2147483647 values, and its row group has 30 rows"},
		{"levels", append(head(100, 100, 30), 0, 0), "break off"},
		{"statistics", binary.AppendUvarint(append(head(100, 100, 10), 12|1<<4, 8|1<<4), most), "its head is broken"},
		{"nulls", append(append(head(int64(len(runs)), int64(len(runs)), 30), 0, 0), runs...), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := files(t)["hub_plain.parquet"]
			f := assert.Must(Open(bytes.NewReader(data), int64(len(data))))(t)
			for _, l := range f.leaves {
				if l.path == "problem" {
					copy(data[f.groups[0].chunks[l.index].start:], test.page)
				}
			}
			used, err := taken(data, "problem")
			if used > manyBytes || err == nil && test.want != "" ||
				err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%d bytes, %v, want %q", used, err, test.want)
			}
		})
	}
}

// Small files whose lists, runs and blocks claim gigabytes.
func TestLyingFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/lies/*.parquet")
	if err != nil || len(paths) == 0 {
		t.Fatalf("files %q, %v", paths, err)
	}
	for _, path := range paths {
		data := assert.Must(os.ReadFile(path))(t)
		if used, err := taken(data, ""); used > manyBytes {
			t.Errorf("%s: %d bytes, %v", path, used, err)
		}
	}
}
