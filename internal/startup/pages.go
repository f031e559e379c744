package startup

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"benchtop/internal/hf/hub"
)

// CacheDrop says which files of a model were dropped from the page cache.
type CacheDrop struct {
	Files         int
	Size          int64  // bytes of the files
	Before, After int64  // bytes of them in memory, before and after
	Why           string // the reason for which nothing was dropped
}

// String tells a person.
func (d CacheDrop) String() string {
	if d.Why != "" {
		return "the model's files may be in memory: " + d.Why
	}
	return fmt.Sprintf("%s of the model's files dropped from memory (%d files, %s)", binarySize(d.Before-d.After),
		d.Files, binarySize(d.Size))
}

// dropModel drops the files of a model from memory, so that they are read from the disk again.
func dropModel(model string) (d CacheDrop) {
	dir := modelDir(model)
	if dir == "" {
		d.Why = "they were not found"
		return d
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := os.Stat(path) // behind a link
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return nil
		}
		before, after, err := dropPages(path, info.Size())
		if err != nil {
			return err
		}
		d.Files++
		d.Size, d.Before, d.After = d.Size+info.Size(), d.Before+before, d.After+after
		return nil
	})
	if err != nil {
		d.Why = err.Error()
	}
	return d
}

// modelDir is the directory of a model: itself, or its newest snapshot in the cache of the hub; "" if there is none.
func modelDir(model string) string {
	if info, err := os.Stat(model); err == nil && info.IsDir() {
		return model
	}
	repo, err := hub.ParseRepository(hub.Models, model, "")
	if err != nil {
		return ""
	}
	found := ""
	_ = hub.New(hub.Options{}).Cached(repo, "config.json", func(dir string) error {
		found = dir
		return nil
	})
	return found
}

// binarySize is a size for a person.
func binarySize(n int64) string {
	switch v := float64(n); {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", v/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", v/(1<<20))
	default:
		return fmt.Sprintf("%.1f KiB", v/(1<<10))
	}
}
