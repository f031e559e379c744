package calibration

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
)

func full(t testing.TB) *Calibration {
	t.Helper()
	plan := campaignOf([]int{1000, 2500}, 10e3, 20e3)
	c := plan.run(t.Context(), (&machineModel{exact: 15000, punctual: 5000}).tools())
	c.Version = "v1.2.3"
	return c
}

func TestRecordRoundTrip(t *testing.T) {
	c := full(t)
	path := filepath.Join(t.TempDir(), "new", "calibration.json")
	for range 2 { // the second replaces the first
		assert.Fine(t, c.Write(path))
	}
	got := assert.Must(ReadRecord(path))(t)
	if !got.When.Equal(c.When) || !got.Matches() {
		t.Errorf("read %v of %+v, this is %v of %+v", got.When, got.Machine, c.When, thisMachine())
	}
	got.When = c.When
	if !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v\nwant %+v", got, c)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	if runtime.GOOS != "windows" {
		file, _ := os.Stat(path)
		dir, _ := os.Stat(filepath.Dir(path))
		if file.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 {
			t.Errorf("others may look: file %v, directory %v", file.Mode(), dir.Mode())
		}
	}
}

// A failed write leaves the old record as it was, and no other file.
func TestRecordNotWritten(t *testing.T) {
	dir := t.TempDir()
	assert.Fine(t, os.Mkdir(filepath.Join(dir, "calibration.json"), 0o700))
	if err := full(t).Write(filepath.Join(dir, "calibration.json")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

func TestOtherMachines(t *testing.T) {
	for name, change := range map[string]func(*Machine){
		"system":     func(m *Machine) { m.OS += "x" },
		"processor":  func(m *Machine) { m.CPU += "x" },
		"kind":       func(m *Machine) { m.Arch += "x" },
		"cores":      func(m *Machine) { m.Cores++ },
		"GOMAXPROCS": func(m *Machine) { m.GOMAXPROCS-- },
	} {
		c := &Calibration{Machine: thisMachine()}
		if !c.Matches() {
			t.Error("this machine is another")
		}
		if change(&c.Machine); c.Matches() {
			t.Errorf("a machine with another %s is this one", name)
		}
	}
}

func TestBadRecords(t *testing.T) {
	assert.Is(t, assert.Failure(ReadRecord(filepath.Join(t.TempDir(), "none"))), fs.ErrNotExist)
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", "no calibration"},
		"something else": {`{"a":1}`, "format 0"},
		"the past":       {`{"benchtop_calibration":1,"figures":{"most_requests_per_s":8000}}`, "format 1, expected 2"},
		"the future":     {`{"benchtop_calibration":3}`, "format 3"},
		"negative":       {`{"benchtop_calibration":2,"figures":{"most_open_streams":-1}}`, "a figure is -1"},
		"absurd":         {`{"benchtop_calibration":2,"figures":{"most_chunks_per_s":1e300}}`, "a figure is 1e+300"},
		"without pause": {`{"benchtop_calibration":2,"figures":{"without_pause_requests_per_s":-2}}`,
			"a figure is -2"},
		"endless":    {strings.Repeat(" ", mostRecord+1), "larger than"},
		"wrong type": {`{"benchtop_calibration":2,"figures":[]}`, "no calibration"},
	} {
		path := filepath.Join(t.TempDir(), "calibration.json")
		assert.Fine(t, os.WriteFile(path, []byte(c.text), 0o600))
		if _, err := ReadRecord(path); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "benchtop calibrate") {
			t.Errorf("%s: %v, want %q and what to do", name, err, c.want)
		}
	}
}

// The name of every bare number has its unit, or the number is a count.
func TestJSONNames(t *testing.T) {
	var out bytes.Buffer
	assert.Fine(t, full(t).JSON(&out))
	counts := regexp.MustCompile(
		`^(benchtop_calibration|n|cores|gomaxprocs|users|rounds|requests|failed|chunks|streams|asked_streams|` +
			`most_streams|most_open_streams|` +
			`early|unmatched|seconds|pairs|cpu_ratio|.*_share|allocs_per_chunk|bytes_per_stream)$`)
	units := regexp.MustCompile(`_(s|us|ns|bytes_per_s)$`)
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				walk(k, x)
			}
		case []any:
			for _, x := range v {
				walk(name, x)
			}
		case float64:
			if !counts.MatchString(name) && !units.MatchString(name) {
				t.Errorf("%s has no unit", name)
			}
		}
	}
	var v any
	assert.Fine(t, json.Unmarshal(out.Bytes(), &v))
	walk("", v)
}

