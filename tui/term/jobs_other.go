//go:build !unix

package term

import "os"

const canAsk = false

func takeTerminal(*os.File) {}

func inBackground(*os.File) bool { return false }
