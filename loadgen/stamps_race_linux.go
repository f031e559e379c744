//go:build race

package loadgen

import "syscall"

// received tells the race detector that what came over a socket came after it was sent, as package net does. A read of
// nothing is the only way to do so from outside the standard library.
func received(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }
