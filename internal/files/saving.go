// Package files handles the files of a run. It reserves the places of the result and its journal, saves them without
// overwriting older ones or losing measurements, tells a journal in use from one left behind, and finds and reads saved
// runs and results.
package files

import (
	"cmp"
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

// Suffixes of the files beside a result.
const (
	TimelineSuffix     = ".timeline.html"
	PageSuffix         = ".report.html"
	DatasetStatsSuffix = ".dataset_stats.png"
	PyTorchSuffix      = ".pytorch.json"
)

// SoFar ends the name of a result that was saved before the run was over.
const SoFar = "-so-far"

// Stem is a path without its last suffix.
func Stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// JournalSuffix takes the place of the result's .json.
const JournalSuffix = ".jsonl"

// defaultDir is the directory of results that no flag asks for.
const defaultDir = "benchtop-results"

// Options say whether and where a result is saved.
type Options struct {
	Result, Detailed bool
	Append           bool
	Never, NoClobber bool
	Dir, Name        string
	Unasked          bool // save although no flag asked for it
	// Output is the file of --output-json where that is the result, with a form of its own; "" and nil for
	// [export.JSON] in its place.
	Output string
	Form   func(io.Writer, metrics.Report) error
}

// Asked says that a flag asked for the result.
func (o *Options) Asked() bool { return o.Result || o.Append || o.Output != "" }

// Define adds the flags.
func (o *Options) Define(f *pflag.FlagSet) {
	f.BoolVar(&o.Result, "save-result", false, "save the result as JSON; the default if standard output is a terminal")
	f.BoolVar(&o.Append, "append-result", false,
		"append the result to a file of many runs, one per line; give it with --result-filename")
	f.BoolVar(&o.Detailed, "save-detailed", false, "include the figures and text of every request in the result")
	f.StringVar(&o.Dir, "result-dir", "",
		"directory of the result (default: the current one with --save-result, otherwise "+defaultDir+")")
	f.StringVar(&o.Name, "result-filename", "",
		"file name of the result (default: made from the load, the model and the time)")
	f.BoolVar(&o.NoClobber, "no-clobber", false, "refuse to start instead of renaming an old result of the same name")
	f.BoolVar(&o.Never, "no-save", false, "disable saving")
}

// Check reports what is wrong with the flags.
func (o *Options) Check() error {
	var p usage.Problems
	p.BadIf(o.Never && o.Asked(), "--no-save and --%s: choose one",
		map[bool]string{true: "save-result", false: "append-result"}[o.Result])
	p.BadIf(strings.HasSuffix(strings.TrimSuffix(o.Name, ".gz"), JournalSuffix),
		"--result-filename %s: %s is the journal's ending; choose another, such as .json", usage.Quote(o.Name),
		JournalSuffix)
	return errors.Join(p...)
}

// Saving is the pair of files of a run, reserved before it starts. A nil Saving means that nothing is saved.
type Saving struct {
	Path        string // of the result
	form        func(io.Writer, metrics.Report) error
	append      bool     // the result is one more line of the file
	noClobber   bool     // nothing is moved aside
	created     bool     // this run created the file
	Journal     *os.File // open for reading and writing
	JournalName string
	moved       []string // new paths of older results of the same name, until Notes returns them
}

// Place is the path of the result of a run, saved or not.
func (o *Options) Place(plan metrics.Plan) string {
	dir, name := o.Dir, o.Name
	if o.Output != "" {
		return ofPart(o.Output, plan.Part)
	}
	if dir == "" && !o.Asked() && o.Unasked && !o.Never {
		dir = defaultDir
	}
	if name == "" {
		name = export.FileName(plan)
	}
	if name = ofPart(name, plan.Part); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// ofPart is a path with the part of a run, since several machines may share a disk.
func ofPart(path string, part metrics.Part) string {
	if !part.Split() {
		return path
	}
	return fmt.Sprintf("%s-part%dof%d.json", strings.TrimSuffix(path, ".json"), part.K, part.N)
}

// Reserve creates the files of a run before it starts, so that its result cannot be lost later.
func (o *Options) Reserve(plan metrics.Plan) (*Saving, error) {
	if !o.Asked() && (o.Never || !o.Unasked) {
		return nil, nil
	}
	path := o.Place(plan)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, o.refused(err)
	}
	if err := o.refused(Look(path, PyTorchSuffix)); err != nil {
		return nil, err
	}
	s := &Saving{Path: path, form: o.Form, append: o.Append, noClobber: o.NoClobber}
	if s.append {
		stem := strings.TrimSuffix(path, ".json")
		if o.Name != "" { // a generated name contains the time
			stem += "-" + plan.Started.Local().Format("20060102-150405")
		}
		if err := s.createBeside(stem); err != nil {
			return nil, o.refused(err)
		}
		return s, nil
	}
	if o.Name != "" || o.Output != "" {
		if err := s.moveAside(); err != nil {
			return nil, o.refused(err)
		}
	}
	if err := s.claim(); err != nil {
		return nil, o.refused(err)
	}
	return s, nil
}

// claim creates the files, with a number in their names where those are taken: two runs of one second have the same
// generated name.
func (s *Saving) claim() error {
	stem, isJSON := strings.CutSuffix(s.Path, ".json")
	return createNumbered(stem, map[bool]string{true: ".json"}[isJSON], 1, s.create)
}

// createNumbered uses the first free name: the plain one, else one with a number.
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

// createBeside checks that the result can be appended to, and creates a journal for this run beside it.
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
		if taken, err := exists(path + ".gz"); taken || err != nil {
			return cmp.Or(err, fs.ErrExist)
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

// journalStands reports whether the journal is still at its place: its directory may have been deleted under the run.
func (s *Saving) journalStands() bool {
	there, err := os.Stat(s.JournalName)
	mine, e := s.Journal.Stat()
	return err == nil && e == nil && os.SameFile(there, mine)
}

func journalPath(result string) string { return strings.TrimSuffix(result, ".json") + JournalSuffix }

// moveAside renames an older result of the same name, and its journal. A running run keeps its name, and this one gets
// another. An empty file is no result.
func (s *Saving) moveAside() error {
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
	for _, format := range export.Formats {
		all = append(all, Stem(s.Path)+export.Ending(format))
	}
	for _, p := range all {
		switch taken, err := exists(p); {
		case err != nil:
			return err
		case !taken:
			continue
		case s.noClobber:
			return usage.Errorf("%s exists and --no-clobber is set", p)
		}
		aside, err := firstFree(p)
		if err != nil {
			return err
		}
		if err := os.Rename(p, aside); err != nil {
			return fmt.Errorf("cannot rename the older result: %w", err)
		}
		if len(s.moved) == 0 { // the other files get the same suffix
			s.moved = []string{aside}
		}
	}
	return nil
}

// firstFree is the first name for an older file that is not taken.
func firstFree(name string) (string, error) {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.~%d~", name, n)
		if taken, err := exists(aside); err != nil || !taken {
			return aside, err
		}
	}
}

// Notes returns once where older results of the same name are. It may be called on nil.
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

// Finish writes the result and returns its path. If the reserved place fails, the next fallback is used, with a copy of
// the journal, since the one in the reserved place is probably truncated. last is the last resort, nil for none.
func (s *Saving) Finish(r metrics.Report, written *journal.Writer, last io.Writer) (path string, err error) {
	whole := func(w io.Writer) error { _, err := written.WriteTo(w); return err }
	if s.form == nil {
		s.form = export.JSON
	}
	result := func(w io.Writer) error { return s.form(w, r) }
	if s.append {
		err = appendLine(s.Path, result)
	} else {
		err = Write(s.Path, result)
	}
	if err == nil && (written.Err() != nil || !s.journalStands()) {
		// the file is truncated or gone; what was written and the copy in memory are complete
		err = Write(s.JournalName, whole)
	}
	if err == nil {
		return s.Path, nil
	}
	problems := []error{err}
	s.Abandon()
	for _, p := range s.fallbacks() {
		path, err := s.saveElsewhere(p, result, whole)
		if err == nil {
			return path, errors.Join(problems...)
		}
		problems = append(problems, err)
	}
	if last != nil {
		err := result(last)
		if _, e := io.WriteString(last, "\n"); err == nil && e == nil {
			return Stdout, errors.Join(problems...)
		}
	}
	return "", errors.Join(problems...)
}

// saveElsewhere writes the result and its journal to another place, where nothing is overwritten either.
func (s *Saving) saveElsewhere(path string, result, journal func(io.Writer) error) (string, error) {
	there := &Saving{Path: path}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil && !s.noClobber {
		_ = there.moveAside() // an older result that belongs to another user stays, and this one gets a number
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

// Stdout is the path of a result that went to standard output because no file could be written.
const Stdout = "standard output"

// fallbacks are the places to try after the result's own.
func (s *Saving) fallbacks() []string {
	var all []string
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		all = append(all, filepath.Join(dir, "benchtop", filepath.Base(s.Path)))
	}
	all = append(all, filepath.Join(os.TempDir(), filepath.Base(s.Path)))
	refused, _ := filepath.Abs(s.Path)
	return slices.DeleteFunc(all, func(p string) bool { p, _ = filepath.Abs(p); return p == refused })
}

// Abandon removes the empty file of a result that was never written. It may be called on nil.
func (s *Saving) Abandon() {
	if s == nil || !s.created {
		return
	}
	if info, err := os.Stat(s.Path); err == nil && info.Size() == 0 {
		_ = os.Remove(s.Path)
	}
}

// Discard removes the files of a run that never began. It may be called on nil.
func (s *Saving) Discard() {
	if s == nil {
		return
	}
	s.Abandon()
	_ = s.Journal.Close()
	_ = os.Remove(s.JournalName)
}

// Pack gzips the journal, whose writer is closed.
func (s *Saving) Pack(written *journal.Writer) error {
	if err := s.Journal.Close(); err != nil {
		return err
	}
	if _, err := journal.Compress(s.JournalName, written); err != nil {
		return fmt.Errorf("the result is saved, but its journal could not be compressed: %w", err)
	}
	return nil
}
