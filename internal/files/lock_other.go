//go:build !unix

package files

import "os"

func lock(*os.File) {}

// locked cannot be certain without file locks.
func locked(path string, certain bool) bool {
	_, err := os.Stat(path)
	return err == nil && !certain
}
