package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"benchtop/export/journal"
	"benchtop/internal/assert"
	"benchtop/internal/usage"
	"benchtop/metrics"
)

func plan() metrics.Plan { return metrics.Plan{Backend: "openai", ModelID: "m"} }

func emptyReport() metrics.Report { return metrics.Report{Plan: plan()} }

// plant makes files in a new working directory, but for one without a name.
func plant(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); name != "" && err != nil {
			t.Fatal(err)
		}
	}
}

// reserve makes the files of a run.
func reserve(t *testing.T, o Options) (*Saving, *journal.Writer) {
	t.Helper()
	s := assert.Must(o.Reserve(plan()))(t)
	return s, written(t, s.Journal)
}

// written is a journal that is written to a file, nil for none.
func written(t *testing.T, file *os.File) *journal.Writer {
	t.Helper()
	var to io.Writer
	if file != nil {
		to = file
	}
	w := assert.Must(journal.NewWriter(to, plan()))(t)
	return w
}

// there are the names of the files in a directory.
func there(dir string) []string {
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	return metrics.Each(all, func(path string) string { return filepath.Base(path) })
}

// A result whose directory vanishes goes to the next best place, and last to standard output.
func TestVanishedDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	s, _ := reserve(t, Options{Result: true, Dir: "gone", Name: "r.json"})
	// nor can it be made again
	assert.Fine(t, errors.Join(os.RemoveAll("gone"), os.WriteFile("gone", nil, 0o644)))
	empty := written(t, nil)
	var out bytes.Buffer
	nowhere := &Saving{Path: filepath.Join("gone", "x.json")}
	t.Setenv("TMPDIR", "gone")
	t.Setenv("XDG_STATE_HOME", "gone")
	if path, err := nowhere.Finish(emptyReport(), empty, &out); path != "standard output" || err == nil ||
		!json.Valid(bytes.TrimSuffix(out.Bytes(), []byte("\n"))) || !bytes.HasSuffix(out.Bytes(), []byte("}\n")) {
		t.Errorf("saved to %q (%v), %q", path, err, out.String())
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	path, err := s.Finish(emptyReport(), empty, nil)
	if _, err := ReadReport(path); err != nil {
		t.Errorf("the journal beside it cannot be read: %s", err)
	}
	if want := filepath.Join(os.Getenv("XDG_STATE_HOME"), "benchtop", "r.json"); path != want || err == nil {
		t.Errorf("saved to %s (%v), want %s and a word about why", path, err, want)
	}
}

// A directory that is deleted under a run is made again, and the journal in it is whole.
func TestDeletedDirectory(t *testing.T) {
	for _, append := range []bool{false, true} {
		t.Chdir(t.TempDir())
		s, written := reserve(t, Options{Result: !append, Append: append, Dir: "deleted", Name: "r.json"})
		assert.Fine(t, errors.Join(os.RemoveAll("deleted"), written.Close()))
		path := assert.Must(s.Finish(emptyReport(), written, nil))(t)
		assert.Equal(t, path, filepath.Join("deleted", "r.json"), "saved to")
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("the result: %v, %v", info, err)
		}
		if err := s.Pack(written); err != nil {
			t.Error(err)
		}
		assert.Equal(t, assert.Must(ReadReport(s.JournalName+".gz"))(t).Plan.ModelID, "m", "the journal: model")
	}
}

