//go:build !unix

package files

import "os"

func lock(*os.File) {}

// locked cannot be certain here.
func locked(path string, certain bool) bool {
	_, err := os.Stat(path)
	return err == nil && !certain
}