func FuzzReadRecord(f *testing.F) {
	var out bytes.Buffer
	assert.Fine(f, full(f).JSON(&out))
	f.Add(out.Bytes())
	f.Add([]byte(`{"benchtop_calibration":2,"figures":{"most_open_streams":1e3,"stamp_error":{"p99_us":1e300}}}`))
	f.Add([]byte(`{"benchtop_calibration":2,"when":"2026-01-02T03:04:05Z","figures":{"open_streams_steps":[{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseRecord(data)
		if err != nil {
			return
		}
		// The methods work with any record.
		_ = c.Matches()
		for _, s := range c.Beyond(PlannedLoad{1e6, 1e6, 1e6}) {
			if len(s) > 400 {
				t.Errorf("a warning of %d bytes", len(s))
			}
		}
		var again bytes.Buffer
		assert.Fine(t, c.JSON(&again))
		if _, err := parseRecord(again.Bytes()); err != nil && again.Len() <= mostRecord {
			t.Errorf("written again it cannot be read: %v", err)
		}
		_ = c.Text(&again)
	})
}

func TestText(t *testing.T) {
	c := full(t)
	c.When, c.Seconds, c.Machine = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local), 61.4,
		Machine{"linux", "amd64", "Some CPU @ 2 GHz", 2, 2}
	c.Complete, c.Quick = false, true
	c.Figures.Streams[0].Plateau = 1000
	c.Figures.Lateness[1].Lateness.P99 = 5 * time.Millisecond
	c.Figures.Problems = []Problem{{"open streams, 20,000", "too few files\nraise the limit"}}
	var text strings.Builder
	assert.Fine(t, c.Text(&text))
	assert.Has(t, text.String(),
		"benchtop calibrate, 2026-01-02 03:04, 61 s, quick\nlinux/amd64, Some CPU @ 2 GHz, 2 cores, GOMAXPROCS 2\n",
		"Requests/s: closed loop of 64 users, then random arrivals; answers of one chunk\n"+
			"      asked/s  requests/s   late p50   late p99  CPU/request\n"+
			"  closed loop       8,000          -          -            -   maximum, in 3 rounds, 8,000 to 8,000\n"+
			"        2,000       2,000      50 us     200 us       0.0 us   exact\n",
		"        5,600       5,600      50 us      20 ms       0.0 us   p99 send delay 20 ms\n",
		"can measure up to 4,000 requests/s, ",
		"      1,000      5,000      1,000     2.0 us     9.0 us     0.00 %     0.0 us   exact, but the server sends "+
			"no more\n", "stamps off by 3,000 us (p99)\n",
		"Not measured\n  open streams, 20,000: too few files\n    raise the limit\n",
		"INCOMPLETE", "with nothing to send, p99 arrival delay was 5,000 us.\nCalibrate again",
		"and 12,500 chunks/s; chunks are timed to 3,000 us (p99).\n")
	for line := range strings.Lines(text.String()) {
		if len(line) > 121 && !strings.HasPrefix(line, "This machine") {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	if i := strings.IndexFunc(text.String(), func(r rune) bool { return r > '~' }); i >= 0 {
		t.Errorf("not ASCII: %q", text.String()[i:i+4])
	}
}

// A calibration takes the place of one that is no better.
func TestWorse(t *testing.T) {
	make := func(change func(c *Calibration)) *Calibration {
		c := &Calibration{Complete: true, Machine: thisMachine(), When: time.Date(2026, 5, 1, 12, 0, 0, 0, time.Local)}
		c.Figures.Timestamps = "kernel"
		change(c)
		return c
	}
	same := func(*Calibration) {}
	quick := func(c *Calibration) { c.Quick = true }
	late := func(c *Calibration) { c.Figures.Lateness = []LatenessRun{{Lateness: Quantiles{P99: disturbedFrom}}} }
	inexact := func(c *Calibration) { c.Figures.StampError.P99 = mostError + 1 }
	for _, c := range []struct {
		name        string
		now, before func(*Calibration)
		stays       string
	}{
		{"another of the kind", same, same, ""},
		{"quick after full", quick, same, "the full calibration of 2026-05-01 stays; a quick one does not replace it"},
		{"full after quick", same, quick, ""},
		{"disturbed", late, same, "the calibration of 2026-05-01 stays; this one was disturbed"},
		{"inexact", inexact, same, "the calibration of 2026-05-01 stays; this one was disturbed"},
		{"both disturbed", late, inexact, ""},
		{"quick on another machine", quick, func(c *Calibration) { c.Machine.Cores++ }, ""},
		{"quick after one that was cut short", quick, func(c *Calibration) { c.Complete = false }, ""},
	} {
		assert.Equal(t, make(c.now).Worse(make(c.before)), c.stays, "%s", c.name)
	}
}
