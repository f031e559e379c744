//go:build !linux

package target

// portWhenConnecting exists on Linux only; elsewhere a port is chosen for the local address.
func portWhenConnecting(uintptr) {}
