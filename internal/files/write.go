package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write writes a file completely or not at all: under a temporary name, then renamed.
func Write(path string, content func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(temporary(path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(content(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// temporary is a name under which a file is written, a new one each time: in a container a killed process and its
// successor have the same number. Not os.CreateTemp: the file gets the rights that the user's umask gives any other.
func temporary(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%07d", filepath.Base(path), rand.IntN(1e7)))
}

// appendLine adds one line to a file, or leaves the file as it was.
func appendLine(path string, content func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // deleted under the run
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size > 0 {
		last := []byte{0}
		if _, err = f.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			line.WriteByte('\n')
		}
	}
	err = errors.Join(err, content(&line))
	if err == nil {
		// In one write, so that runs that end at the same time do not mix their lines.
		var n int
		if n, err = f.Write(line.Bytes()); err != nil {
			// Unless another run has added its own line meanwhile.
			if now, e := f.Seek(0, io.SeekEnd); e == nil && now == size+int64(n) {
				err = errors.Join(err, f.Truncate(size))
			}
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// Whole is a file that appears only once it is complete, since half of it could be mistaken for all.
type Whole struct {
	*bufio.Writer
	close func(err error) error // takes the error so far; nil for a file that stays open
}

// WriteTo writes to an open file, which stays open.
func WriteTo(w io.Writer) *Whole { return &Whole{Writer: bufio.NewWriter(w)} }

// OpenWhole opens a file that appears when it is finished. When ctx ends, a pipe is closed, even one without a reader.
func OpenWhole(ctx context.Context, path string) (*Whole, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe, or a device
		file, err := OrStopped(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = file.Close() }) // the rest is not wanted
		return &Whole{bufio.NewWriter(file), func(err error) error {
			if !stop() {
				return ctx.Err()
			}
			return cmp.Or(err, file.Close())
		}}, nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		if outer, ok := errors.AsType[*os.PathError](err); ok {
			outer.Op, outer.Path = "create", path // not the temporary one
		}
		return nil, err
	}
	return &Whole{bufio.NewWriter(file), func(err error) error {
		err = cmp.Or(err, errors.Join(file.Chmod(0o644), file.Close()))
		if err == nil {
			err = os.Rename(file.Name(), path)
		}
		if err != nil {
			_ = os.Remove(file.Name())
		}
		return err
	}}, nil
}

// Finish closes the file and renames it to its path. After an error, which it returns, it removes the file. A nil Whole
// has no file.
func (w *Whole) Finish(err error) error {
	if w == nil {
		return err
	}
	if w.close == nil {
		return cmp.Or(err, w.Flush())
	}
	if err == nil { // after an error another goroutine may still be writing
		err = w.Flush()
	}
	return w.close(err)
}

// OrStopped runs work that cannot be cancelled, such as opening a pipe or drawing millions of lengths, and returns
// ctx's error if ctx ends first. The work then goes on in the background: the program is about to exit.
func OrStopped[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
