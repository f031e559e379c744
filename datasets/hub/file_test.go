package hub

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/datasets/hub/hubtest"
)

func TestReadFileIsBounded(t *testing.T) {
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	zip.Write(make([]byte, 1<<21))
	zip.Close()
	root := hubtest.Plant(t, map[string]string{"large": strings.Repeat("x", 1<<20+1), "bomb": bomb.String(), "fits": strings.Repeat("x", 1<<20)})
	for _, name := range []string{"large", "bomb"} {
		_, err := ReadFile(filepath.Join(root, name), 1<<20)
		complains(t, err, name, "larger than 1 MiB")
	}
	if data, err := ReadFile(filepath.Join(root, "fits"), 1<<20); len(data) != 1<<20 || err != nil {
		t.Errorf("got %d bytes, error %v", len(data), err)
	}
	if _, err := ReadFile(filepath.Join(root, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
}
