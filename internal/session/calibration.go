package session

import (
	"errors"
	"os"
	"path/filepath"

	"benchtop/internal/calibration"
	"benchtop/loadgen/shape"
)

// CalibrationPath is the path of the user's calibration of this machine.
func CalibrationPath() (string, error) {
	// A relative path would be another file in every directory; by the rules of the variable it does not count.
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "benchtop", "calibration.json"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no directory to save it in: neither XDG_STATE_HOME nor a home directory is set")
	}
	return filepath.Join(home, ".local", "state", "benchtop", "calibration.json"), nil
}

// CalibrationWarnings are about a load beyond the calibrated limits of this client. There are none without a
// calibration of this machine.
func CalibrationWarnings(p calibration.PlannedLoad) []string {
	path, err := CalibrationPath()
	if err != nil {
		return nil
	}
	c, err := calibration.ReadRecord(path)
	if err != nil || !c.Matches() {
		return nil
	}
	return c.Beyond(p)
}

// planned is the demand of a load on the client; output is the length of an answer in tokens, 0 if unknown.
func planned(d shape.Demand, output int) calibration.PlannedLoad {
	return calibration.PlannedLoad{
		Streams: float64(d.Streams), RequestsPerSecond: d.RequestsPerSecond,
		ChunksPerSecond: d.RequestsPerSecond * float64(output),
	}
}
