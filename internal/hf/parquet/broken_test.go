package parquet

import (
	"bytes"
	"context"
	"encoding/json"
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

// rows reads some rows with all columns, pages from a size on piece by piece. Each has to be JSON.
func rows(t testing.TB, data []byte, step, large int) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	defer f.Close()
	f.large = int64(large)
	columns := make([]int, len(f.Columns()))
	for i := range columns {
		columns[i] = i
	}
	for n := 0; n < min(f.Len(), 100); n += step {
		object, err := f.Row(context.Background(), nil, n, columns)
		if err != nil {
			return
		}
		if !json.Valid(object) {
			t.Fatalf("row %d is %s", n, object)
		}
	}
}

// A byte of a file may be wrong: the reader gives an error or rows, and does not panic.
func TestWrongBytes(t *testing.T) {
	ci.SkipUnderRace(t)
	for _, data := range files(t) {
		for at := 0; at < len(data); at += 1 + len(data)/40 { // each byte would take minutes
			was := data[at]
			for _, wrong := range []byte{0xff, was ^ 1} {
				data[at] = wrong
				rows(t, data, 1, int(wrong)*4)
			}
			data[at] = was
		}
	}
}

// FuzzParquet reads broken files, all rows of them as well as some.
func FuzzParquet(f *testing.F) {
	for _, data := range files(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows(t, data, 1, largePage)
		rows(t, data, 17, 0)
	})
}
