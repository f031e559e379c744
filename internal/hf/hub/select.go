package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

	path string // where it lies; "" where it has to be fetched
	hub  *Hub
	of   Repository // whose list of files is kept
	repo Repository // the same at the commit of the list
	file File
}

// Fetch returns where the file lies, after a download if it has to be. Several goroutines may call it at once.
func (s Shard) Fetch(ctx context.Context) (path string, err error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if s.path != "" {
		return s.path, nil
	}
	path, err = s.hub.Fetch(ctx, s.repo, s.file)
	return path, s.hub.outdated(s.of, err)
}

// Select finds the files that hold the rows, in the order of the datasets library. A repository is looked for in the
// caches of the Hugging Face libraries, then on the hub, whose list of files is kept: later changes are not asked for.
func (h *Hub) Select(ctx context.Context, s Selection) ([]Shard, error) {
	info, err := os.Stat(s.Path)
	if err == nil && info.Mode().IsRegular() {
		return []Shard{{Name: s.Path, path: s.Path}}, usable(s.Path)
	}
	if err == nil && info.IsDir() {
		dir, err := s.Directory()
		if err != nil {
			return nil, err
		}
		return local(ctx, dir, s)
	}
	repo, err := s.repository(err)
	if err != nil {
		return nil, err
	}
	shards, err := h.selectFrom(ctx, repo, s)
	if err == nil || ctx.Err() != nil || !errors.Is(err, errNoRows) && !errors.As(err, new(scriptError)) {
		return shards, err
	}
	repo.revision, repo.asked = convertedBranch, true
	shards, second := h.selectFrom(ctx, repo, s)
	if second != nil && !errors.As(second, new(choiceError)) {
		return nil, fmt.Errorf("%w; and of the hub's copy in Parquet: %w", err, second)
	}
	return shards, second
}

// Beside is where another file of the same repository lies, such as a recording that a row names. It is fetched if it
// has to be.
func (h *Hub) Beside(ctx context.Context, s Selection, name string) (path string, err error) {
	f := File{Name: name, Limit: maxBeside}
	if err := f.check(); err != nil {
		return "", err
	}
	info, err := os.Stat(s.Path)
	if err == nil {
		dir := filepath.Dir(s.Path)
		if info.IsDir() {
			if dir, err = s.Directory(); err != nil {
				return "", err
			}
		}
		path = filepath.Join(dir, filepath.FromSlash(name))
		return path, usable(path)
	}
	repo, err := s.repository(err)
	if err != nil {
		return "", err
	}
	at := repo
	if tree, err := h.kept(repo); err == nil {
		i, found := slices.BinarySearchFunc(tree.Files, name,
			func(e entry, name string) int { return strings.Compare(e.Name, name) })
		if !found {
			return "", lackingError{repo.id, name}
		}
		at, f.size, f.sum = repo.at(tree.Commit), tree.Files[i].Size, tree.Files[i].SHA256
	}
	path, err = h.Fetch(ctx, at, f)
	return path, h.outdated(repo, err)
}

// maxBeside is the largest file in bytes that a row may name.
const maxBeside = 1 << 30

// convertedBranch is where the hub keeps data sets as Parquet that come otherwise.
const convertedBranch = "refs/convert/parquet"

// repository is the one that the path names, which is no file for the reason given.
func (s Selection) repository(reason error) (Repository, error) {
	repo, err := ParseRepository(Datasets, s.Path, "")
	if err == nil && errors.Is(reason, fs.ErrNotExist) {
		return repo, nil
	}
	if reason == nil {
		return repo, fmt.Errorf("%s is %w and no directory", s.Path, errNotRegular)
	}
	return repo, fmt.Errorf("%s: %w; give a file, a directory, or a data set's name on the hub, such as "+
		"organisation/name", s.Path, PathCause(reason))
}

// Directory is where the files of a directory lie: in the directory itself or, where that is of a cache of the Hugging
// Face libraries, in the snapshot that is main.
//
//	hub/ datasets--<owner>--<name>/ refs/main            holds <commit>
//	                                snapshots/<commit>/  holds the files
func (s Selection) Directory() (string, error) {
	repo := Repository{kind: Datasets, id: s.Name, revision: "main"}
	roots := []string{s.Path}
	if _, err := ParseRepository(Datasets, s.Name, ""); err == nil {
		roots = append(roots, filepath.Join(s.Path, repo.directory()))
	}
	for _, root := range roots {
		if info, err := os.Stat(filepath.Join(root, "snapshots")); err == nil && info.IsDir() {
			commit, err := resolve(root, repo, "")
			return filepath.Join(root, "snapshots", commit), err
		}
	}
	return s.Path, nil
}

