package assert

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// File is the content of a file of test data, unpacked if its name ends in .gz.
func File(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && filepath.Ext(path) == ".gz" {
		var packed *gzip.Reader
		if packed, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(packed)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Golden are the values of a file of test data: JSON, such as one on each line. A file without any fails the test.
func Golden[T any](t testing.TB, path string) (all []T) {
	t.Helper()
	for values := json.NewDecoder(bytes.NewReader(File(t, path))); ; {
		var v T
		if err := values.Decode(&v); errors.Is(err, io.EOF) && len(all) > 0 {
			return all
		} else if err != nil {
			t.Fatalf("%s, value %d: %v", path, len(all)+1, err)
		}
		all = append(all, v)
	}
}
