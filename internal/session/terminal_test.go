package session

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"benchtop/export"
	"benchtop/internal/spec"
	"benchtop/metrics"
	"benchtop/tui"
)

// fullDisk takes some bytes; its Close fails if told so.
type fullDisk struct {
	room    int
	closing error
}

func (f *fullDisk) Write(b []byte) (int, error) {
	if f.room < len(b) {
		return 0, &os.PathError{Op: "write", Path: "run.cast", Err: errors.New("disk full")}
	}
	f.room -= len(b)
	return len(b), nil
}

func (f *fullDisk) Close() error { return f.closing }

// A failed recording is reported once during the run and once at its end; closing the file may fail too.
func TestCastFile(t *testing.T) {
	const full, closing = "--record run.cast: disk full; the recording is truncated",
		"--record: close failed; the recording is truncated"
	for _, c := range []struct {
		name      string
		disk      fullDisk
		told, end []string
	}{
		{"room for all", fullDisk{room: 9}, nil, nil},
		{"no room midway", fullDisk{room: 4}, []string{full}, []string{full}},
		{"its end", fullDisk{room: 9, closing: errors.New("close failed")}, nil, []string{closing}},
		{"both", fullDisk{closing: errors.New("close failed")}, []string{full}, []string{full}},
	} {
		var told []string
		f := &castFile{to: &c.disk}
		f.tells(func(words string) { told = append(told, words) })
		for range 3 {
			_, _ = f.Write([]byte("abc"))
		}
		f.Close()
		if _, err := f.Write(nil); err == nil {
			t.Errorf("%s: it takes more when it is closed", c.name)
		}
		if !slices.Equal(told, c.told) || !slices.Equal(f.trouble(), c.end) {
			t.Errorf("%s: told %q, at the end %q; want %q, %q", c.name, told, f.trouble(), c.told, c.end)
		}
	}
	if words := (*castFile)(nil).trouble(); words != nil {
		t.Errorf("no recording, and %q", words)
	}
}

// The page of the report begins with the answer, and a narrow one has no plots.
func TestReportPage(t *testing.T) {
	r := metrics.Report{Plan: metrics.Plan{Backend: "openai", ModelID: "m", Command: []string{"serve"}}}
	r.Plan.Spec = []metrics.Setting{{Flag: "model", Values: []string{"m"}}}
	var printed strings.Builder
	if err := PrintReport(&printed, r, &tui.Baseline{Name: "old.json", Report: &r}, false); err != nil ||
		!strings.Contains(printed.String(),
			"\nThe baseline old.json has no requests to compare with.\n\nRepeat with: benchtop serve --model=m\n") {
		t.Errorf("%v: %s", err, &printed)
	}
	wide, narrow := reportPage(&r, 100), reportPage(&r, 60)
	if answer := export.Answer(r); !strings.HasPrefix(wide, answer) || !strings.HasPrefix(narrow, answer) ||
		len(narrow) > len(wide) {
		t.Errorf("wide:\n%s\nnarrow:\n%s", wide, narrow)
	}
	o := spec.Screen{Bandwidth: 20, Theme: "x", Exit: true}
	if got := DashboardOptions(&o, nil, nil); got.Bandwidth != 20_000 || got.Theme != "x" || !got.Exit {
		t.Errorf("%+v", got)
	}
}
