//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
)

// lock marks a file as in use by this process until it closes it or ends, however it ends.
func lock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// inUse reports whether another process has a file locked.
func inUse(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// locked reports whether a file is certain to be in use by a process that goes on.
func locked(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // which ends a lock of our own
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
