// Package history lists the runs whose results lie in a folder, and finds the runs from which on a figure is another.
//
//	folder ──files.ReadObjects──> index ──> runs ──Filter──> list
//	                                             └──Trends──> values by run, changes
package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchtop/export/journal"
	"benchtop/internal/dashboard"
	"benchtop/internal/files"
	"benchtop/internal/jsonscan"
	"benchtop/internal/text"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Run is a saved run.
type Run struct {
	// Name is its file below the folder, without .json, and its place there where the file has several runs.
	Name string `json:"name"`
	// Started is the date of the result, or the time of its file where it has none.
	Started time.Time `json:"started"`
	// Workload is the model, the workload and the load, in words. Runs with the same can be compared.
	Workload string `json:"workload"`
	// Load is the load in words.
	Load string `json:"load"`
	// ID tells runs apart that lie in several files.
	ID string `json:"id"`
	// Values are those of the result that are no lists or objects, as an object; see flatten.
	Values json.RawMessage `json:"values"`
}

// Texts are values of the run by their keys, "" for none. Those of "benchtop" have that in front or not; "name",
// "workload" and "load" are the run's own.
func (r *Run) Texts(keys ...string) []string {
	asked := slices.Clone(keys)
	for _, key := range keys {
		asked = append(asked, "benchtop."+key)
	}
	found := jsonscan.Fields(r.Values, asked...)
	return metrics.Each(asked[:len(keys)], func(key string) string {
		raw := cmp.Or(string(found[0]), string(found[len(keys)]))
		found = found[1:]
		own, isOwn := map[string]string{"name": r.Name, "workload": r.Workload, "load": r.Load}[key]
		switch {
		case isOwn:
			return own
		case strings.HasPrefix(raw, `"`):
			return jsonscan.Text([]byte(raw))
		}
		return raw
	})
}

// Text is a value of the run.
func (r *Run) Text(key string) string { return r.Texts(key)[0] }

// Number reads a text as a finite number; ok is false if it is none.
func Number(words string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(words, 64)
	return v, err == nil && text.Finite(v)
}

// Folder are the runs of a folder, and what else lies there, by paths below it.
type Folder struct {
	// Runs are in the order of their starts, each once.
	Runs []Run
	// Others are JSON files that are no results of serving, with the reason.
	Others []string
	// Interim are results so far of runs, Alone journals of runs without a whole result: killed ones, or still on.
	Interim, Alone []string
	// Left names the folders that cannot be read, "" for none.
	Left string
	// Unsaved says why the index is not written, nil if it is.
	Unsaved error
}

// IndexPath is the place of the index of a folder, in the user's cache: the folder may be another's, and holds results
// alone.
func IndexPath(dir string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "benchtop", "history", fmt.Sprintf("%.12x.jsonl", sha256.Sum256([]byte(dir)))), nil
}

// Read lists the runs of a folder and those below it, or of a file. Results that the index at a path knows are not read
// again, unless it is to be built anew; "" is no index.
func Read(dir, indexPath string, anew bool) (*Folder, error) {
	found, left, err := dashboard.Files(dir, func(name string, _ fs.DirEntry) bool {
		name = strings.TrimSuffix(name, ".gz")
		return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, files.JournalSuffix)
	})
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	out := &Folder{Left: left}
	var results, journals []string
	for _, path := range found {
		switch name := filepath.Base(path); {
		case strings.HasSuffix(name, files.SoFar+".json"):
			below, _ := filepath.Rel(dir, path)
			out.Interim = append(out.Interim, below)
		case name == dashboard.Table:
		case filepath.Ext(name) == ".json", filepath.Ext(name) == files.JournalSuffix && !files.IsJournal(path):
			results = append(results, path)
		default:
			journals = append(journals, path)
		}
	}
	known, lines := readIndex(indexPath, dir)
	if anew {
		known, lines = nil, 0
	}
	all := look(dir, results, known)
	if indexPath != "" {
		out.Unsaved = writeIndex(indexPath, dir, all, lines == 0 || lines > 2*len(all)+100)
	}
	out.collect(all)
	out.journals(dir, journals, all)
	return out, nil
}

