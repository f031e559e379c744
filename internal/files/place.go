package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Look says why a run could not save its files, pictures beside the result among them; nil if it can, or none is to be
// saved. It leaves no file.
func (o *Options) Look(pictures bool) error {
	if !pictures && !o.Asked() && (o.Never || !o.Unasked) {
		return nil
	}
	path := o.Place(metrics.Plan{})
	if o.Name == "" && o.Output == "" { // the name is not known yet
		path = filepath.Join(filepath.Dir(path), "result.json")
	}
	longest := PyTorchSuffix
	if pictures {
		longest = DatasetStatsSuffix
	}
	return o.refused(Look(path, longest))
}

// refused is the error of a place that takes no result, with what to do; nil for nil.
func (o *Options) refused(err error) error {
	switch {
	case err == nil:
		return nil
	case o.Output != "":
		return usage.Errorf("--output-json: %w; choose another file", err)
	}
	return usage.Errorf("cannot save the result: %w; choose another place with --result-dir, or --no-save", err)
}

// Look says why a result and the files beside it, whose longest ending is given, cannot be made at a path, nil if they
// can. It leaves no file. Directories may be missing.
func Look(path, longest string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: a directory; name a file in it", usage.Quote(path))
	case err == nil && (!info.Mode().IsRegular() || isStream(path)):
		return fmt.Errorf("%s: not a regular file", usage.Quote(path))
	case err == nil || errors.Is(err, fs.ErrNotExist):
		err = canCreate(filepath.Dir(path), filepath.Base(Stem(path))+longest)
	}
	if outer, ok := errors.AsType[*fs.PathError](err); ok {
		outer.Op, outer.Path = "create", usage.Shorten(path) // not the temporary one
	}
	return err
}

// isStream reports whether a path such as /dev/stdout stands for an open file of a process, which cannot be renamed.
func isStream(path string) bool {
	link, _ := os.Readlink(path)
	dir, _ := filepath.EvalSymlinks(filepath.Dir(path))
	return strings.HasPrefix(link, "/proc/") || strings.HasPrefix(dir+"/", "/proc/")
}

// canCreate makes the temporary file of a name in the nearest directory that exists, and removes it.
func canCreate(dir, name string) error {
	for outer := filepath.Dir(dir); outer != dir; dir, outer = outer, filepath.Dir(outer) {
		if there, err := exists(dir); there || err != nil {
			break // the error is the file's as well
		}
	}
	f, err := os.OpenFile(temporary(filepath.Join(dir, name)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// exists reports whether there is something at a path, a link to nowhere included. What cannot be looked at is an
// error: it is not known.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
