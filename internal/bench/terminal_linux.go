package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasTerminals: programs can be measured on terminals here.
const hasTerminals = true

// openTerminal opens a pseudo-terminal: the user's side and the program's.
func openTerminal(s size) (master, slave *os.File, err error) {
	// Without blocking, so that closing it ends a read.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a terminal: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	defer func() {
		if err != nil {
			master.Close()
		}
	}()
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, fmt.Errorf("unlocking a terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, fmt.Errorf("the number of a terminal: %w", err)
	}
	if err := resizeTerminal(master, s); err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

// resizeTerminal tells the program as well.
func resizeTerminal(master *os.File, s size) error {
	raw, err := master.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(s.h), Col: uint16(s.w)})
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("setting the size of a terminal: %w", err)
	}
	return nil
}

// ownTerminal makes what a command has for standard input its terminal.
func ownTerminal(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} }
