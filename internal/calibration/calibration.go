// Package calibration measures the client itself: it runs a load against a metronome in another process and compares
// the client's measurements with the server's log.
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

// Calibration has the highest loads that a client can measure on a machine.
type Calibration struct {
	// Format of the file, recordFormat in this version.
	Format int `json:"benchtop_calibration"`
	// Version of the program and time of the measurement.
	Version string    `json:"version"`
	When    time.Time `json:"when"`
	// Quick is a campaign with fewer and shorter measurements; one that is not Complete was cut short.
	Quick    bool    `json:"quick"`
	Complete bool    `json:"complete"`
	Seconds  float64 `json:"duration_s"`
	Machine  Machine `json:"machine"`
	Figures  Figures `json:"figures"`
}

// Machine is the machine of a calibration, which is invalid on another one, or with other cores.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// CPU is the model's name, "" where the system does not report it.
	CPU string `json:"cpu"`
	// Cores that the process may run on, and GOMAXPROCS, which a limit on CPU time lowers.
	Cores      int `json:"cores"`
	GOMAXPROCS int `json:"gomaxprocs"`
}

// thisMachine is the machine this process runs on.
func thisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: telemetry.CPUModel(), Cores: runtime.NumCPU(),
		GOMAXPROCS: runtime.GOMAXPROCS(0)}
}

// Matches reports whether the calibration was made on this machine, with the cores it has now.
func (c *Calibration) Matches() bool { return c.Machine == thisMachine() }

// recordFormat rises when a figure changes its meaning; mostRecord limits the size of a file.
const (
	recordFormat = 2
	mostRecord   = 1 << 20
)

// ReadRecord reads a calibration that Write stored. The error is fs.ErrNotExist if there is none.
func ReadRecord(path string) (*Calibration, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // reading a pipe would block
		return nil, fmt.Errorf("%s is not a file; remove it", path)
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

// parseRecord reads foreign bytes: its result can be compared and printed without further checks.
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
	const most = 1e12 // of anything a second, far beyond any machine
	for _, v := range []float64{c.Figures.RequestsPerSecond, c.Figures.WithoutPause, c.Figures.OpenStreams,
		c.Figures.ChunksPerSecond} {
		if !(v >= 0 && v <= most) {
			return nil, fmt.Errorf("a figure is %v, expected 0 to %g", v, most)
		}
	}
	return &c, nil
}

// Write stores the calibration as a whole file; after an error the old file is untouched. It creates missing
// directories, for the user only.
func (c *Calibration) Write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // readable for the user only
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
	to := json.NewEncoder(w)
	to.SetIndent("", "  ")
	return to.Encode(c)
}

// rounded cuts digits that are only noise.
func rounded(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}

// Limits of an exact measurement of chunks; mostLate is the limit for requests. The error of 99 % of the chunks' stamps
// is at most mostError, and at most mostShared of the chunks share a stamp with the one before.
const (
	mostError  = time.Millisecond
	mostShared = 0.01
)

// Figures are the results of a campaign. Those that could not be measured are 0 or empty, and Problems has the reasons.
type Figures struct {
	// The highest figures of all exact steps: requests that arrived at a rate and were sent on time, streams and chunks
	// with exact stamps. With MoreStreams and MoreChunks the campaign ended there, not the client.
	RequestsPerSecond float64 `json:"most_requests_per_s"`
	OpenStreams       float64 `json:"most_open_streams"`
	ChunksPerSecond   float64 `json:"most_chunks_per_s"`
	MoreStreams       bool    `json:"more_open_streams_not_tried"`
	MoreChunks        bool    `json:"more_chunks_per_s_not_tried"`
	// WithoutPause is the rate of Users who ask again at once, the median of the rounds. These requests have no time to
	// be late for: it is the highest rate that client and server reach together, not one that can be measured.
	WithoutPause float64 `json:"without_pause_requests_per_s"`
	// StampError at a load that most machines can bear, with the stamps that serve would use.
	StampError Quantiles `json:"stamp_error"`
	Timestamps string    `json:"timestamps"`

	Rounds    []RequestRound `json:"request_rounds"`
	Rates     []RateStep     `json:"request_rate_steps"`
	Streams   []Step         `json:"open_streams_steps"`
	Chunks    []Step         `json:"chunks_per_s_steps"`
	Stamps    []StampRun     `json:"stamps"`
	Lateness  []LatenessRun  `json:"lateness"`
	Dashboard *Dashboard     `json:"dashboard"`
	Problems  []Problem      `json:"problems"`
}

// RequestRound is a closed loop without pauses.
type RequestRound struct {
	Users             int     `json:"users"`
	RequestsPerSecond float64 `json:"requests_per_s"`
}

// RateStep is a rate of requests on the way to the highest.
type RateStep struct {
	// Asked for, and Reached in the time of the arrivals and of the requests after that.
	Asked   float64 `json:"asked_requests_per_s"`
	Reached float64 `json:"reached_requests_per_s"`
	Attempt
}

// Step is a load of open streams on the way to the most of them.
type Step struct {
	// Asked for; Result has the actual values.
	Streams         int     `json:"asked_streams"`
	ChunksPerSecond float64 `json:"asked_chunks_per_s"`
	// Plateau is the rate of chunks while all streams were open.
	Plateau float64 `json:"plateau_chunks_per_s"`
	Attempt
}

// Attempt is the result of a step.
type Attempt struct {
	// Missed is the reason why the step is not exact; "" if it is.
	Missed string `json:"missed"`
	Result Result `json:"result"`
}

func (a Attempt) exact() bool { return a.Missed == "" }

// StampRun is the same load with one kind of stamps, the medians of its rounds.
type StampRun struct {
	Timestamps      string    `json:"timestamps"`
	Streams         int       `json:"streams"`
	ChunksPerSecond float64   `json:"chunks_per_s"`
	Rounds          int       `json:"rounds"`
	Error           Quantiles `json:"error"`
	SharedShare     float64   `json:"shared_share"`
	CPU             float64   `json:"cpu_per_chunk_us"`
}

// LatenessRun is the lateness of arrivals, with requests sent or, for the pacer alone, without.
type LatenessRun struct {
	RequestsPerSecond float64   `json:"requests_per_s"`
	Sent              bool      `json:"sent"`
	Lateness          Quantiles `json:"lateness"`
}

// Dashboard compares rounds of a load with the dashboard drawn and without.
type Dashboard struct {
	Pairs int `json:"pairs"`
	// CPURatio is the CPU time with the dashboard divided by that without, DrawnBytes the output for the terminal.
	CPURatio   float64       `json:"cpu_ratio"`
	DrawnBytes float64       `json:"drawn_bytes_per_s"`
	With       DashboardSide `json:"with"`
	Without    DashboardSide `json:"without"`
}

// DashboardSide is a side of a comparison, the medians of its rounds.
type DashboardSide struct {
	Error    Quantiles `json:"stamp_error"`
	Lateness Quantiles `json:"lateness"`
	CPU      float64   `json:"cpu_s"`
}

// Problem is the reason why a part of the campaign has no figure.
type Problem struct {
	Part string `json:"part"`
	Text string `json:"text"`
}

// Empty reports whether nothing at all was measured.
func (f *Figures) Empty() bool {
	return len(f.Rounds) == 0 && len(f.Rates) == 0 && len(f.Streams) == 0 && len(f.Chunks) == 0 && len(f.Stamps) == 0 &&
		len(f.Lateness) == 0 && f.Dashboard == nil
}
