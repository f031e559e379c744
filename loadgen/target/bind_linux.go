package target

import "syscall"

// portWhenConnecting has the kernel choose the port for the pair of addresses rather than for the local one alone, so
// that two servers may be reached from the same port.
func portWhenConnecting(fd uintptr) {
	const bindAddressNoPort = 24 // IP_BIND_ADDRESS_NO_PORT, since Linux 4.2
	_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, bindAddressNoPort, 1)
}
