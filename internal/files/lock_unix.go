//go:build unix

package files

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock marks a file as in use by this process until it closes it or ends, however it ends.
func lock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// locked reports whether a running process has a file in use. Where the system cannot tell, the answer is no if
// certain, else yes.
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

// Hold makes a directory and takes it for this process until it releases it or ends. It is an error if another one has
// it.
func Hold(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, fmt.Errorf("%s is in use by another benchtop; wait until it ends", dir)
	}
	return func() {
		// a child that has not begun its program yet has the file as well
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		_ = f.Close()
	}, nil
}
