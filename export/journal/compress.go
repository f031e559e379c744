package journal

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Compress replaces a file with a gzipped one whose name ends in ".gz", and returns that name. One of the two files is
// complete at any time. An existing file of the new name is kept, and is an error.
func Compress(path string) (newPath string, err error) {
	newPath = path + ".gz"
	if _, err := os.Lstat(newPath); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("compress %s: %s: %w", path, newPath, fs.ErrExist)
	}
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close() // no effect after the Close below
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(newPath)+".tmp*")
	if err != nil {
		return "", err
	}
	err = errors.Join(compress(temp, from), temp.Close(), from.Close())
	if err == nil {
		err = os.Rename(temp.Name(), newPath)
	}
	if err != nil {
		os.Remove(temp.Name())
		return "", err
	}
	syncDir(filepath.Dir(path))
	return newPath, os.Remove(path)
}

func compress(to, from *os.File) error {
	info, err := from.Stat()
	if err != nil {
		return err
	}
	z := gzip.NewWriter(to)
	_, err = io.Copy(z, from)
	return errors.Join(err, z.Close(), to.Chmod(info.Mode().Perm()), to.Sync())
}

// syncDir makes a rename survive a power cut, where the system supports it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync() // some file systems cannot
		d.Close()
	}
}