// selectFrom looks for the rows in the caches, and then on the hub.
func (h *Hub) selectFrom(ctx context.Context, repo Repository, s Selection) (shards []Shard, err error) {
	cached := h.Cached(repo, "", func(dir string) (err error) {
		if shards, err = local(ctx, dir, s); err == nil {
			err = Complete(shards)
		}
		return err
	})
	if cached == nil {
		return shards, nil
	}
	shards, err = h.remote(ctx, repo, s)
	if err == nil || ctx.Err() != nil || errors.Is(err, errNoRows) || errors.As(err, new(choiceError)) ||
		errors.As(err, new(scriptError)) {
		return shards, err
	}
	return nil, fmt.Errorf("%w; %w", cached, err)
}

// script is the name that a program has which makes the rows.
func (s Selection) script() string { return filepath.Base(s.Path) + ".py" }

// remote selects from the files that the hub lists.
func (h *Hub) remote(ctx context.Context, repo Repository, s Selection) ([]Shard, error) {
	tree, err := h.tree(ctx, repo)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tree.Files))
	sizes := map[string]entry{}
	for i, e := range tree.Files {
		names[i] = e.Name
		sizes[e.Name] = e
	}
	l := converted(names)
	at := repo.at(tree.Commit)
	if repo.revision != convertedBranch {
		if l, err = h.layout(ctx, at, names); err != nil {
			return nil, h.outdated(repo, err)
		}
		l.script = s.script()
	}
	files, err := l.find(s.Subset, s.Split)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", repo.id, err)
	}
	shards := make([]Shard, len(files))
	for i, name := range files {
		e := sizes[name]
		part := ""
		if len(files) > 1 {
			part = fmt.Sprintf("file %d of %d, ", i+1, len(files))
		}
		shards[i] = Shard{Name: name, hub: h, of: repo, repo: at,
			file: File{Name: name, Limit: math.MaxInt64, Reported: true, size: e.Size, sum: e.SHA256, part: part}}
	}
	return shards, nil
}

// layout reads the README.md of a repository for what it says about the files.
func (h *Hub) layout(ctx context.Context, repo Repository, names []string) (layout, error) {
	l := layout{files: names}
	if slices.Contains(names, cardName) {
		path, err := h.Fetch(ctx, repo, File{Name: cardName, Limit: maxCard})
		if err != nil {
			return l, err
		}
		if err := l.readCard(path); err != nil {
			return l, err
		}
	}
	return l, nil
}

// readCard takes the subsets of the README.md at path.
func (l *layout) readCard(path string) (err error) {
	text, err := ReadFile(path, maxCard)
	if err == nil {
		if l.subsets, err = readCard(text); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return err
}

// maxFiles is how many files a data set may have; a walk through a disk should not go on for ever.
const maxFiles = 200_000

// local selects from the files in a directory.
func local(ctx context.Context, dir string, s Selection) ([]Shard, error) {
	l := layout{script: s.script()}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && d != nil && d.IsDir() && name != ".":
			return fs.SkipDir // not ours to read
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".git"):
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0:
			return nil
		case len(l.files) == maxFiles:
			return fmt.Errorf("there are more than %d files; give the directory of one data set", maxFiles)
		}
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil || info.Mode().IsRegular() {
			l.files = append(l.files, name) // broken links, too: they are missed later, if they are needed
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		slices.Sort(l.files)
		if slices.Contains(l.files, cardName) {
			err = l.readCard(filepath.Join(dir, cardName))
		}
	}
	var files []string
	if err == nil {
		files, err = l.find(s.Subset, s.Split)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, PathCause(err))
	}
	shards := make([]Shard, len(files))
	for i, name := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := usable(path); err != nil {
			return nil, err
		}
		shards[i] = Shard{Name: name, path: path}
	}
	return shards, nil
}

var numbered = regexp.MustCompile(`\A(.*)-[0-9]{5}-of-([0-9]{5})(.*)\z`)

// Complete reports which files are missing of those that have a number, as in train-00000-of-00002.parquet: caches and
// directories need not have all.
func Complete(shards []Shard) error {
	counts := map[string]int{}
	for _, s := range shards {
		match := numbered.FindStringSubmatch(s.Name)
		if match == nil {
			continue
		}
		counts[match[1]+"-*-of-"+match[2]+match[3]]++
	}
	var missing []string
	for name, n := range counts {
		match := regexp.MustCompile(`-\*-of-([0-9]{5})`).FindStringSubmatch(name)
		if of, _ := strconv.Atoi(match[1]); n < of {
			missing = append(missing, fmt.Sprintf("only %d of the %d files %s are there", n, of, name))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return errors.New(cmp.Or(filepath.Dir(shards[0].path), ".") + ": " + missing[0])
	}
	return nil
}
