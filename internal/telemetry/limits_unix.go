//go:build unix

package telemetry

import "golang.org/x/sys/unix"

// fileLimits are how many files the process may have open, and to how many it may raise that itself. Go raises it at the
// start already.
func fileLimits() (soft, hard uint64, known bool) {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0, 0, false
	}
	most := mostFiles()
	return min(uint64(l.Cur), most), min(uint64(l.Max), most), true
}

// raiseFileLimit raises the limit as far as it may and returns it.
func raiseFileLimit() (uint64, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, err
	}
	// The type of the fields differs between systems, so nothing else is put in.
	l.Cur = l.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, err
	}
	return min(uint64(l.Cur), mostFiles()), nil
}
