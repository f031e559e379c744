package target

import "golang.org/x/sys/unix"

// portWhenConnecting has the kernel choose the port for the pair of addresses rather than for the local one alone, so
// that two servers may be reached from the same port.
func portWhenConnecting(fd uintptr) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) // since Linux 4.2
}
