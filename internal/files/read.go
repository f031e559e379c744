package files

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"benchtop/export"
	"benchtop/export/journal"
	"benchtop/metrics"
	"benchtop/metrics/event"
	"benchtop/metrics/report"
)

// Recent are the newest saved runs in the directory of results that no flag asks for, at most so many: the path of the
// result and the plan of each, the newest first.
func Recent(most int) iter.Seq2[string, metrics.Plan] {
	return func(yield func(string, metrics.Plan) bool) {
		all, _ := filepath.Glob(filepath.Join(defaultDir, "*"+JournalSuffix+"*"))
		age := map[string]time.Time{}
		for _, path := range all {
			if info, err := os.Stat(path); err == nil {
				age[path] = info.ModTime()
			}
		}
		slices.SortFunc(all, func(a, b string) int { return age[b].Compare(age[a]) })
		for _, path := range all[:min(len(all), most)] {
			for e, err := range journal.Read(path) {
				if plan, ok := e.Value.(metrics.Plan); ok && err == nil &&
					!yield(Stem(strings.TrimSuffix(path, ".gz"))+".json", plan) {
					return
				}
				break
			}
		}
	}
}

// stillOn is the reason of a run that has not ended: its report covers the run so far.
const stillOn = "the run was still in progress when this was read"

// ReadRun finds the run of a file in the journal that belongs to it.
func ReadRun(file string) (event.Source, error) {
	path, err := findJournal(file)
	if err != nil {
		return nil, err
	}
	return readJournal(path), nil
}

// Saved is a run in files.
type Saved struct {
	Name   string // of its file, or of its first one
	Source event.Source
	Err    error // why there is none
}

// ReadRuns finds the runs of files in their order. Parts of one run are joined; notes say why others are not.
func ReadRuns(names []string) (all []Saved, notes []string) {
	groups := map[int][]event.Piece{} // by the place of the run
	for _, name := range names {
		source, err := ReadRun(name)
		var p event.Piece
		if err == nil {
			p, _ = event.NewPiece(source) // who reads it meets the error again
		}
		if !p.Plan.Part.Split() {
			all = append(all, Saved{name, source, err})
			continue
		}
		at, why := runOf(&p, groups)
		for _, i := range slices.Sorted(maps.Keys(why)) {
			notes = append(notes, fmt.Sprintf("%s is not of the run of %s: %s", name, all[i].Name, why[i]))
		}
		if at < 0 {
			at = len(all)
			all = append(all, Saved{Name: name})
		}
		groups[at] = append(groups[at], p)
	}
	for i, pieces := range groups {
		if all[i].Source = pieces[0].Source; len(pieces) > 1 {
			all[i].Source = event.Join(pieces)
		}
	}
	return all, notes
}

// runOf is the place of the run of a part, or -1 and why it is of none of them. Of runs alike it is the one that began
// when the part did.
func runOf(p *event.Piece, groups map[int][]event.Piece) (at int, why map[int]string) {
	at, why = -1, map[int]string{}
	var nearest time.Duration
	for _, i := range slices.Sorted(maps.Keys(groups)) {
		others, apart := groups[i], ""
		for k := range others {
			apart = cmp.Or(apart, p.Apart(&others[k]))
		}
		if away := p.Plan.Started.Sub(others[0].Plan.Started).Abs(); apart != "" {
			why[i] = apart
		} else if at < 0 || away < nearest {
			at, nearest = i, away
		}
	}
	if at >= 0 {
		return at, nil
	}
	return at, why
}

// readJournal reads the journal of a run and tells a running one from one that was killed.
func readJournal(path string) event.Source {
	source := journal.Source(path)
	return func(some event.Pick) event.Events {
		return func(yield func(event.Event, error) bool) {
			on := locked(path, true) // asked first: a run that ends meanwhile has its end
			for e, err := range source(some) {
				if _, ended := e.Value.(metrics.End); ended || err != nil {
					on = false
				}
				if !yield(e, err) {
					return
				}
			}
			if on {
				yield(event.Event{Kind: event.Fact, Value: metrics.End{Ended: metrics.Never, Reason: stillOn}}, nil)
			}
		}
	}
}

var errDirectory = errors.New("is a directory; name a result (.json) or a journal (.jsonl or .jsonl.gz) in it")

// findJournal finds the journal that belongs to a file.
func findJournal(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s %w", path, errDirectory)
	}
	stem, isResult := strings.CutSuffix(path, ".json")
	if strings.HasSuffix(strings.TrimSuffix(path, ".gz"), JournalSuffix) {
		return path, nil
	}
	// the whole run's journal is that of its result so far
	for _, s := range []string{stem, strings.TrimSuffix(stem, SoFar)} {
		for _, p := range []string{s + JournalSuffix + ".gz", s + JournalSuffix} {
			if _, err := os.Stat(p); err == nil {
				return p, nil
			}
		}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: no such file; it takes a result (.json) or the journal beside it (.jsonl.gz)", path)
	} else if err != nil {
		return "", err
	}
	if !isResult {
		return path, nil // whatever its name
	}
	if many, _ := filepath.Glob(stem + "-*" + JournalSuffix + "*"); len(many) > 0 {
		return "", fmt.Errorf("%s holds several runs; name the journal of one: %s", path, strings.Join(many, ", "))
	}
	return "", fmt.Errorf("%s: no journal beside it (%s%s.gz); the report is computed from that", path, stem,
		JournalSuffix)
}

// ReadReport computes the report of a saved run from its journal, or reads the last result where there is no journal.
// The error of a truncated journal comes with the report of its readable part.
func ReadReport(file string) (metrics.Report, error) {
	path, err := findJournal(file)
	if err == nil && !strings.HasSuffix(file, SoFar+".json") { // whose journal goes on to the end of the run
		return report.From(readJournal(path))
	}
	all, _, err := ReadResults(file)
	if err != nil {
		return metrics.Report{}, err
	}
	if len(all) == 0 {
		return metrics.Report{}, fmt.Errorf("%s: no result in it", file)
	}
	r, err := export.ReadResult(all[len(all)-1])
	if err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}
