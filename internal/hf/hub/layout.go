package hub

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"benchtop/internal/text"
)

// The names of splits that file names stand for, in order, and the words by which they do.
const train = "train"

var splitWords = []struct {
	split string
	words []string
}{
	{train, []string{"train", "training"}},
	{"validation", []string{"validation", "valid", "dev", "val"}},
	{"test", []string{"test", "testing", "eval", "evaluation"}},
}

// The patterns by which a folder or a file has such a word in its name.
var (
	folderPatterns = []string{"**/%s/**", "**/%s[-._ 0-9]*/**", "**/*[-._ 0-9]%s/**", "**/*[-._ 0-9]%s[-._ 0-9]*/**"}
	filePatterns   = []string{"**/%s[-._ 0-9]*", "**/*[-._ 0-9]%s[-._ 0-9]*"}
)

// sharded is the usual name of a file of a split: data/train-00000-of-00002.parquet.
var sharded = regexp.MustCompile(`\Adata/([^/]+)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*\z`)

// noRows are files without a row, whatever their ending says.
var noRows = []string{cardName, "config.json", "dataset_info.json", "dataset_infos.json", "dummy_data.zip",
	"dataset_dict.json"}

// layout tells which files of a data set make up which subset and split, by the rules of the datasets library.
type layout struct {
	files   []string // all there are, with slashes, sorted
	subsets []subset
	script  string // the file that would be the program by which the rows are made; "" for none
}

// scriptError says that rows are made by a program.
type scriptError struct{ name string }

func (e scriptError) Error() string {
	return fmt.Sprintf("the data set is made by the program %s, which is not run; the hub may have its rows in "+
		"Parquet, in the branch %s", e.name, convertedBranch)
}

// errNoRows says that no file of a data set is known to hold rows.
var errNoRows = errors.New("no file of rows: Parquet, JSON, JSON Lines and CSV are read")

// find returns the files of a subset and split, each "" for the default one.
func (l layout) find(subsetName, splitName string) ([]string, error) {
	lists := func(s subset) bool { return s.splits != nil }
	if slices.Contains(l.files, l.script) && !slices.ContainsFunc(l.subsets, lists) {
		return nil, scriptError{l.script}
	}
	s, err := l.subset(subsetName)
	if err != nil {
		return nil, err
	}
	if s.splits == nil {
		if s.splits, err = l.byName(s.dir); err != nil {
			return nil, err
		}
	}
	part, err := s.split(splitName)
	if err != nil {
		return nil, err
	}
	files := part.files
	for _, pattern := range part.patterns {
		matched, err := l.match(s.dir, pattern)
		if err != nil {
			return nil, err
		}
		if len(matched) == 0 && !strings.ContainsAny(pattern, magic) {
			return nil, fmt.Errorf("split %q: %s is not there", part.name, pattern)
		}
		files = append(files, matched...)
	}
	if files = ofOneFormat(files); len(files) == 0 {
		return nil, fmt.Errorf("split %q has %w", part.name, errNoRows)
	}
	return files, nil
}

// choiceError says that a subset or split has to be named otherwise.
type choiceError struct{ error }

// subset is the one of the name, or the default one.
func (l layout) subset(name string) (subset, error) {
	var names []string
	preferred := -1
	for i, s := range l.subsets {
		if name != "" && s.name == name {
			return s, nil
		}
		if preferred < 0 && (s.preferred || s.name == "default" || len(l.subsets) == 1) {
			preferred = i
		}
		names = append(names, s.name)
	}
	if len(l.subsets) == 0 && (name == "" || name == "default") {
		return subset{name: "default"}, nil
	}
	if len(l.subsets) == 0 {
		begins := func(file string) bool { return strings.HasPrefix(file, name+"/") }
		if slices.ContainsFunc(l.files, begins) { // a copy without the README.md
			return subset{name: name, dir: name}, nil
		}
		names = []string{"default"}
	}
	switch {
	case name != "":
		return subset{},
			choiceError{fmt.Errorf("unknown subset %q; use --hf-subset with one of: %s", name,
				text.List(names, mostListed))}
	case preferred < 0:
		return subset{},
			choiceError{fmt.Errorf("it has several subsets; give --hf-subset one of: %s", text.List(names, mostListed))}
	}
	return l.subsets[preferred], nil
}

// split is the one of the name or, where none is given, the only one or train.
func (s subset) split(name string) (split, error) {
	wanted := name
	if name == "" {
		wanted = train
		if len(s.splits) == 1 {
			wanted = s.splits[0].name
		}
	}
	var names []string
	for _, part := range s.splits {
		if part.name == wanted {
			return part, nil
		}
		names = append(names, part.name)
	}
	if name == "" {
		return split{},
			choiceError{fmt.Errorf("it has several splits; give --hf-split one of: %s", text.List(names, mostListed))}
	}
	return split{},
		choiceError{fmt.Errorf("unknown split %q; use --hf-split with one of: %s", name, text.List(names, mostListed))}
}

// mostListed is how many names an error lists.
const mostListed = 20