// collect takes the runs of files, those of files with the fewest first, because a sweep lists all in one.
func (o *Folder) collect(all []file) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b file) int { return len(a.Runs) - len(b.Runs) })
	known := map[string]bool{}
	for i := range all {
		for _, r := range all[i].Runs {
			if !known[r.ID] {
				known[r.ID] = true
				o.Runs = append(o.Runs, r)
			}
		}
	}
	slices.SortFunc(o.Runs, func(a, b Run) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Name, b.Name))
	})
}

// journals finds the journals without a whole result, and the files that are neither a result nor beside a journal.
func (o *Folder) journals(dir string, journals []string, all []file) {
	whole, alone := map[string]bool{}, map[string]bool{}
	for _, f := range all {
		whole[strings.TrimSuffix(f.Path, ".json")] = len(f.Runs) > 0
	}
	for _, path := range journals {
		name, _ := filepath.Rel(dir, path)
		stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), files.JournalSuffix)
		saved := whole[stem]
		for s := stem; !saved && strings.Contains(s, "-"); { // of a run of a file of several
			s = s[:strings.LastIndexByte(s, '-')]
			saved = whole[s]
		}
		if !saved && isJournal(path) {
			o.Alone, alone[stem] = append(o.Alone, name), true
		}
	}
	for _, f := range all {
		if len(f.Runs) == 0 && filepath.Ext(f.Path) == ".json" && !alone[strings.TrimSuffix(f.Path, ".json")] {
			o.Others = append(o.Others, f.Path+": "+f.Why)
		}
	}
}

// isJournal reports whether a file begins as the journal of a run.
func isJournal(path string) bool {
	for e, err := range journal.Read(path) {
		_, isPlan := e.Value.(metrics.Plan)
		return isPlan && err == nil
	}
	return false
}

// Filter keeps the runs that have a value.
type Filter struct {
	words, key string
	want       *regexp.Regexp
	number     float64
	isNumber   bool
}

// ParseFilter reads KEY=VALUE. A * in the value stands for any characters; case is ignored.
func ParseFilter(words string) (f Filter, err error) {
	key, value, found := strings.Cut(words, "=")
	if !found || key == "" {
		return f, fmt.Errorf("%s: expected KEY=VALUE, as model=*llama*", usage.Quote(words))
	}
	if key = strings.TrimSpace(key); key == "model" {
		key = modelKey
	}
	f = Filter{words: words, key: key}
	f.number, f.isNumber = Number(value)
	f.want = regexp.MustCompile(`(?is)^` + strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, `.*`) + `$`)
	return f, nil
}

// modelKey is that of the model in a result.
const modelKey = "model_id"

func (f *Filter) holds(r *Run) bool {
	v := r.Text(f.key)
	if n, ok := Number(v); ok && f.isNumber {
		return n == f.number
	}
	return v != "" && f.want.MatchString(v)
}

// Keep are the runs for which all filters hold. A key that no run has is an error.
func Keep(runs []Run, filters []Filter) ([]Run, error) {
	for _, f := range filters {
		if err := check(runs, f.key); err != nil {
			return nil, fmt.Errorf("--filter %s: %w", usage.Quote(f.words), err)
		}
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool {
		return slices.ContainsFunc(filters, func(f Filter) bool { return !f.holds(&r) })
	}), nil
}

// check is an error if no run has a key.
func check(runs []Run, key string) error {
	var keys []string
	for i := range slices.Backward(runs) {
		if runs[i].Text(key) != "" {
			return nil
		}
		for name := range jsonscan.Members(runs[i].Values) {
			if name := jsonscan.Text(name); !slices.Contains(keys, name) && len(keys) < 500 {
				keys = append(keys, name)
			}
		}
	}
	if len(runs) == 0 {
		return nil
	}
	hint := cmp.Or(usage.DidYouMean(key, keys), "; there are "+text.List(keys, 200))
	return errors.New("no run has such a key" + hint)
}
