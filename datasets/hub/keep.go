package hub

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// KeepDirectory writes files, by their names with slashes, to a directory beside dir and renames that to dir, so that dir is whole or
// not there. If another process has kept the same meanwhile and whole finds no fault with it, that stays.
func KeepDirectory(dir string, files map[string][]byte, whole func(dir string) error) error {
	made, err := makeIncomplete(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer os.RemoveAll(made) // in vain once it is renamed
	for name, data := range files {
		path := filepath.Join(made, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), writeSynced(path, data)); err != nil {
			return err
		}
	}
	if os.Rename(made, dir) == nil {
		return nil
	}
	if whole(dir) == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil { // damaged
		return err
	}
	return os.Rename(made, dir)
}

// incomplete begins the names of directories that are being written.
const incomplete = ".incomplete-"

// abandonedAfter is when such a directory is nobody's any more: writing takes seconds.
const abandonedAfter = time.Hour

// makeIncomplete makes such a directory in parent, and clears away those that processes have left that were killed.
func makeIncomplete(parent string) (dir string, err error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	entries, _ := os.ReadDir(parent) // if it cannot be read, it cannot be cleared
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), incomplete) && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.RemoveAll(filepath.Join(parent, entry.Name())) // the next one tries again
		}
	}
	return os.MkdirTemp(parent, incomplete)
}

// keepFile writes a file beside path and renames that to path, so that the file is whole or not there.
func keepFile(path string, data []byte) error {
	made, err := makeIncomplete(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	name := filepath.Join(made, filepath.Base(path))
	if err := writeSynced(name, data); err != nil {
		return err
	}
	err = os.Rename(name, path)
	if err != nil && usable(path) == nil { // Windows: another process kept the same, and somebody reads it
		return nil
	}
	return err
}

// writeSynced writes a file through to the disk: after a crash, a rename must not stand for content that was lost.
func writeSynced(path string, data []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}
