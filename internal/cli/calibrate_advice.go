package cli

import (
	"errors"
	"os"
	"path/filepath"

	"benchtop/internal/calibration"
)

// calibrationPath is where this user's calibration of this machine is kept.
func calibrationPath() (string, error) {
	// A relative path would be another file in every directory; by the rules of the variable it does not count.
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "benchtop", "calibration.json"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no place to keep it: neither XDG_STATE_HOME nor a home directory is set")
	}
	return filepath.Join(home, ".local", "state", "benchtop", "calibration.json"), nil
}

// calibrationWarnings are sentences on what a load plans beyond what this client could measure on this machine. Without a
// calibration, or with one of another machine, there are none.
func calibrationWarnings(p calibration.Planned) []string {
	path, err := calibrationPath()
	if err != nil {
		return nil
	}
	c, err := calibration.ReadRecord(path)
	if err != nil || !c.Matches() {
		return nil
	}
	return c.Beyond(p)
}