// A place that cannot be looked at is refused at once, as wrong usage, and nothing is left behind.
func TestRefusedPlaces(t *testing.T) {
	long := strings.Repeat("x", 240)
	for _, c := range []struct {
		name    string
		options Options
		fails   string
	}{
		{"pictures' names too long", Options{Result: true, Name: long + ".json"},
			"file name too long; choose another place with --result-dir, or --no-save"},
		{"name too long", Options{Result: true, Name: long + long}, "file name too long"},
		{"name too long to append", Options{Append: true, Name: long}, "file name too long"},
		{"directory's name too long", Options{Result: true, Dir: long + long, Name: "r.json"}, "file name too long"},
		{"name to come", Options{Result: true, Dir: "loop"},
			"create loop/result.json: too many levels of symbolic links"},
		{"loop", Options{Result: true, Name: "loop"}, "create loop: too many levels of symbolic links"},
		{"loop for a directory", Options{Result: true, Dir: "loop", Name: "r.json"},
			"too many levels of symbolic links"},
		{"nowhere for a directory", Options{Result: true, Dir: "nowhere", Name: "r.json"},
			"create nowhere/r.json: no such file or directory"},
		{"file for a directory", Options{Append: true, Dir: "file/x", Name: "r.json"},
			"create file/x/r.json: not a directory"},
		{"directory for a file", Options{Result: true, Name: "dir"},
			"cannot save the result: dir: a directory; name a file in it"},
		{"standard output", Options{Output: "/dev/stdout"},
			"--output-json: /dev/stdout: not a regular file; choose another file"},
		{"descriptor", Options{Output: "/dev/fd/1"}, "/dev/fd/1: not a regular file"},
		{"device", Options{Result: true, Name: os.DevNull}, os.DevNull + ": not a regular file"},
		{"file of another flag", Options{Output: "loop"},
			"--output-json: create loop: too many levels of symbolic links; choose another file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			plant(t, map[string]string{"file": ""})
			assert.Fine(t, errors.Join(os.Symlink("loop", "loop"), os.Symlink("none", "nowhere"),
				os.Mkdir("dir", 0o755)))
			early := c.options.Look(false)
			_, err := c.options.Reserve(plan())
			for _, err := range []error{early, err} {
				if err == nil || !errors.As(err, new(usage.Error)) {
					t.Errorf("%v is no wrong usage", err)
				}
			}
			if early != nil && !strings.Contains(early.Error(), c.fails) {
				t.Errorf("%v, want %q", early, c.fails)
			}
			assert.EqualAll(t, there("."), []string{"dir", "file", "loop", "nowhere"}, "left behind")
			if got, _ := filepath.Glob(".*"); len(got) > 0 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
	if err := (&Options{Never: true, Unasked: true, Name: long + long}).Look(false); err != nil {
		t.Errorf("nothing is saved, but %v", err)
	}
	if (&Options{Name: long + long}).Look(true) == nil {
		t.Error("pictures have no place, and it is not said")
	}
}

// An older result in the next best place whose names have no room for a suffix stays, and this one gets a number.
func TestOlderResultStays(t *testing.T) {
	dir, name := t.TempDir(), strings.Repeat("x", 240)+".json"
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_STATE_HOME", "")
	path, err := (&Saving{Path: filepath.Join(os.DevNull, name)}).Finish(emptyReport(), written(t, nil), nil)
	if path != filepath.Join(dir, name) || err == nil {
		t.Errorf("saved to %s, %v", path, err)
	}
}

// Where the result's own place takes nothing, an older result in the next place is moved aside, or left alone with
// --no-clobber.
func TestOlderResultElsewhere(t *testing.T) {
	for _, c := range []struct {
		name      string
		noClobber bool
		path      string
		moved     string
		files     []string
	}{
		{"moved aside", false, "r.json", "r.json.~1~", []string{"r.json", "r.json.~1~", "r.jsonl", "r.jsonl.gz.~1~"}},
		{"left alone", true, "r-1.json", "", []string{"r-1.json", "r-1.jsonl", "r.json", "r.jsonl.gz"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plant(t, map[string]string{"r.json": "older", "r.jsonl.gz": "older"})
			dir, _ := os.Getwd()
			plant(t, map[string]string{"gone": ""})
			t.Setenv("TMPDIR", dir)
			t.Setenv("XDG_STATE_HOME", "")
			s := &Saving{Path: filepath.Join("gone", "r.json"), noClobber: c.noClobber}
			path, err := s.Finish(emptyReport(), written(t, nil), nil)
			if want := filepath.Join(dir, c.path); path != want || err == nil {
				t.Errorf("saved to %s (%v), want %s and a word about why", path, err, want)
			}
			assert.EqualAll(t, there(dir), c.files, "files")
			older := map[bool]string{true: c.moved, false: "r.json"}[c.moved != ""]
			if data, err := os.ReadFile(filepath.Join(dir, older)); string(data) != "older" {
				t.Errorf("%s: %q, %v", older, data, err)
			}
			if got := strings.Join(s.Notes(), "\n"); c.moved != "" &&
				got != "an older result of the same name is now "+filepath.Join(dir, c.moved) ||
				c.moved == "" && got != "" {
				t.Errorf("said %q", got)
			}
			assert.Fine(t, assert.Failure(ReadReport(path)))
		})
	}
}

// A place that refused the result is not tried again as the next best one.
func TestOtherPlaces(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_STATE_HOME", state)
	for path, want := range map[string][]string{
		filepath.Join("x", "r.json"): {filepath.Join(state, "benchtop", "r.json"),
			filepath.Join(dir, "r.json")},
		filepath.Join(dir, "r.json"):               {filepath.Join(state, "benchtop", "r.json")},
		filepath.Join(state, "benchtop", "r.json"): {filepath.Join(dir, "r.json")},
	} {
		assert.EqualAll(t, (&Saving{Path: path}).fallbacks(), want, "%s", path)
	}
}

// A run that goes on holds its name, by the lock on its journal.
func TestNameInUse(t *testing.T) {
	t.Chdir(t.TempDir())
	one, _ := reserve(t, Options{Result: true, Name: "busy.json"})
	two := assert.Must((&Options{Result: true, Name: "busy.json"}).Reserve(plan()))(t)
	assert.Equal(t, two.Path, "busy-1.json", "Path")
	two.Discard()
	one.Discard()
	if files := there("."); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A result so far is read from the journal of its run, unless it has one of its own.
func TestJournalOfTheRunSoFar(t *testing.T) {
	plant(t, map[string]string{"a.json": "", "a-so-far.json": "", "a.jsonl.gz": "", "b-so-far.json": "", "b.jsonl": "",
		"c-so-far.json": "", "c-so-far.jsonl": "", "c.jsonl": "", "d-so-far.json": ""})
	for file, want := range map[string]string{"a-so-far.json": "a.jsonl.gz", "a.json": "a.jsonl.gz",
		"b-so-far.json": "b.jsonl", "c-so-far.json": "c-so-far.jsonl"} {
		assert.Equal(t, assert.Must(findJournal(file))(t), want, "%s", file)
	}
	assert.Complains(t, assert.Failure(findJournal("d-so-far.json")), "no journal beside it")
}

// A baseline is the run as it was when it was saved.
func TestBaselineSoFar(t *testing.T) {
	plant(t, map[string]string{"a-so-far.json": `{"completed": 7, "duration": 2}`, "a.jsonl": "the whole run\n"})
	assert.Equal(t, assert.Must(ReadReport("a-so-far.json"))(t).Completed, 7, "ReadReport")
}

// A run reserves its places before it starts, or is refused.
func TestReserve(t *testing.T) {
	started := plan()
	started.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for _, c := range []struct {
		name    string
		options Options
		there   string   // a file beforehand
		fails   string   // part of the error
		files   []string // afterwards
	}{
		{"not saved", Options{Never: true, Unasked: true}, "", "", nil},
		{"nobody asked", Options{}, "", "", nil},
		{"unasked", Options{Unasked: true}, "", "", []string{"benchtop-results"}},
		{"named", Options{Result: true, Name: "r.json"}, "", "", []string{"r.json", "r.jsonl"}},
		{"named without an ending", Options{Result: true, Name: "r"}, "", "", []string{"r", "r.jsonl"}},
		{"older picture", Options{Result: true, Name: "r.json"}, "r.timeline.html", "",
			[]string{"r.json", "r.jsonl", "r.timeline.html.~1~"}},
		{"no clobber", Options{Result: true, Name: "r.json", NoClobber: true}, "r.jsonl.gz",
			"r.jsonl.gz exists and --no-clobber is set", []string{"r.jsonl.gz"}},
		{"directory", Options{Result: true, Dir: "..", Name: "."}, "", ": a directory; name a file in it", nil},
		{"file for a directory", Options{Result: true, Dir: "x", Name: "r.json"}, "x",
			"choose another place with --result-dir", []string{"x"}},
		{"appended", Options{Append: true, Name: "all.json"}, "all.json", "",
			[]string{"all-20260102-030405.jsonl", "all.json"}},
		{"appended twice a second", Options{Append: true, Name: "all.json"}, "all-20260102-030405.jsonl.gz", "",
			[]string{"all-20260102-030405-2.jsonl", "all-20260102-030405.jsonl.gz", "all.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plant(t, map[string]string{c.there: "older"})
			s, err := c.options.Reserve(started)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			assert.EqualAll(t, there("."), c.files, "files")
			if err == nil {
				s.Discard()
			}
		})
	}
}

// A result is found by its own name and by its journal's, packed or not, and many are appended to one file.
func TestSavedAndRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 2 {
		s, written := reserve(t, Options{Append: true, Name: "all.json"})
		assert.Fine(t, written.Close())
		assert.Equal(t, assert.Must(s.Finish(emptyReport(), written, nil))(t), "all.json", "saved to")
		if err := s.Pack(written); err != nil {
			t.Error(err)
		}
		if data, _ := os.ReadFile("all.json"); bytes.Count(data, []byte("\n")) != i {
			t.Errorf("run %d: %q", i, data)
		}
		if run, err := ReadRun(s.JournalName); err != nil || run == nil {
			t.Error(err)
		}
	}
	if _, err := ReadRun("all.json"); err == nil ||
		!strings.Contains(err.Error(), "all.json holds several runs; name the journal of one: all-") {
		t.Errorf("of many runs: %v", err)
	}
	if _, err := ReadReport("."); err == nil || !strings.HasPrefix(err.Error(), ". is a directory; name a result") {
		t.Errorf("of a directory: %v", err)
	}
	(&Options{}).Define(pflag.NewFlagSet("", pflag.ContinueOnError))
	for _, bad := range []Options{{Never: true, Append: true}, {Result: true, Name: "r.jsonl.gz"}} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

// A file that was not finished leaves nothing, and one that was stands in its place.
func TestWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	var out strings.Builder
	if err := WriteTo(&out).Finish(nil); err != nil || (*Whole)(nil).Finish(io.EOF) != io.EOF {
		t.Error(err)
	}
	for _, c := range []struct {
		err  error
		want []string
	}{{io.ErrUnexpectedEOF, nil}, {nil, []string{"x"}}} {
		w := assert.Must(OpenWhole(t.Context(), "x"))(t)
		if _, err := w.WriteString("text"); err != nil {
			t.Error(err)
		}
		if err := w.Finish(c.err); err != c.err {
			t.Errorf("got %v, want %v", err, c.err)
		}
		assert.EqualAll(t, there("."), c.want, "files")
	}
	if _, err := OpenWhole(t.Context(), "none/x"); err == nil || !strings.HasPrefix(err.Error(), "create none/x: ") {
		t.Errorf("got %v", err)
	}
}
