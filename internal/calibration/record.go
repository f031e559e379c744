package calibration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"benchtop/internal/telemetry"
)

// Calibration is what a client could measure on a machine.
type Calibration struct {
	// Format of the file, recordFormat when written by this version.
	Format int `json:"benchtop_calibration"`
	// Version of the program and When it measured.
	Version string    `json:"version"`
	When    time.Time `json:"when"`
	// Quick is a campaign with fewer and shorter measurements; one that is not Complete was cut short.
	Quick    bool    `json:"quick"`
	Complete bool    `json:"complete"`
	Seconds  float64 `json:"duration_s"`
	Machine  Machine `json:"machine"`
	Figures  Figures `json:"figures"`
}

// Machine is where a calibration holds: on another one, or with other cores, it says nothing.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// CPU is the model's name, "" where the system does not tell.
	CPU string `json:"cpu"`
	// Cores that the process may run on, and how many of them Go uses at one time, which a limit on CPU time lowers.
	Cores      int `json:"cores"`
	GOMAXPROCS int `json:"gomaxprocs"`
}

// ThisMachine is the machine this process runs on.
func ThisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: telemetry.CPUModel(), Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0)}
}

// Matches reports whether the calibration was made on this machine, with the cores it has now.
func (c *Calibration) Matches() bool { return c.Machine == ThisMachine() }

// recordFormat rises when a figure changes its meaning; mostRecord bounds what is read of a file that may be anything.
const (
	recordFormat = 2
	mostRecord   = 1 << 20
)

// ReadRecord reads a calibration that Write left behind. The error is fs.ErrNotExist if there is none.
func ReadRecord(path string) (*Calibration, error) {
	// A pipe in its place would be waited for.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file; remove it", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostRecord+1))
	if err != nil {
		return nil, err
	}
	c, err := parseRecord(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; 'benchtop calibrate' makes it anew", path, err)
	}
	return c, nil
}

// parseRecord reads foreign bytes: what it returns can be compared and printed without a second look.
func parseRecord(data []byte) (*Calibration, error) {
	if len(data) > mostRecord {
		return nil, fmt.Errorf("larger than %d bytes", mostRecord)
	}
	var c Calibration
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("no calibration: %w", err)
	}
	if c.Format != recordFormat {
		return nil, fmt.Errorf("a calibration of format %d, expected %d", c.Format, recordFormat)
	}
	const most = 1e12 // of anything a second, far beyond what a machine can do
	for _, v := range []float64{c.Figures.RequestsPerSecond, c.Figures.WithoutPause, c.Figures.OpenStreams, c.Figures.ChunksPerSecond} {
		if !(v >= 0 && v <= most) {
			return nil, fmt.Errorf("a figure is %v, expected 0 to %g", v, most)
		}
	}
	return &c, nil
}

// Write stores the calibration: a whole file under its name, or what was there before. Directories that are missing are made,
// for the user alone.
func (c *Calibration) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // readable for the user alone
	if err != nil {
		return err
	}
	err = errors.Join(c.JSON(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// JSON writes all figures; the names of bare numbers end in their unit.
func (c *Calibration) JSON(w io.Writer) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// rounded keeps figures readable where more digits would only be noise.
func rounded(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}
