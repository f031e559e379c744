//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
)

// lock marks a file as in use by this process until it closes it or ends, however it ends.
func lock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// locked reports whether a running process has a file in use. Where the system cannot tell, the answer is no if certain, else yes.
func locked(path string, certain bool) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // which ends a lock of our own
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK) || err != nil && !certain
}
