// Package textfile opens the files of data sets and reads them as text: UTF-8 whose lines are counted, a JSON object on
// each line, or the rows of a CSV table. Errors say on which line something is wrong.
package textfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"benchtop/internal/hf/hub"
)

// LineError is an error at a line of a file, counted from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// AtLine says on which line an error is.
func AtLine(line int, err error) error { return &LineError{line, err} }

// At says which file an error is about.
func At(path string, err error) error {
	if _, ok := errors.AsType[*LineError](err); ok {
		return fmt.Errorf("%s, %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Open opens a file to read, of a form such as "a CSV file". Errors leave the path out: the caller names it.
func Open(path, form string) (*os.File, error) {
	open := os.Open
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		open = func(path string) (*os.File, error) { return openPipe(path, time.After(pipeWait)) }
	}
	file, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; give the path of %s", fs.ErrNotExist, form)
	}
	if err != nil {
		return nil, Cause(err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close() // nothing was read
		return nil, fmt.Errorf("this is a directory; give the path of %s", form)
	}
	return file, nil
}

// Read has a file of a form read. Errors leave the path out: the caller names it.
func Read[T any](path, form string, read func(io.Reader) (T, error)) (content T, err error) {
	file, err := Open(path, form)
	if err != nil {
		return content, err
	}
	defer file.Close()
	content, err = read(file)
	return content, Cause(err)
}

// pipeWait is how long a pipe may have no program that writes to it.
const pipeWait = 10 * time.Second

// openPipe opens a pipe to read, which waits for a program that writes to it, until over.
func openPipe(path string, over <-chan time.Time) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.Open(path)
		opened <- result{file, err}
	}()
	select {
	case r := <-opened:
		return r.file, r.err
	case <-over:
	}
	// A pipe opened for both ends does not wait, and ends the wait above. Where that is not allowed, the wait is left
	// to itself.
	if both, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
		r := <-opened
		_ = errors.Join(r.file.Close(), both.Close()) // nothing was read
	}
	return nil, errors.New("this is a pipe, and no program writes to it; start that program first, or give a file")
}

// cause drops the path from an error of the file system.
func Cause(err error) error {
	if outer, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(outer, fs.ErrNotExist) {
		return fs.ErrNotExist // the same words on every system
	}
	return hub.PathCause(err)
}
