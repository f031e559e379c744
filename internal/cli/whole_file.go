package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// finished closes what openWhole opened, after err. Where that is the reason for not having it whole it is enough to tell.
func finished(err error, finish func(whole bool) error) error {
	if last := finish(err == nil); err == nil {
		return last
	}
	return err
}

// openWhole opens a file that appears only when it is whole, since half of it would look like all. finish closes it and puts it
// in its place, or away. A pipe is given up when ctx ends, whether it waits for a reader or for one that reads.
func openWhole(ctx context.Context, path string) (w io.Writer, finish func(whole bool) error, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe, or a device
		file, err := orStopped(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
		if err != nil {
			return nil, nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = file.Close() }) // the rest is not wanted
		b := bufio.NewWriter(file)
		return b, func(bool) error {
			err := b.Flush()
			if !stop() {
				return ctx.Err()
			}
			return errors.Join(err, file.Close())
		}, nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		if outer, ok := errors.AsType[*os.PathError](err); ok {
			outer.Op, outer.Path = "create", path // not the one nobody asked for
		}
		return nil, nil, err
	}
	b := bufio.NewWriter(file)
	return b, func(whole bool) error {
		err := errors.Join(b.Flush(), file.Chmod(0o644), file.Close())
		if err == nil && whole {
			err = os.Rename(file.Name(), path)
		}
		if err != nil || !whole {
			_ = os.Remove(file.Name())
		}
		return err
	}, nil
}
