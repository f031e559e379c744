//go:build !unix

package attach

import "io/fs"

// private: the directory of temporary files is the user's own here.
func private(fs.FileInfo) bool { return true }
