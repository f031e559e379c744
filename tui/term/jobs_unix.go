//go:build unix

package term

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// canAsk: keys come as bytes, so that an answer of the terminal can be told from them.
const canAsk = true

// takeTerminal stops a job of the background until the shell gives it the terminal, as any program does that sets the
// modes of a terminal. From then on the way out is not stopped, even in the background.
func takeTerminal(tty *os.File) {
	if modes, err := term.GetState(tty.Fd()); err == nil {
		_ = term.Restore(tty.Fd(), modes) // it changes nothing but stops the job
	}
	signal.Ignore(syscall.SIGTTOU)
}

// inBackground reports whether the terminal is another job's.
func inBackground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}
