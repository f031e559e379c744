package hub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Cached looks for a repository in the caches of the Hugging Face libraries and has read look at the directory of its
// snapshot, until that succeeds. The error lists what was tried. file is what the snapshot must have, where no revision was
// asked for and none is known to be main.
//
//	models--organisation--name/refs/main ──holds──▶ COMMIT
//	models--organisation--name/snapshots/COMMIT/tokenizer.json ──links to──▶ ../../blobs/HASH
func (h *Hub) Cached(repo Repository, file string, read func(dir string) error) error {
	var errs []string
	for _, cache := range h.env.hubCaches() {
		dir, err := snapshot(cache, repo, file)
		if err == nil {
			err = read(dir)
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err.Error())
	}
	if len(errs) == 0 {
		return errors.New("no home directory, so no Hugging Face cache (set HF_HOME)")
	}
	return errors.New(strings.Join(errs, "; "))
}

// snapshot is the directory of the repository's revision in a cache.
func snapshot(cache string, repo Repository, file string) (dir string, err error) {
	root := filepath.Join(cache, repo.directory())
	if _, err := os.Stat(root); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("cache %s: it does not have the %s", cache, repo.kind.noun())
		}
		return "", fmt.Errorf("%s: %w", root, PathCause(err))
	}
	commit, err := resolve(root, repo, file)
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "snapshots", commit), nil
}

// resolve finds the commit that a revision stands for: the one its ref names, the revision itself, or, when nobody asked
// for a certain one and there is no ref, that of the newest snapshot with the file.
func resolve(root string, repo Repository, file string) (commit string, err error) {
	ref := filepath.Join(root, "refs", filepath.FromSlash(repo.revision))
	data, err := ReadFile(ref, 4096)
	if err == nil {
		commit = strings.TrimSpace(string(data))
		if commit == "" || len(commit) > 96 || !plain(commit, "") {
			return "", fmt.Errorf("%s does not hold a commit; delete it or fetch the %s again", ref, repo.kind.noun())
		}
		return commit, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotRegular) {
		return "", err
	}
	snapshots := filepath.Join(root, "snapshots")
	if !repo.asked {
		return newest(snapshots, file)
	}
	if !strings.Contains(repo.revision, "/") {
		if info, err := os.Stat(filepath.Join(snapshots, repo.revision)); err == nil && info.IsDir() {
			return repo.revision, nil
		}
	}
	return "", fmt.Errorf("%s does not have revision %s", root, repo.revision)
}

// newest is the snapshot that was made last, of those with the file.
func newest(snapshots, file string) (string, error) {
	entries, err := os.ReadDir(snapshots)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", snapshots, PathCause(err))
	}
	var name string
	var made time.Time
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(snapshots, entry.Name(), filepath.FromSlash(file)))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		// The directory's time: that of the file is its blob's, which snapshots share.
		if info, err = os.Stat(filepath.Join(snapshots, entry.Name())); err != nil {
			continue
		}
		if name == "" || info.ModTime().After(made) {
			name, made = entry.Name(), info.ModTime()
		}
	}
	if name == "" {
		return "", fmt.Errorf("%s: no snapshot has a usable %s", snapshots, file)
	}
	return name, nil
}
