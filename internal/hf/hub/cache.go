package hub

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Cached looks for a repository in the caches of the Hugging Face libraries and has read look at the directory of its
// snapshot, until that succeeds. The error lists what was tried. file is what the snapshot must have, where no revision
// was asked for and none is known to be main.
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

// resolve finds the commit that a revision stands for: the one its ref names, the revision itself, or, where no
// revision was asked for and there is no ref, that of the newest snapshot with the file.
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

// newest is the snapshot that was made last, of those with the file; "" stands for any.
func newest(snapshots, file string) (string, error) {
	entries, err := os.ReadDir(snapshots)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", snapshots, PathCause(err))
	}
	var name string
	var made time.Time
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(snapshots, entry.Name(), filepath.FromSlash(file)))
		if err != nil || !info.Mode().IsRegular() && file != "" {
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
		return "", fmt.Errorf("%s: no snapshot has a usable %s", snapshots, cmp.Or(file, "file"))
	}
	return name, nil
}

// KeepDirectory writes files, by their names with slashes, to a directory beside dir and renames that to dir, so that
// dir is whole or not there. If another process has kept the same meanwhile and whole finds no fault with it, that
// stays.
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
	if os.Rename(made, dir) == nil || whole(dir) == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil { // damaged
		return err
	}
	return os.Rename(made, dir)
}

// incomplete begins the names of directories that are being written.
const incomplete = ".incomplete-"

// abandonedAfter is how long after the last byte was written such a directory is left over.
const abandonedAfter = time.Hour

// makeIncomplete makes such a directory in parent, and clears away those that processes have left that were killed.
func makeIncomplete(parent string) (dir string, err error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	entries, _ := os.ReadDir(parent) // if it cannot be read, it cannot be cleared
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !entry.IsDir() || !strings.HasPrefix(entry.Name(), incomplete) ||
			time.Since(info.ModTime()) < abandonedAfter {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		inside, _ := os.ReadDir(dir)
		if !slices.ContainsFunc(inside, func(e fs.DirEntry) bool {
			info, err := e.Info()
			return err == nil && time.Since(info.ModTime()) < abandonedAfter
		}) {
			_ = os.RemoveAll(dir) // the next one tries again
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
	if err != nil && usable(path) == nil { // Windows: another process kept the same, and it is being read
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

// ReadFile reads a file of at most limit bytes, unpacked if it is packed by gzip. A file that is not there is
// fs.ErrNotExist; a link whose target is gone is not.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := regular(path)
	if errors.Is(err, errBroken) {
		return nil, fmt.Errorf("%w; fetch it again", err)
	}
	if err != nil {
		return nil, err
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
		var packed *gzip.Reader
		if packed, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = readBounded(packed, limit)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, PathCause(err))
	case len(data) == 0:
		return nil, fmt.Errorf("%s is empty; fetch it again", path)
	case bytes.HasPrefix(data, []byte(pointer)):
		return nil, pointerError(path)
	}
	return data, nil
}

// pointer is how a file begins that Git has in place of a large one.
const pointer = "version https://git-lfs"

// pointerError is the error for such a file.
func pointerError(path string) error {
	return fmt.Errorf("%s is Git's pointer to a large file, not the file; fetch it by: git lfs pull", path)
}

// maxPointer is more bytes than such a file has.
const maxPointer = 1024

var (
	errNotRegular = errors.New("not a regular file")
	errBroken     = errors.New("a broken link")
)

// regular is os.Stat of a regular file, and an error for anything else: opening a pipe would wait for ever.
func regular(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if target, broken := BrokenLink(path); broken && err != nil {
		return nil, fmt.Errorf("%s is %w: its target %s is gone", path, errBroken, target)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, PathCause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %w", path, errNotRegular)
	}
	return info, nil
}

// Bytes of the blocks that a file is read in.
const (
	blockLeast = 16 << 10
	blockMost  = 4 << 20
)

// readBounded reads all of r, but fails as soon as that is more than limit bytes. It collects blocks, because a buffer
// that grows takes three times the bytes in it. Bytes read before an error are returned with the error.
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

// tooLarge is the error for a file of more bytes than such a file has.
type tooLarge int64

func (limit tooLarge) Error() string {
	return fmt.Sprintf("larger than %d MiB, too large for such a file", int64(limit)>>20)
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