// byName finds the splits that the names of folders and files in dir stand for.
func (l layout) byName(dir string) ([]split, error) {
	if splits := l.bySharding(dir); len(splits) > 0 {
		return splits, nil
	}
	for _, forms := range [][]string{folderPatterns, filePatterns} {
		var splits []split
		for _, known := range splitWords {
			patterns, found, err := l.patterns(dir, known.words, forms)
			if err != nil {
				return nil, err
			}
			if found {
				splits = append(splits, split{name: known.split, patterns: patterns})
			}
		}
		if len(splits) > 0 {
			return splits, nil
		}
	}
	if all, err := l.match(dir, "**"); err != nil || len(all) == 0 {
		return nil, cmp.Or(err, errNoRows)
	}
	return []split{{name: train, patterns: []string{"**"}}}, nil
}

// patterns are those of words in any of the forms; found says that a file in dir matches one of them.
func (l layout) patterns(dir string, words, forms []string) (patterns []string, found bool, err error) {
	for _, word := range words {
		for _, form := range forms {
			pattern := fmt.Sprintf(form, word)
			matched, err := l.match(dir, pattern)
			if err != nil {
				return nil, false, err
			}
			found = found || len(matched) > 0
			patterns = append(patterns, pattern)
		}
	}
	return patterns, found, nil
}

// bySharding finds the splits of files such as data/train-00000-of-00002.parquet: the usual ones first.
func (l layout) bySharding(dir string) []split {
	var splits []split
	for _, file := range l.files {
		name, inside := file, true
		if dir != "" {
			name, inside = strings.CutPrefix(file, path.Clean(dir)+"/")
		}
		match := sharded.FindStringSubmatch(name)
		if !inside || match == nil || unrequested(file, file[:len(file)-len(name)]) {
			continue
		}
		i := slices.IndexFunc(splits, func(s split) bool { return s.name == match[1] })
		if i < 0 {
			i = len(splits)
			splits = append(splits, split{name: match[1]})
		}
		splits[i].files = append(splits[i].files, file)
	}
	rank := func(s split) int {
		for i, known := range splitWords {
			if s.name == known.split {
				return i
			}
		}
		return len(splitWords)
	}
	slices.SortStableFunc(splits, func(a, b split) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.name, b.name))
	})
	return splits
}

// match returns the files in dir that a pattern names, sorted.
func (l layout) match(dir, pattern string) ([]string, error) {
	if strings.Contains(pattern, "://") || strings.HasPrefix(pattern, "/") {
		return nil, fmt.Errorf("its files are elsewhere, at %q; only those of the repository are read", pattern)
	}
	pattern = path.Join(dir, pattern)
	re, err := glob(pattern)
	if err != nil {
		return nil, err
	}
	var matched []string
	for _, file := range l.files {
		if re.MatchString(file) && !unrequested(file, pattern) {
			matched = append(matched, file)
		}
	}
	return matched, nil
}

// unrequested reports whether a file that matches a pattern is passed over: hidden ones, those in folders such as
// __pycache__, and those that describe others, unless the pattern names them.
func unrequested(file, pattern string) bool {
	count := func(name, prefix string) (n int) {
		for part := range strings.SplitSeq(name, "/") {
			if strings.HasPrefix(part, prefix) && strings.Trim(part, ".") != "" {
				n++
			}
		}
		return n
	}
	base := path.Base(file)
	return slices.Contains(noRows, base) && path.Base(pattern) != base ||
		count(file, ".") != count(pattern, ".") || count(path.Dir(file), "__") != count(path.Dir(pattern), "__")
}

// formats are the endings of files of rows. Where a split has as many files of two, the first counts.
var formats = []struct{ ending, format string }{
	{"parquet", "parquet"}, {"geoparquet", "parquet"}, {"gpq", "parquet"},
	{"jsonl", "json"}, {"ndjson", "json"}, {"json", "json"}, {"csv", "csv"},
}

// format is that of a file of rows by its name, which may go on with .gz or the like; "" for other files.
func format(name string) (format, ending string) {
	_, endings, _ := strings.Cut(path.Base(name), ".")
	for e := range strings.SplitSeq(strings.ToLower(endings), ".") {
		for _, known := range formats {
			if e == known.ending {
				return known.format, e
			}
		}
	}
	return "", ""
}

// ofOneFormat keeps the files of the format that most have.
func ofOneFormat(files []string) []string {
	counts := map[string]int{} // of endings
	for _, file := range files {
		_, ending := format(file)
		counts[ending]++
	}
	best := formats[0]
	for _, known := range formats[1:] {
		if counts[known.ending] > counts[best.ending] {
			best = known
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		of, _ := format(file)
		return of != best.format
	})
}

// converted is the layout of the branch in which the hub keeps a data set as Parquet: <subset>/<split>/0000.parquet, or
// partial-<split> where that is only a part.
func converted(files []string) layout {
	l := layout{files: files}
	for _, file := range files {
		parts := strings.Split(file, "/")
		if of, _ := format(file); of != "parquet" || len(parts) != 3 {
			continue
		}
		name := strings.TrimPrefix(parts[1], "partial-")
		i := slices.IndexFunc(l.subsets, func(s subset) bool { return s.name == parts[0] })
		if i < 0 {
			i = len(l.subsets)
			l.subsets = append(l.subsets, subset{name: parts[0]})
		}
		s := &l.subsets[i]
		j := slices.IndexFunc(s.splits, func(part split) bool { return part.name == name })
		if j < 0 {
			j = len(s.splits)
			s.splits = append(s.splits, split{name: name})
		}
		s.splits[j].files = append(s.splits[j].files, file)
	}
	return l
}
