package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchtop/internal/assert"
	"benchtop/internal/calibration"
	"benchtop/internal/metronome"
	"benchtop/internal/session"
)

func TestCalibrateUsage(t *testing.T) {
	benchtop("calibrate", "--quik", "--json", filepath.Join("no", "such", "dir", "x.json"), "now").expect(t,
		session.ExitUsage,
		"--quik: unknown flag (did you mean quick?)", "there is no directory",
		`calibrate takes no arguments, got ["now"]`)
	benchtop("calibrate", "--json").expect(t, session.ExitUsage, "--json: a value is missing")
	help := benchtop("calibrate", "--help")
	help.expect(t, session.ExitFine, "usage: benchtop calibrate [flags]", "--quick", "--json", "--no-save",
		"'benchtop metronome'")
	for line := range strings.Lines(help.stdout) {
		if len(line) > 121 {
			t.Errorf("a line of the help is too long: %q", line)
		}
	}
}

// tiny is a campaign that a slow and busy machine does in a second or two. Nothing of what it finds is certain.
func tiny() calibration.Campaign {
	c := calibration.Quick()
	c.Users, c.RoundTime = 2, 50*time.Millisecond
	c.Streams, c.StreamTime = []int{4}, 50*time.Millisecond
	c.ChunkRates, c.ChunkStreams, c.ChunkTime = []float64{100}, 4, 50*time.Millisecond
	c.StampStreams, c.StampTime = 4, 50*time.Millisecond
	c.Paced, c.Sent, c.ArrivalTime = []float64{200}, []float64{100}, 50*time.Millisecond
	return c
}

// metronomed runs a metronome in this process.
func metronomed(t *testing.T) (url string) {
	t.Helper()
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s, done := metronome.New(), make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("the metronome ended with %v", err)
		}
		<-done
	})
	return "http://" + l.Addr().String()
}

// calibrated is a tiny calibration.
func calibrated(ctx context.Context, o calibrateOptions, url string) result {
	var out, trouble bytes.Buffer
	env := &session.Environment{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &trouble}
	code := o.calibrate(ctx, env, tiny(), url)
	return result{code, out.String(), trouble.String()}
}

// Everything is measured, shown, written and kept, and a load beyond it is warned of.
func TestCalibrate(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	if w := session.CalibrationWarnings(calibration.PlannedLoad{Streams: 1e9}); w != nil {
		t.Errorf("warnings %q without a calibration", w)
	}
	url := metronomed(t)
	file := filepath.Join(t.TempDir(), "figures.json")
	r := calibrated(t.Context(), calibrateOptions{json: file}, url)
	r.expect(t, session.ExitFine, "benchtop calibrate, ", "Requests/s: closed loop of 2 users", "Open streams",
		"Chunks/s", "Stamps against the server's own log", "Lateness of arrivals",
		"Dashboard", "[1/5] requests/s", "[5/5] lateness", "saved in "+state)
	kept := filepath.Join(state, "benchtop", "calibration.json")
	c := assert.Must(calibration.ReadRecord(kept))(t)
	f := c.Figures
	if !c.Complete || !c.Matches() || c.Version == "" || f.RequestsPerSecond <= 0 || len(f.Streams) == 0 ||
		len(f.Chunks) == 0 || len(f.Stamps) == 0 ||
		f.StampError.N == 0 || len(f.Lateness) != 2 || f.Dashboard == nil || f.Dashboard.DrawnBytes <= 0 ||
		len(f.Problems) > 0 {
		t.Errorf("kept: %+v", c)
	}
	written := assert.Must(os.ReadFile(file))(t)
	if same, _ := os.ReadFile(kept); !bytes.Equal(same, written) {
		t.Errorf("written\n%s\nkept\n%s", written, same)
	}
	if w := session.CalibrationWarnings(calibration.PlannedLoad{RequestsPerSecond: f.RequestsPerSecond + 1}); len(w) !=
		1 || !strings.Contains(w[0], "requests/s") {
		t.Errorf("warnings %q", w)
	}
	if w := session.CalibrationWarnings(calibration.PlannedLoad{RequestsPerSecond: f.RequestsPerSecond}); w != nil {
		t.Errorf("warnings %q", w)
	}
	// A calibration of another machine gives no warning.
	c.Machine.Cores++
	assert.Fine(t, c.Write(kept))
	if w := session.CalibrationWarnings(calibration.PlannedLoad{RequestsPerSecond: 1e9}); w != nil {
		t.Errorf("warnings %q from another machine", w)
	}
}

// With --json - standard output is the figures alone; with --no-save nothing is kept.
func TestCalibrateToStandardOutput(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	r := calibrated(t.Context(), calibrateOptions{json: "-", noSave: true}, metronomed(t))
	r.expect(t, session.ExitFine)
	var c calibration.Calibration
	if err := json.Unmarshal([]byte(r.stdout), &c); err != nil || !c.Complete {
		t.Errorf("%v in %q", err, r.stdout)
	}
	assert.Has(t, r.stderr, "Requests/s: closed loop of 2 users")
	if files, _ := os.ReadDir(state); len(files) != 0 {
		t.Errorf("kept: %v", files)
	}
}

// A place that cannot be written does not cost the table.
func TestCalibrationNotKept(t *testing.T) {
	state := filepath.Join(t.TempDir(), "file")
	assert.Fine(t, os.WriteFile(state, nil, 0o600))
	t.Setenv("XDG_STATE_HOME", state)
	calibrated(t.Context(), calibrateOptions{}, metronomed(t)).expect(t, session.ExitFailed,
		"Requests/s: closed loop of 2 users", "the calibration is not saved", "--no-save")
}

// A calibration without a measurement fails, and nothing is kept.
func TestNothingCalibrated(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	url := "http://" + l.Addr().String()
	l.Close()
	o := calibrateOptions{}
	var out, trouble bytes.Buffer
	plan := tiny()
	plan.Paced = nil // without a server
	code := o.calibrate(t.Context(), &session.Environment{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &trouble},
		plan, url)
	r := result{code, out.String(), trouble.String()}
	r.expect(t, session.ExitFailed, "Not measured", "requests/s: ", "refused", "Nothing could be measured")
	if files, _ := os.ReadDir(state); len(files) != 0 {
		t.Errorf("kept: %v", files)
	}
}

// One that was ended is shown as far as it came, and not kept.
func TestCalibrationEnded(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calibrated(ctx, calibrateOptions{}, metronomed(t)).expect(t, session.ExitFine, "INCOMPLETE",
		"Nothing could be measured", "not saved")
	if files, _ := os.ReadDir(state); len(files) != 0 {
		t.Errorf("kept: %v", files)
	}
}

// A relative directory would be another one each time, so that it does not count.
func TestCalibrationPath(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "state")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("USERPROFILE", os.Getenv("HOME"))
	path, err := session.CalibrationPath()
	if want := filepath.Join(os.Getenv("HOME"), ".local", "state", "benchtop", "calibration.json"); path != want ||
		err != nil {
		t.Errorf("%s (%v), want %s", path, err, want)
	}
}
