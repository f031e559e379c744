package hub

import (
	"errors"
	"os"
	"path/filepath"
)

// KeepDirectory writes files, by their names with slashes, to a directory beside dir and renames that to dir, so that dir is whole or
// not there. If another process has kept the same meanwhile and whole finds no fault with it, that stays.
func KeepDirectory(dir string, files map[string][]byte, whole func(dir string) error) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(parent, ".incomplete-")
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

// keepFile writes a file beside path and renames that to path, so that the file is whole or not there.
func keepFile(path string, data []byte) error {
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(parent, ".incomplete-")
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
