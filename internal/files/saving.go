// Package files is about the files of a run: reserving the places of the result and its journal, saving them without losing
// what is there or what was measured, telling a journal in use from one left behind, and finding and reading what was saved.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"benchtop/export"
	"benchtop/export/journal"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

// Endings of the names of what is written beside a result.
const (
	TimelineSuffix     = ".timeline.html"
	DatasetStatsSuffix = ".dataset_stats.png"
	PyTorchSuffix      = ".pytorch.json"
)

// SoFar is what the name of a result has at its end that was saved before the run was over.
const SoFar = "-so-far"

// Stem is a path without the last ending of its name.
func Stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// JournalSuffix stands where the result has .json.
const JournalSuffix = ".jsonl"

// defaultDir is where results go that nobody asked for by name.
const defaultDir = "benchtop-results"

// Options say whether and where the result is saved.
type Options struct {
	Result, Detailed bool
	Append           bool
	Never, NoClobber bool
	Dir, Name        string
	Unasked          bool // save although no flag asked for it
}

// Asked says that a flag asked for the result.
func (o *Options) Asked() bool { return o.Result || o.Append }

// Define adds the flags.
func (o *Options) Define(f *pflag.FlagSet) {
	f.BoolVar(&o.Result, "save-result", false, "save the result as JSON; always so when standard output is a terminal")
	f.BoolVar(&o.Append, "append-result", false, "save the result as one more line of the file; for a file of many runs name it with --result-filename")
	f.BoolVar(&o.Detailed, "save-detailed", false, "keep every request's figures and text in the result")
	f.StringVar(&o.Dir, "result-dir", "", "directory of the result (default: the current one; "+defaultDir+" for a result nobody asked for)")
	f.StringVar(&o.Name, "result-filename", "", "file name of the result (default: made from the load, the model and the time)")
	f.BoolVar(&o.NoClobber, "no-clobber", false, "refuse to start rather than move an old result of the same name aside")
	f.BoolVar(&o.Never, "no-save", false, "do not save the result unasked")
}

// Check reports what is wrong with the flags.
func (o *Options) Check() error {
	var p usage.Problems
	p.BadIf(o.Never && o.Asked(), "--no-save and --%s: choose one", map[bool]string{true: "save-result", false: "append-result"}[o.Result])
	p.BadIf(strings.HasSuffix(strings.TrimSuffix(o.Name, ".gz"), JournalSuffix),
		"--result-filename %s: %s is the journal's ending; choose another, such as .json", usage.Quote(o.Name), JournalSuffix)
	return errors.Join(p...)
}

// Saving is the pair of files of a run, reserved before it starts. A nil Saving means that nothing is saved.
type Saving struct {
	Path        string   // of the result
	append      bool     // one more line of what is there
	noClobber   bool     // nothing is moved aside
	created     bool     // this run made the file
	Journal     *os.File // open for reading and writing
	JournalName string
	moved       []string // where older results of the same name went, until notes says it
}

