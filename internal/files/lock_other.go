//go:build !unix

package files

import "os"

func lock(*os.File) {}

// locked cannot be certain without file locks.
func locked(path string, certain bool) bool {
	_, err := os.Stat(path)
	return err == nil && !certain
}

// Hold makes a directory. Without file locks any process can take it.
func Hold(dir string) (release func(), err error) { return func() {}, os.MkdirAll(dir, 0o755) }
