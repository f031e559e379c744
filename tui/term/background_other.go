//go:build !unix

package term

import "os"

func takeTerminal(*os.File) {}

func inBackground(*os.File) bool { return false }
