package parquet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"benchtop/internal/ci"
)

// files are those of the test data of tables.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../../datasets/table/testdata/*.parquet")
	if err != nil || len(paths) < 10 {
		t.Fatalf("files %q, %v", paths, err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		if all[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// hold reads the rows of a file that may be broken, in order and with all columns, pages from a size on piece by piece;
// then some of them anew, all pages piece by piece. Each has to be JSON.
func hold(t testing.TB, place string, data []byte, large int64) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	defer f.Close()
	columns := make([]int, len(f.Columns()))
	for i := range columns {
		columns[i] = i
	}
	read := min(f.Len(), 100)
	row := func(n int) {
		object, err := f.Row(context.Background(), nil, n, columns)
		if err != nil {
			read = min(read, n)
		} else if !json.Valid(object) {
			t.Fatalf("%s: row %d is %s", place, n, object)
		}
	}
	f.large = large
	for n := 0; n < read; n++ {
		row(n)
	}
	f.large = 0
	for n := 0; n < read; n += 13 {
		row(n)
	}
}

// A byte of a file may be wrong: the reader gives an error or rows, and does not panic.
func TestWrongBytes(t *testing.T) {
	ci.SkipUnderRace(t)
	for name, data := range files(t) {
		for at := 0; at < len(data); at += 1 + len(data)/32 { // each byte would take minutes
			was := data[at]
			for _, wrong := range []byte{0xff, was ^ 1} {
				data[at] = wrong
				hold(t, fmt.Sprintf("%s, byte %d", name, at), data, int64(wrong)*4)
			}
			data[at] = was
		}
	}
}

// FuzzParquet reads broken files.
func FuzzParquet(f *testing.F) {
	for _, data := range files(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hold(t, "fuzzed", data, largePage)
	})
}
