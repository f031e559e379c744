//go:build !unix

package tui

import "os"

func takeTerminal(*os.File) {}

func inBackground(*os.File) bool { return false }
