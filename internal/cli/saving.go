package cli

import (
	"bytes"
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

// journalSuffix stands where the result has .json.
const journalSuffix = ".jsonl"

// defaultResultDir is where results go that nobody asked for by name.
const defaultResultDir = "benchtop-results"

// savingOptions say whether and where the result is saved.
type savingOptions struct {
	result, detailed bool
	append           bool
	never, noClobber bool
	dir, name        string
	unasked          bool // save although no flag asked for it
}

// asked says that a flag asked for the result.
func (o *savingOptions) asked() bool { return o.result || o.append }

func (o *savingOptions) define(f *pflag.FlagSet) {
	f.BoolVar(&o.result, "save-result", false, "save the result as JSON; always so when standard output is a terminal")
	f.BoolVar(&o.append, "append-result", false, "save the result as one more line of the file; for a file of many runs name it with --result-filename")
	f.BoolVar(&o.detailed, "save-detailed", false, "keep every request's figures and text in the result")
	f.StringVar(&o.dir, "result-dir", "", "directory of the result (default: the current one; "+defaultResultDir+" for a result nobody asked for)")
	f.StringVar(&o.name, "result-filename", "", "file name of the result (default: made from the load, the model and the time)")
	f.BoolVar(&o.noClobber, "no-clobber", false, "refuse to start rather than move an old result of the same name aside")
	f.BoolVar(&o.never, "no-save", false, "do not save the result unasked")
}

func (o *savingOptions) check() error {
	if o.never && o.asked() {
		return fmt.Errorf("--no-save and --%s: choose one", map[bool]string{true: "save-result", false: "append-result"}[o.result])
	}
	if strings.HasSuffix(strings.TrimSuffix(o.name, ".gz"), journalSuffix) {
		return fmt.Errorf("--result-filename %s: %s is the journal's ending; choose another, such as .json", usage.Quote(o.name), journalSuffix)
	}
	return nil
}

// saving is the pair of files of a run, reserved before it starts. A nil saving means that nothing is saved.
type saving struct {
	path        string   // of the result
	append      bool     // one more line of what is there
	noClobber   bool     // nothing is moved aside
	created     bool     // this run made the file
	journal     *os.File // open for reading and writing
	journalName string
	moved       []string // where older results of the same name went, until notes says it
}

// place is the path of the result of a run, saved or not.
func (o *savingOptions) place(plan metrics.Plan) string {
	dir, name := o.dir, o.name
	if dir == "" && !o.asked() && o.unasked && !o.never {
		dir = defaultResultDir
	}
	if name == "" {
		name = export.FileName(plan)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// reserve creates the files of a run, so that no later surprise can lose the result.
func (o *savingOptions) reserve(plan metrics.Plan) (*saving, error) {
	if !o.asked() && (o.never || !o.unasked) {
		return nil, nil
	}
	path := o.place(plan)
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
	s := &saving{path: path, append: o.append, noClobber: o.noClobber}
	if s.append {
		stem := strings.TrimSuffix(path, ".json")
		if o.name != "" { // a name made up has the time in it already
			stem += "-" + plan.Started.Local().Format("20060102-150405")
		}
		if err := s.createBeside(stem); err != nil {
			return nil, advice(err)
		}
		return s, nil
	}
	if o.name != "" {
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
func (s *saving) claim() error {
	stem, isJSON := strings.CutSuffix(s.path, ".json")
	suffix := map[bool]string{true: ".json"}[isJSON]
	for n := 1; ; n++ {
		err := s.create()
		if err == nil || !errors.Is(err, fs.ErrExist) || n > 1000 {
			return err
		}
		s.path = fmt.Sprintf("%s-%d%s", stem, n, suffix)
	}
}

// createBeside makes sure that the result can be appended to, and creates a journal of this run's own beside it.
func (s *saving) createBeside(stem string) error {
	_, err := os.Lstat(s.path)
	s.created = errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for n := 1; ; n++ {
		s.journalName = stem + journalSuffix
		if n > 1 {
			s.journalName = fmt.Sprintf("%s-%d%s", stem, n, journalSuffix)
		}
		_, packed := os.Lstat(s.journalName + ".gz")
		s.journal, err = os.OpenFile(s.journalName, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
		if err == nil && errors.Is(packed, fs.ErrNotExist) {
			lock(s.journal)
			return nil
		}
		if err == nil {
			_ = s.journal.Close()
			_ = os.Remove(s.journalName)
		} else if !errors.Is(err, fs.ErrExist) || n > 1000 {
			s.abandon()
			return err
		}
	}
}

func (s *saving) create() error {
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	s.journalName = journalPath(s.path)
	journal, err := os.OpenFile(s.journalName, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		_ = os.Remove(s.path)
		return err
	}
	lock(journal)
	s.journal, s.created = journal, true
	return nil
}

func journalPath(result string) string { return strings.TrimSuffix(result, ".json") + journalSuffix }

// makeRoom moves an older result of the same name, and its journal, aside. A run that goes on owns its name; then this one
// gets another. An empty file is no result.
func (s *saving) makeRoom() error {
	if info, err := os.Stat(s.path); err == nil && info.Size() == 0 && !s.noClobber {
		if inUse(journalPath(s.path)) {
			return nil
		}
		if err := os.Remove(s.path); err != nil {
			return fmt.Errorf("cannot replace the empty %s: %w", s.path, err)
		}
	}
	all := []string{s.path, journalPath(s.path), journalPath(s.path) + ".gz"}
	for _, ending := range pictureEndings {
		all = append(all, stemOf(s.path)+ending)
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

// notes says once where older results of the same name went. It may be called on nil.
func (s *saving) notes() (all []string) {
	if s == nil {
		return nil
	}
	for _, aside := range s.moved {
		all = append(all, "an older result of the same name is now "+aside)
	}
	s.moved = nil
	return all
}

// finish writes the result. Where the reserved place does not take it, the next best one does; the
// returned path says where it went. A copy of the journal goes there too, since the one in the reserved place is
// most likely cut short. last is where the result goes if no place takes it, nil for nowhere.
func (s *saving) finish(r metrics.Report, written *journal.Writer, last io.Writer) (path string, err error) {
	whole := func(w io.Writer) error { _, err := written.WriteTo(w); return err }
	result := func(w io.Writer) error { return export.JSON(w, r) }
	if s.append {
		err = appendLine(s.path, result)
	} else {
		err = writeFile(s.path, result)
	}
	if err == nil && written.Err() != nil {
		err = writeFile(s.journalName, whole) // what is there is cut short; what memory has is whole
	}
	if err == nil {
		return s.path, nil
	}
	problems := []error{err}
	s.abandon()
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
			return onStdout, errors.Join(problems...)
		}
	}
	return "", errors.Join(problems...)
}

// elsewhere writes the result and its journal to another place, under the same rules: nothing there is overwritten.
func (s *saving) elsewhere(path string, result, journal func(io.Writer) error) (string, error) {
	there := &saving{path: path}
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
	if err = errors.Join(writeFile(there.path, result), writeFile(there.journalName, journal)); err != nil {
		there.discard()
		return "", err
	}
	_ = there.journal.Close() // only its lock was needed
	return there.path, nil
}

// onStdout stands for a path where no file took the result.
const onStdout = "standard output"

// fallbacks are where the result goes if its own place does not take it.
func (s *saving) fallbacks() []string {
	var all []string
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		all = append(all, filepath.Join(dir, "benchtop", filepath.Base(s.path)))
	}
	all = append(all, filepath.Join(os.TempDir(), filepath.Base(s.path)))
	refused, _ := filepath.Abs(s.path)
	return slices.DeleteFunc(all, func(p string) bool { p, _ = filepath.Abs(p); return p == refused })
}

// writeFile writes a whole file or nothing: under another name first, which then becomes its own.
func writeFile(path string, content func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// Not os.CreateTemp: the file gets the rights that the user's umask gives any other.
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(content(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// appendLine adds one line to a file, or nothing: if it does not fit, what was there stays as it was.
func appendLine(path string, content func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil && size > 0 {
		last := []byte{0}
		if _, err = f.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			line.WriteByte('\n')
		}
	}
	err = errors.Join(err, content(&line))
	if err == nil {
		// In one piece, so that runs that end at once do not mix their lines.
		var n int
		if n, err = f.Write(line.Bytes()); err != nil {
			// Unless another run has added its own line meanwhile.
			if now, e := f.Seek(0, io.SeekEnd); e == nil && now == size+int64(n) {
				err = errors.Join(err, f.Truncate(size))
			}
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// abandon removes a result that was never written: an empty one would only mislead. It may be called on nil.
func (s *saving) abandon() {
	if s == nil || !s.created {
		return
	}
	if info, err := os.Stat(s.path); err == nil && info.Size() == 0 {
		_ = os.Remove(s.path)
	}
}

// discard takes back a reservation for a run that never began. It may be called on nil.
func (s *saving) discard() {
	if s == nil {
		return
	}
	s.abandon()
	_ = s.journal.Close()
	_ = os.Remove(s.journalName)
}

// pack gzips the journal.
func (s *saving) pack() error {
	if err := s.journal.Close(); err != nil {
		return err
	}
	if _, err := journal.Compress(s.journalName); err != nil {
		return fmt.Errorf("the result is saved, but its journal could not be packed: %w", err)
	}
	return nil
}
