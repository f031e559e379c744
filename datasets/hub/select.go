package hub

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Selection says which rows of a data set are wanted.
type Selection struct {
	Path string // a file, a directory, a snapshot, a cache's directory, or a repository's name
	Name string // the data set's name on the hub where Path is a copy; "" otherwise

	Subset, Split string // "" for the default one
}

// Shard is a file of rows, fetched when it is needed.
type Shard struct {
	Name string // in its repository, with slashes; the path of a file that was given alone
	Size int64  // bytes; 0 where the hub does not tell

	path string // where it lies; "" where it has to be fetched
}

// Fetch returns where the file lies, after a download if it has to be. It may be called by several goroutines at once.
func (s Shard) Fetch(ctx context.Context) (path string, err error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return s.path, nil
}

// Select finds the files that hold the rows, in the order of the datasets library.
func (h *Hub) Select(ctx context.Context, s Selection) ([]Shard, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, PathCause(err))
	}
	if info.Mode().IsRegular() {
		return []Shard{{Name: s.Path, Size: info.Size(), path: s.Path}}, nil
	}
	return nil, fmt.Errorf("%s: directories are not read yet", s.Path)
}

// Beside is where another file of the same repository lies, such as a recording that a row names. It is fetched if it has to be.
func (h *Hub) Beside(ctx context.Context, s Selection, name string) (path string, err error) {
	if err := (File{Name: name}).check(); err != nil {
		return "", err
	}
	path = filepath.Join(s.Path, filepath.FromSlash(name))
	return path, usable(path)
}
