package hub

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"benchtop/internal/assert"
	"benchtop/internal/hf/hub/hubtest"
)

func TestReadFileIsBounded(t *testing.T) {
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	zip.Write(make([]byte, 1<<21))
	zip.Close()
	root := hubtest.Plant(t, map[string]string{"large": strings.Repeat("x", 1<<20+1), "bomb": bomb.String(),
		"fits": strings.Repeat("x", 1<<20)})
	for _, name := range []string{"large", "bomb"} {
		_, err := ReadFile(filepath.Join(root, name), 1<<20)
		complains(t, err, name, "larger than 1 MiB")
	}
	assert.Equal(t, len(assert.Must(ReadFile(filepath.Join(root, "fits"), 1<<20))(t)), 1<<20, "bytes")
	assert.Is(t, assert.Failure(ReadFile(filepath.Join(root, "none"), 1)), fs.ErrNotExist)
}

// endless gives zeros without an end.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

// A file is refused as soon as it is too large, and no memory is taken for more.
func TestReadBounded(t *testing.T) {
	const limit = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var r endless
	data, err := readBounded(&r, limit)
	runtime.ReadMemStats(&after)
	complains(t, err, "larger than 64 MiB")
	if data != nil || r.read > limit+blockMost {
		t.Errorf("%d bytes were read and %d kept", r.read, len(data))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > limit+limit/4 {
		t.Errorf("%d bytes of memory were taken for a limit of %d", took, limit)
	}
	text := strings.Repeat("some text ", 1<<20)
	for _, r := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)),
		iotest.DataErrReader(strings.NewReader(text))} {
		assert.Equal(t, string(assert.Must(readBounded(r, limit))(t)), text, "readBounded")
	}
	data, err = readBounded(io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(io.ErrUnexpectedEOF)), limit)
	if string(data) != "begin" || err != io.ErrUnexpectedEOF {
		t.Errorf("got %q, error %v", data, err)
	}
}
