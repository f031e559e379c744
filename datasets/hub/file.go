package hub

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// ReadFile reads a file of at most limit bytes, unpacked if it is packed by gzip. A file that is not there is
// fs.ErrNotExist; a link whose target is gone is not.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		if target, broken := BrokenLink(path); broken {
			return nil, fmt.Errorf("%s is a broken link: its target %s is gone; fetch it again", path, target)
		}
		return nil, fmt.Errorf("%s: %w", path, PathCause(err))
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, fmt.Errorf("%s is %w", path, errNotRegular)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %w", path, tooLarge(limit))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, PathCause(err))
	}
	defer file.Close()
	data, err := readBounded(file, limit)
	if err == nil && bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		data, err = gunzip(data, limit)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, PathCause(err))
	case len(data) == 0:
		return nil, fmt.Errorf("%s is empty; fetch it again", path)
	case bytes.HasPrefix(data, []byte(pointer)):
		return nil, fmt.Errorf("%s is Git's pointer to a large file, not the file; fetch it by: git lfs pull", path)
	}
	return data, nil
}

// pointer is how a file begins that Git has in place of a large one.
const pointer = "version https://git-lfs"

var errNotRegular = errors.New("not a regular file")

func gunzip(data []byte, limit int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return readBounded(r, limit)
}

// Bytes of the blocks that a file is read in.
const (
	blockLeast = 16 << 10
	blockMost  = 4 << 20
)

// readBounded reads all of r, but fails as soon as that is more than limit bytes. It collects blocks, because a buffer that
// grows takes three times the bytes in it. What was read before an error is returned with the error.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	var blocks [][]byte
	block, size := make([]byte, 0, blockLeast), int64(0)
	for {
		n, err := r.Read(block[len(block):cap(block)])
		block, size = block[:len(block)+n], size+int64(n)
		switch {
		case size > limit:
			return nil, tooLarge(limit)
		case err == io.EOF:
			return slices.Concat(append(blocks, block)...), nil
		case err != nil:
			return slices.Concat(append(blocks, block)...), err
		}
		if len(block) == cap(block) {
			blocks = append(blocks, block)
			block = make([]byte, 0, min(2*cap(block), blockMost))
		}
	}
}

func tooLarge(limit int64) error {
	return fmt.Errorf("it is larger than %d MiB, which no such file is", limit>>20)
}

// BrokenLink reports whether path is a link whose target is gone, and that target.
func BrokenLink(path string) (target string, broken bool) {
	target, err := os.Readlink(path)
	if err != nil {
		return "", false
	}
	_, err = os.Stat(path)
	return target, err != nil
}

// PathCause drops the path from an error of the file system; the caller names it.
func PathCause(err error) error {
	if outer, ok := errors.AsType[*fs.PathError](err); ok {
		return outer.Err
	}
	return err
}
