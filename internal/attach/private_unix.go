//go:build unix

package attach

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether only this user can open a directory.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