// Place is the path of the result of a run, saved or not.
func (o *Options) Place(plan metrics.Plan) string {
	dir, name := o.Dir, o.Name
	if dir == "" && !o.Asked() && o.Unasked && !o.Never {
		dir = defaultDir
	}
	if name == "" {
		name = export.FileName(plan)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Reserve creates the files of a run, so that no later surprise can lose the result.
func (o *Options) Reserve(plan metrics.Plan) (*Saving, error) {
	if !o.Asked() && (o.Never || !o.Unasked) {
		return nil, nil
	}
	path := o.Place(plan)
	advice := func(err error) error {
		return fmt.Errorf("cannot save the result: %w; choose another place with --result-dir, or --no-save", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, advice(err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		what := "no regular file"
		if info.IsDir() {
			what = "a directory; name a file in it"
		}
		return nil, usage.Errorf("--result-filename %s is %s", usage.Quote(path), what)
	}
	s := &Saving{Path: path, append: o.Append, noClobber: o.NoClobber}
	if s.append {
		stem := strings.TrimSuffix(path, ".json")
		if o.Name != "" { // a name made up has the time in it already
			stem += "-" + plan.Started.Local().Format("20060102-150405")
		}
		if err := s.createBeside(stem); err != nil {
			return nil, advice(err)
		}
		return s, nil
	}
	if o.Name != "" {
		if err := s.makeRoom(); err != nil {
			return nil, err
		}
	}
	if err := s.claim(); err != nil {
		return nil, advice(err)
	}
	return s, nil
}

// claim creates the files, with a number in their names where those are taken: a name made from the time may be that of a run
// of the same second.
func (s *Saving) claim() error {
	stem, isJSON := strings.CutSuffix(s.Path, ".json")
	return createNumbered(stem, map[bool]string{true: ".json"}[isJSON], 1, s.create)
}

// createNumbered creates something under the first name that is free: the plain one, else one with a number.
func createNumbered(stem, suffix string, first int, create func(path string) error) error {
	const last = 1000
	path := stem + suffix
	for n := first; ; n++ {
		if err := create(path); !errors.Is(err, fs.ErrExist) || n > last {
			return err
		}
		path = fmt.Sprintf("%s-%d%s", stem, n, suffix)
	}
}

// createBeside makes sure that the result can be appended to, and creates a journal of this run's own beside it.
func (s *Saving) createBeside(stem string) error {
	_, err := os.Lstat(s.Path)
	s.created = errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(s.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	err = createNumbered(stem, JournalSuffix, 2, func(path string) error {
		if _, err := os.Lstat(path + ".gz"); !errors.Is(err, fs.ErrNotExist) {
			return fs.ErrExist
		}
		return s.createJournal(path)
	})
	if err != nil {
		s.Abandon()
	}
	return err
}

// create creates both files.
func (s *Saving) create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := s.createJournal(journalPath(path)); err != nil {
		_ = os.Remove(path)
		return err
	}
	s.Path, s.created = path, true
	return nil
}

func (s *Saving) createJournal(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	lock(file)
	s.Journal, s.JournalName = file, path
	return nil
}

func journalPath(result string) string { return strings.TrimSuffix(result, ".json") + JournalSuffix }

// makeRoom moves an older result of the same name, and its journal, aside. A run that goes on owns its name; then this one
// gets another. An empty file is no result.
func (s *Saving) makeRoom() error {
	if info, err := os.Stat(s.Path); err == nil && info.Size() == 0 && !s.noClobber {
		if locked(journalPath(s.Path), false) {
			return nil
		}
		if err := os.Remove(s.Path); err != nil {
			return fmt.Errorf("cannot replace the empty %s: %w", s.Path, err)
		}
	}
	all := []string{s.Path, journalPath(s.Path), journalPath(s.Path) + ".gz"}
	for _, ending := range []string{TimelineSuffix, DatasetStatsSuffix, PyTorchSuffix} {
		all = append(all, Stem(s.Path)+ending)
	}
	for _, p := range all {
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if s.noClobber {
			return usage.Errorf("%s exists and --no-clobber is set", p)
		}
		for n := 1; ; n++ {
			aside := fmt.Sprintf("%s.~%d~", p, n)
			if _, err := os.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err := os.Rename(p, aside); err != nil {
				return fmt.Errorf("cannot move the older result aside: %w", err)
			}
			if len(s.moved) == 0 { // the others went the same way
				s.moved = []string{aside}
			}
			break
		}
	}
	return nil
}

// Notes says once where older results of the same name went. It may be called on nil.
func (s *Saving) Notes() (all []string) {
	if s == nil {
		return nil
	}
	for _, aside := range s.moved {
		all = append(all, "an older result of the same name is now "+aside)
	}
	s.moved = nil
	return all
}

// Finish writes the result. Where the reserved place does not take it, the next best one does; the
// returned path says where it went. A copy of the journal goes there too, since the one in the reserved place is
// most likely cut short. last is where the result goes if no place takes it, nil for nowhere.
func (s *Saving) Finish(r metrics.Report, written *journal.Writer, last io.Writer) (path string, err error) {
	whole := func(w io.Writer) error { _, err := written.WriteTo(w); return err }
	result := func(w io.Writer) error { return export.JSON(w, r) }
	if s.append {
		err = appendLine(s.Path, result)
	} else {
		err = Write(s.Path, result)
	}
	if err == nil && written.Err() != nil {
		err = Write(s.JournalName, whole) // what is there is cut short; what memory has is whole
	}
	if err == nil {
		return s.Path, nil
	}
	problems := []error{err}
	s.Abandon()
	for _, p := range s.fallbacks() {
		path, err := s.elsewhere(p, result, whole)
		if err == nil {
			return path, errors.Join(problems...)
		}
		problems = append(problems, err)
	}
	if last != nil {
		err := export.JSON(last, r)
		if _, e := io.WriteString(last, "\n"); err == nil && e == nil {
			return Stdout, errors.Join(problems...)
		}
	}
	return "", errors.Join(problems...)
}

// elsewhere writes the result and its journal to another place, under the same rules: nothing there is overwritten.
func (s *Saving) elsewhere(path string, result, journal func(io.Writer) error) (string, error) {
	there := &Saving{Path: path}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil && !s.noClobber {
		err = there.makeRoom()
		s.moved = append(s.moved, there.moved...)
	}
	if err == nil {
		err = there.claim()
	}
	if err != nil {
		return "", err
	}
	if err = errors.Join(Write(there.Path, result), Write(there.JournalName, journal)); err != nil {
		there.Discard()
		return "", err
	}
	_ = there.Journal.Close() // only its lock was needed
	return there.Path, nil
}

// Stdout stands for a path where no file took the result.
const Stdout = "standard output"

// fallbacks are where the result goes if its own place does not take it.
func (s *Saving) fallbacks() []string {
	var all []string
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		all = append(all, filepath.Join(dir, "benchtop", filepath.Base(s.Path)))
	}
	all = append(all, filepath.Join(os.TempDir(), filepath.Base(s.Path)))
	refused, _ := filepath.Abs(s.Path)
	return slices.DeleteFunc(all, func(p string) bool { p, _ = filepath.Abs(p); return p == refused })
}

// Abandon removes a result that was never written: an empty one would only mislead. It may be called on nil.
func (s *Saving) Abandon() {
	if s == nil || !s.created {
		return
	}
	if info, err := os.Stat(s.Path); err == nil && info.Size() == 0 {
		_ = os.Remove(s.Path)
	}
}

// Discard takes back a reservation for a run that never began. It may be called on nil.
func (s *Saving) Discard() {
	if s == nil {
		return
	}
	s.Abandon()
	_ = s.Journal.Close()
	_ = os.Remove(s.JournalName)
}

// Pack gzips the journal.
func (s *Saving) Pack() error {
	if err := s.Journal.Close(); err != nil {
		return err
	}
	if _, err := journal.Compress(s.JournalName); err != nil {
		return fmt.Errorf("the result is saved, but its journal could not be packed: %w", err)
	}
	return nil
}
