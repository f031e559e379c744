package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasTerminals reports whether programs can be measured on terminals.
const hasTerminals = true

// openTerminal opens a pseudo-terminal and returns the user's side, the program's side, and a function that changes the
// size and signals the program.
func openTerminal(s size) (master, slave *os.File, resize func(size) error, err error) {
	// With O_NONBLOCK, closing it ends a read.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("opening a terminal: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	resize = func(s size) error {
		if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(s.h), Col: uint16(s.w)}); err !=
			nil {
			return fmt.Errorf("setting the size of a terminal: %w", err)
		}
		return nil
	}
	n, failed := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err := errors.Join(failed, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), resize(s)); err != nil {
		master.Close()
		return nil, nil, nil, fmt.Errorf("unlocking a terminal: %w", err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		master.Close()
	}
	return master, slave, resize, err
}

// ownTerminal makes the standard input of a command its controlling terminal.
func ownTerminal(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} }

// mostResident is the most memory that a program had, in bytes; 0 where the system does not say.
func mostResident(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
